"""Colours by what they mean, palettes for light and dark, and icons in the text's colour.

The hues of roles are Okabe and Ito's, which people with any kind of colour vision can
tell apart (https://jfly.uni-koeln.de/color/). Where a hue would be too faint on
the background of a theme its lightness is changed: every role stands out at
least 3 to 1, roles that text is written in at least 4.5 to 1.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, Literal

from PySide6 import QtCore
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtGui import QIcon

    from inspector.vocabulary import Phase

ThemeName = Literal["light", "dark"]
ThemeChoice = Literal["system", "light", "dark"]

_DARK_BELOW: Final = 128


class ColorRole(Enum):
    """What a colour means."""

    GOOD = "frame at half its budget or less; running"
    OK = "frame within its budget"
    LATE = "frame up to twice its budget"
    BAD = "frame over twice its budget; failure"
    INTERVENTION = "done by the inspector"
    PAUSED = "time stands still"
    ACCENT = "what to look at"
    TEXT = "what to read"
    MUTED_TEXT = "what explains"
    BACKGROUND = "behind data"
    PANEL = "behind controls"
    GRID = "lines at ticks"
    SELECTION = "behind what is selected"
    HOVER = "behind what is under the pointer"


_LIGHT: Final = {
    ColorRole.GOOD: "#0072b2",
    ColorRole.OK: "#007f5c",
    ColorRole.LATE: "#b87c00",
    ColorRole.BAD: "#b84a00",
    ColorRole.INTERVENTION: "#a3507f",
    ColorRole.PAUSED: "#6e7681",
    ColorRole.ACCENT: "#0072b2",
    ColorRole.TEXT: "#1b1f24",
    ColorRole.MUTED_TEXT: "#57606a",
    ColorRole.BACKGROUND: "#ffffff",
    ColorRole.PANEL: "#f3f4f6",
    ColorRole.GRID: "#e4e7eb",
    ColorRole.SELECTION: "#0067a1",
    ColorRole.HOVER: "#e3eef6",
}
_DARK: Final = {
    ColorRole.GOOD: "#56b4e9",
    ColorRole.OK: "#2bb58c",
    ColorRole.LATE: "#e69f00",
    ColorRole.BAD: "#f0824a",
    ColorRole.INTERVENTION: "#d993b8",
    ColorRole.PAUSED: "#a0a8b1",
    ColorRole.ACCENT: "#56b4e9",
    ColorRole.TEXT: "#e9edf1",
    ColorRole.MUTED_TEXT: "#a3acb6",
    ColorRole.BACKGROUND: "#15181c",
    ColorRole.PANEL: "#20242a",
    ColorRole.GRID: "#2b3036",
    ColorRole.SELECTION: "#2f76a8",
    ColorRole.HOVER: "#283039",
}
_COLORS: Final[Mapping[ThemeName, Mapping[ColorRole, str]]] = {"light": _LIGHT, "dark": _DARK}

#: By the code of the phase; the same in both themes, and in exported graphs. Any two differ by a
#: CIEDE2000 of over 20 for normal vision and each kind of dichromacy; none is orange or red,
#: which mean that something is wrong.
_PHASE_COLORS: Final = (
    "#d2e12d",  # timers
    "#2d4b1e",  # before update
    "#87871e",  # start
    "#1e69e1",  # update
    "#87d2b4",  # late update
    "#5a3c5a",  # after update
    "#ffa5ff",  # draw
)


class Theme(QObject):
    """The colours and icons in use; one object for the life of a window.

    Signals:
        changed: Other colours are in use; the name of the theme.
    """

    changed = Signal(str)

    def __init__(self, choice: ThemeChoice = "system", parent: QObject | None = None) -> None:
        """Begin with what the user chose.

        Args:
            choice: ``"light"``, ``"dark"``, or ``"system"`` to follow the desktop.
        """
        super().__init__(parent)
        self._choice: ThemeChoice = choice
        # At the start this is the desktop's palette; that of the style takes the first paint 4 ms.
        palette = QGuiApplication.palette()
        self._name: ThemeName = _name_of(palette) if choice == "system" else choice
        self._icons: dict[str, QIcon] = {}

    @property
    def choice(self) -> ThemeChoice:
        return self._choice

    @property
    def name(self) -> ThemeName:
        return self._name

    @property
    def is_dark(self) -> bool:
        """Whether text is light on dark."""
        return self._name == "dark"

    def set_choice(self, choice: ThemeChoice) -> None:
        self._choice = choice
        self._use(_resolved(choice))

    def color(self, role: ColorRole) -> QColor:
        return QColor(_COLORS[self._name][role])

    def palette(self) -> QPalette:
        """Return the palette for the Fusion style."""
        color = self.color
        palette = QPalette()
        role = QPalette.ColorRole
        panel = color(ColorRole.PANEL)
        raised = panel.lighter(125) if self.is_dark else panel.lighter(102)
        for target, value in (
            (role.Window, panel),
            (role.WindowText, color(ColorRole.TEXT)),
            (role.Base, color(ColorRole.BACKGROUND)),
            (role.AlternateBase, panel),
            (role.Text, color(ColorRole.TEXT)),
            (role.PlaceholderText, color(ColorRole.MUTED_TEXT)),
            (role.Button, raised),
            (role.ButtonText, color(ColorRole.TEXT)),
            (role.BrightText, color(ColorRole.BAD)),
            (role.ToolTipBase, raised),
            (role.ToolTipText, color(ColorRole.TEXT)),
            (role.Highlight, color(ColorRole.SELECTION)),
            (role.HighlightedText, QColor("#ffffff")),
            (role.Accent, color(ColorRole.SELECTION)),
            (role.Link, color(ColorRole.ACCENT)),
            (role.LinkVisited, color(ColorRole.INTERVENTION)),
            (role.Light, raised.lighter(115)),
            (role.Midlight, raised.lighter(107)),
            (role.Mid, panel.darker(125)),
            (role.Dark, panel.darker(150)),
            (role.Shadow, panel.darker(200)),
        ):
            palette.setColor(target, value)
        faint = mixed(color(ColorRole.TEXT), panel, 0.45)
        for target in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
            palette.setColor(QPalette.ColorGroup.Disabled, target, faint)
        palette.setColor(QPalette.ColorGroup.Disabled, role.Highlight, panel.darker(125))
        return palette

    def field_palette(self) -> QPalette:
        """Return the palette for what can be typed into.

        Fusion outlines fields in a darker shade of the window, which cannot be seen
        on dark; so they are lighter than what they lie on.
        """
        palette = self.palette()
        if self.is_dark:
            palette.setColor(QPalette.ColorRole.Base, self.color(ColorRole.PANEL).lighter(150))
        return palette

    def tick_palette(self) -> QPalette:
        """Return the palette for what can be ticked or chosen by a round button.

        Fusion outlines these, too, in a darker shade of the window. Here that shade stands
        out 3 to 1; the window itself is painted by what they lie on.
        """
        palette = self.field_palette()
        color = self.color(ColorRole.PAUSED).lighter(120)
        palette.setColor(QPalette.ColorRole.Window, color)
        return palette

    def button_palette(self) -> QPalette:
        """Return the palette for tool buttons.

        Fusion outlines them in a darker shade of the window, too. On dark that is all that tells
        a flat button that is pressed or on from the others, so there it stands out 3 to 1.
        """
        palette = self.palette()
        if self.is_dark:
            color = self.color(ColorRole.PAUSED).darker(105)
            palette.setColor(QPalette.ColorRole.Window, color)
        return palette

    def menu_palette(self) -> QPalette:
        """Return the palette for menus.

        Fusion fills them like fields, outlines them in a shade of the window and lets lists
        of choices look like them; on dark neither would tell them from what they lie on.
        """
        palette = self.palette()
        if self.is_dark:
            raised = self.color(ColorRole.PANEL).lighter(140)
            palette.setColor(QPalette.ColorRole.Base, raised)
            palette.setColor(QPalette.ColorRole.Window, raised)
        return palette

    def icon(self, name: str) -> QIcon:
        """Return an icon of ours, drawn in the colour of text.

        Args:
            name: Its file in ``resources/icons`` without the suffix.

        Raises:
            ValueError: There is no such icon.
        """
        icon = self._icons.get(name)
        if icon is None:
            from .icons import drawn_icon  # noqa: PLC0415 - after the first paint

            faint = mixed(self.color(ColorRole.TEXT), self.color(ColorRole.PANEL), 0.35)
            icon = drawn_icon(name, self.color(ColorRole.TEXT), faint)
            self._icons[name] = icon
        return icon

    @Slot()
    def redraw_icons(self) -> None:
        """Draw icons again, because there is another screen, which may be sharper."""
        self._icons.clear()
        self.changed.emit(self._name)

    def _use(self, name: ThemeName) -> None:
        if name != self._name:
            self._name = name
            self._icons.clear()
            self.changed.emit(name)

    def follow_system(self) -> None:
        """Ask the desktop from now on, and be told when it changes or has another screen.

        Apart from the constructor because it takes the first paint 12 ms.
        """
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._take_system_scheme)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.screenAdded.connect(self.redraw_icons)
        self._take_system_scheme()

    @Slot()
    def _take_system_scheme(self) -> None:
        self._use(_resolved(self._choice))


def _resolved(choice: ThemeChoice) -> ThemeName:
    if choice != "system":
        return choice
    match QGuiApplication.styleHints().colorScheme():
        case QtCore.Qt.ColorScheme.Dark:
            return "dark"
        case QtCore.Qt.ColorScheme.Light:
            return "light"
        case _:
            # The style's palette is the desktop's; the application's has been ours already.
            return _name_of(QApplication.style().standardPalette())


def _name_of(palette: QPalette) -> ThemeName:
    lightness = palette.color(QPalette.ColorRole.Window).lightness()
    return "dark" if lightness < _DARK_BELOW else "light"


def phase_color(phase: Phase) -> QColor:
    """Return the colour of a phase of the frame, in every theme."""
    return QColor(_PHASE_COLORS[phase])


def mixed(color: QColor, other: QColor, share: float) -> QColor:
    """Return ``share`` of ``color`` over the rest of ``other``."""
    return QColor.fromRgbF(
        color.redF() * share + other.redF() * (1 - share),
        color.greenF() * share + other.greenF() * (1 - share),
        color.blueF() * share + other.blueF() * (1 - share),
    )
