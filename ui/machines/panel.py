"""The state machines panel: a diagram, and every transition."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QModelIndex, QSignalBlocker, QSize, Qt, Slot
from PySide6.QtWidgets import QComboBox, QScrollArea, QWidget
from typing_extensions import override

from inspector.commands.command import Capability
from inspector.commands.members import MakeTransition
from inspector.display_text import one_line
from inspector.events.history import History
from inspector.events.members import MemberState, StateHistory
from inspector.sessions.session import Session
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import TRANSITION_REFUSED, MemberKind

from ..kit.guards import guarded
from ..kit.labels import ElidedLabel
from ..kit.layouts import bar, fill, splitter
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_view import TableView
from ..kit.theme import ColorRole, Theme
from ..kit.throttled_refresh import ThrottledRefresh
from ..plotting.machines import NO_SHAPE, shape_of
from ..session.bridge import Selection, SelectionKind, SessionBridge
from .machine_diagram import MachineDiagram

#: Limit of rows; older ones are dropped.
MAX_ROWS: Final = 5_000


class TransitionRow(Struct, frozen=True):
    at_ns: int
    source: str  # The previous state; empty for the first
    name: str  # The transition; empty for the first state
    target: str  # The new state; empty if the transition was refused
    lasted_ns: int | None = None  # Duration of the previous state, None for the first
    reason: str = ""  # Reason of a refusal

    @property
    def is_refused(self) -> bool:
        return not self.target


class Refusals:
    """The refused transitions by machine, read from a log by cursor."""

    def __init__(self) -> None:
        self._cursor = 0
        self._found: dict[int, list[tuple[int, int, int]]] = {}

    def read(self, history: History) -> None:
        start = max(self._cursor, history.first)
        end = history.end
        for at_ns, kind, subject, a, b in history.events(start, end):
            if kind == TRANSITION_REFUSED:
                self._found.setdefault(subject, []).append((at_ns, a, b))
        self._cursor = end

    def of(self, machine_id: int) -> list[tuple[int, int, int]]:
        """Return instant, transition (sid) and reason (sid) of each refusal of a machine."""
        return self._found.get(machine_id, [])


def rows_of(
    history: StateHistory | None, refusals: Sequence[tuple[int, int, int]], strings: Sequence[str]
) -> list[TransitionRow]:
    rows: list[TransitionRow] = []
    if history is not None:
        count = len(history)
        for place in range(max(count - MAX_ROWS, 0), count):
            at_ns = history.at_ns[place]
            rows.append(
                TransitionRow(
                    at_ns,
                    strings[history.state[place - 1]] if place else "",
                    strings[history.transition[place]],
                    strings[history.state[place]],
                    at_ns - history.at_ns[place - 1] if place else None,
                )
            )
    rows += [_refusal(history, refusal, strings) for refusal in refusals[-MAX_ROWS:]]
    # The sort is stable: at the same instant, transitions stay before refusals.
    rows.sort(key=lambda row: row.at_ns)
    return rows[: -MAX_ROWS - 1 : -1]


def _refusal(
    history: StateHistory | None, refusal: tuple[int, int, int], strings: Sequence[str]
) -> TransitionRow:
    at_ns, name, reason = refusal
    place = -1 if history is None else bisect_right(history.at_ns, at_ns) - 1
    if history is None or place < 0:
        return TransitionRow(at_ns, "", strings[name], "", None, strings[reason])
    source, lasted_ns = strings[history.state[place]], at_ns - history.at_ns[place]
    return TransitionRow(at_ns, source, strings[name], "", lasted_ns, strings[reason])


_column = Column[TransitionRow]


def _reason(row: TransitionRow) -> str | None:
    return row.reason or None


class TransitionColumn(ColumnEnum):
    # fmt: off
    WHEN = _column(
        "Session (m:s)", lambda row: format_instant(row.at_ns),
        "Session time at which it happened", _reason, raw=lambda row: row.at_ns,
        sample="0:00:00.000", is_number=True)
    SOURCE = _column(
        "From", lambda row: row.source, "The previous state", _reason, sample="game over",
        yields=2)
    LASTED = _column(
        "For", lambda row: "" if row.lasted_ns is None else format_duration(row.lasted_ns),
        "Time spent in the previous state", _reason, sample="00.0 ms", is_number=True, yields=1)
    BY = _column(
        "By", lambda row: row.name, "The requested transition", _reason, sample="continue")
    TARGET = _column(
        "To", lambda row: f"✖ refused: {row.reason}" if row.is_refused else row.target,
        "The new state, or why the transition was refused", _reason, least="✖ refused: …")
    # fmt: on


class MachineTransitionsModel(ListTableModel[TransitionRow]):
    """The transitions of a machine, newest first, at most 5 000 rows."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(TransitionColumn, theme)

    @override
    def color_of(self, row: TransitionRow, column: ColumnEnum) -> ColorRole | None:
        return ColorRole.RED if row.is_refused else None


