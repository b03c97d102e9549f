"""A step of many frames, in slices, so that whoever shows the session stays alive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.sessions.replay.slices import goes_to_end

if TYPE_CHECKING:
    from collections.abc import Generator

    from inspector.sessions.commands.desk import CommandDesk


class Stepping:
    """A step that goes on: a few of its frames at each turn.

    For the thread that owns the session; between two slices its life stands between two
    frames, and may be looked at.

    Attributes:
        begun_at: How many frames had run before it.
    """

    def __init__(self, desk: CommandDesk, steps: Generator[None]) -> None:
        """Run nothing yet.

        Args:
            desk: Applies the command.
            steps: Its frames, one at each turn.
        """
        self.begun_at = desk.life.frames_run
        self._desk = desk
        self._steps = steps

    @property
    def frames_done(self) -> int:
        """How many frames it has run."""
        return self._desk.life.frames_run - self.begun_at

    def go_on(self, slice_ns: int | None) -> bool:
        """Go on; returns whether it is done.

        Args:
            slice_ns: After so long a pause is made; ``None`` for doing it at one go.
        """
        if goes_to_end(self._steps, slice_ns):
            return True
        life = self._desk.life
        # Else a long step would keep everything that has happened in it; what falls off
        # has to be recorded before.
        life.driver.pump_recorder()
        life.log.settle()
        return False

    def break_off(self) -> None:
        """End it behind the frame that it has come to."""
        self._desk.is_broken_off = True
        for _ in self._steps:
            pass
