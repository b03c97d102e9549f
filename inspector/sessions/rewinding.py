"""Going back in time: the scene is built anew, and does again what its journal says.

What takes long is done in slices, so that whoever shows the session stays alive. Until
it is done the session is what it was, held; only then the new life takes its place.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, cast

from typing_extensions import override

from inspector.clocks.failures import FailurePolicy
from inspector.errors import CommandError
from inspector.sessions.breakpoints import Breakpoints
from inspector.sessions.command_actions import frame_to_go_back_to
from inspector.sessions.command_desk import CommandDesk
from inspector.sessions.command_values import BadCommand, value_problem
from inspector.sessions.commands import Command, Hold, RewindTo, StepBack, command_text
from inspector.sessions.interventions import Undoing
from inspector.sessions.journal import REWIND_ENTRY, Journal, Place, Script, Told
from inspector.sessions.metered_source import TimersMeter
from inspector.sessions.replay import Difference, LogEvents, difference_steps
from inspector.sessions.replay import Run as Compared
from inspector.timebase import NS_PER_MS
from inspector.trace.log import DEFAULT_BUDGET_BYTES
from inspector.vocabulary import COMMAND, COMMAND_CONTEXT, Reading

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from inspector.clocks.time_source import TimeSource
    from inspector.sessions.scene import Scene

#: What is another one in another life of the scene.
_OF_A_LIFE: Final = (
    "_arrived_at",
    "_breakpoints",
    "_broken_by",
    "_command_number",
    "_cursor",
    "_has_frame_run",
    "_history",
    "_hosting",
    "_is_applying",
    "_is_looking_around",
    "_journal",
    "_log",
    "_log_budget_bytes",
    "_manual",
    "_meter",
    "_problem",
    "_reload_number",
    "_script",
    "_stop_frame",
    "_stopped_by",
    "_timeline",
    "_timers_meter",
    "_undoing",
    "_unreported",
    "_wants_to_run",
    "failure_policy",
    "generation",
)


@dataclass(slots=True)
class Rewinding:
    """Going back in time, while it goes on.

    Attributes:
        command: What was asked for.
        number: Its number.
        frame: After how many frames the scene is to stand.
        steps: Does it, one wake-up or some comparing at a time.
        life: The new life, as far as it has come.
        aside: Modules beside the scene that the life before had imported.
        frames_done: How many frames of the new life have run.
        told: The command as it is noted when all is done.
    """

    command: StepBack | RewindTo
    number: int
    frame: int
    steps: Generator[None]
    life: dict[str, Any]
    aside: dict[str, ModuleType] = field(default_factory=dict)
    frames_done: int = 0
    told: Told | None = None

    def restore_modules(self, scene: Scene) -> None:
        """Let the former life import what it had imported, and what is beside it."""
        sys.modules.update(self.aside)
        scene.keep_neighbours()

    @property
    def percent(self) -> int:
        """How much of it is done, 0 to 100."""
        return 100 * self.frames_done // self.frame if self.frame else 0


class RewindDesk(CommandDesk):
    """Applies commands, and goes back in time.

    Attributes:
        rewind_slice_ns: After so long going back makes a pause, until the next refresh;
            ``None`` for doing it at one go.
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
        self.rewind_slice_ns: int | None = None
        self._stop_frame: int | None = None
        self._arrived_at: int | None = None
        self._rewinding: Rewinding | None = None

    @property
    def rewinding(self) -> Rewinding | None:
        """Going back in time that is not done yet; to be read only."""
        return self._rewinding

    @property
    @override
    def _is_rewinding(self) -> bool:
        return self._rewinding is not None

    def run_again(self, journal: Journal, *, keeps_all: bool = False) -> None:
        """Build the scene anew and have it do, up to its end, what a journal says.

        Session time is held afterwards if it was then. Nobody waits for anything.

        Args:
            journal: Of a scene on a manual time source exactly if this one is.
            keeps_all: Whether no event may fall off the log.
        """
        self._log_budget_bytes = sys.maxsize if keeps_all else DEFAULT_BUDGET_BYTES
        breakpoints = self._breakpoints
        self._begin_anew(Script(journal), None)
        try:
            for _ in self._live_again():
                pass
        finally:
            self._end_following()
        self._breakpoints = breakpoints

    def cancel_rewind(self) -> None:
        """Leave the session where it was, held, if it is just going back in time."""
        rewinding = self._rewinding
        if rewinding is None:
            return
        self._give_up(rewinding, self._swap(rewinding.life))
        text = command_text(rewinding.command, self._timeline)
        problem = cast("Command", BadCommand(text, "It was cancelled before it was done."))
        self._command_number = rewinding.number - 1
        was_applying, self._is_applying = self._is_applying, True
        try:
            self._apply(problem, place=Place.AT_ONCE)
        finally:
            self._is_applying = was_applying

    def _give_up(self, rewinding: Rewinding, kept: dict[str, Any]) -> None:
        """Leave the new life for the one that was kept."""
        # What is taken back in there belongs to the life that is given up.
        rewinding.steps.close()
        self._let_go()
        self._swap(kept)
        self._rewinding = None
        assert self._hosting is not None, "only what lives goes back in time"
        rewinding.restore_modules(self._hosting.scene)
        self._take_source()

    @override
    def _rewinds(self, command: StepBack | RewindTo, number: int, place: Place) -> bool:
        """Go back in time if that is possible; returns whether it is."""
        self._fold()
        hosting = self._hosting
        if hosting is None or value_problem(command) or self._journal.is_given_up:
            return False
        try:
            frame = frame_to_go_back_to(command, self._timeline, self.frames_run)
        except CommandError:
            return False
        steps = self._rewind_steps(command, frame)
        rewinding = Rewinding(command, number, frame, steps, self._new_life())
        before = dict(sys.modules)
        hosting.scene.unload()
        rewinding.aside = {name: each for name, each in before.items() if name not in sys.modules}
        self._rewinding = rewinding
        self._go_on_rewinding()
        if self._is_rewinding and hosting.transport.is_running:
            # Somebody may look at it, or go on from here, before this is done.
            self._command_number = number - 1
            self._apply(Hold(), place=place)
            rewinding.number = self._command_number = number + 1
        return True

    def _new_life(self) -> dict[str, Any]:
        """Return what a new life begins with, beside what rebuilding sets."""
        life = {name: getattr(self, name) for name in _OF_A_LIFE}
        timers_meter = TimersMeter()
        meter, manual = self._meter, self._manual
        new_meter = None if meter is None else meter.successor(timers_meter.begin)
        new_manual = None if manual is None else manual.successor()
        for gate in (new_meter, new_manual):
            if gate is not None:
                gate.on_reading = self._note
        return life | {
            "_hosting": None,
            "_is_applying": True,
            "_manual": new_manual,
            "_meter": new_meter,
            "_timers_meter": timers_meter,
            "_undoing": Undoing(),
        }

    def _swap(self, life: dict[str, Any]) -> dict[str, Any]:
        """Live another life; returns the one before."""
        before = {name: getattr(self, name) for name in _OF_A_LIFE}
        for name, value in life.items():
            setattr(self, name, value)
        return before

    @override
    def _go_on_rewinding(self) -> None:
        """Go on for a slice of time, and put the new life in its place when it is done."""
        rewinding = self._rewinding
        if rewinding is None:
            return
        slice_ns = self.rewind_slice_ns
        until_ns = None if slice_ns is None else perf_counter_ns() + slice_ns
        kept = self._swap(rewinding.life)
        is_done = False
        try:
            for _ in rewinding.steps:
                if until_ns is not None and perf_counter_ns() >= until_ns:
                    rewinding.frames_done = self.frames_run
                    self._fold_events()
                    break
            else:
                is_done = True
        except BaseException:
            # Such as the user's Ctrl+C.
            self._give_up(rewinding, kept)
            raise
        if is_done:
            self._settle(rewinding, kept)
        else:
            rewinding.life = self._swap(kept)

    def _settle(self, rewinding: Rewinding, former: dict[str, Any]) -> None:
        """Let go of the former life: the new one is in its place."""
        self._rewinding = None
        self._is_applying, self._has_frame_run = former["_is_applying"], former["_has_frame_run"]
        for gate in (former["_meter"], former["_manual"]):
            if gate is not None:
                gate.on_reading = None
        former["_hosting"].let_go()
        self._take_source()
        assert rewinding.told is not None, "all is done"
        self._note_rewind(rewinding.number, rewinding.told)
        if self._manual is not None:
            # It stands elsewhere than where the scene was left, which counts when it runs.
            self._note(Reading.ADVANCED, self._manual.relative_ns)
        if self._hosting is not None:
            self._watch()
        self.recorder.pump()

    def _take_source(self) -> None:
        """Have the time source wake this life, and no other."""
        if self._meter is not None:
            self._meter.take(self._source)
        if self._manual is not None:
            self._manual.go_live()

    def _rewind_steps(self, command: StepBack | RewindTo, frame: int) -> Generator[None]:
        """Have the new life do what the former did, and compare; a little at each turn.

        It is not left before all is compared, since then the time source is taken again.
        """
        former = self._log
        before = Compared(LogEvents(former), former.strings, former.first)
        breakpoints = self._breakpoints
        self._begin_anew(Script(self._journal), frame)
        try:
            yield from self._live_again()
            self._breakpoints = breakpoints
            log = self._log
            found = Compared(LogEvents(log, self._arrived_at), log.strings, log.first)
            difference = yield from difference_steps(before, found, may_go_on=before)
        finally:
            self._end_following()
            self._stop_frame = None
        assert self._rewinding is not None, "it is what goes on here"
        self._rewinding.told = self._told_of(command, breakpoints, difference)

    def _told_of(
        self, command: StepBack | RewindTo, known: Breakpoints, difference: Difference | None
    ) -> Told:
        refusal = ""
        if self._problem is not None:
            refusal = "The scene could not be built again."
        elif difference is not None:
            refusal = f"The scene was run again up to here, but did something else. {difference}"
        return Told(
            command,
            Place.AT_ONCE,
            host_ms=time.time_ns() // NS_PER_MS,
            refusal=refusal,
            breakpoints={number: each for number, each, _ in known.items()},
            next_breakpoint=known.next_number,
        )

    def _note_rewind(self, number: int, told: Told) -> None:
        """Note that somebody went back to where the scene stands now."""
        self._command_number = number
        self._fold()
        log, at_ns = self._log, self.session_ns
        text = log.intern(command_text(told.command, self._timeline))
        log.append((at_ns, COMMAND, number, text, log.intern(told.refusal)))
        log.append((at_ns, COMMAND_CONTEXT, 0, told.host_ms, log.intern(told.by)))
        self._note_told(REWIND_ENTRY, number, told)

    def _begin_anew(self, script: Script, stop_frame: int | None) -> None:
        """Have everything be as it was when the life began of which a script tells.

        Args:
            script: The journal.
            stop_frame: After how many frames to stop, held; ``None`` for the end.
        """
        beginning = script.journal.beginning
        self._let_go()
        self.generation = beginning.generation
        self._stopped_by = self._broken_by = None
        self._undoing.clear()
        self.failure_policy = beginning.policy
        self._wants_to_run = beginning.runs
        self._command_number = beginning.command_number
        self._reload_number = beginning.reload_number
        self._breakpoints = Breakpoints.holding(beginning.breakpoints, beginning.next_breakpoint)
        self._stop_frame, self._arrived_at = stop_frame, None
        self._begin_following(script)

    def _live_again(self) -> Generator[None]:
        """Load the scene and let happen what the script says, a frame or so at each turn."""
        self._load()
        script = self._script
        assert script is not None, "this follows one"
        yield from self._follow_script(script)
        if self._stop_frame is not None and self._hosting is not None:
            if self._arrived_at is None:
                self._arrived_at = self._log.end
            script.is_over = True
            self._hosting.transport.hold()

    def _follow_script(self, script: Script) -> Generator[None]:
        while self._hosting is not None and not self._is_at_stop:
            entry = script.head()
            if entry is None:
                break
            if entry.code == REWIND_ENTRY and entry.told is not None:
                script.take()
                self._hosting.transport.hold()
                told = entry.told
                self._breakpoints = Breakpoints.holding(told.breakpoints, told.next_breakpoint)
                self._broken_by = self._stopped_by = None
                self._note_rewind(entry.value, told)
            elif entry.told is not None:
                if entry.told.place is not Place.AT_ONCE or entry.frame != self.frames_run:
                    # It did something else than before; the comparison says what.
                    break
                yield from self._scripted_steps(Place.AT_ONCE)
            elif entry.hit is not None:
                break
            else:
                script.take()
                self._follow(entry)
            yield

    @property
    def _is_at_stop(self) -> bool:
        return self._stop_frame is not None and self.frames_run >= self._stop_frame

    @property
    @override
    def _has_arrived(self) -> bool:
        """Whether the script goes no further than the present frame."""
        if self._script is None:
            return False
        if self._is_at_stop:
            return True
        head = self._script.head()
        return head is not None and head.code == REWIND_ENTRY and head.frame <= self.frames_run

    @override
    def _apply_scripted(self, place: Place) -> None:
        """Apply what the script says was applied here."""
        for _ in self._scripted_steps(place):
            pass

    def _scripted_steps(self, place: Place) -> Generator[None]:
        """Apply what the script says was applied here, a frame of it at each turn."""
        script = self._script
        while script is not None and not self._has_arrived:
            entry = script.head()
            if entry is None or (told := entry.told) is None or told.place is not place:
                return
            if entry.frame != self.frames_run:
                return
            script.take()
            self._command_number = entry.value - 1
            was_applying, self._is_applying = self._is_applying, True
            try:
                yield from self._apply_steps(
                    told.command, place=place, by=told.by, host_ms=told.host_ms
                )
            finally:
                self._is_applying = was_applying
            if place is Place.AT_ONCE:
                return

    @override
    def _apply_scripted_hits(self, *, after_frame: bool) -> None:
        """Have the breakpoints hit that the script says were hit here; stop where it ends."""
        script, hosting = self._script, self._hosting
        if script is None or hosting is None:
            return
        while (entry := script.head()) is not None and (hit := entry.hit) is not None:
            # A step may go on after its last frame; what is hit then belongs to the next.
            if entry.frame != self.frames_run or after_frame != (hit.frame < entry.frame):
                break
            script.take()
            known = self._breakpoints.get(hit.number)
            self._note_hit(hit if known is None else replace(hit, action=known.action), hosting)
            self._apply_scripted(Place.BREAKPOINT)
        if self._has_arrived:
            if self._arrived_at is None and self._is_at_stop:
                self._arrived_at = self._log.end
            hosting.tree.halt()
