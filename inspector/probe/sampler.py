"""Looks at the threads of loops that are busy for too long, and reports what they are doing.

Runs on the thread of the link, which wakes every few milliseconds anyway: while every turn is
short, each look is a comparison of numbers. If a turn lasts, each look notes the stack, what the
loop is calling, how much processor time its thread has used, how long the thread was ready to run
without a processor, and which other thread has run instead.
"""

from __future__ import annotations

import gc
import sys
import threading
from time import monotonic_ns

from .kinds import (
    COLLECTED,
    OTHER_THREAD,
    PROCESS_STOPPED,
    RUNNING_CALL,
    RUNS_CALLBACK,
    RUNS_FRAME,
    RUNS_TASK,
    SAMPLE_TIMES,
    SAMPLED,
    SAW_AFTER_GAP,
    SAW_AFTERWARDS,
    SAW_BETWEEN_TURNS,
    SAW_END,
    SAW_NO_TIMES,
    SAW_WAIT,
    STACK_FRAME,
)
from .loops_in_c import LoopsInC
from .stacks import WAITING_FILES, Runner, called_names, own_place, stack_of, wait_of
from .thread_times import STOP_NS, SWITCH_NS, OtherThreads, Stops, ThreadTimes, other_times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Callable, Optional

    from .clocks import Clock
    from .frames import Frames
    from .program import Program

    Events = list[tuple[int, int, int, int, int]]

#: A turn is long if it takes both this time and this many times what is usual for its loop.
LONG_NS = 10_000_000
_TIMES_USUAL = 1.5
#: Time between samples: at first, once a turn has lasted for a tenth of a second, for a second.
_PACES = ((100_000_000, 5_000_000), (1_000_000_000, 10_000_000), (1 << 62, 20_000_000))
#: Every this many samples, the full stack is sent, so that readers need not go back to the first.
WHOLE_EVERY = 32
_MS_NS = 1_000_000
#: Shorter times in which the sampler could not look are not reported.
_GAP_NS = 8_000_000
#: A thread that computed, or was ready to, for this share of such a gap has kept the
#: interpreter's lock.
_KEPT = 0.8
#: A thread that ran for this share of the time did not lack a processor for long.
_RUNS = 0.9
#: How often times are read while turns are short.
_REST_NS = 150_000_000
#: Shorter collections are not reported.
_COLLECTION_NS = 500_000

#: Where loops wait for their next event: the function, and a part of its file.
_POLLING = {
    "select": "selectors.py",
    "get_events": "_io_",
    "doPoll": "twisted",
    "doSelect": "twisted",
    "doKEvent": "twisted",
    "mainloop": "tkinter",
}
#: Shorter waits for a processor before a turn are not reported.
_TOLD_NS = 1_000_000


class Watched:
    __slots__ = (
        "clock",
        "cpu_ns",
        "frames",
        "index",
        "is_certain",
        "loops",
        "number",
        "others",
        "part",
        "ready_ns",
        "running",
        "runs",
        "sampled_ns",
        "stack",
        "still_ns",
        "thread",
        "thread_times",
        "turn_ns",
        "usual_ns",
    )

    def __init__(self, clock: Clock, threads: tuple[int, int], frames: Optional[Frames]) -> None:
        self.clock = clock  # Its clock
        self.thread, native = threads  # thread: the thread that it runs on
        # Its frames if they are its turns; None if only its stack tells when it is busy
        self.frames = frames
        self.thread_times = ThreadTimes(native)
        #: When it was last looked at, and what its thread had used by then.
        self.sampled_ns = 0
        self.cpu_ns = self.ready_ns = self.runs = -1
        self.still_ns = 0  # For how long it has not run at all, if that is known
        self.others = OtherThreads()
        self.usual_ns = self.index = 0
        #: What was sent last of the turn.
        self.stack: list[int] = []
        self.loops: Optional[LoopsInC] = None  # Where it waits, if that is in C
        self.running: tuple[object, int] = (None, 0)
        self.end_turn()

    def is_quiet(self, now_ns: int) -> bool:
        """Return whether its turns are short, so that its times need not be read again yet."""
        frames = self.frames
        if frames is None or self.number or now_ns - self.sampled_ns > _REST_NS:
            return False
        began_ns = frames.began_ns
        is_between = began_ns <= frames.ended_ns
        return is_between or (self.sampled_ns > began_ns and now_ns - began_ns < LONG_NS)

    def times(self, now_ns: int) -> tuple[int, int, int]:
        """Return processor time, time without a processor and how often it has run; -1: not known.

        Reading a file releases the interpreter's lock, which may take long to get back if other
        threads want it, so the last two are not read for a thread that has run all the time.
        """
        try:
            cpu_ns = self.thread_times.cpu_ns()
            if self.cpu_ns >= 0 and cpu_ns - self.cpu_ns >= _RUNS * (now_ns - self.sampled_ns):
                return cpu_ns, self.ready_ns, self.runs
            return cpu_ns, *self.thread_times.scheduled()
        except OSError:
            return -1, -1, -1

    def end_turn(self) -> None:
        """Forget the turn that was long."""
        # turn_ns: When the running turn began, 0 between turns
        # number: How many samples of it there are
        # part: Of how many calls, less one
        self.turn_ns = self.number = self.part = 0
        self.is_certain = False  # Whether an earlier look has seen it


