"""The search of the palette in a session: objects, times, and commands about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct, structs

from inspector.analysis.instants import InstantError, InstantFinder
from inspector.analysis.lanes.lanes import Lane, LaneKind
from inspector.calls.call import CallId, call_of
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.command import Command
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.commands.transport import StepTo, StepToNextTimer
from inspector.display_text import counted, without_quotes
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.events.states import ClockState
from inspector.foreign.paths import is_capture_name, is_file
from inspector.formats.arrangement.frame_series import longest_frame
from inspector.sessions.session import ShowsCapture
from inspector.timebase import format_duration, format_instant, parse_duration_ns
from inspector.vocabulary import NEVER, rate_chip

from ...kit.filter_line import FilterLine
from ...kit.texts.call_texts import due_in_text
from ...kit.texts.run_states import run_state_of
from ...selected.commands import clock_toggle, is_clock_paused, submit
from ...session.selection import Selection
from ..panels.places import Placeholder
from .palette_entries import EntryKind, PaletteEntry

if TYPE_CHECKING:
    from inspector.analysis.lint.findings import Finding

    from ...findings import FindingsPanel
    from ...timeline.panel import TimelinePanel
    from ..main_window import MainWindow

#: The word that asks for a reason, before a name or alone.
_WHY: Final = "why"
_QUOTATION_MARKS: Final = "\"'“”„«»"
#: The actions that are most used with a capture.
_WITH_CAPTURES: Final = ("compare", "export", "panel-statistics", "panel-findings")
#: Panels that can be filtered for what is typed.
_FILTERED: Final = (("event_list", "Events"), ("timer_queue", "Timers"))
_AHEAD: Final = re.compile(r"\+\s*(\d+)?\s*timers?", re.IGNORECASE)
#: At most this many pending timers of a lane are searched for the next one.
_MOST_PENDING: Final = 64
_MOST_TIMES: Final = 3
_MOST_NEAREST: Final = 3
_MOST_COMPARISONS: Final = 2
#: At most this many timers can be stepped over at once.
_MOST_STEPS: Final = 100
#: A part of a name is searched for beside a verb from this many letters on.
_LEAST_LETTERS: Final = 3


class Found(Struct):
    """What a text finds in a session, the best first in each list."""

    objects: list[PaletteEntry]
    times: list[PaletteEntry]
    commands: list[PaletteEntry]
    panels: list[PaletteEntry]
    # The ids of those actions that are most likely meant if they match.
    first: tuple[str, ...] = ()


class _Object(Struct):
    """A clock, the timers of a lane, or a member."""

    name: str
    selection: Selection
    rank: tuple[int, bool, int]
    lane: Lane | None = None
    clock: ClockState | None = None


class PaletteFinder:
    def __init__(self, window: MainWindow, compare: Callable[[list[Path], bool], object]) -> None:
        """Find what is in a window; compare files, with its session or with each other."""
        self._window, self._compare = window, compare
        self._bridge = window.bridge
        self._icons = window.theme.icon

    def find(self, pattern: str) -> Found:
        """Return what a text finds; without one, what is selected, and what is due next."""
        session: object = self._bridge.session
        # Names stand without quotation marks here, but are quoted in reports and on the web.
        pattern = pattern.strip(_QUOTATION_MARKS)
        words = [word for word in pattern.lower().split() if word != _WHY]
        comparisons = self._comparisons(words)
        if session is None:
            return Found([], [], comparisons, [])
        if not words and isinstance(session, ShowsCapture):
            return Found([], self._longest_frame(), comparisons, [], _WITH_CAPTURES)
        # The lanes also know the timers that are gone.
        self._timeline_panel.refresh()
        objects = sorted(self._objects(words, all), key=lambda each: each.rank)
        asked: list[PaletteEntry] = []
        if not words:
            if self._bridge.selection == Selection.nothing():
                asked = self._why_not_fired(objects)
            objects = sorted(objects, key=self._due_of)[:_MOST_NEAREST]
        times = list(islice(self._times(pattern), _MOST_TIMES))
        if objects:
            times += self._firing(objects[0])
            # For what is merely due next, commands are unlikely to be wanted.
            is_meant = bool(words) or objects[0].selection == self._bridge.selection
            commands = self._commands_of(objects[0]) if is_meant else []
        else:
            commands = self._commands_with(words)
        entries = [*asked, *(self._object_entry(each) for each in objects[:10])]
        panels = self._panels(pattern, objects) if words else []
        return Found(entries, times, [*comparisons, *commands], panels)

    @property
    def _timeline_panel(self) -> TimelinePanel:
        return cast("TimelinePanel", self._window.panels.panel("timeline"))

    def _objects(self, words: list[str], of: Callable[[Iterable[bool]], bool]) -> Iterator[_Object]:
        timeline = self._bridge.timeline
        for clock in timeline.clocks.values():
            if of(word in clock.name.lower() for word in words):
                rank = _rank(words, clock.name), False, 0
                yield _Object(clock.name, Selection.clock(clock.id), rank, clock=clock)
        for lane in self._timeline_panel.canvas.store.lanes.values():
            if lane.kind is LaneKind.TIMER and of(word in lane.label.lower() for word in words):
                selection = Selection.timer(self._next_of(lane) or lane.subject_id)
                rank = _rank(words, lane.label), not lane.pending, 1
                yield _Object(lane.label, selection, rank, lane)
        for member in timeline.members.by_id.values():
            if of(word in member.name.lower() for word in words):
                rank = _rank(words, member.name), False, 2
                yield _Object(member.name, Selection.member(member.id), rank)

    def _due_of(self, thing: _Object) -> tuple[bool, int]:
        """Return the sort key of objects if nothing was typed: the selection, then the next due."""
        table, number = self._bridge.timeline.timers, thing.selection.id
        is_pending = thing.lane is not None and number in table
        due_ns = table.session_due[table.index(number)] if is_pending else NEVER
        return thing.selection != self._bridge.selection, due_ns

    def _why_not_fired(self, objects: Iterable[_Object]) -> list[PaletteEntry]:
        """Ask why: about the timer with longest to wait of those that have not fired, if any."""
        table = self._bridge.timeline.timers
        waiting = [
            (table.session_due[index], -table.order[index], each)
            for each in objects
            if each.lane is not None and each.selection.id in table
            for index in [table.index(each.selection.id)]
            if not len(each.lane.instants.at_ns)
        ]
        longest = max(waiting, key=lambda each: each[:2], default=None)
        if longest is None:
            return []
        thing = longest[-1]
        entry = self._object_entry(thing)
        return [structs.replace(entry, id="why", title=f"Why has {thing.name} not fired?")]

    def _next_of(self, lane: Lane) -> int:
        """Return the pending timer of a lane that is due first, 0 for none."""
        table = self._bridge.timeline.timers
        pending = [each for each in lane.pending.first(_MOST_PENDING) if each in table]
        return min(pending, key=lambda each: table.session_due[table.index(each)], default=0)

    def _object_entry(self, thing: _Object) -> PaletteEntry:
        select = partial(self._bridge.select, thing.selection)
        is_clock = thing.clock is not None
        return PaletteEntry(
            f"object:{thing.selection.kind.value}:{thing.selection.id}",
            thing.name,
            self._about(thing),
            icon=self._icons("clock" if is_clock else "timer"),
            kind=EntryKind.OBJECT,
            do=select,
            more=partial(self._more, thing),
        )

    def _about(self, thing: _Object) -> str:
        """Return what an object is, and when it is due."""
        timeline = self._bridge.timeline
        if thing.clock is not None:
            session: object = self._bridge.session
            apart = timeline.names_apart.get(thing.clock.id, thing.clock.name)
            kind = "clock" if apart == thing.clock.name else apart
            if isinstance(session, ShowsCapture):
                # The clock of a capture has neither been held nor slowed.
                return kind
            state = run_state_of(timeline, thing.clock.id)
            rate = "" if thing.clock.rate == 1 else f" · {rate_chip(thing.clock.rate_n)}"
            return f"{kind} · {state.brief or state.text}{rate}"
        if thing.lane is None:
            return timeline.members.by_id[thing.selection.id].kind.text
        clock = timeline.names_apart.get(thing.lane.clock_id)
        kind = "timer" if clock is None else f"timer on {clock}"
        call = call_of(timeline, CallId(thing.selection.id))
        if call is not None:
            left = due_in_text(call, timeline.at_ns)
            return f"{kind} · {'due in ' if left[:1].isdigit() else ''}{left}"
        fired = thing.lane.instants.at_ns
        return (
            f"{kind} · fired at {format_instant(fired[-1])}" if len(fired) else f"{kind} · cleared"
        )

    def _times(self, pattern: str) -> Iterator[PaletteEntry]:
        bridge = self._bridge
        typed = self._typed(pattern)
        if typed is not None:
            yield typed
        session, lowered = bridge.session, pattern.lower()
        assert session is not None, "only what has a session is searched"
        marks = [(mark.at_ns, mark.text) for mark in bridge.timeline.marks]
        marks += [(each.at_ns, each.title) for each in session.annotations]
        marks += [
            (each.at_ns, f"{each.kind.name}: {without_quotes(each.text)}")
            for each in self._findings()
        ]
        for at_ns, text in sorted(marks, reverse=True):
            if lowered in text.lower():
                yield self._past(at_ns, text)

    def _longest_frame(self) -> list[PaletteEntry]:
        frames = self._bridge.timeline.frames
        if not len(frames):
            return []
        frame = frames.frame(longest_frame(frames))
        return [
            PaletteEntry(
                "longest-frame",
                f"{format_instant(frame.at_ns)}  longest frame",
                format_duration(frame.interval_ns),
                icon=self._icons("mark"),
                kind=EntryKind.TIME,
                do=partial(self._bridge.reveal_frame, frame.index),
            )
        ]

    def _findings(self) -> list[Finding]:
        """Return what the last look has found; nothing before the first."""
        widget = self._window.panels["findings"].widget()
        return [] if isinstance(widget, Placeholder) else cast("FindingsPanel", widget).model.rows

    def _typed(self, pattern: str) -> PaletteEntry | None:
        """Return the instant that a text means, ``None`` if it means none."""
        bridge, session = self._bridge, self._bridge.session
        assert session is not None, "only what has a session is searched"
        now_ns = bridge.timeline.at_ns
        if not any(letter.isdigit() for letter in pattern) and pattern[:1] not in {*"+-−"}:
            return None
        if bridge.playhead_ns is None:
            if match := _AHEAD.fullmatch(pattern):
                return self._timers_ahead(int(match[1] or 1))
            if (ahead_ns := _ahead(pattern, now_ns)) is not None:
                return self._future(ahead_ns)
        finder = InstantFinder(session.history, bridge.timeline.frames, now_ns)
        try:
            return self._past(finder.find(pattern, bridge.shown_ns))
        except InstantError:
            pass
        try:
            at_ns = parse_duration_ns(pattern)
        except ValueError:
            return None
        return self._future(at_ns) if at_ns > now_ns else None

    def _timers_ahead(self, count: int) -> PaletteEntry | None:
        """Return the step over some firings, whose instants are not known in advance."""
        if not 0 < count <= _MOST_STEPS:
            return None
        command = StepToNextTimer()
        return PaletteEntry(
            f"timers:{count}",
            f"{counted(count, 'timer')} on",
            "step there",
            reason=self._bridge.why_not(command),
            icon=self._icons("next-timer"),
            kind=EntryKind.TIME,
            do=partial(submit, self._bridge, *[command] * count),
        )

    def _past(self, at_ns: int, text: str = "") -> PaletteEntry:
        ago = format_duration(self._bridge.timeline.at_ns - at_ns)
        title = f"{format_instant(at_ns)}  {text}" if text else format_instant(at_ns)
        look = partial(self._bridge.set_playhead, at_ns)
        icon = self._icons("mark" if text else "look-at")
        return PaletteEntry(
            f"time:{at_ns}", title, f"{ago} ago", icon=icon, kind=EntryKind.TIME, name=text, do=look
        )

    def _future(self, at_ns: int, text: str = "") -> PaletteEntry:
        left = format_duration(at_ns - self._bridge.timeline.at_ns)
        title = f"{format_instant(at_ns)}  {text}" if text else format_instant(at_ns)
        command = StepTo(at_ns)
        return PaletteEntry(
            f"step:{at_ns}",
            title,
            f"in {left} · step there",
            reason=self._bridge.why_not(command),
            icon=self._icons("next-timer"),
            kind=EntryKind.TIME,
            do=partial(submit, self._bridge, command),
        )

    def _firing(self, thing: _Object) -> list[PaletteEntry]:
        """Return when the timer that was found best fires next."""
        timeline = self._bridge.timeline
        if thing.lane is None or thing.selection.id not in timeline.timers:
            return []
        due_ns = timeline.session_due_ns(thing.selection.id)
        is_ahead = due_ns is not None and due_ns > timeline.at_ns
        return [self._future(due_ns, thing.name)] if due_ns is not None and is_ahead else []

    def _commands_of(self, thing: _Object) -> list[PaletteEntry]:
        timeline, number, name = self._bridge.timeline, thing.selection.id, thing.name
        if thing.clock is not None:
            clock = timeline.clocks[number]
            verb = "Resume" if is_clock_paused(timeline, clock) else "Pause"
            icon = "run" if verb == "Resume" else "pause-branch"
            paused = Breakpoint(BreakKind.CLOCK_PAUSED, name)
            return [
                self._command(f"{verb} {name}", clock_toggle(timeline, clock), icon, "P"),
                self._of_action(f"Set the rate of {name} …", thing, "set-rate", "rate", "R"),
                self._command(
                    f"Stop when {name} is paused",
                    AddBreakpoint(paused),
                    "stop",
                    "",
                    "adds a breakpoint",
                ),
            ]
        if thing.lane is None or number not in timeline.timers:
            return []
        fires = Breakpoint(BreakKind.TIMER_FIRES, name)
        return [
            self._command(
                f"Stop when {name} fires", AddBreakpoint(fires), "stop", "", "adds a breakpoint"
            ),
            self._command(f"Fire {name} now", FireTimer(number), "fire-timer", "Shift+F"),
            self._command(f"Clear {name}", ClearTimer(number), "clear-timer", "Del"),
        ]

    def _comparisons(self, words: list[str]) -> list[PaletteEntry]:
        """Return comparisons of captures that were open lately: with the one that is, or of two."""
        session: object = self._bridge.session
        recent = [
            path
            for path in map(Path, self._window.settings.recent_scenes)
            if is_capture_name(path) and is_file(path)
        ]
        chosen: list[tuple[str, list[Path]]] = []
        if isinstance(session, ShowsCapture):
            others = [path for path in recent if path != session.path]
            chosen = [(f"Compare with {path.name}", [path]) for path in others]
        elif session is None and len(recent) > 1:
            after, before = recent[:2]
            chosen = [(f"Compare {before.name} with {after.name}", [before, after])]
        return [
            PaletteEntry(
                f"command:{title}",
                title,
                str(paths[-1].parent),
                icon=self._icons("swap"),
                do=partial(self._compare, paths, session is not None),
            )
            for title, paths in chosen
            if all(word in title.lower() for word in words)
        ][:_MOST_COMPARISONS]

    def _commands_with(self, words: list[str]) -> list[PaletteEntry]:
        """Return the commands about objects whose titles have all words: ``pause enemies``."""
        parts = [word for word in words if len(word) >= _LEAST_LETTERS]
        if len(words) == 1 or not parts:
            return []
        objects = sorted(self._objects(parts, any), key=lambda each: each.rank)[:_MOST_TIMES]
        commands = [each for thing in objects for each in self._commands_of(thing)]
        return [each for each in commands if all(word in each.title.lower() for word in words)]

    def _command(
        self, title: str, command: Command, icon: str, keys: str = "", about: str = ""
    ) -> PaletteEntry:
        return PaletteEntry(
            f"command:{title}",
            title,
            about,
            keys,
            self._bridge.why_not(command),
            self._icons(icon),
            do=partial(self._bridge.submit, command),
        )

    def _of_action(
        self, title: str, thing: _Object, action_id: str, icon: str, keys: str
    ) -> PaletteEntry:
        """Return an entry that selects an object and does what its key does."""
        action = self._window.actions_by_id[action_id]

        def select_and_do() -> None:
            self._bridge.select(thing.selection)
            action.trigger()

        return PaletteEntry(
            f"command:{title}", title, shortcut=keys, icon=self._icons(icon), do=select_and_do
        )

    def _more(self, thing: _Object) -> list[PaletteEntry]:
        shown = self._in_panel("timer_queue", "Timers", thing.name)
        return [*self._firing(thing), *self._commands_of(thing), shown]

    def _panels(self, pattern: str, objects: list[_Object]) -> list[PaletteEntry]:
        pending = sum(len(each.lane.pending) for each in objects if each.lane is not None)
        counts = {"timer_queue": f"{pending:,} of {len(self._bridge.timeline.timers):,}"}
        return [
            self._in_panel(panel_id, title, pattern, counts.get(panel_id, ""))
            for panel_id, title in _FILTERED
        ]

    def _in_panel(self, panel_id: str, title: str, word: str, about: str = "") -> PaletteEntry:
        action = self._window.actions_by_id[f"panel-{panel_id}"]

        def open_with_filter() -> None:
            panels = self._window.panels
            panels.open_panel(panel_id)
            (line, *_others) = panels.panel(panel_id).findChildren(FilterLine)
            line.setText(word)
            line.apply_now()

        return PaletteEntry(
            f"with:{panel_id}",
            f"{title} with “{word}”",
            about,
            " or ".join(action.description.shortcut_texts),
            icon=self._icons("panel"),
            kind=EntryKind.PANEL,
            do=open_with_filter,
        )


def _ahead(pattern: str, now_ns: int) -> int | None:
    """Return the instant that ``+2 s`` means from the present."""
    if not pattern.startswith("+"):
        return None
    try:
        return now_ns + parse_duration_ns(pattern[1:].strip())
    except ValueError:
        return None


def _rank(words: list[str], name: str) -> int:
    """Return how far a name is from what was typed: 0 the same, 1 begun with it, 2 a word, 3."""
    typed, lowered = " ".join(words), name.lower()
    if lowered == typed:
        return 0
    if lowered.startswith(typed):
        return 1
    return 2 if f" {typed}" in lowered else 3
