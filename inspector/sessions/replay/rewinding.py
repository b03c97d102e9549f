"""Going back in time: the scene is rebuilt, and its journal replayed.

This takes long and is done in slices, so that the window stays responsive. Meanwhile the session
shows the former run, held; only when all is done, the second run takes its place.
"""

from __future__ import annotations

from collections.abc import Generator
from time import time_ns as wall_time_ns

from msgspec import structs

from inspector.commands.scene import GoBack
from inspector.sessions.breakpoints.breakpoints import Breakpoints
from inspector.sessions.breakpoints.stopping import note_hit
from inspector.sessions.replay.journal import (
    REWIND_ENTRY,
    AppliedCommand,
    CommandPlace,
    Journal,
    JournalEntry,
    Script,
)
from inspector.sessions.replay.replay import (
    LogEvents,
    ReplayDifference,
    RunEvents,
    difference_steps,
)
from inspector.sessions.scene_run import SceneRun, goes_to_end
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import Reading


class Rewinding:
    """Going back in time, in progress: a second run beside the present one.

    For the thread that owns the session. Between two slices the former run may be read, and may
    get commands.
    """

    def __init__(
        self, command: GoBack, number: int, frame: int, former: SceneRun, second: SceneRun
    ) -> None:
        """Set aside the modules of the former run; nothing is run yet.

        The former run must have been built. The second run must not be loaded yet, and needs a
        source of its own.
        """
        self.command = command
        self.number = number
        self.frame = frame  # The number of frames after which the scene will be held
        self.former = former  # The run that goes back; its modules are set aside meanwhile
        self.second = second  # The run that will take its place, as far as it has come
        # The command as it will be recorded; None until all is done
        self.applied: AppliedCommand | None = None
        self._steps = self._run_again()
        self._aside = {} if former.loaded is None else former.loaded.set_aside()

    @property
    def percent(self) -> int:
        """Progress from 0 to 100."""
        return 100 * self.second.frames_run // self.frame if self.frame else 0

    def go_on(self, slice_ns: int | None) -> bool:
        """Continue as :func:`goes_to_end` does; returns whether all is replayed and compared."""
        if goes_to_end(self._steps, slice_ns):
            return True
        self.second.fold_events()
        return False

    def give_up(self) -> None:
        # Closing the steps gives the time source to the second run; the former takes it back last.
        self._steps.close()
        self.second.close()
        if self.former.loaded is not None:
            self.former.loaded.put_back(self._aside)
        self.former.source.go_live()

    def _run_again(self) -> Generator[None]:
        """Replay the former run in the second and compare them, a little at each turn.

        Only after the comparison does the second run read the time source again.
        """
        former, run = self.former, self.second
        before = RunEvents(LogEvents(former.log), former.log.strings, former.log.first)
        follower = ScriptFollower(run, former.journal, self.frame)
        try:
            yield from follower.steps()
            run.breakpoints = former.breakpoints
            log = run.log
            found = RunEvents(LogEvents(log, follower.arrived_at), log.strings, log.first)
            difference = yield from difference_steps(before, found, may_go_on=before)
        finally:
            run.source.go_live()
        self.applied = self._applied(difference)

    def _applied(self, difference: ReplayDifference | None) -> AppliedCommand:
        run = self.second
        refusal = ""
        if run.problem is not None:
            refusal = "The scene could not be rebuilt."
        elif difference is not None:
            refusal = f"The scene was run again up to here, but did something else. {difference}"
        return AppliedCommand(
            self.command,
            CommandPlace.AT_ONCE,
            host_ms=wall_time_ns() // NS_PER_MS,
            refusal=refusal,
            breakpoints={number: each for number, each, _ in run.breakpoints.items()},
            next_breakpoint=run.breakpoints.next_number,
        )


