"""The actions on time: running, stepping, rewinding, rates, and looking back."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from inspector.analysis.instants import EXAMPLES, InstantError, InstantFinder
from inspector.clocks.failures import FailurePolicy
from inspector.commands.scene import AddMark, RewindTo, SetFailurePolicy, SetFrameRate, StepBack
from inspector.commands.transport import (
    MAX_STEP_FRAMES,
    Hold,
    Run,
    StepBy,
    StepFrames,
    StepTo,
    StepToNextTimer,
)
from inspector.display_text import counted
from inspector.foreign.numbers import count_in
from inspector.sessions.session import SessionPhase, file_word
from inspector.timebase import format_instant, parse_duration_ns

from ..actions.actions import ActionSet
from ..actions.menus import MenuId
from ..kit.prompts import Prompt
from ..kit.theme import Theme
from ..selected.commands import submit
from ..selected.menus import ask_for_rate
from ..session.bridge import SessionBridge
from ..session.qt_time_source import Precision
from .frame_rate import frame_rate_to_text, parse_frame_rate

_FIRST_STEP_FRAMES: Final = 10
_SECOND_BACK: Final = "-1s"


class TransportActions(QObject):
    """Carries out the actions on time, and shows the state of time in them.

    In a session that cannot run, such as a recording, running and stepping move the playhead.
    """

    place_refused = Signal(str)  # The playhead cannot be moved there; the reason, as a sentence
    step_frames_changed = Signal(int)  # The number of frames of the long step was changed

    def __init__(
        self, bridge: SessionBridge, actions: ActionSet, theme: Theme, window: QWidget
    ) -> None:
        super().__init__(window)
        self.step_frames = 0
        self._bridge = bridge
        self._actions = actions
        self._theme = theme
        self._window = window
        for changed in (
            bridge.session_changed,
            bridge.facts_due,
            bridge.status_changed,
            bridge.playhead.playing_changed,
        ):
            changed.connect(self._refresh_states)
        bridge.following_changed.connect(self._actions["follow"].set_checked)
        bridge.precision_changed.connect(self._on_precision_changed)
        self._actions["follow"].set_checked(bridge.is_following)
        self._on_precision_changed(bridge.precision)
        self.set_time_source(bridge.time_source)
        self.set_step_frames(_FIRST_STEP_FRAMES)
        self._refresh_states()

    def set_step_frames(self, count: int) -> None:
        """Set the number of frames of the long step, up to the limit of a session."""
        count = min(count, MAX_STEP_FRAMES)
        if count != self.step_frames:
            self.step_frames = count
            frames = counted(count, "frame")
            self._actions["step-n"].set_text(f"Step &{frames}")
            self._actions["step-back-n"].set_text(f"Back {frames}")
            self.step_frames_changed.emit(count)

    def ask_how_many_steps(self) -> None:
        self._ask_how_many("Step a number of frames", "Frames to step", self.step_many)

    def ask_how_many_steps_back(self) -> None:
        title = "Back a number of frames"
        self._ask_how_many(title, "Frames to go back", self.step_back_many)

    def _ask_how_many(self, title: str, question: str, step: Callable[[], None]) -> None:
        def step_typed(text: str) -> None:
            count = count_in(text.replace(",", ""))
            if not count or count > MAX_STEP_FRAMES:
                raise ValueError(f"type a number of frames from 1 to {MAX_STEP_FRAMES:,}")
            self.set_step_frames(count)
            step()

        self._ask(title, question, step_typed, proposed=f"{self.step_frames}")

    def _ask(
        self,
        title: str,
        question: str,
        accept: Callable[[str], object],
        *,
        proposed: str = "",
        hint: str = "",
    ) -> None:
        Prompt(
            title, question, accept, self._theme, self._window, proposed=proposed, hint=hint
        ).open()

    def toggle_running(self) -> None:
        """Hold a running session or a long step, run a held one; play a recording."""
        playhead = self._bridge.playhead
        if self._is_played:
            (playhead.stop if playhead.is_playing else playhead.play)()
            if playhead.range_ns[0] == playhead.range_ns[1]:
                self.place_refused.emit(f"There is nothing to play in this {self._file_word}.")
            return
        is_stepping = self._bridge.status.phase is SessionPhase.STEPPING
        self._bridge.submit(Hold() if self._is_running or is_stepping else Run())

    def step_one(self) -> None:
        if self._is_played:
            self.show_next_frame()
        else:
            submit(self._bridge, StepFrames(1))

    def step_many(self) -> None:
        if self._is_played:
            count = self.step_frames
            self._hop_to(lambda places, at_ns: places.frames_from(at_ns, count), is_forward=True)
        else:
            submit(self._bridge, StepFrames(self.step_frames))

    def step_to_next_timer(self) -> None:
        if self._is_played:
            self.show_next_firing()
        else:
            submit(self._bridge, StepToNextTimer())

    def ask_where_to_go(self) -> None:
        self._ask(
            "Go to",
            f"Now: {format_instant(self._bridge.shown_ns)}. Session time such as 02:10.5 or 38s, "
            "or how far to step: +1.5, +1/60, +250ms or +3 min",
            self._go_to,
            proposed="+1",
        )

    def _go_to(self, text: str) -> None:
        """Step by a duration after a plus sign, go to an instant; what has passed is looked at."""
        value_ns, is_step = parse_duration_ns(text.removeprefix("+")), text.startswith("+")
        if is_step and value_ns <= 0:
            raise ValueError("a step only goes forward: type a duration above 0")
        bridge = self._bridge
        at_ns = bridge.shown_ns + value_ns if is_step else value_ns
        if self._is_played or at_ns < bridge.timeline.at_ns:
            bridge.set_playhead(at_ns)
        else:
            is_from_now = is_step and bridge.playhead_ns is None
            submit(bridge, StepBy(value_ns) if is_from_now else StepTo(at_ns))

    def step_back(self) -> None:
        if self._is_played:
            self.show_previous_frame()
        else:
            self._bridge.submit(StepBack())

    def step_back_many(self) -> None:
        count = self.step_frames
        if self._is_played:
            self._hop_to(lambda places, at_ns: places.frames_from(at_ns, -count))
        else:
            ran = self._bridge.timeline.frames.end
            self._bridge.submit(StepBack(max(1, min(count, ran))))

    def rewind_to_playhead(self) -> None:
        at_ns = self._bridge.playhead_ns
        if at_ns is not None:
            self._bridge.submit(RewindTo(at_ns))

    def reload(self) -> None:
        self._bridge.reload()

    def ask_for_rate_of_everything(self) -> None:
        session = self._bridge.session
        root = 0 if session is None else session.driven_clock(0)
        clock = self._bridge.timeline.clocks.get(root)
        if clock is not None:
            ask_for_rate(self._bridge, clock, self._theme, self._window)

    def set_frame_rate(self, text: str) -> None:
        self._bridge.submit(SetFrameRate(Fraction(text)))

    def ask_for_frame_rate(self) -> None:
        session = self._bridge.session
        if session is not None:
            self._ask(
                "Frame rate",
                "Frames per second of session time: 60, 59.94 or 60000/1001",
                lambda text: self._bridge.submit(SetFrameRate(parse_frame_rate(text))),
                proposed=frame_rate_to_text(session.frame_rate),
            )

    def set_failure_policy(self, policy: FailurePolicy) -> None:
        self._bridge.failure_policy = policy
        self._bridge.submit(SetFailurePolicy(policy))
        self._refresh_states()

    def set_precision(self, precision: Precision) -> None:
        self._bridge.set_precision(precision)

    def set_time_source(self, name: str) -> None:
        self._bridge.time_source = name
        self._actions.set_choice(MenuId.TIME_SOURCE, name)

    def ask_for_mark(self) -> None:
        self._ask(
            "Mark this instant",
            f"Mark at {format_instant(self._bridge.timeline.at_ns)}",
            lambda text: self._bridge.submit(AddMark(text or "mark")),
            hint="mark",
        )

    def ask_where_to_look(self) -> None:
        bridge = self._bridge
        self._ask(
            "Look at",
            f"Shown: {format_instant(bridge.shown_ns)}. Go to: {EXAMPLES}",
            lambda text: bridge.set_playhead(self.find_place(text or _SECOND_BACK)),
            hint=_SECOND_BACK,
        )

    def show_previous_frame(self) -> None:
        self._hop_to(lambda places, from_ns: places.frames_from(from_ns, -1))

    def show_next_frame(self) -> None:
        """Show the state one frame later; after the newest, the present."""
        self._hop_to(lambda places, from_ns: places.frames_from(from_ns, 1), is_forward=True)

    def show_previous_firing(self) -> None:
        self._hop_to(lambda places, from_ns: places.timers_from(from_ns, -1))

    def show_next_firing(self) -> None:
        """Show the state when the next timer fired; after the last, the present."""
        self._hop_to(lambda places, from_ns: places.timers_from(from_ns, 1), is_forward=True)

    def show_present(self) -> None:
        self._bridge.go_live()

    def _hop_to(
        self, hop: Callable[[InstantFinder, int], int], *, is_forward: bool = False
    ) -> None:
        if self._bridge.session is None:
            return
        try:
            at_ns = hop(self._instants(), self._bridge.shown_ns)
        except InstantError as error:
            if is_forward and self._is_played and self._bridge.playhead_ns is None:
                self.place_refused.emit(f"The {self._file_word} ends here.")
            elif is_forward:
                self._bridge.go_live()
            else:
                self.place_refused.emit(str(error))
        else:
            self._bridge.set_playhead(at_ns)

    def find_place(self, text: str) -> int:
        """Parse an instant; raises InstantError, which says why, if there is none."""
        return self._instants().find(text, self._bridge.shown_ns)

    def _instants(self) -> InstantFinder:
        bridge = self._bridge
        assert bridge.session is not None, "without a session nothing can be looked at"
        return InstantFinder(bridge.session.history, bridge.timeline.frames, bridge.timeline.at_ns)

    def toggle_following(self) -> None:
        """Let plots follow the newest frame, or stop; while looking back, follow."""
        is_looking_back = self._bridge.playhead_ns is not None
        self._bridge.go_live()
        self._bridge.set_following(is_looking_back or not self._bridge.is_following)

    @property
    def _is_played(self) -> bool:
        """Whether the session cannot run, so that the playhead moves instead."""
        session = self._bridge.session
        return session is not None and session.is_recorded

    @property
    def _file_word(self) -> str:
        return file_word(self._bridge.session)

    @property
    def _is_running(self) -> bool:
        if self._is_played:
            return self._bridge.playhead.is_playing
        return self._bridge.status.phase is SessionPhase.RUNNING

    @Slot(object)
    @Slot(bool)
    def _refresh_states(self, _news: object = None) -> None:
        run, is_running = self._actions["run-or-hold"], self._is_running
        run.set_text("&Hold" if is_running else "&Play" if self._is_played else "&Run")
        run.set_icon("hold" if is_running else "run", self._theme)
        session = self._bridge.session
        rate = "" if session is None else str(session.frame_rate)
        self._actions.set_choice(MenuId.FRAME_RATE, rate)
        self._actions.set_choice(MenuId.FAILURE_POLICY, self._bridge.failure_policy.value)

    @Slot(object)
    def _on_precision_changed(self, precision: Precision) -> None:
        self._actions.set_choice(MenuId.PRECISION, precision.value)
