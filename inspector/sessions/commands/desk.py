"""Where commands meet one life of a scene: applied, refused, recorded, undone."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from inspector.commands.command import Command
from inspector.errors import CommandError
from inspector.sessions.replay.journal import (
    COMMAND_ENTRY,
    MOST_ENTRIES,
    REWIND_ENTRY,
    Place,
    Told,
    command_form,
)
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import COMMAND, COMMAND_CONTEXT, COMMAND_FORM

if TYPE_CHECKING:
    from fractions import Fraction

    from inspector.clocks.failures import FailurePolicy
    from inspector.commands.command import Action, Command
    from inspector.commands.undoing import Undoing
    from inspector.events.timeline import Timeline
    from inspector.sessions.breakpoints.breakpoints import Breakpoints
    from inspector.sessions.hosting import Hosting
    from inspector.sessions.life import Life
    from inspector.sessions.recorder import Recorder

_TOO_LONG_AGO: Final = (
    f"The session has run for more than {MOST_ENTRIES:,} wake-ups and commands. What is needed "
    "to go back, which is all of them from the beginning, was given up. Reload the scene to "
    "start again; a recording can still be run again from its beginning."
)


class CommandDesk:
    """Applies commands to one life of a scene, for whoever drives it.

    What puts another life in its place – reloading, going back in time – is done by
    :class:`~inspector.sessions.scene_host.SceneHost`; such a command comes here only to be
    refused. For the thread that owns the session.

    Attributes:
        life: What the commands are applied to.
        recorder: Whom commands about recording are for; what is done again is not for it.
        is_broken_off: Whether the step that goes on ends at its next turn.
    """

    def __init__(self, life: Life, recorder: Recorder) -> None:
        """Apply nothing yet."""
        self.life = life
        self.recorder = recorder
        self.is_broken_off = False

    def apply(self, command: Command, number: int, *, place: Place, by: str = "") -> None:
        """Apply a command, or refuse it; either is recorded.

        Args:
            command: What was asked for.
            number: Its number, above those of all commands before.
            place: Where this is.
            by: Who asked for it, empty for the user.
        """
        for _ in self.apply_steps(command, number, place=place, by=by):
            pass

    def apply_steps(
        self,
        command: Command,
        number: int,
        *,
        place: Place,
        by: str = "",
        host_ms: int | None = None,
    ) -> Generator[None]:
        """Apply a command, a frame of it at each turn.

        Args:
            command: What was asked for.
            number: Its number, above those of all commands before.
            place: Where this is.
            by: Who asked for it, empty for the user.
            host_ms: When, in the host's own time; now if left out.
        """
        life = self.life
        life.command_number = number
        by = command.asker or by
        # Names come from the timeline, so let it know what there is.
        life.fold()
        log = life.log
        at_ns = life.session_ns
        text = log.intern(command.sentence(life.timeline))
        clock_id = command.clock_about(life.timeline)
        refusal = 0
        try:
            action = command.prepare(self, number)
        except CommandError as error:
            refusal = log.intern(str(error))
        log.append((at_ns, COMMAND, number, text, refusal))
        if host_ms is None:
            host_ms = time.time_ns() // NS_PER_MS
        log.append((at_ns, COMMAND_CONTEXT, clock_id, host_ms, log.intern(by)))
        self._note_told(COMMAND_ENTRY, number, Told(command, place, by, host_ms))
        if refusal:
            return
        life.undoing.note(number, command.inverse(self))
        if command.lets_time_pass:
            life.stopped_by = life.broken_by = None
        yield from self._carry_out(action)

    def note_rewind(self, number: int, told: Told) -> None:
        """Note that somebody went back to where the scene stands now."""
        life = self.life
        life.command_number = number
        life.fold()
        log, at_ns = life.log, life.session_ns
        text = log.intern(told.command.sentence(life.timeline))
        log.append((at_ns, COMMAND, number, text, log.intern(told.refusal)))
        log.append((at_ns, COMMAND_CONTEXT, 0, told.host_ms, log.intern(told.by)))
        self._note_told(REWIND_ENTRY, number, told)

    def _note_told(self, code: int, number: int, told: Told) -> None:
        """Note a command, in the journal and in the log."""
        life, log = self.life, self.life.log
        life.journal.note(code, life.frames_run, number, told)
        form = log.intern(command_form(told, is_rewind=code == REWIND_ENTRY))
        log.append((life.session_ns, COMMAND_FORM, number, form, told.place))

    def _carry_out(self, action: Action) -> Generator[None]:
        """Do it, measuring what callbacks cost that are called for it."""
        life, timers = self.life, self.life.gate.timers
        is_in_wake = life.is_running
        if not is_in_wake:
            timers.begin(life.log.end)
        steps = action()
        if isinstance(steps, Generator):
            for _ in steps:
                yield
                # Whoever has made a pause here was no callback.
                timers.begin()
                if self.is_broken_off:
                    break
            self.is_broken_off = False
        hosting = life.hosting
        if hosting is not None and not is_in_wake:
            timers.charge(life.log.end, hosting.stage.take_worked_ns())
            life.look_around(after_frame=False)
            life.driver.pump_recorder()
            life.log.settle()

    # ------------------------------------------------------- what commands are applied to

    @property
    def timeline(self) -> Timeline:
        """The state of the scene."""
        return self.life.timeline

    @property
    def scene(self) -> Hosting:
        """The scene.

        Raises:
            CommandError: None is running.
        """
        hosting = self.life.hosting
        if hosting is None:
            message = "No scene is running. Mend the file and reload it."
            raise CommandError(message)
        return hosting

    @property
    def frame_rate(self) -> Fraction:
        """Target frames per second."""
        return self.life.frame_rate

    @property
    def frames_run(self) -> int:
        """How many frames have begun."""
        return self.life.frames_run

    @property
    def is_live(self) -> bool:
        """Whether what happens is new."""
        return self.life.driver.is_live

    @property
    def failure_policy(self) -> FailurePolicy:
        """What follows when a callback raises."""
        return self.life.failure_policy

    @failure_policy.setter
    def failure_policy(self, policy: FailurePolicy) -> None:
        self.life.failure_policy = policy

    @property
    def breakpoints(self) -> Breakpoints:
        """What is looked out for."""
        return self.life.breakpoints

    @property
    def undoing(self) -> Undoing:
        """What would undo each command."""
        return self.life.undoing

    def check_journal(self) -> None:
        """Refuse to go back when the journal was given up.

        Raises:
            CommandError: It was.
        """
        if self.life.journal.is_given_up:
            raise CommandError(_TOO_LONG_AGO)

    def watch(self) -> None:
        """Have the breakpoints look at what comes from now on, if they do not yet."""
        breakpoints = self.life.breakpoints
        if breakpoints.is_looking and not breakpoints.is_watching and self.is_live:
            self.life.watch()
