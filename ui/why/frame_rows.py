"""Rows about a frame: its phases, and what happened meanwhile."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

from inspector.analysis.frame_spans import extent_of, heaviest_before, heaviest_in
from inspector.analysis.interval_shares import KEPT_BY, UNKNOWN, largest_share, named_shares
from inspector.analysis.lateness.flame import kept_text, sampled_spans
from inspector.analysis.statistics.frame_budget import FrameBudget, fps_text
from inspector.display_text import counted, without_quotes
from inspector.events.frame_history import Frame
from inspector.events.history import History
from inspector.events.states import Failure
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_MS, format_duration, format_instant
from inspector.vocabulary import Phase, Share

from ..session.bridge import Selection
from .rows import (
    MOST_LISTED,
    DetailRow,
    LinkedText,
    RowKind,
    about,
    answer,
    heading,
    instant,
    linked,
    sentence,
)

#: Shorter shares are measurement noise.
_LEAST_SHOWN_NS: Final = 10_000
_MOST_KNOWN: Final = 64
#: A cause of at most this many words is added to the line of the answer.
_MOST_WORDS: Final = 9
#: How many facts a capture of frame times alone lacks: the delta, and the time in callbacks.
_UNKNOWN: Final = 2


class _Dated(Protocol):
    @property
    def at_ns(self) -> int: ...


_DatedT = TypeVar("_DatedT", bound=_Dated)


class Heaviest:
    """What took most of a frame; kept, because searching the log takes a while."""

    def __init__(self) -> None:
        self._history: History | None = None
        self._known: dict[tuple[int, bool], tuple[int, str] | None] = {}
        self._seen: dict[int, tuple[str, str, str]] = {}

    def of(
        self, history: History, timeline: Timeline, index: int, *, before: bool = False
    ) -> tuple[int, str] | None:
        """Return what took most of a frame, or of the time before it, with its frame."""
        if history is not self._history or len(self._known) >= _MOST_KNOWN:
            self._history = history
            self._known.clear()
            self._seen.clear()
        key = index, before
        if key not in self._known:
            self._known[key] = (
                heaviest_before(history, timeline, index)
                if before
                else (index, heaviest_in(history, timeline, index))
            )
        return self._known[key]

    def seen(self, history: History, timeline: Timeline, index: int) -> tuple[str, str, str]:
        """Return the function that samples saw for most of a frame, and what helps.

        The last is what else took most of it. After :meth:`of`.
        """
        if index not in self._seen:
            extent = extent_of(history, timeline, index)
            spans = sampled_spans(history, timeline, index, extent)
            blocking = [(span.label, span.seen) for span in spans if span.seen is not None]
            found = [
                (f"{label}, {seen.samples:,} of {counted(seen.looks, 'sample')}", seen.helps)
                for label, seen in blocking
                if seen.blocks
            ]
            kept = "" if found else kept_text(history, timeline, index, extent)
            self._seen[index] = *(found[-1] if found else ("", "")), kept
        return self._seen[index]


def frame_rows(  # noqa: PLR0913, PLR0917 - the frame, its past, and what knows of it
    timeline: Timeline,
    index: int,
    history: History,
    heaviest: Heaviest,
    unknown: frozenset[str] = frozenset(),
    budget_ns: int = 0,
    *,
    waits: bool = False,
) -> list[DetailRow]:
    """Return what there is to say about a frame.

    ``unknown`` may have ``"delta"``, ``"busy"`` or both. The budget is 0 if there is none. With
    ``waits``, it is a turn of a loop that waits for events, which takes what its work takes.
    """
    frames = timeline.frames
    if index < frames.first:
        return [sentence(f"Frame {index:,} is no longer in the log.")]
    if index >= frames.end:
        return [sentence(f"Frame {index:,} has not ended yet.")]
    frame = frames.frame(index)
    interval_ns = frame.interval_ns
    most, before = (
        heaviest.of(history, timeline, index, before=is_before) if took_ns >= NS_PER_MS else None
        for is_before, took_ns in ((False, frame.busy_ns), (True, interval_ns))
    )
    # What took most of the work explains the frame only if the frame was mostly work.
    is_work = waits or 2 * frame.busy_ns >= interval_ns
    causes = _most_rows(timeline, most if is_work else None, index)
    causes = causes or _most_rows(timeline, before, index)
    seen, helps, kept = "", "", ""
    if frame.busy_ns >= NS_PER_MS and not (most and most[1]):
        seen, helps, kept = heaviest.seen(history, timeline, index)
    if (seen or kept) and is_work:
        causes = [sentence(without_quotes(kept or f"Most of it: {seen}."))]
    elif not causes and budget_ns and interval_ns > FrameBudget(budget_ns).longest_ns:
        causes = _kept_by(frame, budget_ns)
    said = _answer(frame.busy_ns if waits else interval_ns, budget_ns)
    if causes and not causes[0].links and len(causes[0].text.split()) <= _MOST_WORDS:
        said += f" {causes.pop().text}"
    rows = [
        about("Turn of the loop" if waits else "Frame"),
        heading(f"{'Turn' if waits else 'Frame'} {index:,}"),
        answer(said),
        *causes,
        *_time_rows(frame, unknown, waits=waits),
    ]
    who = seen or (most[1] if most else "")
    rows += [DetailRow("Most of that", without_quotes(who))] if who and not is_work else []
    rows += [heading("What helps"), sentence(helps)] if helps else []
    rows += _share_rows(frame)
    rows += _phase_rows(frame.phases)
    rows += _rows_within(timeline, index)
    return rows


def _time_rows(frame: Frame, unknown: frozenset[str], *, waits: bool) -> list[DetailRow]:
    interval_ns = frame.interval_ns
    rate = f", {fps_text(interval_ns)}" if interval_ns and not waits else ""
    # A capture without the work of frames knows only when their times ended.
    began = "Began at" if len(unknown) < _UNKNOWN else "Ended at"
    rows = [
        heading("Times"),
        instant(began, frame.at_ns),
        DetailRow(
            "After the turn before" if waits else "Frame time",
            f"{format_duration(interval_ns)}{rate}",
        ),
    ]
    if "delta" not in unknown:
        rows.append(DetailRow("Delta", f"{format_duration(frame.delta_ns)}, root clock"))
    if frame.cut_ns:
        rows.append(
            DetailRow("Cut", f"{format_duration(frame.cut_ns)} cut from the delta (max_delta)")
        )
    if "busy" not in unknown:
        has_share = interval_ns and not waits
        of_it = f", {_percent(frame.busy_ns, interval_ns)} of it" if has_share else ""
        rows.append(DetailRow("Busy", f"{format_duration(frame.busy_ns)}{of_it}"))
    return rows


def range_rows(
    timeline: Timeline, frames: tuple[int, int] | None, *, is_below: bool
) -> list[DetailRow]:
    """Return what there is to say about frames that were chosen; nothing without any.

    Args:
        timeline: Has the frames.
        frames: The first, and the one after the last.
        is_below: Whether something is selected, which the panel says first.
    """
    history, (first, end) = timeline.frames, frames or (0, 0)
    start, stop = max(first, history.first), min(end, history.end)
    if start >= stop:
        return []
    times_ns = history.numpy("interval_ns", start, stop)
    longest = history.frame(start + int(times_ns.argmax()))
    text = f"{format_duration(longest.interval_ns)} at {format_instant(longest.at_ns)}"
    began, ended = (
        format_instant(history.before_ns(start)),
        format_instant(history.began_ns(stop - 1)),
    )
    count = counted(stop - start, "frame")
    said = f"{format_duration(int(times_ns.sum()))}, from {began} to {ended}."
    alone = [about("Range"), heading(count), answer(said)]
    return [
        *([heading("Range", count), sentence(said)] if is_below else alone),
        DetailRow("Average", format_duration(round(times_ns.mean()))),
        linked("Longest", [LinkedText(text, Selection.frame(longest.index))]),
    ]


def _answer(interval_ns: int, budget_ns: int) -> str:
    took = f"Took {format_duration(interval_ns)}"
    if budget_ns and interval_ns > FrameBudget(budget_ns).longest_ns:
        over = format_duration(interval_ns - budget_ns)
        return f"{took}, {over} over budget."
    return f"{took}, in budget." if budget_ns else f"{took}."


def _most_rows(timeline: Timeline, most: tuple[int, str] | None, index: int) -> list[DetailRow]:
    """Return what took most of a time, with the frame that called it if that is another one."""
    if most is None or (not most[1] and most[0] == index):
        return []
    frame, who = most
    if frame == index:
        return [sentence(f"Most of it: {without_quotes(who)}.")]
    busy = format_duration(timeline.frames.frame(frame).busy_ns)
    caller = LinkedText(f"frame {frame:,}", Selection.frame(frame))
    text = f"{without_quotes(who)} in " if who else "callbacks of "
    links = LinkedText(f"Most of it: {text}"), caller, LinkedText(f", {busy} busy.")
    return [DetailRow("", "".join(each.text for each in links), RowKind.SENTENCE, links)]


def _kept_by(frame: Frame, budget_ns: int) -> list[DetailRow]:
    """Return what made a frame long, where that was measured and no single call did."""
    named = named_shares(frame.shares, frame.interval_ns)
    if not named:
        return []
    largest = largest_share(named)
    kept_ns = named[largest]
    kept = "the cause is unknown" if largest == UNKNOWN else KEPT_BY[largest]
    if named[Share.IDLE.text] - budget_ns > kept_ns:
        kept_ns, kept = named[Share.IDLE.text], "nothing was due"
    return [sentence(f"For {format_duration(kept_ns)}, {kept}.")]


def _percent(part_ns: int, whole_ns: int) -> str:
    percent = 100 * part_ns / whole_ns
    return "under 1 %" if 0 < percent < 1 else f"{percent:.0f} %"


def _share_rows(frame: Frame) -> list[DetailRow]:
    """Return where the time before a frame went, the whole of it."""
    interval_ns = frame.interval_ns
    named = named_shares(frame.shares, interval_ns)
    if not named:
        return []
    return [
        heading("Since the frame before"),
        *(
            DetailRow(
                name.capitalize(),
                f"{format_duration(time_ns)}, {_percent(time_ns, interval_ns)}",
                RowKind.SHARE,
                share=time_ns / interval_ns,
            )
            for name, time_ns in named.items()
            if time_ns >= _LEAST_SHOWN_NS or name == Share.INSPECTOR.text
        ),
    ]


def _phase_rows(phases: tuple[int, ...]) -> list[DetailRow]:
    total_ns = sum(phases)
    if not total_ns:
        return []
    return [
        heading("Phases"),
        *(
            DetailRow(
                phase.text.capitalize(),
                f"{format_duration(phases[phase])}, {_percent(phases[phase], total_ns)}",
                RowKind.SHARE,
                share=phases[phase] / total_ns,
                phase=phase,
            )
            for phase in Phase
            if phases[phase]
        ),
    ]


def _rows_within(timeline: Timeline, index: int) -> list[DetailRow]:
    """Return commands, marks and failures since the frame before."""
    span = timeline.frames.span(index)
    assert span is not None
    after_ns, until_ns = span
    rows = [
        DetailRow(f"Command {command.number}", without_quotes(command.line))
        for command in _within(timeline.commands, after_ns, until_ns)
    ]
    rows += [DetailRow("Mark", mark.text) for mark in _within(timeline.marks, after_ns, until_ns)]
    if rows:
        rows.insert(0, heading("During it"))
    start = bisect_left(timeline.failures, index, key=_frame_of)
    stop = bisect_right(timeline.failures, index, lo=start, key=_frame_of)
    count = stop - start
    if count:
        rows.append(heading(counted(count, "failure")))
        for failure in timeline.failures[start : min(stop, start + MOST_LISTED)]:
            rows += _failure_rows(failure)
        if count > MOST_LISTED:
            rows.append(sentence(f"and {count - MOST_LISTED:,} more"))
    return rows


def _frame_of(failure: Failure) -> int:
    return failure.frame


def _failure_rows(failure: Failure) -> list[DetailRow]:
    return [
        DetailRow("✖ Failed", f"{failure.label}: {failure.raised}"),
        DetailRow("", failure.traceback.strip(), RowKind.CODE),
    ]


def _within(records: Sequence[_DatedT], after_ns: int, until_ns: int) -> Sequence[_DatedT]:
    """Return the records after one instant up to another; they are in order of time."""
    start = bisect_right(records, after_ns, key=_instant_of)
    return records[start : bisect_right(records, until_ns, lo=start, key=_instant_of)]


def _instant_of(record: _Dated) -> int:
    return record.at_ns