class Sampler:
    """Looks at the loops of a program, on the thread of the link."""

    def __init__(self, program: Program, now_ns: Callable[[], int] = monotonic_ns) -> None:
        self._program = program
        self._now_ns = now_ns
        self._watched: dict[int, Watched] = {}
        # The clock of threads that wait: only times in which no thread could run are told of it.
        self._threads: Optional[Watched] = None
        self._changes = -1
        self._asked_ns = 0
        self._began_ns = self._stuck_ns = self._due_ns = 0
        #: While all turns are short: until when only these frames need be read.
        self._rest_ns = 0
        self._quick: list[Frames] = []
        self._stops = Stops()
        self._collection_ns = 0
        # Without a lock on the interpreter, stacks change while they are read.
        self._is_broken = not getattr(sys, "_is_gil_enabled", lambda: True)()
        self.is_busy = False  # Whether a turn is long now, so that the next look should come soon

    def begin(self) -> None:
        """An inspector has come."""
        self._changes, self._asked_ns = -1, 0
        gc.callbacks.append(self._collected)

    def end(self) -> None:
        """It has gone, or this is a child that was forked."""
        if self._collected in gc.callbacks:
            gc.callbacks.remove(self._collected)
        for watched in self._watched.values():
            watched.thread_times.close()
        self._watched.clear()
        self._threads = None
        self._stops.close()
        self.is_busy = False

    def wait_ns(self, most_ns: int) -> int:
        """Return how long to wait for the next look, at most ``most_ns``."""
        now_ns = self._now_ns()
        # The link, which has sent events since the look, may have waited for the interpreter.
        self._stuck_ns = now_ns - self._began_ns if self._began_ns else 0
        if self.is_busy:
            most_ns = min(most_ns, self._pace_ns(now_ns))
        # poll() counts in milliseconds.
        self._asked_ns = now_ns + most_ns + _MS_NS
        self._stops.sleeps()
        return most_ns

    def put_off(self, wait_ns: int) -> None:
        """Expect the next look in ``wait_ns``, not when :meth:`wait_ns` said; from any thread."""
        self._asked_ns = self._now_ns() + wait_ns + _MS_NS

    def sample(self) -> None:
        """Sample every loop, and report long turns."""
        if self._program.emit is None or self._is_broken:
            return
        now_ns = self._now_ns()
        if now_ns < self._due_ns and now_ns < self._asked_ns - _MS_NS:
            # A message has woken the link early.
            self._began_ns, self._stuck_ns = now_ns, 0
            return
        if now_ns < self._rest_ns and self._stuck_ns < _GAP_NS and self._are_quiet(now_ns):
            self._asked_ns, self._stuck_ns, self._began_ns = 0, 0, now_ns
            self._due_ns = now_ns + LONG_NS * 3 // 4
            return
        try:
            self._sample_loops(now_ns)
        except Exception:  # noqa: BLE001 - nothing here may end the link, or the program
            self._is_broken = True
            self.is_busy = False

    def sample_last(self) -> None:
        """Sample once more before the thread ends: it may not have had the interpreter for long."""
        self.wait_ns(0)
        self.sample()

    def report_waits(self, waiting: Callable[[int, int], bool], passed_ns: int) -> None:
        """Report that virtual time has passed, and what loops waited for in a turn meanwhile.

        Args:
            waiting: Called with a thread and the number of its loop's clock, 0 for a loop that
                reports its turns. Returns whether the thread waits for its next event, or the
                loop has not run.
            passed_ns: How much virtual time has passed.
        """
        if self._program.emit is None or self._is_broken:
            return
        if self._program.changes != self._changes:
            self._changes = self._program.changes
            self._find_loops()
        now_ns = self._now_ns()
        for watched in self._watched.values():
            frames = watched.frames
            is_between = frames is not None and frames.began_ns <= frames.ended_ns
            number = watched.clock.number if frames is None else 0
            if is_between or waiting(watched.thread, number):
                continue
            view = _View()
            view.stack, view.runner = stack_of(watched.thread, is_after=False)
            view.running = self._running(watched, view.runner)
            watched.end_turn()
            self._report_stack(watched, view, now_ns, passed_ns, (0, 0, 0), 0)
            watched.end_turn()

    def _are_quiet(self, now_ns: int) -> bool:
        """Return whether all turns are short, reading as little as possible."""
        if self._program.changes != self._changes or now_ns - self._asked_ns >= _GAP_NS:
            return False
        for frames in self._quick:
            began_ns = frames.began_ns
            if began_ns > frames.ended_ns and now_ns - began_ns >= LONG_NS:
                return False
        return True

    def _sample_loops(self, now_ns: int) -> None:
        program = self._program
        late_ns = max(now_ns - self._asked_ns, 0) if self._asked_ns else 0
        if self._stuck_ns >= _GAP_NS:
            late_ns += self._stuck_ns
        self._asked_ns, self._stuck_ns, self._began_ns = 0, 0, now_ns
        gone: list[Watched] = []
        if program.changes != self._changes:
            self._changes = program.changes
            gone = self._find_loops()
        loops = [
            watched
            # In a gap, a loop that is gone may have had its last turn.
            for watched in (*self._watched.values(), *gone)
            if late_ns >= _GAP_NS or not watched.is_quiet(now_ns)
        ]
        has_threads = self._threads is not None
        if not self._watched and not loops and not has_threads:
            return
        reads_stops = late_ns >= STOP_NS or now_ns - self._stops.read_ns >= _REST_NS
        others = other_times() if loops or (has_threads and reads_stops) else {}
        # Reading files releases the interpreter's lock, so stacks are read first.
        seen = [(watched, self._see(watched, now_ns, late_ns, others)) for watched in loops]
        kept = self._see_kept(now_ns, others) if reads_stops else None
        is_busy, stop_ns, self._stops.lacked_ns = False, 0, 0
        if reads_stops:
            stop_ns = self._stops.stopped_ns(now_ns, late_ns)
        for watched, view in seen:
            if self._sample_loop(watched, view, now_ns, 0 if stop_ns else late_ns):
                is_busy = True
        self._report_kept(kept, now_ns, 0 if stop_ns else late_ns)
        for watched in gone:
            watched.thread_times.close()
        if stop_ns:
            program.extend(((now_ns, PROCESS_STOPPED, program.own_clock.number, stop_ns, 0),))
        self.is_busy = is_busy
        self._due_ns = now_ns + self._pace_ns(now_ns) * 3 // 4
        mine = [(watched.frames, watched.number) for watched in self._watched.values()]
        self._quick = [frames for frames, number in mine if frames is not None and not number]
        is_quick = not is_busy and len(self._quick) == len(mine)
        self._rest_ns = now_ns + _REST_NS if is_quick else 0

    def _pace_ns(self, now_ns: int) -> int:
        """Return how long to wait for the next look, by the youngest long turn."""
        if not self.is_busy:
            return LONG_NS
        turn_ns = max((w.turn_ns for w in self._watched.values() if w.turn_ns), default=now_ns)
        return next(pace_ns for until_ns, pace_ns in _PACES if now_ns - turn_ns < until_ns)

    # ----------------------------------------------------------------- which loops

    def _find_loops(self) -> list[Watched]:
        """Watch all present loops; returns those that are gone."""
        program, watched = self._program, self._watched
        clocks = program.clocks.by_number
        gone = [watched.pop(number) for number in list(watched) if number not in clocks]
        for each in gone:
            if each.frames is not None:
                # Its last turn does not end.
                each.frames.began_ns = 0
        for number, frames in list(program.loops.items()):
            clock = clocks.get(number)
            if clock is None or number in watched:
                continue
            if not getattr(clock.adapter, "has_hidden_turns", False):
                watched[number] = Watched(clock, frames.threads, frames)
        for number, clock in list(clocks.items()):
            found = None if number in watched else _watched_by_adapter(clock)
            if found is not None:
                watched[number] = found
            if getattr(clock.adapter, "has_waits_of_threads", False) and self._threads is None:
                self._threads = Watched(clock, (0, 0), None)
        return gone

    # --------------------------------------------------------------- waiting threads

    def _see_kept(self, now_ns: int, others: dict[int, int]) -> Optional[_View]:
        """Return which thread has run since the reading before; ``None`` if that is not known."""
        threads = self._threads
        if threads is None:
            return None
        since_ns, threads.sampled_ns = threads.sampled_ns, now_ns
        view = _View()
        self._see_other(threads, now_ns - since_ns, others, view)
        return view if since_ns and self._stops.read_ns else None

    def _report_kept(self, view: Optional[_View], now_ns: int, late_ns: int) -> None:
        """Report a gap in which no waiting thread can have run: none got the interpreter.

        The thread that looks wanted it all the time, and asked for it again and again.
        """
        threads, kept_ns = self._threads, late_ns - self._stops.lacked_ns
        if view is None or threads is None or late_ns < STOP_NS or kept_ns * 2 <= late_ns:
            return
        if self._stops.wakes * SWITCH_NS // 2 < kept_ns or threads.clock.is_held:
            return
        if self._program.first_due_ns(threads.clock) is not None:
            events = self._other(threads, view, now_ns, min(view.other_ns, kept_ns), kept_ns)
            self._report_sample(threads, now_ns, kept_ns, (0, 0), SAW_BETWEEN_TURNS, events)

    # -------------------------------------------------------------------- one loop

    def _see(self, watched: Watched, now_ns: int, late_ns: int, others: dict[int, int]) -> _View:
        """Return what a loop is doing, and which thread runs instead, if its turn may be long."""
        view, frames = _View(), watched.frames
        if frames is None:
            view.is_idle = self._is_idle(watched)
            is_long = not view.is_idle
        else:
            view.began_ns, view.ended_ns, view.index = (
                frames.began_ns,
                frames.ended_ns,
                frames.index,
            )
            is_long = view.began_ns > view.ended_ns and now_ns - view.began_ns >= LONG_NS
        if is_long:
            view.stack, view.runner = stack_of(watched.thread, is_after=late_ns >= _GAP_NS)
            view.running = self._running(watched, view.runner)
            if watched.loops is not None and watched.loops.is_all(view.stack, view.runner):
                # What the loop has called has only just been entered, or is over by now.
                view.stack, view.runner = [], Runner()
        self._see_other(watched, now_ns - watched.sampled_ns, others, view)
        return view

    def _see_other(
        self, watched: Watched, passed_ns: int, others: dict[int, int], view: _View
    ) -> None:
        other, other_ns = watched.others.used(others, watched.thread)
        view.other_ns = min(other_ns, passed_ns)
        if other_ns * 4 >= passed_ns:
            view.other = self._place_of(other)

    def _sample_loop(self, watched: Watched, view: _View, now_ns: int, late_ns: int) -> bool:
        """Sample a loop; returns whether its turn is long."""
        since_ns = watched.sampled_ns
        cpu_ns, ready_ns, runs = watched.times(now_ns)
        took_ns = cpu_ns - watched.cpu_ns if watched.cpu_ns >= 0 <= cpu_ns else -1
        waited_ns = ready_ns - watched.ready_ns if watched.cpu_ns >= 0 <= cpu_ns else -1
        ran, watched.runs = runs - watched.runs, runs
        watched.sampled_ns, watched.cpu_ns, watched.ready_ns = now_ns, cpu_ns, ready_ns
        if not since_ns:
            return False
        if watched.clock.is_held:
            watched.end_turn()
            return False
        passed_ns = now_ns - since_ns
        # A thread that waits for the interpreter asks for it again and again.
        idle_ns = passed_ns - max(took_ns, 0)
        view.asks = late_ns >= _GAP_NS and ran * SWITCH_NS // 2 >= idle_ns > _GAP_NS
        watched.still_ns = watched.still_ns + idle_ns if runs >= 0 and not ran else 0
        times = (took_ns, waited_ns, view.other_ns)
        turn_ns = self._busy_since(watched, view, since_ns, now_ns, times)
        if watched.number and turn_ns != watched.turn_ns:
            self._report_turn_end(watched, since_ns, times, passed_ns)
            late_ns = waited_ns = 0
        if turn_ns != watched.turn_ns:
            watched.end_turn()
            watched.turn_ns = turn_ns
        least_ns = max(LONG_NS, int(watched.usual_ns * _TIMES_USUAL))
        # If only its stack tells whether a loop is busy, one look may have met a short turn; not
        # if its thread has kept the interpreter's lock, which it releases between any two calls.
        is_gap = late_ns >= _GAP_NS and 2 * self._stops.lacked_ns < late_ns
        has_kept = is_gap and 10 * took_ns >= late_ns and took_ns + waited_ns >= _KEPT * late_ns
        is_certain = watched.is_certain or watched.frames is not None or has_kept
        if turn_ns and is_certain and now_ns - turn_ns >= least_ns:
            flags = SAW_AFTER_GAP if late_ns * 2 >= passed_ns else 0
            has_run = took_ns * 10 >= late_ns and (took_ns + waited_ns) * 2 >= late_ns
            is_after = is_gap and has_run
            flags |= SAW_AFTERWARDS if is_after else 0
            self._sample_turn(watched, view, now_ns, passed_ns, times, flags)
            return True
        watched.is_certain = True
        if late_ns >= _GAP_NS or waited_ns >= _GAP_NS // 2:
            flags = SAW_BETWEEN_TURNS | (SAW_NO_TIMES if took_ns < 0 else 0)
            events = self._other(watched, view, now_ns, view.other_ns, passed_ns)
            self._report_sample(watched, now_ns, passed_ns, times, flags, events)
        return turn_ns > 0 and watched.frames is None

    def _sample_turn(  # noqa: PLR0913, PLR0917 - what there is to tell
        self,
        watched: Watched,
        view: _View,
        now_ns: int,
        passed_ns: int,
        times: tuple[int, int, int],
        flags: int,
    ) -> None:
        """Report a sample of a long turn; the first one covers the whole turn so far."""
        covers_ns = passed_ns if watched.number else now_ns - watched.turn_ns
        is_same = watched.number > 0 and view.running[2] == watched.running[0]
        if self._stops.lacked_ns and not is_same:
            # In the gap, something else may have been called.
            covers_ns = max(covers_ns - self._stops.lacked_ns, 1)
        took_ns, waited_ns, other_ns = times
        if took_ns >= 0 and covers_ns > passed_ns:
            # There was no look when the turn began, so its times are estimated by the last part.
            took_ns = took_ns * covers_ns // passed_ns
            waited_ns = waited_ns * covers_ns // passed_ns
        elif covers_ns < passed_ns:
            # Divides the times into those since the turn began and those before.
            took_ns = min(took_ns, covers_ns)
            in_turn_ns = min(waited_ns, covers_ns - took_ns)
            before_ns = min(waited_ns - in_turn_ns, passed_ns - covers_ns)
            if before_ns >= _TOLD_NS and not watched.number and not self._stops.lacked_ns:
                told = (0, before_ns, 0)
                until_ns, between_ns = watched.turn_ns, passed_ns - covers_ns
                self._report_sample(watched, until_ns, between_ns, told, SAW_BETWEEN_TURNS, [])
            waited_ns = in_turn_ns
        seen_times = (took_ns, waited_ns, min(other_ns, covers_ns))
        self._report_stack(watched, view, now_ns, covers_ns, seen_times, flags)

    def _busy_since(
        self, watched: Watched, view: _View, since_ns: int, now_ns: int, times: tuple[int, int, int]
    ) -> int:
        """Return when the running turn has begun, 0 between turns."""
        frames = watched.frames
        if frames is not None:
            began_ns, ended_ns, index = view.began_ns, view.ended_ns, view.index
            ran = index - watched.index
            watched.index = index
            is_running = began_ns > ended_ns
            if ran > 0 and not watched.number:
                took = (now_ns - since_ns) // ran if is_running else frames.busy_ns
                took = min(took, 4 * watched.usual_ns + 1_000_000)
                watched.usual_ns += (took - watched.usual_ns) // 8
            return began_ns if is_running else 0
        if view.is_idle:
            return 0
        if watched.turn_ns:
            return watched.turn_ns
        took_ns, waited_ns, _ = times
        used_ns = took_ns + waited_ns if took_ns >= 0 else 0
        return now_ns - min(used_ns, now_ns - since_ns)

    def _is_idle(self, watched: Watched) -> bool:
        """Return whether a loop waits for its next event, by its thread's innermost frame."""
        frame = sys._current_frames().get(watched.thread)
        if frame is None:
            return True
        code = frame.f_code
        part = _POLLING.get(code.co_name)
        if part is not None and part in code.co_filename:
            return True
        if not getattr(watched.clock.adapter, "is_loop_in_c", False):
            return False
        if watched.loops is None:
            watched.loops = LoopsInC(self._program, watched.clock)
        return watched.loops.is_idle(frame)

    # ------------------------------------------------------------------- one sample

    def _report_stack(  # noqa: PLR0913, PLR0917 - what there is to tell
        self,
        watched: Watched,
        view: _View,
        now_ns: int,
        covers_ns: int,
        times: tuple[int, ...],
        flags: int,
    ) -> None:
        program, number = self._program, watched.clock.number
        name, kind, identity = view.running
        if watched.number and identity != watched.running[0]:
            watched.part += 1
        events: Events = []
        told = (program.text(name), kind)
        is_whole = watched.number % WHOLE_EVERY == 0
        if is_whole or (identity, told[0]) != watched.running:
            events.append((now_ns, RUNNING_CALL, number, *told))
        watched.running = (identity, told[0])
        sites = [program.resumed_site(code, line) for code, line in view.stack]
        waits, what = (False, "") if view.asks else wait_of(view.runner)
        if waits:
            flags |= SAW_WAIT
            if what:
                sites.append(program.text(f"<built-in>:0 in {what}"))
        before = [] if is_whole else watched.stack
        events += [
            (now_ns, STACK_FRAME, number, depth, site)
            for depth, site in enumerate(sites)
            if depth >= len(before) or before[depth] != site
        ]
        watched.stack = sites
        if watched.still_ns < _GAP_NS:
            # Else it was not the interpreter that it waited for.
            events += self._other(watched, view, now_ns, times[2], covers_ns)
        if times[0] < 0:
            flags |= SAW_NO_TIMES
        self._report_sample(watched, now_ns, covers_ns, times, flags, events)
        watched.number += 1

    def _other(
        self, watched: Watched, view: _View, now_ns: int, other_ns: int, covers_ns: int
    ) -> Events:
        """Return which other thread has run, if others have for a good part of the time."""
        if other_ns * 4 < covers_ns:
            return []
        return [(now_ns, OTHER_THREAD, watched.clock.number, other_ns, view.other)]

    def _place_of(self, thread: int) -> int:
        """Return a thread's name and what it is doing, as the number of a text; 0 if it ended."""
        known = threading._active.get(thread)  # type: ignore[attr-defined]
        if known is None:
            return 0
        program, place = self._program, ""
        seen, runner = stack_of(thread, is_after=False)
        # The stack of a thread that waits by now no longer shows what it was doing.
        if seen and not runner.probe_call and seen[-1][0].co_filename not in WAITING_FILES:
            place = program.texts[program.code_site(*own_place(seen))]
        return program.text(f"{known.name}: {place}")

    def _report_sample(  # noqa: PLR0913, PLR0917 - what there is to tell
        self,
        watched: Watched,
        now_ns: int,
        covers_ns: int,
        times: tuple[int, ...],
        flags: int,
        events: Events,
    ) -> None:
        """Report a sample, after the events that belong to it."""
        number = watched.clock.number
        took_ns, waited_ns = max(times[0], 0), max(times[1], 0)
        depth = 0 if flags & (SAW_BETWEEN_TURNS | SAW_END) else len(watched.stack)
        told = (min(watched.part, 0xFFFF) << 32) | ((watched.number & 0xFFFF) << 16)
        events.append((now_ns, SAMPLE_TIMES, number, took_ns, waited_ns))
        events.append((now_ns, SAMPLED, number, covers_ns, told | depth << 8 | flags))
        self._program.extend(tuple(events))

    def _report_turn_end(
        self, watched: Watched, since_ns: int, times: tuple[int, ...], passed_ns: int
    ) -> None:
        """Report how long a turn went on after its last sample, if that is known."""
        frames = watched.frames
        ended_ns = since_ns if frames is None else frames.ended_ns
        if frames is None:
            # Estimated by how long its thread has run or lacked a processor since.
            ended_ns = since_ns + min(max(times[0], 0) + max(times[1], 0), passed_ns)
        covers_ns = ended_ns - since_ns
        if not 0 < covers_ns <= passed_ns:
            return
        flags = SAW_END | (SAW_NO_TIMES if times[0] < 0 else 0)
        times = tuple(min(each, covers_ns) for each in times)
        self._report_sample(watched, ended_ns, covers_ns, times, flags, [])

    def _running(self, watched: Watched, runner: Runner) -> tuple[str, int, object]:
        """Return the name, kind and identity of what a loop is calling."""
        program, clock = self._program, watched.clock
        adapter = clock.adapter
        name, kind = "", RUNS_FRAME
        if adapter is not None:
            task = program.guarded(adapter, adapter.running_task, clock)
            if task is not None:
                return task[0], RUNS_TASK, task[1]
        if runner.name:
            return runner.name, RUNS_TASK if runner.is_task else RUNS_CALLBACK, runner.identity
        if watched.frames is None or getattr(adapter, "waits_for_events", False):
            kind = RUNS_CALLBACK
        return name, kind, runner.identity if kind == RUNS_CALLBACK else 0

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        """Called by the garbage collector, on the thread that it runs on."""
        if phase == "start":
            self._collection_ns = self._now_ns()
            return
        now_ns = self._now_ns()
        took_ns = now_ns - self._collection_ns
        if took_ns >= _COLLECTION_NS:
            emit = self._program.emit
            if emit is not None:
                number = self._program.own_clock.number
                line = _line_that_collects(sys._getframe().f_back)
                emit((now_ns, COLLECTED, number, took_ns, line << 16 | info["generation"]))