class ScriptFollower:
    """Drives a run by a journal instead of the time source, up to a frame or to the end.

    It is a :class:`~inspector.sessions.scene_run.Driver`. For the thread that owns the session,
    like the run itself.
    """

    def __init__(self, run: SceneRun, journal: Journal, stop_frame: int | None = None) -> None:
        """Prepare :meth:`steps`; the run must not be loaded yet.

        It stops, held, after ``stop_frame`` frames; by default at the end of the journal.
        """
        # The end of the log when the run had reached the frame to stop at; None before
        self.arrived_at: int | None = None
        self._run = run
        self._script = Script(journal)
        self._stop_frame = stop_frame

    def steps(self) -> Generator[None]:
        """Load the scene and replay the script, about a frame at each turn.

        Afterwards the caller has to make the source go live, even after an error.
        """
        run = self._run
        run.source.follow(self._script)
        run.load(self)
        yield from self._follow()
        if self._stop_frame is not None and run.loaded is not None:
            if self.arrived_at is None:
                self.arrived_at = run.log.end
            self._script.is_over = True
            run.transport.hold()

    @property
    def has_arrived(self) -> bool:
        if self._is_at_stop:
            return True
        head = self._script.head()
        return head is not None and head.code == REWIND_ENTRY and head.frame <= self._frames_run

    def before_frame(self) -> None:
        self._apply_what_was(CommandPlace.BEFORE_FRAME)

    def end_wake(self) -> None:
        self._apply_what_was(CommandPlace.WAKE_END)

    def check_breakpoints(self, *, after_frame: bool) -> None:
        """Repeat the breakpoint hits of this frame; stop where the script ends."""
        script, run = self._script, self._run
        if run.loaded is None:
            return
        while (entry := script.head()) is not None and (hit := entry.hit) is not None:
            # A step may continue after its last frame; later hits belong to the next one.
            if entry.frame != self._frames_run or after_frame != (hit.frame < entry.frame):
                break
            script.advance()
            known = run.breakpoints.get(hit.number)
            if known is not None:
                hit = structs.replace(hit, action=known.action)
            note_hit(run, hit)
            self._apply_what_was(CommandPlace.BREAKPOINT)
        if self.has_arrived:
            if self.arrived_at is None and self._is_at_stop:
                self.arrived_at = run.log.end
            run.tree.halt()

    @property
    def _frames_run(self) -> int:
        return self._run.frames_run

    @property
    def _is_at_stop(self) -> bool:
        return self._stop_frame is not None and self._frames_run >= self._stop_frame

    def _follow(self) -> Generator[None]:
        script = self._script
        while self._run.loaded is not None and not self._is_at_stop:
            entry = script.head()
            if entry is None:
                break
            if entry.code == REWIND_ENTRY and entry.applied is not None:
                script.advance()
                self._go_back_in_place(entry.value, entry.applied)
            elif entry.applied is not None:
                if (
                    entry.applied.place is not CommandPlace.AT_ONCE
                    or entry.frame != self._frames_run
                ):
                    # The scene did something else than before; the comparison will show what.
                    break
                yield from self._scripted_steps(CommandPlace.AT_ONCE)
            elif entry.hit is not None:
                break
            else:
                script.advance()
                self._let_happen(entry)
            yield

    def _go_back_in_place(self, number: int, applied: AppliedCommand) -> None:
        """Repeat that the session went back in time: this run has come exactly to that point."""
        run = self._run
        run.transport.hold()
        run.breakpoints = Breakpoints.holding(applied.breakpoints, applied.next_breakpoint)
        run.broken_by = run.stopped_by = None
        run.note_rewind(number, applied)

    def _let_happen(self, entry: JournalEntry) -> None:
        run = self._run
        match entry.code:
            case Reading.PERIOD:
                run.set_period(entry.value)
            case Reading.SYNCED:
                run.sync()
            case Reading.HELD:
                run.hold(is_in_step=bool(entry.value))
            case Reading.RATE:
                run.reset_period()
            case Reading.BEGUN:
                run.begin()
            case _:
                run.source.replay(entry.code, entry.value)

    def _apply_what_was(self, place: CommandPlace) -> None:
        for _ in self._scripted_steps(place):
            pass

    @property
    def _is_broken_off(self) -> bool:
        head = self._script.head()
        return (
            head is not None
            and head.code == Reading.HELD
            and bool(head.value)
            and head.frame == self._frames_run
        )

    def _scripted_steps(self, place: CommandPlace) -> Generator[None]:
        """Apply the script's commands at this point, a frame at each turn."""
        script = self._script
        while not self.has_arrived:
            entry = script.head()
            if entry is None or (applied := entry.applied) is None or applied.place is not place:
                return
            if entry.frame != self._frames_run:
                return
            script.advance()
            for _ in self._run.apply_steps(
                applied.command, entry.value, place=place, by=applied.by, host_ms=applied.host_ms
            ):
                yield
                self._run.is_broken_off = self._is_broken_off
            if place is CommandPlace.AT_ONCE:
                return
