"""Things that a user might do, one after the other, and nothing goes wrong."""

from __future__ import annotations

import gc
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QDialog,
    QLineEdit,
    QWidget,
)

from inspector.clocks import ManualTimeSource
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Command
from inspector.commands.members import (
    MakeTransition,
    PauseFromPriority,
    PauseMember,
    ResumeFromPriority,
    ResumeMember,
    SetTimeScale,
    UnscheduleMember,
)
from inspector.commands.scene import AddMark, Reload, RewindTo, SetFrameRate, StepBack
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.commands.transport import Hold, Run, StepBy, StepFrames, StepToNextTimer
from inspector.sessions.scene import built_in_scenes
from inspector.timebase import NS_PER_SECOND
from tests.fuzz import rounds
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.window.contents import WindowContents
from ui.window.main_window import MainWindow
from ui.window.settings import Settings, SettingsFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

OPERATIONS = rounds(300)

#: These ask the system for a file or end the window.
_NOT_TRIGGERED = {"open", "close-session", "quit"}
_SLOW = {"reload", "step-back", "rewind"}
#: Frames; going back in a longer session takes too much of the time for the rest.
_LONG_SESSION = 500
_TEXTS = ("", "boss", "1/3", "0.25", "2x", "abc", "-1", "nan", "é漢", "9" * 40)
_KEYS = (
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_Return,
    Qt.Key.Key_Escape,
    Qt.Key.Key_Tab,
    Qt.Key.Key_Space,
    Qt.Key.Key_W,
    Qt.Key.Key_A,
    Qt.Key.Key_S,
    Qt.Key.Key_D,
    Qt.Key.Key_F,
    Qt.Key.Key_Period,
)


