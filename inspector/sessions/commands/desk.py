"""Where commands meet one life of a scene: applied, refused, recorded, undone."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from inspector.errors import CommandError
from inspector.sessions.commands.actions import Action, frame_to_go_back_to, prepared_action
from inspector.sessions.commands.commands import (
    STEPS,
    AddBreakpoint,
    ChangeBreakpoint,
    Command,
    RemoveBreakpoint,
    RewindTo,
    Run,
    SaveLast,
    SetFailurePolicy,
    StartRecording,
    StepBack,
    StopRecording,
    Undo,
    command_clock_id,
    command_text,
)
from inspector.sessions.commands.interventions import Before
from inspector.sessions.commands.values import plain_text, value_problem
from inspector.sessions.recorder import recording_action
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
    from inspector.sessions.life import Life
    from inspector.sessions.recorder import Recorder

#: After these a stopped scene counts as going on.
_GOES_ON: Final = (Run, *STEPS)

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
        if isinstance(command, AddBreakpoint) and command.is_kept is True:
            by = "the layout"
        # Names come from the timeline, so let it know what there is.
        life.fold()
        log = life.log
        at_ns = life.session_ns
        refusal = clock_id = 0
        if problem := value_problem(command):
            text, refusal = log.intern(plain_text(command)), log.intern(problem)
        else:
            text = log.intern(command_text(command, life.timeline))
            clock_id = command_clock_id(command, life.timeline)
            try:
                action = self._prepared(command, number)
            except CommandError as error:
                refusal = log.intern(str(error))
        log.append((at_ns, COMMAND, number, text, refusal))
        if host_ms is None:
            host_ms = time.time_ns() // NS_PER_MS
        log.append((at_ns, COMMAND_CONTEXT, clock_id, host_ms, log.intern(by)))
        self._note_told(COMMAND_ENTRY, number, Told(command, place, by, host_ms))
        if refusal:
            return
        undone = life.undoing.of(command.number) if isinstance(command, Undo) else None
        life.undoing.note(number, undone or command, self._before)
        if isinstance(command, _GOES_ON):
            life.stopped_by = life.broken_by = None
        yield from self._carry_out(action)

    def note_rewind(self, number: int, told: Told) -> None:
        """Note that somebody went back to where the scene stands now."""
        life = self.life
        life.command_number = number
        life.fold()
        log, at_ns = life.log, life.session_ns
        text = log.intern(command_text(told.command, life.timeline))
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

    def _prepared(self, command: Command, number: int) -> Action:
        """Return what carries out the command.

        Raises:
            CommandError: It cannot be carried out; the message says why.
        """
        life = self.life
        if isinstance(command, SetFailurePolicy):
            return lambda: setattr(life, "failure_policy", command.policy)
        if isinstance(command, AddBreakpoint | ChangeBreakpoint | RemoveBreakpoint):
            return self._prepared_breakpoint(command)
        if isinstance(command, StepBack | RewindTo):
            # Only those come here that are refused.
            frame_to_go_back_to(command, life.timeline, life.frames_run)
            if life.journal.is_given_up:
                raise CommandError(_TOO_LONG_AGO)
        if isinstance(command, Undo):
            return self._prepared_undo(command.number)
        if isinstance(command, StartRecording | StopRecording | SaveLast):
            action = recording_action(command, self.recorder)
            # Left out when it is done again, going back in time.
            return action if life.driver.is_live else lambda: None
        hosting = life.hosting
        if hosting is None:
            message = "No scene is running. Mend the file and reload it."
            raise CommandError(message)
        return prepared_action(command, number, hosting, life.timeline)

    def _prepared_undo(self, undone: int) -> Action:
        """Return what undoes a command.

        Raises:
            CommandError: Nothing undoes it, or what would do so is refused.
        """
        life = self.life
        inverse = life.undoing.of(undone)
        if inverse is None:
            message = f"Command {undone} cannot be undone: it was already, or it changed nothing."
            raise CommandError(message)
        action = self._prepared(inverse, life.command_number)

        def undo() -> None:
            life.undoing.done(undone)
            action()

        return undo

    @property
    def _before(self) -> Before:
        """How things are now."""
        life = self.life
        return Before(life.timeline, life.frame_rate, life.failure_policy, life.breakpoints)

    def _prepared_breakpoint(
        self, command: AddBreakpoint | ChangeBreakpoint | RemoveBreakpoint
    ) -> Action:
        """Return what carries out a command about breakpoints.

        Raises:
            CommandError: There is no such breakpoint, or there are too many.
        """
        life, breakpoints = self.life, self.life.breakpoints
        if isinstance(command, AddBreakpoint):
            breakpoints.check_room()
        elif breakpoints.get(command.number) is None:
            message = f"There is no breakpoint {command.number} any more."
            raise CommandError(message)

        def change() -> None:
            match command:
                case AddBreakpoint(breakpoint_):
                    breakpoints.add(breakpoint_)
                case ChangeBreakpoint(number, breakpoint_):
                    breakpoints.replace(number, breakpoint_)
                case RemoveBreakpoint(number):
                    breakpoints.remove(number)
            if breakpoints.is_looking and not breakpoints.is_watching and life.driver.is_live:
                life.watch()

        return change
