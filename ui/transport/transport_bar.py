"""The transport: the one row at the top of the window that says and changes how time passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QToolTip, QWidget
from typing_extensions import override

from inspector.commands.clocks import SetRate
from inspector.commands.command import Capability
from inspector.display_text import as_plain, counted
from inspector.events.timeline import Timeline
from inspector.sessions.recorder import Recorder
from inspector.sessions.session import Session, SessionPhase, SessionStatus, file_word
from inspector.timebase import NS_PER_SECOND, format_instant, format_local_time
from inspector.tokens import SIZES

from ..actions.actions import ActionSet
from ..actions.descriptions import NOT_CHANGED
from ..kit.fonts import in_type, text_scale
from ..kit.guards import guarded
from ..kit.icons import icon_size
from ..kit.labels import announce, color_text, plain_label
from ..kit.layouts import tool_button
from ..kit.theme import ColorRole, Theme
from ..kit.throttled_refresh import ThrottledRefresh, single_shot
from ..session.bridge import SessionBridge
from .frame_rate import frame_rate_to_text, measured_frame_rate
from .rate_cells import RateCells

_BYTES_PER_MIB: Final = 1024 * 1024
_EXPORTS: Final = ("export", "export-timeline", "export-scene", "save-last", "save-last-exact")
_FRAME_RATES: Final = (
    *(f"frame-rate-{rate}" for rate in ("30", "60", "120", "144", "240")),
    "frame-rate-exact",
)
_SESSION_TIME: Final = "Session time: time that passed while the scene ran or was stepped"
_HELD_EXPORT: Final = "Right-click or hold for other exports"
_NO_TIME: Final = "--:--.---"
#: Widths in px at 100 % text: with words, and where only the icon has room.
_RUN_WIDTHS: Final = (78, 36)
_FIND_WIDTHS: Final = (168, 32)
_RECORD_WIDTHS: Final = (84, 32)
_ICON_WIDTHS: Final = (32, 32)
_BESIDE_TEXT: Final = 12
#: Pixels between controls of a group, and between groups.
_BETWEEN, _BETWEEN_GROUPS = 2, 12
#: Narrower windows, in px at 100 % text, have an icon for *Find anything*, and no words on buttons.
_LEAST_WITH_FIND: Final = 1100
_LEAST_WITH_WORDS: Final = 960
#: Milliseconds after which a press of a button counts as long.
_LONG_PRESS_MS: Final = 400
#: Of a file that is shorter than this, milliseconds say too little.
_SHORT_NS: Final = NS_PER_SECOND // 10
_TIME_TEXT, _SMALL_TEXT = 16, 11
#: Shown after the time where no frames can be counted.
_PHASE_WORDS: Final = {
    SessionPhase.HELD: "held",
    SessionPhase.STEPPING: "stepping",
    SessionPhase.REWINDING: "rewinding",
    SessionPhase.WAITING: "connecting",
    SessionPhase.ENDED: "ended",
    SessionPhase.FAILED: "failed",
}
_LOOKING_BACK: Final = "looking back"
_FIND: Final = "Find anything"


@guarded
class HeldButton(QToolButton):
    """Does one thing by a click, another by a right-click or a long press."""

    held = Signal()  # It was pressed for long, or with the other button

    def __init__(self, more: Callable[[], str]) -> None:
        """Make a button; ``more`` is what the tool tip says about holding it."""
        super().__init__()
        self._more = more
        self._long_press = single_shot(self, self._on_held, _LONG_PRESS_MS)

    @Slot()
    def _on_held(self) -> None:
        self._long_press.stop()
        # Raise the button, so that letting it go is no click.
        self.setDown(False)
        self.held.emit()

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self._long_press.start()

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._long_press.stop()
        super().mouseReleaseEvent(event)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.accept()
        self._on_held()

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), f"{self.toolTip()}\n{self._more()}", self)
            return True
        return super().event(event)


@guarded
class TextButton(QToolButton):
    """A text of its own size and colour that can be clicked."""

    def __init__(self, theme: Theme, role: ColorRole, alignment: Qt.AlignmentFlag) -> None:
        super().__init__()
        self._theme = theme
        self.role = role
        self._alignment = alignment | Qt.AlignmentFlag.AlignVCenter

    def set_text(self, text: str) -> None:
        """Show a text; its size is fixed, so that what changes often has nothing laid out."""
        if text != self.text():
            self.setText(text)
            self.setAccessibleDescription(text)
            self.make_room_for(text)

    def make_room_for(self, text: str) -> None:
        needed = self.fontMetrics().horizontalAdvance(text) + _BESIDE_TEXT
        if needed > self.minimumWidth():
            self.setFixedWidth(needed)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.underMouse() and self.isEnabled():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color(ColorRole.RAISED))
            painter.drawRoundedRect(self.rect(), SIZES["radius"], SIZES["radius"])
        painter.setPen(self._theme.color(self.role))
        beside = _BESIDE_TEXT // 2
        painter.drawText(self.rect().adjusted(beside, 0, -beside, 0), self._alignment, self.text())
        painter.end()


@guarded
class FindButton(QToolButton):
    """Looks like a field, and opens what finds everything."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def make_room(self) -> None:
        font = QFont(self.font())
        font.setPixelSize(round(_SMALL_TEXT * text_scale(self)))
        keys = self.defaultAction().shortcut().toString()
        words = self.fontMetrics().horizontalAdvance(_FIND)
        needed = words + QFontMetrics(font).horizontalAdvance(keys) + 4 * icon_size()
        self.setFixedWidth(max(self.width(), needed))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        scale = text_scale(self)
        if self.width() < _FIND_WIDTHS[0] * scale - 1:
            super().paintEvent(event)
            return
        painter, theme = QPainter(self), self._theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = ColorRole.EDGE if self.underMouse() else ColorRole.LINE
        painter.setPen(theme.color(edge))
        painter.setBrush(theme.color(ColorRole.BG))
        box = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(box, SIZES["radius"], SIZES["radius"])
        side, gap = icon_size(), round(8 * scale)
        self.icon().paint(painter, QRect(gap, (self.height() - side) // 2, side, side))
        inside = self.rect().adjusted(2 * gap + side, 0, -gap, 0)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(theme.color(ColorRole.MUTED))
        painter.drawText(inside, int(middle | Qt.AlignmentFlag.AlignLeft), _FIND)
        font = QFont(self.font())
        font.setPixelSize(round(_SMALL_TEXT * scale))
        painter.setFont(font)
        keys = self.defaultAction().shortcut().toString()
        painter.drawText(inside, int(middle | Qt.AlignmentFlag.AlignRight), keys)
        painter.end()


@guarded
class TransportBar(QWidget):
    """Menu, steps, Hold or Run, the rate of everything, the time, and what finds and leaves.

    It is one row in every window; narrow ones show fewer words. Everything shown comes from the
    session; nothing can be changed before :meth:`connect_bridge`.
    """

    def __init__(
        self,
        actions: ActionSet,
        theme: Theme,
        parent: QWidget | None = None,
        menus: Iterable[QMenu] = (),
    ) -> None:
        super().__init__(parent)
        self.setObjectName("transport")
        # Ignore the width it would like: in a narrower window it shows less.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Transport")
        self._actions = actions
        self._theme = theme
        self._bridge: SessionBridge | None = None
        self._is_held = False  # What screen readers were told last
        self._recording_since_ns: int | None = None
        self._sizes = (0, 0.0)
        #: Widths with words and without, by button.
        self._widths: dict[QToolButton, tuple[int, int]] = {}
        self.rates = RateCells(theme)  # The rate of everything, which is that of the root clock
        self._caption = plain_label("Everything")
        self.menu_button = tool_button("", "Menu")  # Opens menus
        sides = Qt.AlignmentFlag
        # Session time, or the instant that is shown; asks where to go
        self.time_button = TextButton(theme, ColorRole.TEXT, sides.AlignRight)
        # Measured frames per second, or what happens instead; opens the menu of frame rates
        self.fps_button = TextButton(theme, ColorRole.MUTED, sides.AlignLeft)
        self.find_button = FindButton(theme)
        # Starts and stops a recording, and says how long it has lasted
        self.record_button = tool_button()
        # Exports the frame times; a right-click or a long press opens other exports
        self.export_button = HeldButton(lambda: _HELD_EXPORT)
        self._run_button, self._column_button = tool_button(), tool_button()
        self.menus = QMenu(self)
        for each in menus:
            self.menus.addMenu(each)
        self.frame_rates = self._menu_of(_FRAME_RATES)
        self.exports = self._menu_of(_EXPORTS)
        self._lay_out()
        self.menu_button.clicked.connect(partial(self._open_below, self.menu_button, self.menus))
        self.export_button.held.connect(partial(self._open_below, self.export_button, self.exports))
        self.time_button.clicked.connect(self._ask_for_time)
        self.fps_button.clicked.connect(
            partial(self._open_below, self.fps_button, self.frame_rates)
        )
        theme.changed.connect(self._apply_theme)
        self._set_sizes()
        self._apply_theme()
        self._clear()

    # ---------------------------------------------------------------- building

    def _lay_out(self) -> None:
        self._row = row = QHBoxLayout(self)
        row.setSpacing(0)
        self._add(self.menu_button)
        self._add_gap()
        self._add(self._step_button("step-back"), "step-back")
        self._add(self._run_button, "run-or-hold", _RUN_WIDTHS)
        in_type(self._run_button, "strong")
        self._add(self._step_button("step"), "step")
        self._add(tool_button(), "next-timer")
        self._add_gap()
        row.addWidget(self._caption)
        row.addSpacing(8)
        row.addWidget(self.rates)
        row.addStretch(1)
        for button, name in (
            (self.time_button, "Session time"),
            (self.fps_button, "Frames per second"),
            (self.menu_button, "Menu"),
        ):
            button.setAccessibleName(name)
            button.setAutoRaise(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row.addWidget(self.time_button)
        row.addWidget(self.fps_button)
        row.addStretch(1)
        self._add(self.find_button, "palette", _FIND_WIDTHS)
        self.find_button.setAccessibleName(_FIND)
        self._add_gap()
        self._add(self.record_button, "record", _RECORD_WIDTHS)
        self._add(self.export_button, "export")
        self._add(self._column_button, "side-column")

    def _add(
        self, button: QToolButton, action_id: str = "", widths: tuple[int, int] = _ICON_WIDTHS
    ) -> None:
        if action_id:
            action = self._actions[action_id]
            button.setDefaultAction(action)
            button.setAccessibleName(action.description.plain_title)
        # Hold and Run are raised and bold, so that they are found first.
        button.setAutoRaise(button is not self._run_button)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._widths[button] = widths
        self._row.addWidget(button)
        self._row.addSpacing(_BETWEEN)

    def _add_gap(self) -> None:
        self._row.addSpacing(_BETWEEN_GROUPS - _BETWEEN)

    def _step_button(self, action_id: str) -> HeldButton:
        many = self._actions[f"{action_id}-n"]

        def more() -> str:
            text, keys = many.text().replace("&", ""), many.shortcut().toString()
            return f"{text} ({keys}); right-click or hold for another number"

        button = HeldButton(more)
        button.held.connect(self._actions[f"{action_id}-n-exact"].trigger)
        return button

    def _menu_of(self, action_ids: tuple[str, ...]) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.addActions([self._actions[each] for each in action_ids])
        return menu

    # ---------------------------------------------------------------- sizes

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_sizes()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self._widths:
            self._sizes = (0, 0.0)
            self._set_sizes()

    def _set_sizes(self) -> None:
        """Give everything its size: what is narrower than its words shows its icon."""
        scale = text_scale(self)
        sizes = (self.width(), scale)
        if sizes == self._sizes:
            return
        self._sizes = sizes
        width = self.width() / scale
        has_words, has_field = width >= _LEAST_WITH_WORDS, width >= _LEAST_WITH_FIND
        self.setFixedHeight(round(SIZES["transport"] * scale))
        side = round(8 * scale)
        self._row.setContentsMargins(side, 0, side, 1)
        control = round(SIZES["control"] * scale)
        style = Qt.ToolButtonStyle
        icon = QSize(1, 1) * icon_size()
        for button, (wide, narrow) in self._widths.items():
            is_find = button is self.find_button
            is_wide = has_field if is_find else has_words
            button.setFixedSize(round((wide if is_wide else narrow) * scale), control)
            if is_find and is_wide:
                self.find_button.make_room()
            button.setIconSize(icon)
            shows_text = is_wide and wide != narrow
            button.setToolButtonStyle(
                style.ToolButtonTextBesideIcon if shows_text else style.ToolButtonIconOnly
            )
        self._caption.setVisible(has_words and not self.rates.isHidden())
        self._fit_texts(scale)
        self.rates.set_scale(scale)

    def _fit_texts(self, scale: float) -> None:
        for button, pixels, weight, widest in (
            (self.time_button, _TIME_TEXT, QFont.Weight.DemiBold, "00:00.000"),
            (self.fps_button, _SMALL_TEXT, QFont.Weight.Normal, _LOOKING_BACK),
        ):
            font = QFont(self.font())
            font.setPixelSize(round(pixels * scale))
            font.setWeight(weight)
            button.setFont(font)
            button.setFixedSize(0, round(SIZES["control"] * scale))
            button.make_room_for(widest)
            button.make_room_for(button.text())

    # ---------------------------------------------------------------- the session

    def connect_bridge(self, bridge: SessionBridge) -> None:
        self._bridge = bridge
        throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh_numbers)
        throttle.follow()
        bridge.playhead_changed.connect(throttle.request)
        bridge.status_changed.connect(self.refresh_numbers)
        bridge.status_changed.connect(self._announce_status)
        bridge.session_changed.connect(self.refresh_numbers)
        self.rates.rate_requested.connect(self._request_rate)
        self.rates.other_rate_wanted.connect(self._actions["rate-of-everything"].trigger)
        self.refresh_numbers()

    @Slot(object)
    def _announce_status(self, status: SessionStatus) -> None:
        """Have screen readers say where time was held, and that it runs again."""
        was_held, self._is_held = self._is_held, status.phase is SessionPhase.HELD
        runs_again = was_held and status.phase is SessionPhase.RUNNING
        # *Why* says what a breakpoint or a failure has stopped.
        if runs_again or (self._is_held and not (status.breakpoint or status.detail)):
            announce(self, status.message)

    @Slot()
    @Slot(object)
    def refresh_numbers(self, _news: object = None) -> None:
        bridge = self._bridge
        session = bridge.session if bridge is not None else None
        is_file = session is not None and session.is_recorded
        self._show_parts(has_session=session is not None, is_file=is_file)
        if bridge is None or session is None:
            self._clear()
            return
        self._refresh_time(bridge, session)
        self._refresh_rate(session)
        self._refresh_recorder(session.recorder)

    def _show_parts(self, *, has_session: bool, is_file: bool) -> None:
        """Leave out what can never be used: of a file, rates and recording."""
        parts = (self.time_button, self.fps_button, self.export_button, self._column_button)
        changes = [
            *((part, has_session) for part in parts),
            (self.record_button, has_session and not is_file),
            (self.rates, not is_file),
        ]
        for widget, is_shown in changes:
            if widget.isHidden() is is_shown:
                widget.setVisible(is_shown)
                self._sizes = (0, 0.0)
        self._set_sizes()

    def _clear(self) -> None:
        self.rates.setEnabled(False)
        self.time_button.set_text(_NO_TIME)
        self.time_button.setToolTip(_SESSION_TIME)
        self.fps_button.set_text("")
        self._refresh_recorder(None)

    def _refresh_time(self, bridge: SessionBridge, session: Session) -> None:
        shown = bridge.shown
        decimals = self._decimals(session)
        self.time_button.set_text(format_local_time(bridge.shown_ns, decimals))
        tip = f"{_SESSION_TIME}\nClick to go to another."
        if session.is_recorded:
            end = format_instant(session.timeline.at_ns, decimals)
            tip = f"The instant that is shown; the {file_word(session)} ends at {end}"
        if tip != self.time_button.toolTip():
            self.time_button.setToolTip(tip)
        is_past = bridge.playhead_ns is not None and not session.is_recorded
        role = ColorRole.BLUE if is_past else ColorRole.TEXT
        if role is not self.time_button.role:
            self.time_button.role = role
            self.time_button.update()
        word = _LOOKING_BACK if is_past else _PHASE_WORDS.get(bridge.status.phase, "")
        self._refresh_frame_rate(session, shown, "" if session.is_recorded else word)

    def _decimals(self, session: Session) -> int:
        """Return the decimals of instants: microseconds of a short file, where there is room."""
        is_short = session.is_recorded and session.timeline.at_ns < _SHORT_NS
        has_room = self.width() >= _LEAST_WITH_WORDS * text_scale(self)
        return 6 if is_short and has_room else 3

    def _refresh_frame_rate(self, session: Session, shown: Timeline, word: str) -> None:
        is_live = not (word or session.is_recorded)
        measured = measured_frame_rate(shown) if is_live else None
        unit = "turns/s" if session.waits else "fps"
        text = word or (f"{measured:,.0f} {unit}" if measured is not None else "")
        if session.is_recorded:
            text = f"of {format_local_time(session.timeline.at_ns, self._decimals(session))}"
        if text == self.fps_button.text():
            return
        self.fps_button.set_text(text)
        target = f"Target {frame_rate_to_text(session.frame_rate)} fps"
        got = "" if measured is None else f"; {measured:,.2f} {unit} over the last second"
        tip = f"{target}{got}.\nClick to choose."
        if session.is_recorded:
            tip = f"How long the {file_word(session)} lasts"
        self.fps_button.setToolTip(as_plain(tip))

    def _refresh_rate(self, session: Session) -> None:
        clock = self._bridge_shown().clocks.get(session.driven_clock(0))
        if session.is_recorded:
            reason = NOT_CHANGED.format(file_word(session))
        else:
            reason = session.why_not(Capability.RATE, 0 if clock is None else clock.id)
        can = self._bridge is not None and Capability.RATE in self._bridge.capabilities
        self.rates.setEnabled(clock is not None and can and not reason)
        self.rates.set_reason(f"Unavailable: {reason}." if reason else "")
        if clock is not None:
            self.rates.set_rate(clock.rate)

    def _bridge_shown(self) -> Timeline:
        assert self._bridge is not None, "it has the session"
        return self._bridge.shown

    def _refresh_recorder(self, recorder: Recorder | None) -> None:
        path = None if recorder is None else recorder.path
        button, action, bridge = self.record_button, self._actions["record"], self._bridge
        was_recording = self._recording_since_ns is not None
        if path is None or bridge is None:
            self._recording_since_ns = None
        elif self._recording_since_ns is None:
            self._recording_since_ns = bridge.refresh_timer.now_ns()
        since_ns = self._recording_since_ns
        if was_recording is not (since_ns is not None):
            self._refresh_record_icon()
        if recorder is None or path is None or bridge is None or since_ns is None:
            if action.iconText() != "Record":
                action.setIconText("Record")
                button.setAccessibleName(action.description.plain_title)
                button.setToolTip(action.toolTip())
            return
        lasted_ns = bridge.refresh_timer.now_ns() - since_ns
        action.setIconText(format_local_time(lasted_ns)[:-2])
        lost = recorder.lost
        missing = (
            f"{counted(lost, 'event')} came faster than they could be written."
            if lost
            else "No events are lost."
        )
        said = f"Recording, {lost:,} lost," if lost else "Recording"
        button.setAccessibleName(f"{said} to {path.name}; press to stop")
        size, cost = _size_text(path), recorder.picture_cost
        pictures = f"\nPictures of the scene take {cost}." if cost else ""
        button.setToolTip(
            as_plain(f"Recording to {path}, {size} so far.{pictures}\n{missing}\nClick to stop.")
        )

    # ---------------------------------------------------------------- requests

    @Slot(object)
    def _request_rate(self, rate: Fraction) -> None:
        session = None if self._bridge is None else self._bridge.session
        if self._bridge is not None and session is not None and (root := session.driven_clock(0)):
            self._bridge.submit(SetRate(root, rate))

    @Slot()
    def _ask_for_time(self) -> None:
        is_past = self.time_button.role is ColorRole.BLUE
        go_to = self._actions["step-by"]
        (go_to if go_to.isEnabled() and not is_past else self._actions["look-at"]).trigger()

    @staticmethod
    def _open_below(button: QToolButton, menu: QMenu, *_clicked: bool) -> None:
        menu.popup(button.mapToGlobal(QPoint(0, button.height())))

    # ---------------------------------------------------------------- looks

    @Slot()
    def _apply_theme(self) -> None:
        self.menu_button.setIcon(self._theme.icon("menu"))
        color_text(self._caption, self._theme.color(ColorRole.MUTED))
        self._refresh_record_icon()

    def _refresh_record_icon(self) -> None:
        name = "record" if self._recording_since_ns is None else "recording"
        self._actions["record"].set_icon(name, self._theme)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        line = self._theme.color(ColorRole.LINE)
        painter.fillRect(0, self.height() - 1, self.width(), 1, line)
        if not self.rates.isHidden():
            first = self._caption if self._caption.isVisible() else self.rates
            x, high = first.x() - _BETWEEN_GROUPS // 2, self.height() // 2
            painter.fillRect(x, (self.height() - high) // 2, 1, high, line)
        painter.end()


def _size_text(path: Path) -> str:
    try:
        return f"{path.stat().st_size / _BYTES_PER_MIB:.1f} MiB"
    except OSError:
        # The disk may be gone, for example; the recorder will report it.
        return "of unknown size"
