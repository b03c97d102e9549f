"""The playhead bar: shows that the window looks back, and returns to the present."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QFont, QIcon, QKeyEvent, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QToolBar,
    QToolButton,
    QWidget,
)
from typing_extensions import override

from inspector.analysis.instants import EXAMPLES
from inspector.commands.command import Capability
from inspector.sessions.session import file_word
from inspector.timebase import format_instant

from ..kit.guards import guarded
from ..kit.icons import ICON_SIZE, drawn_icon
from ..kit.labels import ElidedLabel
from ..kit.paced_refresh import PacedRefresh
from ..kit.theme import ColorRole, mixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.sessions.session import SessionStatus

    from ..actions.actions import ActionSet
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

_BUTTONS: Final = ("look-timer-back", "look-frame-back", "look-frame-on", "look-timer-on")


@runtime_checkable
class TakesItsTime(Protocol):
    """A session whose rewind, step or reading may take a while."""

    def break_off(self) -> None:
        """Stop where it was or has come to."""


@guarded
class PlayheadBar(QToolBar):
    """The playhead, and how to move it; hidden at the present.

    During a rewind, a long step or the reading of a long capture it shows the progress.

    Attributes:
        label: The instant shown, and that the scene runs on.
        entry: Input of an instant.
        problem: Why the input is not an instant; hidden without a problem.
        live_button: Returns to the present.
        cancel_button: Cancels a rewind in progress.
    """

    def __init__(
        self,
        bridge: SessionBridge,
        actions: ActionSet,
        find: Callable[[str], int],
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        """Start hidden.

        Args:
            bridge: Has the playhead.
            actions: Move the playhead.
            find: Parses an instant; raises ``ValueError`` if it is invalid.
            theme: The colours.
            parent: The owner.
        """
        super().__init__("Looking back", parent)
        self.setObjectName("playhead_bar")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.toggleViewAction().setEnabled(False)
        self._bridge = bridge
        self._actions = actions
        self._find = find
        self._theme = theme
        self._icon_buttons: dict[str, QToolButton] = {}
        self._movers: list[QWidget] = []
        self._goes_on = False
        self.label = ElidedLabel()
        self.label.setAccessibleName("What is shown")
        self.problem = QLabel()
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.entry = QLineEdit()
        self.live_button = self._button("look-live", "Back to the present")
        self._rewind_button = self._button("rewind", "Rewind to here")
        self.cancel_button = QToolButton()
        self.cancel_button.setText("Cancel")
        self.cancel_button.setToolTip("Stop here, and stay with what there is (Esc)")
        self.cancel_button.clicked.connect(self.break_off)
        self._lay_out()
        self._pace = PacedRefresh(self, bridge.pace)
        self._pace.due.connect(self.show_place)
        bridge.refreshed.connect(self._pace.request)
        bridge.session_changed.connect(self._pace.request)
        bridge.playhead_changed.connect(self._take_playhead)
        bridge.status_changed.connect(self._take_status)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self._take_playhead(bridge.playhead_ns)

    def _lay_out(self) -> None:
        font = QFont(self.label.font())
        font.setBold(True)
        self.label.setFont(font)
        self.entry.setPlaceholderText("Look at …")
        self.entry.setAccessibleName("Look at")
        self.entry.setToolTip(f"Instant to show: {EXAMPLES}")
        self.entry.setFixedWidth(self.entry.fontMetrics().horizontalAdvance("+100 timers  ") + 12)
        self.entry.returnPressed.connect(self._take_text)
        self.entry.textEdited.connect(self.problem.hide)
        self.problem.hide()
        whole = QWidget()
        layout = QHBoxLayout(whole)
        layout.setContentsMargins(10, 2, 8, 2)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.problem)
        for action_id in _BUTTONS:
            layout.addWidget(button := self._button(action_id))
            self._movers.append(button)
        layout.addWidget(self.entry)
        layout.addWidget(self._rewind_button)
        layout.addWidget(self.live_button)
        layout.addWidget(self.cancel_button)
        self.cancel_button.hide()
        self._movers += [self.entry, self._rewind_button, self.live_button]
        self.addWidget(whole)
        self._whole = whole

    def _button(self, action_id: str, text: str = "") -> QToolButton:
        """Return a button for an action, with an icon in the colour of this bar."""
        action = self._actions[action_id]
        button = QToolButton()
        button.setAutoRaise(not text)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(text or action.description.plain_title)
        button.setText(text)
        button.setToolTip(action.toolTip())
        button.clicked.connect(action.trigger)
        if not text:
            button.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
            self._icon_buttons[action.description.icon] = button
        return button

    # ---------------------------------------------------------------- the playhead

    @Slot(object)
    def _take_playhead(self, at_ns: int | None) -> None:
        focused = QApplication.focusWidget()
        had_keyboard = focused is not None and self.isAncestorOf(focused)
        self.problem.hide()
        is_needed = at_ns is not None or self._goes_on
        self.setVisible(is_needed)
        self.show_place()
        if not is_needed and had_keyboard:
            self.window().setFocus()

    @Slot(object)
    def _take_status(self, status: SessionStatus) -> None:
        goes_on = status.phase.goes_on
        if goes_on != self._goes_on:
            self._goes_on = goes_on
            for widget in self._movers:
                widget.setVisible(not goes_on)
            self.cancel_button.setVisible(goes_on)
            self._take_playhead(self._bridge.playhead_ns)
        elif goes_on:
            self.show_place()

    @Slot()
    def break_off(self) -> None:
        """Cancel a rewind, a long step or the reading of a capture."""
        session: object = self._bridge.session
        if isinstance(session, TakesItsTime):
            session.break_off()
            self._bridge.request_refresh()

    @Slot()
    def show_place(self) -> None:
        """Show the playhead and the present of the session."""
        at_ns, session = self._bridge.playhead_ns, self._bridge.session
        if self._goes_on:
            self.label.show_text(self._bridge.status.message)
            return
        if at_ns is None or session is None:
            return
        frames = self._bridge.timeline.frames
        frame = frames.index_at(at_ns) - 1
        where = format_instant(at_ns)
        if frame >= frames.first:
            where += f", frame {frame:,}"
        now = format_instant(self._bridge.timeline.at_ns)
        if session.is_recorded:
            meanwhile = f"the {file_word(session)} ends at {now}"
        elif self._bridge.timeline.is_running:
            meanwhile = f"the scene runs on at {now}"
        else:
            meanwhile = f"the scene is held at {now}"
        self.label.show_text(f"Looking back at {where} – {meanwhile}")
        self._rewind_button.setVisible(Capability.REWIND in self._bridge.capabilities)
        self.live_button.setText("To the end" if session.is_recorded else "Back to the present")
        for action_id in _BUTTONS:
            action = self._actions[action_id]
            self._icon_buttons[action.description.icon].setEnabled(action.isEnabled())

    @Slot()
    def _take_text(self) -> None:
        try:
            at_ns = self._find(self.entry.text())
        except ValueError as error:
            self.say(str(error))
            self.entry.selectAll()
            return
        self.entry.clear()
        self._bridge.set_playhead(at_ns)

    @Slot(str)
    def say(self, problem: str) -> None:
        """Show why the playhead cannot be moved."""
        self.problem.setText(f"✖ {problem}")
        self.problem.setAccessibleName(problem)
        self.problem.show()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return to the present on Escape, or stay there."""
        if event.key() == Qt.Key.Key_Escape and self._goes_on:
            self.break_off()
        elif event.key() == Qt.Key.Key_Escape:
            self._bridge.go_live()
        else:
            super().keyPressEvent(event)

    # ---------------------------------------------------------------- looks

    @Slot()
    def _apply_theme(self) -> None:
        theme = self._theme
        ground, ink = theme.color(ColorRole.INTERVENTION), theme.color(ColorRole.BACKGROUND)
        role = QPalette.ColorRole
        palette = theme.palette()
        for target, color in (
            (role.Window, ground),
            (role.Button, ground),
            (role.Base, theme.color(ColorRole.BACKGROUND)),
            (role.WindowText, ink),
            (role.ButtonText, ink),
        ):
            palette.setColor(target, color)
        faint = mixed(ink, ground, 0.5)
        palette.setColor(QPalette.ColorGroup.Disabled, role.ButtonText, faint)
        self._whole.setPalette(palette)
        self._whole.setAutoFillBackground(True)
        self.setPalette(palette)
        self.setAutoFillBackground(True)
        self.entry.setPalette(theme.field_palette())
        for name, button in self._icon_buttons.items():
            button.setIcon(QIcon(drawn_icon(name, ink, faint)))
