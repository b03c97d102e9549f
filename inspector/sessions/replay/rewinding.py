"""Going back in time: the scene is rebuilt, and does again what its journal says.

What takes long is done in slices, so that the window stays alive. Until it is done the
session is what it was, held; only then the second run takes its place.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING

from inspector.sessions.replay.journal import AppliedCommand, Place
from inspector.sessions.replay.replay import Difference, LogEvents, difference_steps
from inspector.sessions.replay.replay import Run as Compared
from inspector.sessions.replay.script_follower import ScriptFollower
from inspector.sessions.scene_run import goes_to_end
from inspector.timebase import NS_PER_MS

if TYPE_CHECKING:
    from inspector.commands.scene import GoBack
    from inspector.sessions.scene_run import SceneRun


class Rewinding:
    """Going back in time, while it goes on: a second run beside the present one.

    For the thread that owns the session; between two slices the former run may be looked
    at, and told things.

    Attributes:
        command: What was asked for.
        number: Its number.
        frame: After how many frames the scene is to stand.
        former: The run that goes back; its modules were let go by then.
        second: The run that takes its place, as far as that has come.
        frames_done: How many frames of it have run.
        applied: The command as it is noted when all is done, ``None`` before.
    """

    def __init__(
        self,
        command: GoBack,
        number: int,
        frame: int,
        former: SceneRun,
        second: SceneRun,
    ) -> None:
        """Let go of the modules that the former run has imported; nothing is run yet.

        The scene of the former run was built. Nothing of the second run was loaded, and it has
        a source of its own.
        """
        self.command = command
        self.number = number
        self.frame = frame
        self.former = former
        self.second = second
        self.frames_done = 0
        self.applied: AppliedCommand | None = None
        self._steps = self._run_again()
        self._aside = {} if former.loaded is None else former.loaded.set_aside()

    @property
    def percent(self) -> int:
        """How much of it is done, 0 to 100."""
        return 100 * self.frames_done // self.frame if self.frame else 0

    def go_on(self, slice_ns: int | None) -> bool:
        """Go on, see :func:`goes_to_end`; returns whether all is done and compared."""
        if goes_to_end(self._steps, slice_ns):
            return True
        self.frames_done = self.second.frames_run
        self.second.fold_events()
        return False

    def give_up(self) -> None:
        """Leave the former run as it was, and let go of the second one."""
        # What is taken back in there belongs to the run that is given up.
        self._steps.close()
        self.second.close()
        if self.former.loaded is not None:
            self.former.loaded.put_back(self._aside)
        self.former.source.go_live()

    def _run_again(self) -> Generator[None]:
        """Have the second run do what the former did, and compare; a little at each turn.

        It is not left before all is compared, since then the time source is taken again.
        """
        former, run = self.former, self.second
        before = Compared(LogEvents(former.log), former.log.strings, former.log.first)
        follower = ScriptFollower(run, former.journal, self.frame)
        try:
            yield from follower.steps()
            run.breakpoints = former.breakpoints
            log = run.log
            found = Compared(LogEvents(log, follower.arrived_at), log.strings, log.first)
            difference = yield from difference_steps(before, found, may_go_on=before)
        finally:
            run.source.go_live()
        self.applied = self._applied(difference)

    def _applied(self, difference: Difference | None) -> AppliedCommand:
        run = self.second
        refusal = ""
        if run.problem is not None:
            refusal = "The scene could not be built again."
        elif difference is not None:
            refusal = f"The scene was run again up to here, but did something else. {difference}"
        return AppliedCommand(
            self.command,
            Place.AT_ONCE,
            host_ms=time.time_ns() // NS_PER_MS,
            refusal=refusal,
            breakpoints={number: each for number, each, _ in run.breakpoints.items()},
            next_breakpoint=run.breakpoints.next_number,
        )
