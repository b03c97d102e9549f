"""The state machines panel: a diagram, and every transition."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, Qt, Slot
from PySide6.QtWidgets import QComboBox, QScrollArea, QWidget

from inspector.commands.command import Capability
from inspector.commands.members import MakeTransition
from inspector.display_text import one_line
from inspector.events.members import MemberState
from inspector.sessions.session import Session
from inspector.timebase import format_duration
from inspector.vocabulary import MemberKind

from ..kit.guards import guarded
from ..kit.labels import ElidedLabel
from ..kit.layouts import bar, fill, splitter
from ..kit.paced_refresh import PacedRefresh
from ..kit.table.table_view import TableView
from ..kit.theme import Theme
from ..plotting.machines import NO_SHAPE, shape_of
from ..session.bridge import Selection, SelectionKind, SessionBridge
from .machine_diagram import MachineDiagram
from .machine_transitions_model import MachineTransitionsModel, Refusals, rows_of

NO_SESSION: Final = "No scene is open."
NO_MACHINE: Final = (
    "This scene has no state machine. State machines made with stage.state_machine(…) appear here."
)


@guarded
class StateMachinesPanel(QWidget):
    """Shows the selected machine, or the last one shown.

    Attributes:
        model: The transitions, newest first.
    """

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
        self.model = MachineTransitionsModel(theme)
        self.view = TableView(self.model, "Transitions", bridge.panel_choices)
        self.notice = self.view.notice
        self._lay_out()
        self._pace = PacedRefresh(self, bridge.pace)
        self._connect(theme)
        self.set_session(bridge.session)

    # --------------------------------------------------------------- display

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
        """Show the selected machine, or that of the selected transition."""
        if selection.kind is not SelectionKind.MEMBER:
            return
        members = self._bridge.shown.members
        if selection.id not in members.by_id:
            return
        for member in members.path(selection.id):
            if member.kind is MemberKind.MACHINE:
                self._show_machine(member.id)
                return

    @Slot()
    def refresh(self) -> None:
        session, timeline = self._bridge.session, self._bridge.shown
        members = timeline.members
        self._list_machines()
        if self.machine is None:
            self._show_machine(self._known[0][0] if self._known else 0)
        machine = self.machine
        # Without a machine only the notice is visible.
        for part in (self._top, self._scroll):
            part.setHidden(machine is None)
        if session is None or machine is None:
            self.notice.show_text(NO_SESSION if session is None else NO_MACHINE)
            self.readout.show_text("")
            self.diagram.show_shape(NO_SHAPE)
            self.model.set_rows([])
            return
        self.notice.show_text("")
        if self.isVisible() and not self._bridge.is_behind:
            self._refusals.read(session.history)
        strings = self._bridge.strings
        history = members.histories.get(machine.id)
        self.diagram.show_shape(shape_of(members, machine.id, strings))
        refusals = [each for each in self._refusals.of(machine.id) if each[0] <= timeline.at_ns]
        self.model.set_rows(rows_of(history, refusals, strings))
        self._show_state()

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
        self.chooser.blockSignals(True)
        self.chooser.clear()
        for number, text in known:
            self.chooser.addItem(text, number)
        self.chooser.setEnabled(bool(known))
        self.chooser.setCurrentIndex(self.chooser.findData(self._machine_id))
        self.chooser.blockSignals(False)

    def _show_machine(self, machine_id: int) -> None:
        if machine_id == self._machine_id:
            return
        self._machine_id = machine_id
        self._list_machines()
        self.chooser.blockSignals(True)
        self.chooser.setCurrentIndex(self.chooser.findData(machine_id))
        self.chooser.blockSignals(False)
        self.refresh()

    def _show_state(self) -> None:
        machine, timeline = self.machine, self._bridge.shown
        history = timeline.members.histories.get(self._machine_id)
        if machine is None or history is None or not len(history):
            self.readout.show_text("")
            return
        shape = self.diagram.shape_shown
        since = format_duration(max(timeline.at_ns - history.at_ns[-1], 0))
        possible = ", ".join(shape.possible()) or "nothing"
        text = f"in “{shape.present}” for {since}   possible: {possible}"
        newest = self.model.rows[0] if self.model.rows else None
        if newest is not None and newest.is_refused:
            text += f"   ✖ “{newest.name}” was refused: {newest.reason}"
        self.readout.show_text(text)

    # ---------------------------------------------------------------- what people do

    @Slot()
    def _choose_machine(self) -> None:
        number = self.chooser.currentData()
        if number:
            self._show_machine(number)
            self._bridge.select(Selection.member(number))

    @Slot(str)
    def _make_transition(self, name: str) -> None:
        session, machine = self._bridge.session, self.machine
        if session is None or machine is None:
            return
        shape = self.diagram.shape_shown
        if Capability.MEMBERS not in self._bridge.capabilities:
            self.readout.show_text("This session is read-only.")
        elif not shape.is_possible(name):
            possible = ", ".join(f"“{each}”" for each in shape.possible()) or "nothing"
            self.readout.show_text(
                f"✖ “{name}” does not leave “{shape.present}”; possible: {possible}."
            )
        else:
            self._bridge.submit(MakeTransition(machine.id, name))

    @Slot(str)
    def _point_at(self, name: str) -> None:
        shape = self.diagram.shape_shown
        if not name:
            self._show_state()
        elif shape.is_possible(name):
            self.readout.show_text(f"“{name}” is possible: click it or press Enter")
        else:
            self.readout.show_text(f"“{name}” does not leave “{shape.present}”")

    @Slot(QModelIndex)
    def _show_instant(self, index: QModelIndex) -> None:
        row = self.model.row_at(index.row())
        if row is not None:
            self._bridge.set_hover(row.at_ns)

    # ---------------------------------------------------------------- building

    def _lay_out(self) -> None:
        self._top = QWidget()
        self._top.setLayout(bar(self.chooser, 8, (self.readout, 1)))
        # With many states it is larger than a small panel.
        scroll = QScrollArea()
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setWidget(self.diagram)
        self._scroll = scroll
        parts = (scroll, 6), (self.view, 5)
        self.splitter = splitter(Qt.Orientation.Horizontal, *parts, sizes=(600, 500))
        fill(self, self._top, (self.splitter, 1))

    def _connect(self, theme: Theme) -> None:
        bridge = self._bridge
        bridge.refreshed.connect(self._pace.request)
        bridge.session_changed.connect(self.set_session)
        bridge.selection_changed.connect(self.on_selection_changed)
        bridge.playhead_changed.connect(self._pace.request)
        self._pace.due.connect(self.refresh)
        self.chooser.activated.connect(self._choose_machine)
        self.diagram.transition_chosen.connect(self._make_transition)
        self.diagram.transition_pointed.connect(self._point_at)
        self.view.clicked.connect(self._show_instant)
        theme.changed.connect(self.view.repaint_rows)
