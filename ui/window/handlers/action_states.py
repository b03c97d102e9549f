"""Enables actions that are possible now, and reports refused commands."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from PySide6.QtCore import QObject, Signal, Slot

from inspector.commands.command import Capability
from inspector.events.timeline import Timeline
from inspector.sessions.session import Session, SessionPhase, file_word

from ...actions.actions import ActionSet
from ...actions.descriptions import ActionFacts, Needs
from ...interventions.intervention_undo import UndoActions
from ...selected.commands import member_needs, selected_clock, selected_timer
from ...session.bridge import SessionBridge

if TYPE_CHECKING:
    from PySide6.QtWidgets import QStackedWidget


#: Needs that are met where nothing can run, because the playhead moves instead.
_PLAYED_NEEDS: Final = frozenset(
    {Needs.TRANSPORT, Needs.STEP, Needs.STEP_TIME, Needs.STEP_TIMER, Needs.REWIND}
)
#: Needs about the clock that the transport drives, not the selected one.
_DRIVEN_NEEDS: Final = frozenset({Needs.ROOT_RATE, Needs.EVERYTHING_RATE})
_WITHOUT_CLOCK: Final = frozenset(
    {
        Needs.EVERYTHING_RATE,
        Needs.TRANSPORT,
        Needs.STEP,
        Needs.STEP_TIME,
        Needs.STEP_TIMER,
        Needs.MARK,
        Needs.RECORD,
        Needs.SAVE,
    }
)
#: What a session is asked for reasons: the capability, whether about the clock that is driven, and
#: whether about the selected one. With the needs that the reason is for; used in each refresh.
_ASKED: Final = defaultdict[tuple[Capability, bool, bool], list[Needs]](list)
for _needs in Needs:
    if _needs.capability is not None:
        _question = _needs.capability, _needs in _DRIVEN_NEEDS, _needs not in _WITHOUT_CLOCK
        _ASKED[_question].append(_needs)


@runtime_checkable
class Reports(Protocol):
    """A view in the middle of the window that has a report of its own to export."""

    def ask_for_report(self) -> None:
        """Ask for a file and write it."""


class ActionStates(QObject):
    """Enables the actions that are possible, whenever that may have changed."""

    command_refused = Signal(object)  # CommandRecord: a command was refused; its record
    command_applied = Signal(object)  # CommandRecord: a command was applied; its record

    def __init__(
        self, bridge: SessionBridge, actions: ActionSet, undo: UndoActions, middle: QStackedWidget
    ) -> None:
        super().__init__(bridge)
        self._middle = middle
        self._bridge = bridge
        self._actions = actions
        self._undo = undo
        self._timeline: Timeline | None = None
        self._session: Session | None = None
        self._commands_seen = 0
        self._newest_command = 0
        self._capabilities: frozenset[Capability] = frozenset()
        self._possible: frozenset[Needs] = frozenset()
        bridge.session_changed.connect(self._on_session_changed)
        middle.currentChanged.connect(self._on_refreshed)
        for changed in (
            bridge.facts_due,
            bridge.status_changed,
            bridge.selection_changed,
            bridge.playhead_changed,
        ):
            changed.connect(self._on_refreshed)
        self._on_session_changed(None)

    @Slot(object)
    def _on_session_changed(self, session: Session | None) -> None:
        commands = self._bridge.timeline.commands
        self._timeline, self._commands_seen = self._bridge.timeline, 0
        if session is None or session is not self._session:
            self._newest_command = commands[-1].number if commands else 0
        self._session = session
        self._on_refreshed()

    @Slot(object)
    def _on_refreshed(self, _news: object = None) -> None:
        has_undo, has_redo = self._undo.refresh()
        facts = self._facts(has_undo=has_undo, has_redo=has_redo)
        if facts != self._actions.facts:
            self._actions.apply(facts)
        self._report_commands()

    def _facts(self, *, has_undo: bool, has_redo: bool) -> ActionFacts:
        bridge, timeline, selection = self._bridge, self._bridge.timeline, self._bridge.selection
        session = bridge.session
        has_failed = bridge.status.phase is SessionPhase.FAILED
        if session is None:
            # A scene that could not be opened at all can still be tried again.
            possible = frozenset({Needs.RELOAD}) if has_failed else frozenset()
            return ActionFacts(
                has_session=has_failed,
                has_failed=has_failed,
                possible=possible,
                is_comparing=self._is_comparing,
            )
        if bridge.capabilities is not self._capabilities:
            self._capabilities = bridge.capabilities
            self._possible = frozenset(
                each for each in Needs if each.capability in bridge.capabilities
            )
        possible = self._possible
        if session.is_recorded:
            possible |= _PLAYED_NEEDS
            # The frames of other loops are in the file, too.
            possible |= {Needs.PROGRAM_CLOCK} if timeline.loops else frozenset()
        clock = selected_clock(timeline, selection)
        return ActionFacts(
            has_session=True,
            has_failed=has_failed,
            has_ended=bridge.status.phase is SessionPhase.ENDED,
            is_recording=session.recorder is not None and session.recorder.is_recording,
            possible=possible,
            reasons=self._reasons(session, 0 if clock is None else clock.id),
            has_clock=clock is not None,
            has_timer=bool(selected_timer(timeline, selection)),
            has_undo=has_undo,
            has_redo=has_redo,
            has_frames=timeline.frames.end > 0,
            is_comparing=self._is_comparing,
            is_looking_back=bridge.playhead_ns is not None,
            fulfilled=member_needs(timeline, selection),
            file_word=file_word(session) if session.is_recorded else "",
        )

    @property
    def _is_comparing(self) -> bool:
        # Called at each refresh: isinstance with the protocol takes thirty times as long.
        return hasattr(self._middle.currentWidget(), "ask_for_report")

    @staticmethod
    def _reasons(session: Session, selected: int) -> dict[Needs, str]:
        """Return why actions are not possible with the selected clock."""
        found = dict[Needs, str]()
        for (capability, is_driven, has_clock), needs in _ASKED.items():
            clock_id = selected if has_clock else 0
            if is_driven:
                clock_id = session.driven_clock(clock_id)
            if reason := session.why_not(capability, clock_id):
                found |= dict.fromkeys(needs, reason)
        return found

    def _report_commands(self) -> None:
        """Report new commands; a log that begins again repeats older ones."""
        commands = self._bridge.timeline.commands
        if self._timeline is not self._bridge.timeline or len(commands) < self._commands_seen:
            self._timeline, self._commands_seen = self._bridge.timeline, 0
        for record in commands[self._commands_seen :]:
            if record.number > self._newest_command:
                self._newest_command = record.number
                told = self.command_refused if record.refusal else self.command_applied
                told.emit(record)
        self._commands_seen = len(commands)
