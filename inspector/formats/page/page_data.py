"""The data of the interactive page of a session: texts and columns of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from inspector.analysis.explain.explain import CALL_OVERDUE, FIRES_IN, OVERDUE
from inspector.analysis.lanes.clocks import GONE
from inspector.analysis.lanes.lane_columns import Levels
from inspector.analysis.lanes.lanes import Lane, LaneKind, LaneStore
from inspector.analysis.lanes.spans import Spans, depths_of
from inspector.analysis.lateness.late_calls import late_calls
from inspector.analysis.lateness.words import block_evidence, block_name, late_call_text, stack_text
from inspector.analysis.lint.rules import findings
from inspector.analysis.statistics.column_summary import lasting_ns, summary_of
from inspector.analysis.statistics.frame_budget import FrameBudget, loop_budget
from inspector.calls.call import CallId, short_site
from inspector.clocks.rate import DEFAULT_FRAME_RATE
from inspector.display_text import one_line
from inspector.events.frame_history import FrameHistory
from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.fills import SEVERITY_TOKENS, Severity
from inspector.formats.page.columns import PageData
from inspector.formats.page.queue import Queue
from inspector.formats.page.scene_pictures import ScenePictures
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, Measure, Share, rate_chip

if TYPE_CHECKING:
    from inspector.formats.frame_times import FrameTimes, NsColumn, Provenance
    from inspector.formats.options import ExportOptions
    from inspector.formats.traces.session_trace import Events

#: States of a clock, with the numbers that the script of the page has for them.
RUNS, PAUSED, RATE_ZERO, STOPPED_ABOVE, REMOVED = range(5)
_BY_INSPECTOR: Final = len(Severity)
_LEAST_LATE_NS: Final = NS_PER_MS
#: The title of the frames, by measure.
_FRAMES: Final[dict[Measure, str]] = {
    "interval": "Frames",
    "busy": "Frames: time in callbacks",
    "delta": "Frames: delta",
}
_MOST_LATE: Final = 1_000
_MOST_FINDINGS: Final = 500
#: Limits of the slices of a thread: their number (the longest are kept), and levels of nesting.
_MOST_SLICES: Final = 200_000
_MOST_LEVELS: Final = 16
#: Values of counters are in thousandths, limited so that twice a difference is exact in JavaScript.
_COUNTER_STEPS: Final = 1_000
_MOST_STEPS: Final = 2**50
#: In place of a value: from this instant on a column has none.
NO_VALUE: Final = -_MOST_STEPS - 1


def page_data(
    frames: FrameTimes, events: Events | None, provenance: Provenance, options: ExportOptions
) -> PageData:
    budget = next(iter(provenance.compared_with(options.budgets_ms)), provenance.budget)
    data = PageData(
        {
            "title": options.title or provenance.scene or "Timeline",
            "theme": options.theme,
            "time": provenance.time_name,
            "from": [
                each
                for each in (
                    provenance.note,
                    frames.samples,
                    f"time source: {provenance.source}" if provenance.source else "",
                    f"recorded {provenance.created_text}" if provenance.created_text else "",
                    f"written by {provenance.software}",
                )
                if each
            ],
            "budget": budget_about(budget),
            "lateFrom": _LEAST_LATE_NS,
            "words": {"fires": FIRES_IN, "due": OVERDUE, "dueCall": CALL_OVERDUE},
            "start": 0,
            "end": 0,
            "clocks": [],
            "lanes": [],
            "marks": [],
            "findings": [],
            "late": [],
            "texts": [],
        }
    )
    name = _FRAMES[options.measure]
    data.about["framesName"] = "Turns of the loop" if provenance.waits else name
    _add_frames(data, frames, budget, options.measure)
    _add_columns(data, frames)
    if events is not None:
        budget = structs.replace(budget, by_busy=provenance.waits)
        _Session(data, frames, events, budget, options).add()
    return data


def pictures_data(data: PageData, frames: FrameTimes, events: Events | None) -> PageData | None:
    """Return the pictures of the scene for a page; ``None`` if there are none."""
    if events is None or events.pictures is None:
        return None
    pictures = ScenePictures({each["id"]: place for place, each in enumerate(data.about["clocks"])})
    pictures.read(events.pictures, frames)
    return pictures.data() if len(pictures) else None


def _add_frames(data: PageData, frames: FrameTimes, budget: FrameBudget, measure: Measure) -> None:
    """Add frames: from instant to instant, or how long each worked from its instant on."""
    times_ns, at_ns = frames.measured(measure), frames.at_ns
    has_own = measure == "interval" and frames.has_shares
    own_ns = frames.share(Share.INSPECTOR) if has_own else times_ns * 0
    ends_ns = at_ns if measure == "interval" else at_ns + times_ns
    data.about["fills"] = fills_of_classes()
    data.about["frames"] = frames_about(data, frames.index, ends_ns, times_ns, own_ns, budget)
    if len(frames):
        data.about["start"] = int(at_ns[0] - frames.interval_ns[0])
        data.about["end"] = int(at_ns[-1])


def _add_columns(data: PageData, frames: FrameTimes) -> None:
    beside, are_frames = frames.beside, not frames.samples
    if beside is None or not len(frames):
        return
    lasts_ns = lasting_ns(frames.at_ns, frames.interval_ns, are_samples=not are_frames)
    begin_ns = frames.at_ns - lasts_ns
    # Instants and frame times are measured separately and rounded, so small gaps do not count.
    gaps = np.flatnonzero(begin_ns[1:] - frames.at_ns[:-1] > lasts_ns[1:] // 2)
    begin_ns = np.maximum.accumulate(begin_ns)
    at_ns = np.insert(begin_ns, gaps + 1, frames.at_ns[gaps])
    quantities = beside.quantities
    places = [each.at for each in quantities]
    read, damage = beside.numbers(places), beside.damage(places)
    for quantity, values in zip(quantities, read, strict=True):
        name, unit = quantity.name, quantity.unit
        summary = summary_of(name, unit, values, lasts_ns, are_frames=are_frames)
        if summary is None:
            continue
        steps = _steps_of(np.insert(values, gaps + 1, np.nan))
        kept = np.diff(steps, prepend=NO_VALUE) != 0
        data.about["lanes"].append(
            {
                "clock": -1,
                "name": one_line(name),
                "kind": "column",
                "family": "",
                "site": "",
                "at": data.column(at_ns[kept]),
                "value": data.column(steps[kept]),
                "unit": unit,
                "lines": [
                    summary.mean_text(),
                    *summary.lines(),
                    *filter(None, [damage.get(quantity.at)]),
                ],
            }
        )


def _steps_of(values: NDArray[np.float64]) -> NsColumn:
    there = np.isfinite(values)
    steps = np.round(np.where(there, values, 0) * _COUNTER_STEPS).clip(-_MOST_STEPS, _MOST_STEPS)
    return np.where(there, steps.astype(np.int64), NO_VALUE)


def frames_about(  # noqa: PLR0913, PLR0917 - as many columns make frames
    data: PageData,
    index: NsColumn,
    at_ns: NsColumn,
    interval_ns: NsColumn,
    own_ns: NsColumn,
    budget: FrameBudget | None,
) -> dict[str, int]:
    """Return the columns of frames: numbers, instants, times, shares of the inspector, classes."""
    classes = interval_ns * 0
    if budget is not None:
        counted_ns = interval_ns - own_ns
        twice_ns = budget.longest_missing_one_ns
        classes = (counted_ns > budget.longest_ns) * Severity.OVER + (counted_ns > twice_ns) * 1
        classes[budget.is_over_because_of(interval_ns, own_ns)] = _BY_INSPECTOR
    names = ("index", "at", "ns", "own", "class")
    columns = (index, at_ns, interval_ns, own_ns, classes)
    return {name: data.column(each) for name, each in zip(names, columns, strict=True)}


def fills_of_classes(in_budget: str = SEVERITY_TOKENS[Severity.IN_BUDGET]) -> list[str]:
    """Return the names of the colours of the classes of frames."""
    over = (SEVERITY_TOKENS[each] for each in (Severity.OVER, Severity.OVER_TWICE))
    return [in_budget, *over, in_budget]


def budget_about(budget: FrameBudget) -> dict[str, Any]:
    return {"ns": budget.budget_ns, "longest": budget.longest_ns, "text": budget.over_text}


class _Session:
    def __init__(
        self,
        data: PageData,
        frames: FrameTimes,
        events: Events,
        budget: FrameBudget,
        options: ExportOptions,
    ) -> None:
        self._data = data
        self._frames = frames
        self._history: History = events.history
        end_ns = self._history.last_ns if events.end_ns is None else events.end_ns
        self._start_ns, self._end_ns = events.start_ns, max(end_ns, events.start_ns)
        self._budget, self._options = budget, options
        self._store = LaneStore()
        self._texts: dict[str, int] = {}
        self._places: dict[int, int] = {}
        self._lane_places: dict[int, int] = {}

    def add(self) -> None:
        history, about = self._history, self._data.about
        end = history.cursor_at(self._end_ns)
        state = history.state_before(end)
        state.set_present(self._end_ns)
        first = max(history.first, history.cursor_at(self._start_ns - 1)) if self._start_ns else 0
        first = max(first, history.first)
        if first > history.first:
            self._store.go_on_at(history, first)
        while self._store.cursor < end and self._store.read(history, state):
            pass
        self._state = state
        about["start"], about["end"] = self._start_ns, self._end_ns
        self._add_clocks()
        self._add_lanes()
        self._add_queue(state.frames, first, end)
        self._add_marks(state)
        self._add_findings(first, end)
        about["texts"] = list(self._texts)

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _add_clocks(self) -> None:
        store, about = self._store, self._data.about
        for number, depth in _in_order(store):
            past = store.clocks.by_id[number]
            self._places[number] = len(about["clocks"])
            steps = self._steps(number)
            parent = past.parent[-1]
            about["clocks"].append(
                {
                    "id": number,
                    "name": past.name,
                    "parent": self._places.get(parent, -1),
                    "depth": depth,
                    "path": [
                        store.clocks.by_id[each].name
                        for each in reversed(store.clocks.path_at(number, self._end_ns))
                    ],
                    "at": self._data.column(each[0] for each in steps),
                    "local": self._data.column(each[1] for each in steps),
                    "state": self._data.column(each[2] for each in steps),
                    # In millionths of the rate of session time.
                    "rate": self._data.column(each[3] for each in steps),
                    "word": self._data.column(each[4] for each in steps),
                    "blocks": [
                        {
                            "at": block.begin_ns,
                            "end": block.end_ns,
                            "name": block_name(block),
                            "text": block_evidence(block),
                            "stack": stack_text(block.stack),
                        }
                        for block in store.blocks.within(number, self._start_ns, self._end_ns)
                    ],
                }
            )

    def _steps(self, number: int) -> list[tuple[int, int, int, int, int]]:
        """Return instants, local times, states, effective rates and words of a clock."""
        pasts, past = self._store.clocks, self._store.clocks.by_id[number]
        begin_ns = max(past.at_ns[0], self._start_ns)
        changes = {begin_ns, self._end_ns}
        changes.update(pasts.changes_of_path(number, begin_ns, self._end_ns))
        found = []
        local_ns = 0
        for at_ns in sorted(changes):
            place = past.place_at(at_ns)
            local = pasts.local_ns(number, at_ns)
            local_ns = local_ns if local is None else local
            found.append((at_ns, local_ns, *self._state_at(number, place, at_ns)))
        return found

    def _state_at(self, number: int, place: int, at_ns: int) -> tuple[int, int, int]:
        pasts, past = self._store.clocks, self._store.clocks.by_id[number]
        if past.value[place] == GONE:
            return REMOVED, 0, self._text("removed")
        if past.paused[place]:
            by = "you" if past.cause[place] else "the program"
            return PAUSED, 0, self._text(f"paused by {by}")
        if past.value[place] == 0:
            return RATE_ZERO, 0, self._text("rate 0")
        rate = 1.0
        for each in pasts.path_at(number, at_ns):
            above = pasts.by_id[each]
            value = max(above.value[max(above.place_at(at_ns), 0)], 0)
            if value == 0:
                return STOPPED_ABOVE, 0, self._text(f"stopped by {above.name}")
            rate *= value / RATE_DENOMINATOR
        own = self._text(rate_chip(past.rate_n[place]))
        return RUNS, min(round(rate * 1_000_000), NEVER), own

    def _add_lanes(self) -> None:
        store = self._store
        lanes = sorted(
            (each for each in store.lanes.values() if each.clock_id in self._places),
            key=lambda each: (self._places[each.clock_id], each.kind),
        )
        for lane in lanes:
            if lane.kind is LaneKind.TIMER or lane.kind is LaneKind.CALL:
                self._add_timer_lane(lane)
            elif lane.kind is LaneKind.MACHINE:
                self._add_machine(lane)
            elif lane.spans is not None:
                self._add_slices(lane, lane.spans)
            elif lane.levels is not None:
                self._add_counter(lane, lane.levels)

    def _add_timer_lane(self, lane: Lane) -> None:
        low, high = lane.instants.within(self._start_ns, self._end_ns + 1)
        if low == high and not lane.pending:
            return
        is_timer = lane.kind is LaneKind.TIMER
        place = len(self._data.about["lanes"])
        self._lane_places[id(lane)] = place
        family = lane.family
        self._data.about["lanes"].append(
            {
                "clock": self._places[lane.clock_id],
                "name": lane.label,
                "kind": "timer" if is_timer else "frame timer",
                "family": family.title if family is not None else "",
                "site": short_site(self._history.strings[lane.site]) if lane.site else "",
                "at": self._data.column(lane.instants.at_ns[low:high]),
                "late": self._data.column(
                    each if is_timer else 0 for each in lane.instants.value[low:high]
                ),
            }
        )

    def _add_machine(self, lane: Lane) -> None:
        low, high = lane.steps.within(self._start_ns, self._end_ns + 1)
        strings = self._history.strings
        words = (
            self._text(strings[each] if each >= 0 else "removed")
            for each in lane.steps.value[low:high]
        )
        columns = {"at": self._data.column(lane.steps.at_ns[low:high])}
        self._add_lane(lane, "state machine", **columns, word=self._data.column(words))

    def _add_slices(self, lane: Lane, spans: Spans) -> None:
        shown, count = spans.overlapping(self._start_ns, self._end_ns + 1, _MOST_SLICES)
        (ends, took), subjects = spans.of(shown), spans.subjects(shown)
        depths = np.minimum(depths_of(ends - took, ends), _MOST_LEVELS)
        members = self._state.members.by_id
        words = {
            number: self._text(members[number].name if number in members else "")
            for number in np.unique(subjects).tolist()
        }
        levels = []
        for depth in range(min(int(depths.max(initial=-1)) + 1, _MOST_LEVELS)):
            places = np.flatnonzero(depths == depth)
            places = places[np.argsort(ends[places] - took[places], kind="stable")]
            names = [words[number] for number in subjects[places].tolist()]
            level = {"at": ends[places] - took[places], "end": ends[places]}
            columns = {name: self._data.column(values) for name, values in level.items()}
            levels.append({**columns, "word": self._data.column(names)})
        left_out = count - len(shown) + int(np.count_nonzero(depths == _MOST_LEVELS))
        if levels:
            self._add_lane(lane, "slices", at=levels[0]["at"], slices=levels, more=left_out)

    def _add_counter(self, lane: Lane, levels: Levels) -> None:
        low = max(levels.place_at(self._start_ns), 0)
        at_ns, values = levels.at_ns[low:], levels.value[low:]
        kept = np.isfinite(values) & (at_ns <= self._end_ns)
        if not kept.any():
            return
        columns = {
            "at": self._data.column(at_ns[kept]),
            "value": self._data.column(_steps_of(values[kept])),
        }
        self._add_lane(lane, "counter", **columns, unit=levels.unit)

    def _add_lane(self, lane: Lane, kind: str, **more: object) -> None:
        about = {"clock": self._places[lane.clock_id], "name": lane.label, "kind": kind}
        self._data.about["lanes"].append({**about, "family": "", "site": "", **more})

    def _add_queue(self, frames: FrameHistory, first: int, end: int) -> None:
        """Add when each call is due, or what it waits for, wherever that changes."""
        queue = Queue(self._history, frames, self._start_ns, self._text, self._lane_of)
        queue.read(first, end)
        self._data.about["queue"] = {
            name: self._data.column(values) for name, values in queue.columns.items()
        }

    def _lane_of(self, call_id: CallId, clock_id: int, name: str) -> int:
        if call_id.is_member:
            lane = self._store.lane(LaneKind.CALL, call_id.number)
        else:
            lane = self._store.lanes.get((LaneKind.TIMER, clock_id, name))
        return -1 if lane is None else self._lane_places.get(id(lane), -1)

    def _add_marks(self, state: Timeline) -> None:
        options = self._options
        said = [
            *((each.at_ns, "mark", each.text) for each in state.marks if options.markers),
            *((each.at_ns, "you", each.line) for each in state.commands if options.interventions),
            *((each.at_ns, "failed", f"{each.label}: {each.raised}") for each in state.failures),
        ]
        marks: list[dict[str, Any]] = [
            {"at": at_ns, "kind": kind, "text": text} for at_ns, kind, text in said
        ]
        for each in self._frames.markers if options.markers else ():
            if each.kind != "mark":
                name, more = (each.name, each.text) if each.name else (each.text, "")
                found = {"at": each.at_ns, "kind": each.kind, "text": name, "end": each.end_ns}
                marks.append(found | ({"more": more} if more and more != name else {}))
        self._data.about["marks"] = [
            each
            for each in sorted(marks, key=itemgetter("at"))
            if self._start_ns <= each["at"] <= self._end_ns
        ]

    def _add_findings(self, first: int, end: int) -> None:
        about, budget = self._data.about, self._budget
        if budget.origin:
            # Findings are in the time of the loop.
            budget = loop_budget(self._state, DEFAULT_FRAME_RATE, waits=False)
        for each in findings(self._history, first, end, budget=budget)[:_MOST_FINDINGS]:
            about["findings"].append(
                {
                    "at": each.at_ns,
                    "kind": each.kind.summary,
                    "text": each.text,
                    "clock": self._places.get(each.clock_id, -1),
                }
            )
        late = sorted(
            (each for each in late_calls(self._history, _LEAST_LATE_NS) if each.is_made),
            key=lambda each: -each.lateness.late_ns,
        )
        for call in late[:_MOST_LATE]:
            place = self._lane_of(CallId(0), call.clock_id, call.name)
            stacks = [stack_text(share.stack) for share in call.lateness.shares if share.stack]
            about["late"].append(
                {
                    "at": call.lateness.end_ns,
                    "ns": call.lateness.late_ns,
                    "lane": place,
                    "text": late_call_text(call),
                    "stack": stacks[0] if stacks else "",
                }
            )


def _in_order(store: LaneStore) -> Iterator[tuple[int, int]]:
    children: dict[int, list[int]] = {}
    for number, past in store.clocks.by_id.items():
        parent = past.parent[-1] if len(past) else 0
        children.setdefault(parent if parent in store.clocks.by_id else 0, []).append(number)
    waiting = [(number, 0) for number in reversed(children.get(0, []))]
    while waiting:
        number, depth = waiting.pop()
        yield number, depth
        waiting += [(each, depth + 1) for each in reversed(children.get(number, []))]
