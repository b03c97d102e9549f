"""The state machines panel: the present state, what led to it, and how transitions are made."""

from __future__ import annotations

from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.analysis.lanes.states import ANY
from inspector.commands.command import Capability
from inspector.commands.members import MakeTransition
from tests.ui.members_world import MembersSession
from ui.kit.theme import Theme
from ui.machines.machine_diagram import MachineDiagram, TransitionLabel
from ui.machines.panel import NO_MACHINE, NO_SESSION, StateMachinesPanel, TransitionColumn
from ui.plotting.machines import Arrow, MachineShape
from ui.session.bridge import Selection, SessionBridge

DOOR = 5
HERO = 6
FLOW = {
    "start": ("menu", "playing"),
    "continue": ("menu", "playing"),
    "pause": ("playing", "paused"),
    "resume": ("paused", "playing"),
    "lose": ("playing", "game over"),
    "quit": ("paused", "menu"),
    "leave": ("game over", "menu"),
}


@pytest.fixture
def session() -> MembersSession:
    session = MembersSession()
    session.machine(
        DOOR,
        "door",
        "shut",
        {
            "open": ("shut", "ajar"),
            "close": ("ajar", "shut"),
            "knock": ("shut", "shut"),
            "break": ("*", "broken"),
            "guess": ("ajar", ""),
        },
    )
    session.machine(HERO, "hero", "idle", {"walk": ("idle", "walking")})
    return session


@pytest.fixture
def panel(qtbot: QtBot, bridge: SessionBridge) -> StateMachinesPanel:
    panel = StateMachinesPanel(bridge, Theme("light"))
    qtbot.addWidget(panel)
    panel.resize(1_000, 420)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def show(panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession) -> None:
    bridge.set_session(session)
    bridge.refresh_now()
    panel.refresh()


def label_of(panel: StateMachinesPanel, name: str) -> TransitionLabel:
    return next(label for label in panel.diagram.labels() if label.name == name)


def click(qtbot: QtBot, panel: StateMachinesPanel, name: str) -> None:
    place: QPoint = label_of(panel, name).box.center().toPoint()
    qtbot.mouseClick(panel.diagram, Qt.MouseButton.LeftButton, pos=place)


def show_flow(panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession) -> None:
    flow = 7
    session.machine(flow, "flow", "menu", FLOW)
    session.enter(flow, "playing", "start")
    session.enter(flow, "paused", "pause")
    show(panel, bridge, session)
    bridge.select(Selection.member(flow))


def texts(panel: StateMachinesPanel, column: TransitionColumn) -> list[str]:
    model = panel.model
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


def test_that_without_a_scene_or_a_machine_it_says_so(
    panel: StateMachinesPanel, bridge: SessionBridge
) -> None:
    assert panel.notice.text() == NO_SESSION
    show(panel, bridge, MembersSession())
    assert panel.notice.text() == NO_MACHINE


