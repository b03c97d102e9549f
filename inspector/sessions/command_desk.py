"""Where commands and breakpoints meet a scene: applied, refused, recorded, undone."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from inspector.clocks.failures import FailurePolicy
from inspector.errors import CommandError
from inspector.sessions.breakpoints import BreakAction, BreakpointHit, Breakpoints
from inspector.sessions.command_actions import Action, frame_to_go_back_to, prepared_action
from inspector.sessions.command_values import plain_text, value_problem
from inspector.sessions.commands import (
    AddBreakpoint,
    ChangeBreakpoint,
    Command,
    Hold,
    PauseClock,
    Reload,
    RemoveBreakpoint,
    RewindTo,
    Run,
    SaveLast,
    SetFailurePolicy,
    StartRecording,
    StepBack,
    StepBy,
    StepFrames,
    StepTo,
    StepToNextTimer,
    StopRecording,
    Undo,
    command_clock_id,
    command_text,
)
from inspector.sessions.interventions import Before, Undoing
from inspector.sessions.journal import (
    COMMAND_ENTRY,
    HIT_ENTRY,
    MOST_ENTRIES,
    REWIND_ENTRY,
    Beginning,
    Place,
    Told,
    command_form,
)
from inspector.sessions.recorder import Recorder, recording_action
from inspector.sessions.scene_host import SceneHost
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import (
    BREAKPOINT_HIT,
    COMMAND,
    COMMAND_CONTEXT,
    COMMAND_FORM,
)

if TYPE_CHECKING:
    from inspector.clocks.time_source import TimeSource
    from inspector.sessions.hosting import Hosting

logger = logging.getLogger(__name__)

#: These hold or replace the transport, so they wait for the end of the wake-up.
_AFTER_WAKE: Final = (Run, Hold, Reload, StepBack, RewindTo)

#: After these a stopped scene counts as going on.
_GOES_ON: Final = (Run, StepFrames, StepBy, StepTo, StepToNextTimer)

_TOO_LONG_AGO: Final = (
    f"The session has run for more than {MOST_ENTRIES:,} wake-ups and commands. What is needed "
    "to go back, which is all of them from the beginning, was given up. Reload the scene to "
    "start again; a recording can still be run again from its beginning."
)


class CommandDesk(SceneHost):
    """Applies commands to the scene it hosts, in the order in which they came.

    What a script says was applied is applied by whoever goes back in time with it.
    """

    def __init__(
        self,
        scene_path: Path,
        source: TimeSource,
        *,
        failure_policy: FailurePolicy,
        autorun: bool,
        max_delta_ns: int,
    ) -> None:
        """Load nothing yet; the arguments are those of the hosted session."""
        super().__init__(
            scene_path,
            source,
            failure_policy=failure_policy,
            autorun=autorun,
            max_delta_ns=max_delta_ns,
        )
        self._commands: deque[Command] = deque()
        self._command_number = 0
        self._reload_number = 0
        self._owner = threading.get_ident()
        self._is_applying = False
        self._is_looking_around = False
        self._broken_by: BreakpointHit | None = None
        self._breakpoints = Breakpoints()
        self._undoing = Undoing()
        self.recorder = Recorder(self)

    # ------------------------------------------- what goes back in time fills in

    def _apply_scripted(self, place: Place) -> None:
        """Apply what the script says was applied here."""

    def _apply_scripted_hits(self, *, after_frame: bool) -> None:
        """Have the breakpoints hit that the script says were hit here."""

    def _rewinds(self, _command: StepBack | RewindTo, _number: int, _place: Place) -> bool:
        """Go back in time if that is possible; returns whether it is."""
        return False

    def _go_on_rewinding(self) -> None:
        """Go on with going back in time, if that is not done yet."""

    @property
    def _is_rewinding(self) -> bool:
        """Whether it is just going back in time; commands wait until it is done."""
        return False

    @property
    def _has_arrived(self) -> bool:
        """Whether the script goes no further than the present frame."""
        return False

    # ----------------------------------------------------- when it is its turn

    @override
    def _apply_at_frame(self) -> None:
        if self._script is not None:
            self._apply_scripted(Place.BEFORE_FRAME)
        elif self._commands and not self._is_applying:
            self._apply_waiting(Place.BEFORE_FRAME)

    @override
    def _apply_at_wake_end(self) -> None:
        self._pump_recorder()
        if self._script is not None:
            self._apply_scripted(Place.WAKE_END)
        elif self._commands and (self._has_frame_run or self._is_idle):
            self._apply_waiting(Place.WAKE_END)

    def _pump_recorder(self) -> None:
        """Hand over what is new; what is done again is nothing new."""
        if self._script is None:
            self.recorder.pump()

    @override
    def _look_around(self, *, after_frame: bool) -> None:
        if self._is_looking_around:
            # This is a hit that pauses something; whoever has found it goes on looking.
            return
        self._is_looking_around = True
        try:
            if self._script is not None:
                self._apply_scripted_hits(after_frame=after_frame)
            elif self._breakpoints.is_looking:
                self._look_for_hits(after_frame=after_frame)
        finally:
            self._is_looking_around = False

    @override
    def _scene_loaded(self) -> None:
        if self._problem is None and self._script is None:
            self._watch()
        self._record_reload()

    @property
    @override
    def _wants_to_stop(self) -> bool:
        if self._stopped_by is not None or self._broken_by is not None:
            return True
        return self._has_arrived

    @property
    def _is_idle(self) -> bool:
        """Whether a command can be applied at once: held, and in no callback."""
        if self._is_applying or self._is_rewinding:
            return False
        hosting = self._hosting
        return hosting is None or not (hosting.transport.is_running or hosting.tree.is_draining)

    def _apply_waiting(self, place: Place = Place.AT_ONCE) -> None:
        """Apply the commands that wait, in the order in which they came.

        Args:
            place: Where this is. Before a frame, inside a wake-up, the transport cannot be
                held or replaced: stop at such a command; the rest follows after it.
        """
        self._is_applying = True
        journal = self._journal
        try:
            while self._commands and not self._is_rewinding:
                if place is Place.BEFORE_FRAME and isinstance(self._commands[0], _AFTER_WAKE):
                    break
                # A scene that was loaded anew is in no wake-up yet.
                where = place if self._journal is journal else Place.AT_ONCE
                self._apply(self._next_command(), place=where)
        finally:
            self._is_applying = False

    def _next_command(self) -> Command:
        """Take the next command; steps back that wait one behind another are taken at once."""
        command = self._commands.popleft()
        while isinstance(command, StepBack) and self._commands:
            other = self._commands[0]
            if not isinstance(other, StepBack) or value_problem(command) or value_problem(other):
                break
            self._commands.popleft()
            command = StepBack(command.frames + other.frames)
        return command

    def _apply(
        self, command: Command, *, place: Place, by: str = "", host_ms: int | None = None
    ) -> None:
        for _ in self._apply_steps(command, place=place, by=by, host_ms=host_ms):
            pass

    def _apply_steps(
        self, command: Command, *, place: Place, by: str = "", host_ms: int | None = None
    ) -> Generator[None]:
        """Apply a command, a frame of it at each turn."""
        self._command_number = number = self._command_number + 1
        if isinstance(command, AddBreakpoint) and command.is_kept is True:
            by = "the layout"
        if isinstance(command, Reload):
            self._reload(number)
            return
        if isinstance(command, StepBack | RewindTo) and self._rewinds(command, number, place):
            return
        # Names come from the timeline, so let it know what there is.
        self._fold()
        log = self._log
        at_ns = self.session_ns
        refusal = clock_id = 0
        if problem := value_problem(command):
            text, refusal = log.intern(plain_text(command)), log.intern(problem)
        else:
            text = log.intern(command_text(command, self._timeline))
            clock_id = command_clock_id(command, self._timeline)
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
        undone = self._undoing.of(command.number) if isinstance(command, Undo) else None
        self._undoing.note(number, undone or command, self._before)
        if isinstance(command, _GOES_ON):
            self._stopped_by = self._broken_by = None
        yield from self._carry_out(action)

    def _carry_out(self, action: Action) -> Generator[None]:
        """Do it, measuring what callbacks cost that are called for it."""
        is_in_wake = self.is_running
        if not is_in_wake:
            self._timers_meter.begin(self._log.end)
        steps = action()
        if isinstance(steps, Generator):
            for _ in steps:
                yield
                # Whoever has made a pause here was no callback.
                self._timers_meter.begin()
        hosting = self._hosting
        if hosting is not None and not is_in_wake:
            self._timers_meter.charge(self._log.end, hosting.stage.take_worked_ns())
            self._look_around(after_frame=False)
            self._pump_recorder()
            self._log.settle()

    def _prepared(self, command: Command, number: int) -> Action:
        """Return what carries out the command.

        Raises:
            CommandError: It cannot be carried out; the message says why.
        """
        if isinstance(command, SetFailurePolicy):
            return lambda: setattr(self, "failure_policy", command.policy)
        if isinstance(command, AddBreakpoint | ChangeBreakpoint | RemoveBreakpoint):
            return self._prepared_breakpoint(command)
        if isinstance(command, StepBack | RewindTo):
            # Only those come here that are refused.
            frame_to_go_back_to(command, self._timeline, self.frames_run)
            if self._journal.is_given_up:
                raise CommandError(_TOO_LONG_AGO)
        if isinstance(command, Undo):
            return self._prepared_undo(command.number)
        if isinstance(command, StartRecording | StopRecording | SaveLast):
            return self._once(recording_action(command, self.recorder))
        hosting = self._hosting
        if hosting is None:
            message = "No scene is running. Mend the file and reload it."
            raise CommandError(message)
        return prepared_action(command, number, hosting, self._timeline)

    def _once(self, action: Action) -> Action:
        """Return an action that is left out when it is done again, going back in time."""
        return action if self._script is None else lambda: None

    def _prepared_undo(self, undone: int) -> Action:
        """Return what undoes a command.

        Raises:
            CommandError: Nothing undoes it, or what would do so is refused.
        """
        inverse = self._undoing.of(undone)
        if inverse is None:
            message = f"Command {undone} cannot be undone: it was already, or it changed nothing."
            raise CommandError(message)
        action = self._prepared(inverse, self._command_number)

        def undo() -> None:
            self._undoing.done(undone)
            action()

        return undo

    @property
    def _before(self) -> Before:
        """How things are now."""
        return Before(self._timeline, self.frame_rate, self.failure_policy, self._breakpoints)

    def _reload(self, number: int) -> None:
        hosting = self._hosting
        if hosting is not None:
            self._wants_to_run = hosting.transport.is_running
        self._let_go()
        self.generation += 1
        self._stopped_by = self._broken_by = None
        self._undoing.clear()
        self._reload_number = number
        self._load()

    def _record_reload(self) -> None:
        if number := self._reload_number:
            text = self._log.intern(command_text(Reload(), self._timeline))
            self._log.append((self.session_ns, COMMAND, number, text, 0))

    def _watch(self) -> None:
        """Have the breakpoints look at what comes from now on, if there are any.

        The first that is set begins to look then, not here.
        """
        if not self._breakpoints.is_looking:
            return
        self._fold()
        self._breakpoints.watch(self._log, self._timeline)

    def _look_for_hits(self, *, after_frame: bool) -> None:
        """Do what the breakpoints want that were hit in this frame, or since.

        What a hit brings about is looked at by the breakpoints that were not hit themselves,
        so that none goes on hitting what it has done.
        """
        hosting = self._hosting
        if hosting is None:
            return
        done: set[int] = set()
        last_frame = self.frames_run - after_frame
        while hits := self._breakpoints.look(done):
            done.update(hit.number for hit in hits)
            for hit in hits:
                # What was brought about by a hit belongs to the frame of that hit.
                self._act_on(replace(hit, frame=min(hit.frame, last_frame)), hosting)

    def _act_on(self, hit: BreakpointHit, hosting: Hosting) -> None:
        self._note_hit(hit, hosting)
        match hit.action:
            case BreakAction.PAUSE_ROOT:
                self._pause_for(hit, hosting.tree.root.id)
            case BreakAction.PAUSE_BRANCH:
                self._pause_for(hit, hit.clock_id or hosting.tree.root.id)
            case _:
                pass

    def _note_hit(self, hit: BreakpointHit, hosting: Hosting) -> None:
        """Note that a breakpoint was hit, and do what it wants unless that is a command."""
        log, tree = self._log, hosting.tree
        self._journal.note(HIT_ENTRY, self.frames_run, hit.number, hit)
        log.append((tree.now_ns, BREAKPOINT_HIT, hit.number, log.intern(hit.text), hit.frame))
        match hit.action:
            case BreakAction.HOLD:
                self._broken_by = self._broken_by or hit
                tree.halt()
            case BreakAction.MARK:
                hosting.stage.mark(hit.text)
            case BreakAction.SAVE | BreakAction.START_RECORDING | BreakAction.STOP_RECORDING:
                known = self._breakpoints.get(hit.number)
                self._once(lambda: self.recorder.take_hit(hit, known))()
            case _:
                pass

    def _pause_for(self, hit: BreakpointHit, clock_id: int) -> None:
        # A command like any other, so that it can be seen who did it, and undone.
        self._apply(PauseClock(clock_id), place=Place.BREAKPOINT, by=f"breakpoint {hit.number}")

    def _prepared_breakpoint(
        self, command: AddBreakpoint | ChangeBreakpoint | RemoveBreakpoint
    ) -> Action:
        """Return what carries out a command about breakpoints.

        Raises:
            CommandError: There is no such breakpoint, or there are too many.
        """
        breakpoints = self._breakpoints
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
            if breakpoints.is_looking and not breakpoints.is_watching and self._script is None:
                self._watch()

        return change

    @override
    def _beginning(self) -> Beginning:
        return replace(
            super()._beginning(),
            generation=self.generation,
            command_number=self._command_number,
            reload_number=self._reload_number,
            breakpoints={number: found for number, found, _ in self._breakpoints.items()},
            next_breakpoint=self._breakpoints.next_number,
        )

    def _note_told(self, code: int, number: int, told: Told) -> None:
        """Note a command, in the journal and in the log."""
        log = self._log
        self._journal.note(code, self.frames_run, number, told)
        form = log.intern(command_form(told, is_rewind=code == REWIND_ENTRY))
        log.append((self.session_ns, COMMAND_FORM, number, form, told.place))
