"""A card for newcomers: what a built-in scene shows, and four things to try."""

from __future__ import annotations

from bisect import bisect
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal, Slot
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.commands.command import Capability, command_in
from inspector.display_text import as_plain
from inspector.sessions.scene import built_in_scene

from ..kit.guards import guarded
from ..kit.keys import hide_with_keyboard
from ..kit.labels import ElidedLabel, WrappedLabel
from ..kit.layouts import tool_button
from ..kit.paced_refresh import single_shot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.events.states import CommandRecord
    from inspector.sessions.session import Session

    from ..session.bridge import SessionBridge

#: What was tried, by its name, or that the card was dismissed; kept with the choices of panels.
_CHOICE: Final = "scene_card"
_DISMISSED: Final = "dismissed"
#: The text has at most this part of the height of the middle, about two lines in a small window.
_TEXT_PART: Final = 0.12
#: Lines of text for which the middle must have room, or else the card is one line until more is
#: asked for.
_LEAST_LINES: Final = 22

_WRAPPED: Final = int(Qt.TextFlag.TextWordWrap)


def _begun(words: Sequence[str], count: int) -> str:
    return " ".join(words[:count]) + " …"


class Task(Struct, frozen=True):
    """Something to try.

    Attributes:
        name: Its name in the settings.
        text: What to do, in a few words.
        tip: How.
        capability: Of the command that does it; ``None`` for what is told to the window.
    """

    name: str
    text: str
    tip: str
    capability: Capability | None


TASKS: Final = (
    Task("pause", "Pause a clock (P)", "Select a clock in the tree and press P", Capability.PAUSE),
    Task(
        "slow",
        "Slow it down (R)",
        "Select a clock, press R, and type a rate below 1, such as 1/4",
        Capability.RATE,
    ),
    Task(
        "step",
        "Next timer (N)",
        "Step to the instant at which the next timer fires",
        Capability.STEP_TIMER,
    ),
    Task("export", "Export (Ctrl+E)", "Write the frame times as a picture or a table", None),
)