NO_SESSION: Final = "No scene is open."
NO_MACHINE: Final = (
    "This scene has no state machine. State machines made with stage.state_machine(…) appear here."
)


@guarded
class StateMachinesPanel(QWidget):
    """Shows the selected machine, or the last one shown."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("state_machines")
        self._bridge = bridge
        self._machine_id = 0
        self._known: tuple[tuple[int, str], ...] = ()
        self._refusals = Refusals()
        self.chooser = QComboBox()
        self.chooser.setAccessibleName("State machine")
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.readout = ElidedLabel()
        self.diagram = MachineDiagram(theme)
        self._revealed: tuple[int, str, QSize] | None = None
        self.model = MachineTransitionsModel(theme)  # The transitions, newest first
        self.view = TableView(self.model, "Transitions", bridge.panel_choices)
        self.notice = self.view.notice
        self._lay_out()
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh)
        self._connect()
        self.set_session(bridge.session)

    @property
    def machine(self) -> MemberState | None:
        found = self._bridge.shown.members.by_id.get(self._machine_id)
        return found if found is not None and found.kind is MemberKind.MACHINE else None

    @Slot(object)
    def set_session(self, _session: Session | None) -> None:
        self._machine_id = 0
        self._known = ()
        self._refusals = Refusals()
        self.on_selection_changed(self._bridge.selection)
        self.refresh()

    @Slot(object)
    def on_selection_changed(self, selection: Selection) -> None:
        if selection.kind is not SelectionKind.MEMBER:
            return
        members = self._bridge.shown.members
        if selection.id not in members.by_id:
            return
        for member in members.path(selection.id):
            if member.kind is MemberKind.MACHINE:
                self._set_machine(member.id)
                return

    @Slot()
    def refresh(self) -> None:
        session, timeline = self._bridge.session, self._bridge.shown
        members = timeline.members
        self._list_machines()
        if self.machine is None:
            self._set_machine(self._known[0][0] if self._known else 0)
        machine = self.machine
        # Without a machine only the notice is visible.
        for part in (self._top, self._scroll):
            part.setHidden(machine is None)
        if session is None or machine is None:
            self.notice.set_text(NO_SESSION if session is None else NO_MACHINE)
            self.readout.set_text("")
            self.diagram.set_shape(NO_SHAPE)
            self.model.set_rows([])
            return
        self.notice.set_text("")
        if self.isVisible() and not self._bridge.is_behind:
            self._refusals.read(session.history)
        strings = self._bridge.strings
        history = members.histories.get(machine.id)
        self.diagram.set_shape(shape_of(members, machine.id, strings))
        self._reveal_present(machine.id)
        refusals = [each for each in self._refusals.of(machine.id) if each[0] <= timeline.at_ns]
        self.model.set_rows(rows_of(history, refusals, strings))
        self._refresh_state()

    def _reveal_present(self, machine_id: int) -> None:
        """Scroll to the present state when it is another one."""
        present = self.diagram.shape_shown.present
        where = machine_id, present, self.diagram.size()
        if present and where != self._revealed:
            self._revealed = where
            box = self.diagram.box_of(present)
            place, margin = box.center().toPoint(), box.size().toSize()
            self._scroll.ensureVisible(place.x(), place.y(), margin.width(), margin.height())

    def _list_machines(self) -> None:
        timeline = self._bridge.shown
        found = []
        for member in timeline.members.by_id.values():
            if member.kind is MemberKind.MACHINE:
                clock = timeline.clocks.get(member.clock_id)
                text = member.name + (f" on {clock.name}" if clock else "")
                found.append((member.id, one_line(text)))
        known = tuple(found)
        if known == self._known:
            return
        self._known = known
        with QSignalBlocker(self.chooser):
            self.chooser.clear()
            for number, text in known:
                self.chooser.addItem(text, number)
            self.chooser.setEnabled(bool(known))
            self.chooser.setCurrentIndex(self.chooser.findData(self._machine_id))

    def _set_machine(self, machine_id: int) -> None:
        if machine_id == self._machine_id:
            return
        self._machine_id = machine_id
        self._list_machines()
        with QSignalBlocker(self.chooser):
            self.chooser.setCurrentIndex(self.chooser.findData(machine_id))
        self.refresh()

    def _refresh_state(self) -> None:
        machine, timeline = self.machine, self._bridge.shown
        history = timeline.members.histories.get(self._machine_id)
        if machine is None or history is None or not len(history):
            self.readout.set_text("")
            return
        shape = self.diagram.shape_shown
        since = format_duration(max(timeline.at_ns - history.at_ns[-1], 0))
        possible = ", ".join(shape.possible()) or "nothing"
        text = f"in “{shape.present}” for {since}   possible: {possible}"
        newest = self.model.rows[0] if self.model.rows else None
        if newest is not None and newest.is_refused:
            text += f"   ✖ “{newest.name}” was refused: {newest.reason}"
        self.readout.set_text(text)

    @Slot()
    def _choose_machine(self) -> None:
        number = self.chooser.currentData()
        if number:
            self._set_machine(number)
            self._bridge.select(Selection.member(number))

    @Slot(str)
    def _make_transition(self, name: str) -> None:
        session, machine = self._bridge.session, self.machine
        if session is None or machine is None:
            return
        shape = self.diagram.shape_shown
        if Capability.MEMBERS not in self._bridge.capabilities:
            self.readout.set_text("This session is read-only.")
        elif not shape.is_possible(name):
            possible = ", ".join(f"“{each}”" for each in shape.possible()) or "nothing"
            self.readout.set_text(
                f"✖ “{name}” does not leave “{shape.present}”; possible: {possible}."
            )
        else:
            self._bridge.submit(MakeTransition(machine.id, name))

    @Slot(str)
    def _point_at(self, name: str) -> None:
        shape = self.diagram.shape_shown
        if not name:
            self._refresh_state()
        elif shape.is_possible(name):
            self.readout.set_text(f"“{name}” is possible: click it or press Enter")
        else:
            self.readout.set_text(f"“{name}” does not leave “{shape.present}”")

    @Slot(QModelIndex)
    def _hover_instant(self, index: QModelIndex) -> None:
        row = self.model.row_at(index.row())
        if row is not None:
            self._bridge.set_hover(row.at_ns)

    def _lay_out(self) -> None:
        self._top = QWidget()
        self._top.setLayout(bar(self.chooser, 8, (self.readout, 1)))
        # The diagram can be scrolled: with many states it is larger than a small panel.
        scroll = QScrollArea()
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setWidget(self.diagram)
        self._scroll = scroll
        parts = (scroll, 6), (self.view, 5)
        self.splitter = splitter(Qt.Orientation.Horizontal, *parts, sizes=(600, 500))
        fill(self, self._top, (self.splitter, 1))

    def _connect(self) -> None:
        bridge = self._bridge
        self._throttle.follow()
        bridge.session_changed.connect(self.set_session)
        bridge.selection_changed.connect(self.on_selection_changed)
        bridge.playhead_changed.connect(self._throttle.request)
        self.chooser.activated.connect(self._choose_machine)
        self.diagram.transition_chosen.connect(self._make_transition)
        self.diagram.transition_pointed.connect(self._point_at)
        self.view.clicked.connect(self._hover_instant)