class RandomUser:
    """Does one thing after the other; the same seed does the same things."""

    def __init__(self, window: MainWindow, sources: list[ManualTimeSource], seed: int) -> None:
        self.window = window
        self.random = Random(seed)
        self._sources = sources
        self._closing = QTimer()
        self._closing.timeout.connect(self.leave_dialogs)
        self._actions: list[tuple[int, Callable[[], None]]] = [
            (30, self.let_time_pass),
            (20, self.refresh),
            (12, self.trigger_action),
            (12, self.submit_command),
            (8, self.command_member),
            (8, self.move_playhead),
            (1, self.rewind),
            (10, self.select_something),
            (8, self.click_somewhere),
            (8, self.press_key),
            (6, self.turn_wheel),
            (5, self.type_text),
            (5, self.drag_somewhere),
            (4, self.hover),
            (2, self.scroll),
            (1, self.resize),
        ]
        self._weights = [weight for weight, _ in self._actions]

    def act(self) -> None:
        (_, action), *_ = self.random.choices(self._actions, self._weights)
        # A menu that a click opens runs its own event loop until it is closed.
        self._closing.start(0)
        action()
        self._closing.stop()
        self.leave_dialogs()

    @property
    def bridge(self) -> SessionBridge:
        return self.window.bridge

    def let_time_pass(self) -> None:
        self._sources[-1].advance_ns(self.random.randrange(40_000_000))

    def refresh(self) -> None:
        self.bridge.refresh_now()
        QApplication.processEvents()

    def trigger_action(self) -> None:
        action_id = self.random.choice(list(self.window.actions_by_id.by_id))
        if action_id in _NOT_TRIGGERED:
            return
        # Rebuilding a scene costs a hundred times as much as the rest.
        is_long = self.bridge.timeline.frames.end > _LONG_SESSION
        if action_id in _SLOW and (is_long or self.random.random() > 0.05):
            return
        self.window.actions_by_id[action_id].trigger()

    def submit_command(self) -> None:
        clock_id = self.random.randrange(1, 12)
        timer_id = self.random.choice([*self.bridge.timeline.timers.ids(), 1, 10**9])
        commands: list[Command] = [
            Run(),
            Hold(),
            StepFrames(self.random.randrange(1, 4)),
            StepBy(self.random.randrange(100_000_000)),
            StepToNextTimer(),
            PauseClock(clock_id),
            ResumeClock(clock_id),
            ResumeClock(clock_id),
            SetRate(clock_id, Fraction(self.random.randrange(9), self.random.randrange(1, 9))),
            ClearTimer(timer_id),
            FireTimer(timer_id),
            AddMark("here"),
            SetFrameRate(Fraction(self.random.choice([30, 60, 144]))),
        ]
        self.bridge.submit(self.random.choice(commands))

    def command_member(self) -> None:
        """Ask for something that suits a member, and often for something that does not."""
        members, chance = self.bridge.timeline.members, self.random
        number = chance.choice([*members.by_id, 10**9])
        member = members.by_id.get(number)
        edges = [] if member is None else [members.by_id[each].name for each in member.children]
        commands: list[Command] = [
            PauseMember(number),
            ResumeMember(number),
            ResumeMember(number),
            PauseFromPriority(number, chance.randrange(-20, 20)),
            ResumeFromPriority(number),
            SetTimeScale(number, Fraction(chance.randrange(5), chance.randrange(1, 5))),
            MakeTransition(number, chance.choice([*edges, "nothing like it"])),
            MakeTransition(number, chance.choice([*edges, "nothing like it"])),
        ]
        # What is taken back does not come again.
        if chance.random() < 0.05:
            commands = [UnscheduleMember(number)]
        self.bridge.submit(chance.choice(commands))

    def move_playhead(self) -> None:
        """Look at some instant, a few times in one turn, or go back to the present."""
        chance, bridge = self.random, self.bridge
        for _ in range(chance.choice([1, 1, 3])):
            at_ns = chance.randrange(-NS_PER_SECOND, bridge.timeline.at_ns + NS_PER_SECOND)
            bridge.set_playhead(chance.choice([at_ns, at_ns, at_ns, None]))
        if chance.random() < 0.1:
            bridge.playhead.play()

    def rewind(self) -> None:
        # What has run is run again, so only now and then, and a long session starts again.
        if self.bridge.timeline.frames.end > _LONG_SESSION:
            self.bridge.submit(Reload())
            return
        commands: list[Command] = [
            StepBack(self.random.randrange(1, 4)),
            RewindTo(self.random.randrange(self.bridge.timeline.at_ns + 1)),
        ]
        self.bridge.submit(self.random.choice(commands))

    def select_something(self) -> None:
        timeline = self.bridge.timeline
        chosen = [
            Selection.nothing(),
            Selection.clock(self.random.randrange(1, 12)),
            Selection.timer(self.random.choice([*timeline.timers.ids(), 10**9])),
            Selection.frame(self.random.randrange(timeline.frames.end + 2)),
            Selection.member(self.random.choice([*timeline.members.by_id, 10**9])),
            Selection.member(self.random.choice([*timeline.members.by_id, 10**9])),
        ]
        self.bridge.select(self.random.choice(chosen))

    def hover(self) -> None:
        at_ns = self.random.randrange(self.bridge.timeline.at_ns + 1)
        self.bridge.set_hover(self.random.choice([None, at_ns]))

    def click_somewhere(self) -> None:
        button = self.random.choice([Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton])
        # Sent to the window, so that Qt itself decides which widget gets it.
        QTest.mouseClick(self.window.windowHandle(), button, pos=self._somewhere())

    def drag_somewhere(self) -> None:
        handle = self.window.windowHandle()
        start, end = self._somewhere(), self._somewhere()
        left = Qt.MouseButton.LeftButton
        QTest.mousePress(handle, left, pos=start)
        QTest.mouseMove(handle, self._inside(end))
        QTest.mouseRelease(handle, left, pos=self._inside(end))

    def turn_wheel(self) -> None:
        widget, position = self._widget_at(self._somewhere())
        angle = QPoint(0, self.random.choice([-240, -120, 120, 240]))
        event = QWheelEvent(
            QPointF(position),
            QPointF(widget.mapToGlobal(position)),
            QPoint(),
            angle,
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(widget, event)

    def press_key(self) -> None:
        # Qt sends no keys to what is disabled, and QTest warns of it.
        views = [each for each in self.window.findChildren(QAbstractItemView) if each.isEnabled()]
        QTest.keyClick(self.random.choice([*views, self.window]), self.random.choice(_KEYS))

    def type_text(self) -> None:
        fields = [
            line
            for line in self.window.findChildren(QLineEdit)
            if line.isVisible() and line.isEnabled()
        ]
        if fields:
            field = self.random.choice(fields)
            field.setText(self.random.choice(_TEXTS))
            QTest.keyClick(field, Qt.Key.Key_Return)

    def scroll(self) -> None:
        areas = self.window.findChildren(QAbstractScrollArea)
        bar = self.random.choice(areas).verticalScrollBar()
        bar.setValue(self.random.randint(bar.minimum(), bar.maximum()))

    def resize(self) -> None:
        self.window.resize(self.random.randrange(400, 2000), self.random.randrange(300, 1200))

    def leave_dialogs(self) -> None:
        while (popup := QApplication.activePopupWidget()) is not None:
            popup.close()
        for widget in QApplication.topLevelWidgets():
            if isinstance(widget, QDialog) and widget.isVisible():
                widget.reject()

    def _somewhere(self) -> QPoint:
        """A place in the window, below its menu bar (menus are opened by their actions)."""
        size = self.window.windowHandle().size()
        top = 0
        return QPoint(
            self.random.randrange(max(1, size.width())),
            self.random.randrange(top, max(top + 1, size.height())),
        )

    def _inside(self, place: QPoint) -> QPoint:
        """The nearest place in the window, which may have become smaller."""
        size = self.window.windowHandle().size()
        return QPoint(min(place.x(), size.width() - 1), min(place.y(), size.height() - 1))

    def _widget_at(self, place: QPoint) -> tuple[QWidget, QPoint]:
        widget = self.window.childAt(place) or self.window
        return widget, widget.mapFrom(self.window, place)


def _objects_by_class(root: QObject) -> Counter[str]:
    return Counter(type(child).__name__ for child in root.findChildren(QObject))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("scene", "operations"),
    [
        ("01_small_game", len(OPERATIONS)),
        ("07_schedulers", len(OPERATIONS) // 3),
        ("08_components", len(OPERATIONS) // 3),
        ("10_state_machines", len(OPERATIONS) // 3),
    ],
)
def test_that_random_operations_do_no_harm(
    qtbot: QtBot, tmp_path: Path, scene: str, operations: int
) -> None:
    sources: list[ManualTimeSource] = []

    def make_source(_precision: object) -> ManualTimeSource:
        sources.append(ManualTimeSource())
        return sources[-1]

    window = MainWindow(Theme("dark"), SettingsFile(tmp_path / "settings.toml"), Settings())
    qtbot.addWidget(window)
    window.show()
    WindowContents(window, SessionBridge(make_source=make_source))
    window.open_path(next(each.path for each in built_in_scenes() if each.path.stem == scene))
    user = RandomUser(window, sources, seed=OPERATIONS.start)

    def settle() -> Counter[str]:
        user.leave_dialogs()
        QApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        return _objects_by_class(window)

    # Dialogs and views that are made when first needed are there after a while, panels at once.
    for panel_id in window.panels.ids:
        window.panels.panel(panel_id)
    for _ in range(operations // 2):
        user.act()
    halfway = settle()
    for _ in range(operations - operations // 2):
        user.act()
    grown = settle() - halfway

    # Rows of panels are kept for the next time; what leaks grows with the operations.
    assert sum(grown.values()) < max(200, operations // 50), f"they only ever grow: {grown}"