@guarded
class SceneCard(QFrame):
    """Shows what a built-in scene is about and ticks off what was tried; gone once dismissed.

    Where there is little room it is only a line with the title. What to try is shown when it is
    asked for.

    Signals:
        keyboard_left: It was dismissed while one of its buttons had the keyboard.

    Attributes:
        title: The title of the scene.
        text: What there is to see, or one of the things to try in this scene.
        next_button: Shows the next of them.
        tasks: What to try in any scene, by name.
        close_button: Dismisses the card for good.
    """

    keyboard_left = Signal()

    def __init__(self, bridge: SessionBridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("scene_card")
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self._bridge = bridge
        self._pages: tuple[str, ...] = ()
        self._page = 0
        self._whole = ""
        self._is_asked = False
        self._turn = single_shot(self, self._fit)
        self.title = ElidedLabel()
        font = QFont(self.title.font())
        font.setBold(True)
        self.title.setFont(font)
        self.text = WrappedLabel()
        self.next_button = tool_button("", "What to try in this scene")
        self.next_button.clicked.connect(self.turn_page)
        self.close_button = tool_button("Dismiss", "Do not show what to try again")
        self.close_button.setAccessibleName("Dismiss the card")
        self.close_button.clicked.connect(self.dismiss)
        self.tasks = {task.name: QLabel() for task in TASKS}
        top, bottom = QHBoxLayout(), QHBoxLayout()
        top.addWidget(self.title, 1)
        top.addWidget(self.next_button)
        top.addWidget(self.close_button)
        bottom.setSpacing(18)
        for task in TASKS:
            self.tasks[task.name].setToolTip(task.tip)
            bottom.addWidget(self.tasks[task.name])
        bottom.addStretch(1)
        # Rather cut off than making the window wider.
        self._line = QWidget()
        self._line.setLayout(bottom)
        bottom.setContentsMargins(0, 0, 0, 0)
        self._line.setMinimumWidth(1)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(8, 3, 8, 5)
        column.setSpacing(2)
        column.addLayout(top)
        column.addWidget(self.text)
        column.addWidget(self._line)
        self.hide()
        bridge.session_changed.connect(self._take_session)
        if parent is not None:
            parent.installEventFilter(self)

    @property
    def _done(self) -> set[str]:
        return set(self._bridge.panel_choices.get(_CHOICE, "").split())

    @Slot(object)
    def _take_session(self, session: Session | None) -> None:
        scene = None
        if session is not None and not session.is_recorded and _DISMISSED not in self._done:
            scene = built_in_scene(Path(session.source_label))
        self.setVisible(scene is not None)
        if scene is not None:
            self.title.show_text(scene.title)
            self._pages = (scene.summary, *scene.tries)
            self._page, self._is_asked = 0, False
            self._show_page()
            self._show_tasks()

    @Slot()
    def turn_page(self) -> None:
        """Show the next thing to try in this scene; after the last, what there is to see."""
        self._page, self._is_asked = (self._page + 1) % len(self._pages), True
        self._show_page()

    def _show_page(self) -> None:
        page, tries = self._page, len(self._pages) - 1
        text = self._pages[page]
        self._whole = f"Try {page} of {tries}: {text}" if page else text
        self._fit()
        following = "Next" if page else "What to try"
        self.next_button.setText("What it shows" if page == tries else following)
        self.next_button.setVisible(bool(tries))

    def _fit(self) -> None:
        """Show as much as leaves room for the plots; all of the text is in the tooltip."""
        parent, metrics = self.parentWidget(), self.text.fontMetrics()
        margins = self._column.contentsMargins()
        # While it is shown for the first time it has no place yet; the middle has.
        middle = self if parent is None else parent
        width, room = middle.width() - margins.left() - margins.right(), middle.height()
        is_low = room < _LEAST_LINES * metrics.lineSpacing()
        self._line.setHidden(is_low)
        shown = "" if is_low and not self._is_asked else self._fitting_text(width, room)
        if shown != self.text.text():
            self.text.show_text(shown)
            self.text.setToolTip("" if shown == self._whole else as_plain(self._whole))
        self.title.setToolTip(as_plain(f"{self.title.text()}\n{self._whole}"))

    def _fitting_text(self, width: int, room: int) -> str:
        """Return as much of the text as has its share of the height of the middle."""
        metrics = self.text.fontMetrics()
        most = max(round(_TEXT_PART * room / metrics.lineSpacing()), 1) * metrics.lineSpacing()

        def is_too_high(text: str) -> bool:
            place = QRect(0, 0, width, room)
            return metrics.boundingRect(place, _WRAPPED, text).height() > most

        if not is_too_high(self._whole):
            return self._whole
        words = self._whole.split(" ")
        # The most words with which it is no higher.
        fits = bisect(range(1, len(words)), 0, key=lambda n: is_too_high(_begun(words, n)))
        return _begun(words, max(fits, 1))

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._turn.start()
        return False

    def _show_tasks(self) -> None:
        for task in TASKS:
            sign = "☑" if task.name in self._done else "☐"
            self.tasks[task.name].setText(f"{sign} {task.text}")

    @Slot(object)
    def take_command(self, record: CommandRecord) -> None:
        """Tick off what a command does that was applied."""
        command = command_in(record.form)
        for task in TASKS:
            if command is None or command.capability is not task.capability:
                continue
            if task.capability is not Capability.RATE or self._is_slowed(record.clock_id):
                self._tick(task.name)

    def _is_slowed(self, clock_id: int) -> bool:
        """Whether it is a slower branch: not a stopped one, nor the root with all."""
        clock = self._bridge.timeline.clocks.get(clock_id)
        return clock is not None and bool(clock.parent_id) and 0 < clock.rate < 1

    @Slot()
    def take_export(self) -> None:
        self._tick("export")

    def _tick(self, name: str) -> None:
        done = self._done
        if name in done or _DISMISSED in done:
            return
        self._bridge.panel_choices[_CHOICE] = " ".join(sorted({*done, name}))
        self._show_tasks()

    @Slot()
    def dismiss(self) -> None:
        """Put the card away, for the next starts too."""
        self._bridge.panel_choices[_CHOICE] = _DISMISSED
        if hide_with_keyboard(self):
            self.keyboard_left.emit()
