"""The main window as it is painted first; :mod:`.contents` follows in the next turn.

A bare Qt window takes about 100 ms to its first paint, and this may add a quarter of
that: so every module counts, and the namespace ``Qt``, whose first use takes 15 ms to
set up all its enumerations, is not touched before.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QEvent, QObject, Signal, Slot
from PySide6.QtGui import QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QGridLayout,
    QLabel,
    QMainWindow,
    QStackedWidget,
    QWidget,
)

from inspector.foreign.paths import is_file

from ..kit.guards import guarded
from .menu_bar import TopMenuBar

if TYPE_CHECKING:
    from ..actions.actions import ActionSet
    from ..frame_times.panel import FrameTimesPanel
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge
    from ..transport.actions import TransportActions
    from ..transport.transport_bar import TransportBar
    from .panels.why_line import WhyLine
    from .panels.window_panels import WindowPanels
    from .settings import Settings, SettingsFile
    from .status_line import StatusLine

_TITLE: Final = "Timeline Inspector"
_FIRST_SIZE: Final = (1280, 760)
_LEAST_SIZE: Final = (720, 420)
#: Pixels, an estimate: the real height is known only once the window is on the screen.
_TITLE_BAR_HEIGHT: Final = 40


@guarded
class MainWindow(QMainWindow):
    """Title, menus and a middle, which are painted first, and a place for all the rest."""

    painted = Signal()  # It was painted for the first time
    completed = Signal()  # Actions and panels are there

    bridge: SessionBridge  # The session and what panels share; set by the contents, like all below
    panels: WindowPanels
    # What is in the middle: the frame times, or why a scene could not be loaded
    middle: QStackedWidget
    actions_by_id: ActionSet
    transport_actions: TransportActions
    transport: TransportBar
    why_line: WhyLine
    notice: StatusLine
    frame_times: FrameTimesPanel

    def __init__(self, theme: Theme, settings_file: SettingsFile, settings: Settings) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle(_TITLE)
        self.setAcceptDrops(True)
        self.setMinimumSize(*_LEAST_SIZE)
        theme.setParent(self)
        self.theme = theme
        self.settings = settings
        self.settings_file = settings_file
        self.is_complete = False  # Whether actions and panels are there
        # If an error comes from an installed panel, replaces the panel by the reason; returns
        # whether it does
        self.blames_extension: Callable[[BaseException], bool] = lambda _error: False
        self.opened_last = Path()
        self._was_painted = False
        self._fills_screen = False
        self._hearers: dict[QEvent.Type, list[Callable[[QEvent], object]]] = {}
        self.installEventFilter(self)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)
        # The menus, which Alt shows unless the bar is kept
        self.menu_bar = TopMenuBar(self, is_kept=settings.menu_bar)
        self.hear(self.menu_bar.handle_event, *self.menu_bar.HEARD)
        # Hide it while it is whole: widgets signal that they hide, and slots would use a window
        # that is gone.
        self.hear(lambda _event: self.hide(), QEvent.Type.DeferredDelete)
        self.setCentralWidget(_loading_page())
        self._restore_geometry()

    def _restore_geometry(self) -> None:
        try:
            geometry = bytes.fromhex(self.settings.geometry)
        except ValueError:
            geometry = b""
        if not (geometry and self.restoreGeometry(geometry)):
            room = self.screen().availableSize()
            width, height = _FIRST_SIZE
            self.resize(min(width, room.width()), min(height, room.height()))
            self._fills_screen = room.height() < height + _TITLE_BAR_HEIGHT

    def show_first(self) -> None:
        """Show the window, maximized where its first size leaves no room for a title bar."""
        if self._fills_screen:
            self.showMaximized()
        else:
            self.show()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - typing_extensions takes 10 ms
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            self.painted.emit()

    def hear(self, take: Callable[[QEvent], object], *kinds: QEvent.Type) -> None:
        """Call a handler for events of these kinds before the window, the newest handler first.

        One that returns ``True`` keeps the event from the others. There are hundreds of events a
        second, mostly of kinds that no handler wants: an event filter each would be called for all.
        """
        for kind in kinds:
            self._hearers.setdefault(kind, []).insert(0, take)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - as above
        hearers = self._hearers.get(event.type())
        return hearers is not None and any(handle(event) for handle in hearers)

    def dress(self) -> None:
        """Give all windows of the program their font, and controls their looks."""
        # Imported late: the first paint needs neither, and cannot wait for fonts to be read.
        from ..kit.style import FlatStyle  # noqa: PLC0415

        QApplication.setStyle(FlatStyle(self.theme))
        self.apply_font()

    def apply_font(self) -> None:
        """Use the font and text size of the settings in all windows of the program."""
        from ..kit.fonts import use_window_font  # noqa: PLC0415 - see above

        use_window_font(self.settings.font, self.settings.text_size)
        if self.is_complete:
            # Icons are as large as the text.
            self.theme.redraw_icons()

    @Slot()
    def _apply_theme(self) -> None:
        application = cast("QApplication", QApplication.instance())
        application.setPalette(self.theme.palette())
        if self.is_complete:
            self.apply_menu_palette()
            self.actions_by_id.set_icons(self.theme)

    def apply_menu_palette(self) -> None:
        """Give menus a palette of their own."""
        # The stubs want bytes, which PySide6 itself refuses.
        QApplication.setPalette(self.theme.menu_palette(), "QMenu")  # type: ignore[arg-type]

    @property
    def parts(self) -> list[QWidget]:
        """The parts of the window in the order in which keys go through them, seen or not.

        After them come the panels that are windows of their own.
        """
        panels, frames = self.panels, self.frame_times
        others = [panels[each] for each in panels.ids if panels[each].isWindow()]
        arrangement: list[QWidget] = [frames.strip, frames.ruler, frames, panels.in_middle]
        if self.middle.currentIndex() > 0:
            arrangement = [self.middle]
        beside = [panels["scene"], panels["details"]]
        foot = [self.why_line, panels.tabs, panels.tray]
        return [self.transport, *arrangement, *beside, *foot, *others]

    def set_title(self, session: str = "") -> None:
        self.setWindowTitle(f"{session} – {_TITLE}" if session else _TITLE)

    def open_path(self, path: Path) -> None:
        if not self.notice.lasts(self.settings_file.problem):
            # Only a message about the settings is not about the scene before.
            self.notice.dismiss()
        if not is_file(path):
            self.settings = self.settings.without_recent_scene(str(path))
            open_scene = self.actions_by_id["open"].trigger
            self.notice.show_lasting(f"{path} no longer exists.", ("Open file …", open_scene))
            return
        self.settings = self.settings.with_recent_scene(path)
        self.opened_last = path
        self.bridge.open_path(path)

    def report_fault(self, summary: str) -> None:
        """Say that something went wrong inside the inspector itself."""
        if self.is_complete:
            self.notice.show_lasting(
                f"Internal error in the inspector: {summary}. Everything else goes on; see the "
                "terminal for details."
            )


def _loading_page() -> QWidget:
    page, text = QWidget(), QLabel("Loading the panels …")
    text.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    # Centered by margins: the first use of an alignment makes all enumerations of Qt, slowly.
    layout = QGridLayout(page)
    for end in (0, 2):
        layout.setRowStretch(end, 1)
        layout.setColumnStretch(end, 1)
    layout.addWidget(text, 1, 1)
    return page
