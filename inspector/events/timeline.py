"""A timeline: the state of a session, folded from its events.

Views read timelines, never the engine, which is why a running scene and a file look the same to
them. The property that everything rests on: folding the log up to an instant gives exactly the
engine's state at that instant.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from copy import copy
from fractions import Fraction
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from msgspec import structs

from inspector.clocks.rate import D, local_ns, moved, parent_ns, product_of_rates, reanchored
from inspector.events.due_times import session_instants
from inspector.events.frame_history import NO_PHASES, NO_SHARES, FrameHistory, with_phase
from inspector.events.handlers import Handler, handlers_of
from inspector.events.loop_frames import MOST_KEPT, LoopFrames, drop_oldest
from inspector.events.members import MemberState, MemberTable
from inspector.events.new_timers import NewTimers, events_of, new_timers_apart
from inspector.events.states import (
    BreakHit,
    ClockState,
    CommandRecord,
    Failure,
    Held,
    Mark,
    SharedList,
    StoppedClock,
    names_apart,
)
from inspector.events.tasks import TaskTable
from inspector.events.timer_table import UNKNOWN, TimerTable
from inspector.vocabulary import (
    NEVER,
    TIMER_ADDED,
    LoopKind,
    Mode,
    Numbers,
    Phase,
    RawEvent,
    durations_of,
    frame_and_phase_in,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_marked_ns = attrgetter("at_ns")


#: Raised for an event that does not fit the state, before anything has changed.
MISFIT: Final = (KeyError, ValueError, IndexError, OverflowError)

#: Timers whose due times are computed at once, in a few megabytes.
_TOGETHER: Final = 100_000
#: With more unknown due times than ``_FEW`` plus one in ``_SEARCHED`` timers, searching the column
#: for them is faster than resolving them one by one.
_FEW: Final = 64
_SEARCHED: Final = 16
#: Sums of two instants up to here fit into 64 bits.
_FAR_NS: Final = 2**61


class Timeline:
    """The state of a session as of :attr:`at_ns`.

    Attributes:
        strings: The string table of the log.
        at_ns: Session time of the last event, or later if time has passed.
        newest_ns: Session time of the last event: what is due later has not run, even if
            time has passed.
        events_folded: Number of events folded.
        clocks: All clocks by number, in the order of their creation.
        timers: All pending timers.
        members: Schedulers, components, state machines and everything below them.
        tasks: The tasks of attached programs, as they were last reported.
        frames: All completed frames; of attached programs, those of one loop.
        frames_of: The clock of that loop, 0 before one is found.
        loops: All loops of attached programs by their clocks, with the frames of all others.
        failures: Callbacks that raised.
        marks: Marked instants.
        commands: Commands, applied and refused.
        hits: Breakpoint hits.
        holds: Instants at which the running transport was held.
        is_running: Whether the transport runs.
        scene_path: The scene file, empty for none.
        scene_generation: Number of reloads.
        root_id: Number of the root clock, ``None`` before it exists.
        structure_version: Incremented when a clock comes, goes or moves.
        mapping_version: Incremented when a rate, pause or parent changes.
        timers_version: Incremented when a timer comes, goes or changes its due time.
        skips_misfits: Whether events that do not fit the state, as in a damaged file, are
            skipped, changing nothing but the instant.
        misfits: Number of skipped events.
    """

    def __init__(self, strings: Sequence[str]) -> None:
        self.strings = strings
        self.at_ns = self.newest_ns = self.events_folded = 0
        self.clocks: dict[int, ClockState] = {}
        self.timers = TimerTable(strings)
        self.members = MemberTable(strings)
        self.tasks = TaskTable()
        self.frames = FrameHistory()
        self.frames_of = self.scene_generation = self.misfits = 0
        self.loops: dict[int, LoopFrames] = {}
        self.failures: SharedList[Failure] = SharedList()
        self.marks: SharedList[Mark] = SharedList()
        self.commands: list[CommandRecord] = []
        self.hits: list[BreakHit] = []
        self.holds: list[Held] = []
        self.is_running = False
        self.scene_path = ""
        self.root_id: int | None = None
        self.structure_version = self.mapping_version = self.timers_version = 0
        self.skips_misfits = False
        self._apart: tuple[int, dict[int, str]] = -1, {}
        self._frame_at_ns = self._frame_delta_ns = self._frame_cut_ns = 0
        self._frame_phases: Sequence[int] = NO_PHASES
        self._frame_shares: tuple[int, ...] = NO_SHARES
        self._kept_of_loops = self._last_order = 0
        # Timers whose session due time is unknown; if they are many, a search finds them.
        self._unknown: set[int] = set()
        self._has_many_unknown = False
        self._stale_clocks: set[int] = set()
        self._fold = self._handlers()

    def apply_all(self, events: Iterable[RawEvent]) -> int:
        """Fold events in their order; returns their number.

        Raises:
            KeyError, ValueError, IndexError, OverflowError: An event does not fit the state, and
                misfits are not skipped.
        """
        fold = self._fold
        count = 0
        for at_ns, kind, subject, a, b in events:
            count += 1
            step = fold.get(kind)
            if step is not None:
                try:
                    step(at_ns, subject, a, b)
                except MISFIT:
                    if not self.skips_misfits:
                        raise
                    self.misfits += 1
            self.at_ns = at_ns
        if count:
            self.newest_ns = self.at_ns
        self.events_folded += count
        return count

    def apply_blocks(self, blocks: Iterable[Numbers]) -> None:
        """Fold blocks of events, five numbers each."""
        for block in blocks:
            for part in new_timers_apart(block):
                if not isinstance(part, NewTimers):
                    self.apply_all(part)
                elif not self._add_timers(part):
                    self.apply_all(events_of(part.events))

    def _add_timers(self, new: NewTimers) -> bool:
        """Fold the events of many new timers at once; change nothing if one does not fit."""
        per_clock = new.per_clock()
        if TIMER_ADDED not in self._fold or not per_clock.keys() <= self.clocks.keys():
            return False
        if not self.timers.add_all(new, self._last_order):
            return False
        for clock_id, count in per_clock.items():
            self.clocks[clock_id].pending += count
        self._last_order += len(new)
        self._has_many_unknown = True
        self.timers_version += len(new)
        self.at_ns = self.newest_ns = new.at_ns[-1]
        self.events_folded += 3 * len(new)
        return True

    def leave_out(self, kinds: frozenset[int]) -> None:
        """Ignore events of some kinds from now on; without frames, folding takes half as long."""
        self._fold = {kind: step for kind, step in self._fold.items() if kind not in kinds}

    def set_present(self, at_ns: int) -> None:
        """Let time pass without events; never goes back."""
        self.at_ns = max(self.at_ns, at_ns)

    def copy(self) -> Timeline:
        """Return an independent copy."""
        twin = copy(self)
        twin.clocks = {number: clock.copy() for number, clock in self.clocks.items()}
        twin.timers = self.timers.copy(self.strings)
        twin.members = self.members.copy(self.strings)
        twin.tasks = self.tasks.copy()
        twin.frames = self.frames.copy()
        twin.loops = {number: loop.copy() for number, loop in self.loops.items()}
        twin.failures = self.failures.copy()
        twin.marks = self.marks.copy()
        twin.commands = list(self.commands)
        twin.hits = list(self.hits)
        twin.holds = list(self.holds)
        twin._unknown = set(self._unknown)
        twin._stale_clocks = set(self._stale_clocks)
        twin._fold = twin._handlers()
        return twin

    def _handlers(self) -> dict[int, Handler]:
        return handlers_of(self) | handlers_of(self.members) | handlers_of(self.tasks)

    def choose_frames(self, clock_id: int) -> None:
        """Have :attr:`frames` hold those of another loop, which may not have been found yet."""
        if clock_id == self.frames_of:
            return
        if (former := self.loops.get(self.frames_of)) is not None:
            former.frames, former.open_frame = self.frames, self.open_frame
        chosen = self.loops.get(clock_id) or LoopFrames("", LoopKind.DRAWS_FRAMES)
        self.frames, self.open_frame = chosen.frames, chosen.open_frame
        chosen.frames = FrameHistory()
        chosen.begin(0, 0)
        self.frames_of = clock_id
        self._kept_of_loops = sum(len(each.frames) for each in self.loops.values())
        self.number_frames()

    def number_frames(self) -> None:
        """Number the frames of commands and failures again, by the present :attr:`frames`."""
        for place, command in enumerate(self.commands):
            self.commands[place] = structs.replace(command, frame=self._frame_at(command.at_ns))
        for place, failure in enumerate(self.failures):
            self.failures[place] = structs.replace(failure, frame=self._frame_at(failure.at_ns))

    def _frame_at(self, at_ns: int) -> int:
        frames = self.frames
        index = frames.index_at(at_ns)
        if index == frames.first:
            return index
        last = frames.frame(index - 1)
        return index - (at_ns < last.at_ns + last.busy_ns)

    @property
    def lasts_since_ns(self) -> int | None:
        """The start of the frame that has not ended; ``None`` if all have."""
        ended_ns = self.frames.at_ns[-1] if len(self.frames) else 0
        return self._frame_at_ns if self._frame_at_ns > ended_ns else None

    @property
    def open_frame(self) -> list[int]:
        """The frame that has not ended: start, delta, cut, phases and shares."""
        begun = [self._frame_at_ns, self._frame_delta_ns, self._frame_cut_ns]
        return [*begun, *self._frame_phases, *self._frame_shares]

    @open_frame.setter
    def open_frame(self, values: Sequence[int]) -> None:
        self._frame_at_ns, self._frame_delta_ns, self._frame_cut_ns, *rest = values
        self._frame_phases, self._frame_shares = rest[: len(Phase)], tuple(rest[len(Phase) :])

    def only_clocks(self) -> Timeline:
        """Return an independent copy of the clocks alone, for local times."""
        twin = Timeline(self.strings)
        twin.clocks = {number: clock.copy() for number, clock in self.clocks.items()}
        twin.root_id, twin.skips_misfits = self.root_id, self.skips_misfits
        return twin

    def steps(self, kinds: Iterable[int]) -> dict[int, Handler]:
        """Return the handlers of some kinds, for readers that fold only these."""
        return {kind: self._fold[kind] for kind in kinds}

    # -------------------------------------------------------------- questions

    @property
    def is_of_programs(self) -> bool:
        """Whether calls have the instants at which they were made, as those of attached programs.

        Those of a scene have their due instants.
        """
        return not self.scene_path

    def local_ns(self, clock_id: int, at_ns: int | None = None) -> int:
        """Return a clock's local time now, or at an instant since its last change.

        Raises:
            KeyError: There is no such clock.
        """
        local = self.at_ns if at_ns is None else at_ns
        path = []
        while clock_id:
            clock = self.clocks[clock_id]
            path.append(clock)
            # If a clock stands still, the time of the clocks above it does not matter.
            clock_id = clock.parent_id if clock.n else 0
        for clock in reversed(path):
            local = local_ns(local, clock.n, clock.off)
        return local

    @property
    def names_apart(self) -> dict[int, str]:
        """The names of clocks as :func:`.states.names_apart` tells them apart."""
        if self._apart[0] != self.structure_version:
            self._apart = self.structure_version, names_apart(self.clocks)
        return self._apart[1]

    def path(self, clock_id: int) -> list[ClockState]:
        """Return the clock and its ancestors, the root last.

        Raises:
            KeyError: There is no such clock.
        """
        found = []
        while clock_id:
            clock = self.clocks[clock_id]
            found.append(clock)
            clock_id = clock.parent_id
        return found

    def branch(self, clock_id: int) -> list[int]:
        """Return the clock and everything below it, depth first."""
        found = []
        waiting = [clock_id]
        while waiting:
            number = waiting.pop()
            found.append(number)
            waiting.extend(reversed(self.clocks[number].children))
        return found

    def effective_rate(self, clock_id: int) -> Fraction:
        """Return local seconds per session second, 0 when stopped."""
        return product_of_rates(clock.n for clock in self.path(clock_id))

    def pause_reasons(self, clock_id: int) -> tuple[StoppedClock, ...]:
        """Return the clocks that make this one stand still, the nearest first."""
        path = self.path(clock_id)
        return tuple(self.stop_of(clock, of=clock_id) for clock in path if clock.n == 0)

    def stop_of(self, clock: ClockState, *, of: int) -> StoppedClock:
        """Return a stopped clock as the reason why it, or a clock below it, stands still."""
        return StoppedClock(
            clock_id=clock.id,
            clock_name=clock.name,
            since_ns=clock.paused_since_ns,
            is_own=clock.id == of,
            is_rate_zero=not clock.paused,
            cause=clock.pause_cause,
            is_detached=self.detachment(clock) is not None,
        )

    def detachment(self, clock: ClockState) -> Mark | None:
        """Return the mark that says that the program of a clock was detached, if there is one."""
        if not clock.paused or clock.pause_cause:
            return None
        marks = self.marks
        place = bisect_left(marks, clock.paused_since_ns, key=_marked_ns)
        while place < len(marks) and (mark := marks[place]).at_ns == clock.paused_since_ns:
            if mark.clock_id == clock.id and mark.is_of_detached:
                return mark
            place += 1
        return None

    def stopping_clocks(self, member: MemberState) -> tuple[StoppedClock, ...]:
        """Return the stopped clocks that a member waits for, the nearest first."""
        if member.clock_id not in self.clocks or not member.waits_for_clock:
            return ()
        return self.pause_reasons(member.clock_id)

    def session_due_ns(self, timer_id: int) -> int | None:
        """Return when a pending timer fires at present rates, ``None`` for never.

        Raises:
            KeyError: The timer is not pending.
        """
        i = self.timers.index(timer_id)
        due_ns = self._to_session_ns(self.timers.clock[i], self.timers.due[i])
        return None if due_ns == NEVER else due_ns

    def resolve_dues(self) -> None:
        """Bring the column ``timers.session_due`` up to date.

        Its cost is proportional to the changes: timers armed since, and all timers of branches
        whose rate, pause or parent has changed.
        """
        table = self.timers
        if len(self._unknown) > _FEW + len(table) // _SEARCHED:
            self._has_many_unknown = True
            self._unknown.clear()
        if self._stale_clocks or self._has_many_unknown:
            self._resolve_branches()
        shifts: dict[int, int | None] = {}
        for timer_id in self._unknown:
            if timer_id in table:
                i = table.index(timer_id)
                clock_id, due_ns = table.clock[i], table.due[i]
                if clock_id not in shifts:
                    shifts[clock_id] = self._shift_to_session(clock_id)
                shift_ns = shifts[clock_id]
                # Most clocks run at rate 1, where a single difference maps all timers of a clock.
                if shift_ns is None or NEVER in (shift_ns, due_ns):
                    table.session_due[i] = self._to_session_ns(clock_id, due_ns)
                else:
                    table.session_due[i] = max(min(due_ns - shift_ns, NEVER - 1), -NEVER)
        self._unknown.clear()

    def _resolve_branches(self) -> None:
        stale: set[int] = set()
        for clock_id in self._stale_clocks:
            if clock_id in self.clocks and clock_id not in stale:
                stale.update(self.branch(clock_id))
        self._stale_clocks.clear()
        searches, self._has_many_unknown = self._has_many_unknown, False
        if not (stale or searches) or not len(self.timers):
            return
        import numpy as np  # noqa: PLC0415 - the fold itself must not need numpy

        clock_column = self.timers.numpy("clock")
        is_stale = np.isin(clock_column, np.fromiter(stale, np.int64, len(stale)))
        if searches:
            is_stale |= self.timers.numpy("session_due") == UNKNOWN
        is_never = self.timers.numpy("due") == NEVER
        self.timers.numpy("session_due")[is_stale & is_never] = NEVER
        rows = np.flatnonzero(is_stale & ~is_never)
        for start in range(0, rows.size, _TOGETHER):
            self._resolve_rows(rows[start : start + _TOGETHER])

    def _resolve_rows(self, rows: NDArray[np.intp]) -> None:
        import numpy as np  # noqa: PLC0415 - the fold itself must not need numpy

        clock_column = self.timers.numpy("clock")
        owners, owner_of_row = np.unique(clock_column[rows], return_inverse=True)
        shifts = [self._shift_to_session(owner) for owner in owners.tolist()]
        due = self.timers.numpy("due")[rows]
        # Most clocks stand still, or run at rate 1 with due times within a century. Exact
        # arithmetic maps the others, clock by clock.
        is_scaled = np.array([shift is None for shift in shifts])[owner_of_row]
        shift_of_row = np.array([shift or 0 for shift in shifts], np.int64)[owner_of_row]
        is_stopped = shift_of_row == NEVER
        session_due = np.where(is_stopped, NEVER, due - shift_of_row)
        for column in (due, shift_of_row):
            is_scaled |= ((column > _FAR_NS) | (column < -_FAR_NS)) & ~is_stopped
        scaled = np.flatnonzero(is_scaled)
        if scaled.size:
            scaled = scaled[np.argsort(owner_of_row[scaled], kind="stable")]
            ends = np.flatnonzero(np.diff(owner_of_row[scaled])) + 1
            for mine in np.split(scaled, ends):
                path = self.path(int(owners[owner_of_row[mine[0]]]))
                session_due[mine] = session_instants(due[mine], path)
        self.timers.numpy("session_due")[rows] = session_due

    def _shift_to_session(self, clock_id: int) -> int | None:
        """Return local minus session time, ``NEVER`` when stopped, ``None`` at other rates."""
        total = 0
        is_plain = True
        for clock in self.path(clock_id):
            if clock.n == 0:
                return NEVER
            is_plain = is_plain and clock.n == D
            total += clock.off // D
        return total if is_plain else None

    def _to_session_ns(self, clock_id: int, due_ns: int) -> int:
        if due_ns == NEVER:
            return NEVER
        while clock_id:
            clock = self.clocks[clock_id]
            if clock.n == 0:
                return NEVER
            due_ns = parent_ns(due_ns, clock.n, clock.off)
            clock_id = clock.parent_id
        # Columns hold 64 bits, and no session lasts until such an instant.
        return max(min(due_ns, NEVER - 1), -NEVER)

    # ------------------------------------------------------------------- fold

    def _on_clock_added(self, at_ns: int, subject: int, a: int, b: int) -> None:
        if subject <= 0 or subject in self.clocks:
            raise ValueError(f"clock {subject} cannot be added")
        clock = ClockState(subject, self.strings[b], a, D, D, 0, at_ns)
        if a:
            self.clocks[a].children.append(subject)
        else:
            self.root_id = subject
        self.clocks[subject] = clock
        self.structure_version += 1

    def _on_clock_anchored(self, at_ns: int, subject: int, a: int, b: int) -> None:
        clock = self.clocks[subject]
        clock.rate_n = clock.n = b
        clock.off = -a * b
        if b == 0:
            clock.paused_since_ns = at_ns
        self.mapping_version += 1

    def _on_clock_rate(self, at_ns: int, subject: int, a: int, b: int) -> None:
        clock = self.clocks[subject]
        clock.rate_n = a
        if clock.paused:
            self.mapping_version += 1
            return
        if a == 0:
            clock.paused_since_ns = at_ns
            clock.pause_cause = b
        self._set_mapping(clock, at_ns, a)

    def _on_clock_paused(self, at_ns: int, subject: int, a: int, _b: int) -> None:
        clock = self.clocks[subject]
        clock.paused = True
        clock.paused_since_ns = at_ns
        clock.pause_cause = a
        self._set_mapping(clock, at_ns, 0)

    def _on_clock_resumed(self, at_ns: int, subject: int, _a: int, _b: int) -> None:
        clock = self.clocks[subject]
        clock.paused = False
        clock.pause_cause = 0
        self._set_mapping(clock, at_ns, clock.rate_n)

    def _set_mapping(self, clock: ClockState, at_ns: int, n: int) -> None:
        above_ns = self.local_ns(clock.parent_id, at_ns) if clock.parent_id else at_ns
        clock.off = reanchored(clock.off, above_ns, clock.n, n)
        clock.n = n
        self._mapping_changed(clock.id)

    def _mapping_changed(self, clock_id: int) -> None:
        self.mapping_version += 1
        self.timers_version += 1
        self._stale_clocks.add(clock_id)

    def _on_clock_moved(self, at_ns: int, subject: int, a: int, _b: int) -> None:
        clock = self.clocks[subject]
        old_ns = self.local_ns(clock.parent_id, at_ns)
        new_ns = self.local_ns(a, at_ns)
        if not clock.parent_id or not a or any(above.id == subject for above in self.path(a)):
            raise ValueError(f"clock {subject} cannot be moved under clock {a}")
        clock.off = moved(clock.off, clock.n, old_ns, new_ns)
        self.clocks[clock.parent_id].children.remove(subject)
        clock.parent_id = a
        self.clocks[a].children.append(subject)
        self.structure_version += 1
        self._mapping_changed(subject)

    def _on_clock_removed(self, _at_ns: int, subject: int, _a: int, _b: int) -> None:
        self.clocks[self.clocks[subject].parent_id].children.remove(subject)
        gone = set(self.branch(subject))
        # The search ends after the expected number of timers, which for most branches is 0.
        pending = sum(self.clocks[clock_id].pending for clock_id in gone)
        columns = zip(self.timers.id, self.timers.clock, strict=True)
        theirs = (timer_id for timer_id, clock_id in columns if clock_id in gone)
        for timer_id in list(islice(theirs, pending)):
            self.timers.remove(timer_id)
        self.members.clocks_removed(gone)
        if self.tasks.told_ns:
            self.tasks.forget(gone)
        for clock_id in gone:
            del self.clocks[clock_id]
        self.structure_version += 1
        self.timers_version += 1

    def _on_tasks_told(self, at_ns: int, subject: int, a: int, _b: int) -> None:
        if a:
            self.tasks.told_ns[subject] = at_ns
            self.tasks.version += 1
        else:
            self.tasks.forget(self.branch(subject))

    def _on_timer_added(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        clock = self.clocks[a]
        self.timers.add(subject, a, b)
        clock.pending += 1

    def _on_timer_origin(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        i = self.timers.index(subject)
        self.timers.site[i] = a
        self.timers.kind[i] = b

    def _on_timer_armed(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        table = self.timers
        i = table.index(subject)
        table.due[i] = a
        table.interval[i] = b
        table.session_due[i] = UNKNOWN
        self._last_order = table.order[i] = self._last_order + 1
        self._unknown.add(subject)
        self.timers_version += 1

    def _on_timer_fired(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        table = self.timers
        self.timers_version += 1
        if b == NEVER:
            self._unknown.discard(subject)
            self.clocks[table.remove(subject)].pending -= 1
            return
        i = table.index(subject)
        table.fired[i] += 1
        table.lateness[i] = a
        if table.due[i] != b:
            table.due[i] = b
            table.session_due[i] = UNKNOWN
            self._last_order = table.order[i] = self._last_order + 1
            self._unknown.add(subject)

    def _on_timer_cleared(self, _at_ns: int, subject: int, _a: int, _b: int) -> None:
        self._unknown.discard(subject)
        self.clocks[self.timers.remove(subject)].pending -= 1
        self.timers_version += 1

    def _on_frame_began(self, at_ns: int, _subject: int, _a: int, b: int) -> None:
        self._frame_at_ns = at_ns
        self._frame_delta_ns = b
        self._frame_cut_ns = 0
        self._frame_phases = NO_PHASES
        self._frame_shares = NO_SHARES

    def _on_frame_shares(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        self._frame_shares = (*durations_of(subject), *durations_of(a), b)

    def _on_phase_ended(self, _at_ns: int, subject: int, _a: int, b: int) -> None:
        self._frame_phases = with_phase(self._frame_phases, subject, b)

    def _on_delta_cut(self, _at_ns: int, _subject: int, a: int, _b: int) -> None:
        self._frame_cut_ns = a

    def _on_frame_ended(self, _at_ns: int, _subject: int, a: int, b: int) -> None:
        self.frames.append(
            self._frame_at_ns,
            a,
            self._frame_delta_ns,
            b,
            self._frame_cut_ns,
            self._frame_phases,
            self._frame_shares,
        )

    def _on_loop_found(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        if subject in self.loops:
            raise ValueError(f"loop {subject} was found before")
        self.loops[subject] = LoopFrames(self.strings[a], LoopKind(b))
        self.frames_of = self.frames_of or subject

    def _on_loop_asked(self, _at_ns: int, subject: int, a: int, _b: int) -> None:
        if (loop := self.loops.get(subject)) is not None:
            loop.asked_ns = a

    def _on_loop_frame_began(self, at_ns: int, subject: int, _a: int, b: int) -> None:
        self.loops[subject].begin(at_ns, b)

    def _on_loop_phase_ended(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        loop = self.loops[subject]
        loop.phases = with_phase(loop.phases, frame_and_phase_in(a)[1], b)

    def _on_loop_delta_cut(self, _at_ns: int, subject: int, a: int, _b: int) -> None:
        self.loops[subject].cut_ns = a

    def _on_loop_frame_ended(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        self.loops[subject].end(a, b)
        self._kept_of_loops += 1
        if self._kept_of_loops > MOST_KEPT:
            self._kept_of_loops = drop_oldest(self.loops)

    def _on_callback_failed(self, at_ns: int, subject: int, a: int, b: int) -> None:
        strings = self.strings
        self.failures.append(Failure(at_ns, self.frames.end, strings[a], strings[b], subject))

    _on_thread_failed = _on_callback_failed

    def _on_mark(self, at_ns: int, subject: int, a: int, _b: int) -> None:
        self.marks.append(Mark(at_ns, self.strings[a], subject))

    def _on_command(self, at_ns: int, subject: int, a: int, b: int) -> None:
        strings, frame = self.strings, self.frames.end
        self.commands.append(CommandRecord(at_ns, subject, strings[a], strings[b], frame=frame))

    def _on_command_context(self, at_ns: int, subject: int, a: int, b: int) -> None:
        if not self.commands:
            return
        about = subject or self.root_id or 0
        self.commands[-1] = structs.replace(
            self.commands[-1],
            clock_id=subject,
            local_ns=self.local_ns(about, at_ns) if about in self.clocks else at_ns,
            host_ms=a,
            by=self.strings[b],
        )

    def _on_command_form(self, _at_ns: int, subject: int, a: int, _b: int) -> None:
        if subject and self.commands and self.commands[-1].number == subject:
            self.commands[-1] = structs.replace(self.commands[-1], form=self.strings[a])

    def _on_breakpoint_hit(self, at_ns: int, subject: int, a: int, b: int) -> None:
        self.hits.append(BreakHit(at_ns, subject, self.strings[a], b))

    def _on_transport(self, at_ns: int, subject: int, _a: int, _b: int) -> None:
        if self.is_running and subject == Mode.HELD:
            self.holds.append(Held(at_ns))
        self.is_running = subject == Mode.RUNNING

    def _on_scene(self, _at_ns: int, subject: int, a: int, _b: int) -> None:
        self.scene_path = self.strings[a]
        self.scene_generation = subject
