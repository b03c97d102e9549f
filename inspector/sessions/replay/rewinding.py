"""Going back in time: the scene is built anew, and does again what its journal says.

What takes long is done in slices, so that whoever shows the session stays alive. Until
it is done the session is what it was, held; only then the second life takes its place.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING

from inspector.sessions.replay.journal import Place, Told
from inspector.sessions.replay.replay import Difference, LogEvents, difference_steps
from inspector.sessions.replay.replay import Run as Compared
from inspector.sessions.replay.script_follower import ScriptFollower
from inspector.sessions.replay.slices import goes_to_end
from inspector.timebase import NS_PER_MS

if TYPE_CHECKING:
    from inspector.commands.scene import GoBack
    from inspector.sessions.commands.desk import CommandDesk
    from inspector.sessions.life import Life


class Rewinding:
    """Going back in time, while it goes on: a second life beside the present one.

    Only its numbers are to be read by others than the host. For the thread that owns the
    session; between two slices the former life may be looked at, and told things.

    Attributes:
        command: What was asked for.
        number: Its number.
        frame: After how many frames the scene is to stand.
        former: The life that goes back; its modules were let go by then.
        desk: That of the second life, as far as that has come.
        frames_done: How many frames of it have run.
        told: The command as it is noted when all is done, ``None`` before.
    """

    def __init__(
        self,
        command: GoBack,
        number: int,
        frame: int,
        former: Life,
        desk: CommandDesk,
    ) -> None:
        """Let go of the modules that the former life has imported; nothing is run yet.

        Args:
            command: What was asked for.
            number: Its number.
            frame: After how many frames the scene is to stand.
            former: The life that goes back; its scene was built.
            desk: That of a second life of which nothing was loaded, behind a gate of its own.
        """
        self.command = command
        self.number = number
        self.frame = frame
        self.former = former
        self.desk = desk
        self.frames_done = 0
        self.told: Told | None = None
        self._steps = self._run_again()
        self._aside = {} if former.hosting is None else former.hosting.scene.set_aside()

    @property
    def percent(self) -> int:
        """How much of it is done, 0 to 100."""
        return 100 * self.frames_done // self.frame if self.frame else 0

    def go_on(self, slice_ns: int | None) -> bool:
        """Go on; returns whether all is done and compared.

        Args:
            slice_ns: After so long a pause is made; ``None`` for doing it at one go.
        """
        if goes_to_end(self._steps, slice_ns):
            return True
        life = self.desk.life
        self.frames_done = life.frames_run
        life.fold_events()
        return False

    def give_up(self) -> None:
        """Leave the former life as it was, and let go of the second one."""
        # What is taken back in there belongs to the life that is given up.
        self._steps.close()
        self.desk.life.let_go()
        if self.former.hosting is not None:
            self.former.hosting.scene.put_back(self._aside)

    def _run_again(self) -> Generator[None]:
        """Have the second life do what the former did, and compare; a little at each turn.

        It is not left before all is compared, since then the time source is taken again.
        """
        former, life = self.former, self.desk.life
        before = Compared(LogEvents(former.log), former.log.strings, former.log.first)
        follower = ScriptFollower(self.desk, former.journal, self.frame)
        try:
            yield from follower.steps()
            life.breakpoints = former.breakpoints
            log = life.log
            found = Compared(LogEvents(log, follower.arrived_at), log.strings, log.first)
            difference = yield from difference_steps(before, found, may_go_on=before)
        finally:
            follower.end()
        self.told = self._told_of(difference)

    def _told_of(self, difference: Difference | None) -> Told:
        life = self.desk.life
        refusal = ""
        if life.problem is not None:
            refusal = "The scene could not be built again."
        elif difference is not None:
            refusal = f"The scene was run again up to here, but did something else. {difference}"
        return Told(
            self.command,
            Place.AT_ONCE,
            host_ms=time.time_ns() // NS_PER_MS,
            refusal=refusal,
            breakpoints={number: each for number, each, _ in life.breakpoints.items()},
            next_breakpoint=life.breakpoints.next_number,
        )