def _watched_by_adapter(clock: Clock) -> Optional[Watched]:
    """Return the loop of a clock whose turns are hidden, or known to its adapter alone."""
    if getattr(clock.adapter, "has_hidden_turns", False):
        return Watched(clock, clock.threads, None)
    turns = getattr(clock.adapter, "turns", None)
    return None if turns is None else Watched(clock, turns.threads, turns)


def _line_that_collects(frame: Optional[FrameType]) -> int:
    """Return the line of a frame that calls ``gc.collect``, 0 if it calls something else."""
    if frame is None:
        # A thread that runs nothing of Python's, or Python is ending.
        return 0
    code = frame.f_code
    try:
        asks = "collect" in code.co_names and "collect" in called_names(code, frame.f_lasti)
    except Exception:  # noqa: BLE001 - the program may have a module “dis” of its own
        return 0
    return frame.f_lineno if asks else 0


class _View:
    """What was seen of a loop in one look, before anything else was read."""

    __slots__ = (
        "asks",
        "began_ns",
        "ended_ns",
        "index",
        "is_idle",
        "other",
        "other_ns",
        "runner",
        "running",
        "stack",
    )

    def __init__(self) -> None:
        # began_ns: When the running frame of its loop began, 0 without one
        # ended_ns: When the latest ended
        # index: How many have ended
        # other: Another thread that has run, and what it is doing, as the number of a text
        # other_ns: Processor time of all others since the look before
        self.began_ns = self.ended_ns = self.index = self.other = self.other_ns = 0
        self.asks = False  # Whether its thread has asked for the interpreter all the time
        self.is_idle = True  # Without frames: whether it waits for its next event
        # Its stack, outermost first, of a turn that may be long
        self.stack: list[tuple[CodeType, int]] = []
        self.runner = Runner()  # What calls the program there
        # What is called: its name, kind and identity
        self.running: tuple[str, int, object] = ("", RUNS_FRAME, 0)
