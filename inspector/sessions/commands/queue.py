"""The commands that wait for a scene, and when it is their turn."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inspector.commands.command import Command, usable
from inspector.commands.scene import StepBack
from inspector.sessions.breakpoints.actions import act_on_hits
from inspector.sessions.replay.journal import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.sessions.scene_host import SceneHost


class CommandQueue:
    """Drives the present life of a scene by what people ask for.

    It is the :class:`~inspector.sessions.life.Driver` of every life that is live, one after
    another. Commands are put in by any thread; all else is for the thread that made it.

    Attributes:
        is_live: True: what happens is new.
        has_arrived: False: people may always go on.
        is_applying: Whether something is just being applied, so that no command can be.
    """

    def __init__(self, host: SceneHost) -> None:
        """Hold no command yet.

        Args:
            host: Applies the commands, and knows the present life.
        """
        self.is_live = True
        self.has_arrived = False
        self.is_applying = False
        self._host = host
        self._commands: deque[Command] = deque()
        self._owner = threading.get_ident()
        self._has_frame_run = False

    def put(self, submitted: Command) -> None:
        """Take a command, from any thread; it is applied now if this is its turn."""
        command = usable(submitted)
        self._commands.append(command)
        if command.ends_step and self._host.stepping is not None:
            self._host.wants_to_break_off = True
        if threading.get_ident() == self._owner:
            self.apply_if_idle()

    def apply_if_idle(self) -> None:
        """Apply the commands that wait if the scene is held and in no callback."""
        if self._commands and self._is_idle:
            self._apply_waiting(Place.AT_ONCE)

    @contextmanager
    def kept_waiting(self) -> Iterator[None]:
        """Have all commands wait meanwhile, because something else is applied."""
        was_applying, self.is_applying = self.is_applying, True
        try:
            yield
        finally:
            self.is_applying = was_applying

    def at_frame(self) -> None:
        """Apply what waits for the frame boundary."""
        self._has_frame_run = True
        if self._commands and not self.is_applying:
            self._apply_waiting(Place.BEFORE_FRAME)

    def at_wake_end(self) -> None:
        """Apply what waits for the end of a wake-up in which a frame has run."""
        self.pump_recorder()
        if self._commands and (self._has_frame_run or self._is_idle):
            self._apply_waiting(Place.WAKE_END)
        self._has_frame_run = False

    def look_around(self, *, after_frame: bool) -> None:
        """Do what the breakpoints want that were hit."""
        if self._host.life.breakpoints.is_looking:
            act_on_hits(self._host.desk, after_frame=after_frame)

    def pump_recorder(self) -> None:
        """Hand over to the recorder what is new."""
        self._host.recorder.pump()

    def before_reading(self) -> None:
        """Finish a step that goes on: nothing from outside comes in the middle of it."""
        if not self.is_applying:
            self._host.finish_step()

    @property
    def _is_idle(self) -> bool:
        """Whether a command can be applied at once: held, and in no callback."""
        if self.is_applying or self._is_host_busy:
            return False
        hosting = self._host.life.hosting
        return hosting is None or not (hosting.transport.is_running or hosting.tree.is_draining)

    @property
    def _is_host_busy(self) -> bool:
        """Whether a command goes on that takes long; all others wait for it."""
        return self._host.rewinding is not None or self._host.stepping is not None

    def _apply_waiting(self, place: Place) -> None:
        """Apply the commands that wait, in the order in which they came.

        Args:
            place: Where this is. Before a frame, inside a wake-up, the transport cannot be
                held or replaced: stop at such a command; the rest follows after it.
        """
        self.is_applying = True
        host = self._host
        life = host.life
        try:
            while self._commands and not self._is_host_busy:
                if place is Place.BEFORE_FRAME and self._commands[0].waits_for_wake_end:
                    break
                # Another life of the scene is in no wake-up yet.
                where = place if host.life is life else Place.AT_ONCE
                host.apply(self._next_command(), where)
        finally:
            self.is_applying = False

    def _next_command(self) -> Command:
        """Take the next command; steps back that wait one behind another are taken at once."""
        command = self._commands.popleft()
        while isinstance(command, StepBack) and self._commands:
            other = self._commands[0]
            if not isinstance(other, StepBack):
                break
            self._commands.popleft()
            command = StepBack(command.frames + other.frames)
        return command