def test_that_without_a_machine_there_is_no_row_above_the_table(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show(panel, bridge, MembersSession())
    assert panel.splitter.y() == 0

    show(panel, bridge, session)
    assert panel.splitter.y() > panel.chooser.height()


def test_that_the_present_state_and_what_is_possible_is_said_and_drawn(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show(panel, bridge, session)
    assert panel.readout.text() == "in “shut” for 0 ns   possible: open, knock, break"
    assert panel.diagram.shape_shown.states == ("shut", "ajar", "broken")
    assert {label.name for label in panel.diagram.labels()} == {
        "open",
        "close",
        "knock",
        "break",
        "guess",
    }


def test_that_a_click_on_a_possible_transition_asks_for_it(
    qtbot: QtBot, panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show(panel, bridge, session)
    click(qtbot, panel, "open")
    assert session.submitted == [MakeTransition(DOOR, "open")]


def test_that_a_click_on_one_that_is_not_possible_says_why_and_asks_for_nothing(
    qtbot: QtBot, panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show(panel, bridge, session)
    click(qtbot, panel, "close")
    assert session.submitted == []
    assert panel.readout.text() == (
        "✖ “close” does not leave “shut”; possible: “open”, “knock”, “break”."
    )


def test_that_what_cannot_be_controlled_is_only_shown(
    qtbot: QtBot, panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    session.capabilities = frozenset(Capability) - {Capability.MEMBERS}
    show(panel, bridge, session)
    click(qtbot, panel, "open")
    assert session.submitted == []
    assert "read-only" in panel.readout.text()


def test_that_keys_go_through_what_is_possible_and_make_it(
    qtbot: QtBot, panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show(panel, bridge, session)
    diagram = panel.diagram
    assert diagram.current == "open"
    qtbot.keyClick(diagram, Qt.Key.Key_Right)
    qtbot.keyClick(diagram, Qt.Key.Key_Right)
    assert diagram.current == "break"
    assert "Enter makes break" in diagram.accessibleDescription()
    qtbot.keyClick(diagram, Qt.Key.Key_Return)
    assert session.submitted == [MakeTransition(DOOR, "break")]


def test_that_transitions_are_listed_the_newest_first_with_those_that_were_refused(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    session.run_to_ms(100)
    session.enter(DOOR, "ajar", "open")
    session.run_to_ms(250)
    session.refuse(DOOR, "knock", "nobody is there")
    session.run_to_ms(300)
    show(panel, bridge, session)
    assert texts(panel, TransitionColumn.WHEN) == ["0:00.250", "0:00.100", "0:00.000"]
    assert texts(panel, TransitionColumn.SOURCE) == ["ajar", "shut", ""]
    assert texts(panel, TransitionColumn.LASTED) == ["150 ms", "100 ms", ""]
    assert texts(panel, TransitionColumn.TARGET) == ["✖ refused: nobody is there", "ajar", "shut"]
    assert "✖ “knock” was refused: nobody is there" in panel.readout.text()


def test_that_a_new_transition_keeps_the_chosen_row(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    session.run_to_ms(100)
    session.enter(DOOR, "ajar", "open")
    show(panel, bridge, session)
    panel.view.selectRow(0)
    session.run_to_ms(200)
    session.enter(DOOR, "shut", "close")
    bridge.refresh_now()
    panel.refresh()
    assert panel.view.currentIndex().row() == 1
    assert texts(panel, TransitionColumn.BY) == ["close", "open", ""]


def test_that_the_selected_machine_or_the_one_of_a_selected_transition_is_shown(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show(panel, bridge, session)
    bridge.select(Selection.member(HERO))
    assert panel.machine is not None
    assert panel.machine.name == "hero"
    bridge.select(Selection.member(DOOR * 100 + 1))
    assert panel.machine.name == "door"
    assert panel.chooser.currentText() == "door on root"


def test_that_choosing_a_machine_selects_it(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show(panel, bridge, session)
    panel.chooser.setCurrentIndex(1)
    panel.chooser.activated.emit(1)
    assert bridge.selection == Selection.member(HERO)
    assert panel.diagram.shape_shown.present == "idle"


def test_that_another_session_begins_anew(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show(panel, bridge, session)
    other = MembersSession()
    other.machine(9, "lamp", "off", {"switch": ("off", "on")})
    show(panel, bridge, other)
    assert [panel.chooser.itemText(i) for i in range(panel.chooser.count())] == ["lamp on root"]
    assert panel.diagram.shape_shown.present == "off"


def test_that_at_the_playhead_the_machine_is_shown_as_it_was(
    qtbot: QtBot, panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    session.run_to_ms(100)
    session.enter(DOOR, "ajar", "open")
    session.run_to_ms(200)
    session.refuse(DOOR, "knock", "nobody is there")
    session.run_to_ms(300)
    show(panel, bridge, session)
    bridge.set_playhead(150_000_000)
    qtbot.waitUntil(lambda: panel.model.rowCount() == 2)
    assert panel.diagram.shape_shown.present == "ajar"
    assert "for 50.0 ms" in panel.readout.text()
    bridge.go_live()
    qtbot.waitUntil(lambda: panel.model.rowCount() == 3)


def test_that_in_a_low_panel_the_whole_diagram_has_its_height(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show(panel, bridge, session)

    panel.resize(1_000, 158)
    QTest.qWait(0)

    assert panel.diagram.visibleRegion().boundingRect() == panel.diagram.rect()


def enlarge(panel: StateMachinesPanel, times: float) -> QFont:
    """Give a panel larger letters; returns their font."""
    font = panel.font()
    font.setPointSizeF(times * font.pointSizeF())
    panel.setFont(font)
    return font


def test_that_a_state_has_room_for_its_name_while_it_is_the_present_one(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    font = enlarge(panel, 1.5)
    show(panel, bridge, session)
    font.setBold(True)

    room = panel.diagram.box_of("shut").width() - 8

    assert QFontMetricsF(font).horizontalAdvance("● shut") <= room


def test_that_a_name_that_has_room_at_the_usual_size_has_it_at_twice_the_size(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    font = enlarge(panel, 2)
    show_flow(panel, bridge, session)
    font.setBold(True)

    room = panel.diagram.box_of("game over").width() - 8

    assert QFontMetricsF(font).horizontalAdvance("● game over") <= room


def test_that_large_letters_do_not_lay_states_over_one_another(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show(panel, bridge, session)
    usual = panel.diagram.minimumSizeHint()
    enlarge(panel, 1.5)
    large = panel.diagram.minimumSizeHint()
    panel.diagram.resize(large)
    QTest.qWait(0)

    boxes = [panel.diagram.box_of(state) for state in panel.diagram.shape_shown.states]
    assert large.height() > 1.2 * usual.height()
    assert not any(one.intersects(other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize("scale", [1.5, 2.0])
@pytest.mark.parametrize("present", ["menu", "playing", "paused", "game over"])
def test_that_large_letters_have_room_for_every_transition(
    qtbot: QtBot, present: str, scale: float
) -> None:
    arrows = (
        Arrow("menu", "playing", ("start", "continue")),
        Arrow("playing", "paused", ("pause",)),
        Arrow("paused", "playing", ("resume",)),
        *(Arrow(state, "", ("save",)) for state in ("playing", "paused")),
        Arrow("playing", "game over", ("lose",)),
        *(Arrow(state, "menu", ("quit",)) for state in ("paused", "game over")),
        Arrow(ANY, "menu", ("reset",)),
    )
    diagram = MachineDiagram(Theme("light"))
    qtbot.addWidget(diagram)
    font = diagram.font()
    font.setPixelSize(round(13 * scale))
    diagram.setFont(font)
    states = ("menu", "playing", "paused", "game over")
    diagram.set_shape(MachineShape(states, arrows, present))
    diagram.resize(650, diagram.minimumSizeHint().height())
    diagram.show()

    labels = diagram.labels()
    boxes = [*map(diagram.box_of, states), *(label.box for label in labels)]
    assert len(labels) == sum(len(arrow.names) for arrow in arrows)
    # Two names of one arrow touch.
    assert not [
        (one, other)
        for one, other in combinations(boxes, 2)
        if one.adjusted(1, 1, -1, -1).intersects(other.adjusted(1, 1, -1, -1))
    ]


def test_that_in_a_panel_lower_than_the_diagram_the_present_state_is_in_view(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    font = panel.font()
    font.setPixelSize(26)
    panel.setFont(font)
    show_flow(panel, bridge, session)
    panel.resize(1_000, 220)
    diagram = panel.diagram

    for state, way in ("menu", "quit"), ("playing", "start"), ("game over", "lose"):
        session.enter(7, state, way)
        bridge.refresh_now()
        panel.refresh()
        QTest.qWait(0)
        panel.refresh()
        assert diagram.shape_shown.present == state
        box = diagram.box_of(state).toAlignedRect()
        assert diagram.visibleRegion().boundingRect().contains(box)
        assert diagram.visibleRegion().boundingRect() != diagram.rect()


def test_that_in_a_low_panel_no_name_of_a_transition_covers_a_state(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show_flow(panel, bridge, session)
    panel.resize(973, 196)
    QTest.qWait(0)

    diagram = panel.diagram
    boxes = [diagram.box_of(state) for state in diagram.shape_shown.states]
    labels = diagram.labels()
    assert {label.name for label in labels} == set(FLOW)
    assert not [label.name for label in labels if any(label.box.intersects(each) for each in boxes)]


def test_that_in_a_low_panel_a_name_is_on_its_own_line(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show_flow(panel, bridge, session)
    panel.resize(973, 196)
    QTest.qWait(0)

    for drawn in panel.diagram.curves():
        points = [drawn.path.pointAtPercent(share / 100) for share in range(101)]
        boxes = [each.box for each in panel.diagram.labels() if each.arrow is drawn.arrow]
        assert any(box.contains(point) for box in boxes for point in points), drawn.arrow.names


def test_that_in_a_low_and_wide_panel_lines_stay_in_view(
    panel: StateMachinesPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    show_flow(panel, bridge, session)
    panel.resize(1_946, 196)
    QTest.qWait(0)

    diagram = panel.diagram
    for drawn in diagram.curves():
        place = drawn.path.pointAtPercent(0.5).y()
        half = diagram.fontMetrics().height() / 2
        assert half <= place <= diagram.height() - half, drawn.arrow.names
