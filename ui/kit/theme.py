"""Colours by what they mean, palettes for light and dark, and icons in the text's colour."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from PySide6 import QtCore
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPalette
from PySide6.QtWidgets import QApplication

from inspector.tokens import COLORS, HIGH_CONTRAST, PHASE_COLORS, ThemeName

if TYPE_CHECKING:
    from inspector.vocabulary import Phase

ThemeChoice = Literal["system", "light", "dark"]

_DARK_BELOW: Final = 128


class ColorRole(Enum):
    """What a colour means: the names of the tokens."""

    BG = "bg"
    PANEL = "panel"
    RAISED = "raised"
    LINE = "line"
    TEXT = "text"
    MUTED = "muted"
    BAR = "bar"
    CLOCK = "clock"
    EDGE = "edge"
    TICK = "tick"
    GHOST = "ghost"
    HATCH = "hatch"
    BLUE = "blue"
    BLUEBG = "bluebg"
    ORANGE = "orange"
    RED = "red"
    SERIES_B = "series_b"


@cache
def _colors(name: ThemeName, is_high_contrast: bool) -> dict[str, QColor]:  # noqa: FBT001 - a key
    others = HIGH_CONTRAST if is_high_contrast else {}
    values = (role.value for role in ColorRole)
    return {each: QColor(COLORS[name][others.get(each, each)]) for each in values}


class Theme(QObject):
    """The colours and icons in use; one object for the life of a window."""

    changed = Signal(str)  # Other colours are in use; the name of the theme

    def __init__(self, choice: ThemeChoice = "system") -> None:
        """Begin with what the user chose; ``"system"`` follows the desktop."""
        super().__init__()
        self.choice: ThemeChoice = choice
        # At the start this is the desktop's palette; the style's would cost the first paint 4 ms.
        palette = QGuiApplication.palette()
        self.name: ThemeName = _name_of(palette) if choice == "system" else choice
        self.is_high_contrast = False  # Whether the system asks for outlines and opaque colours
        self._icons: dict[tuple[str, str], QIcon] = {}

    @property
    def is_dark(self) -> bool:
        return self.name == "dark"

    def set_choice(self, choice: ThemeChoice) -> None:
        self.choice = choice
        self._use(_resolved(choice))

    def color(self, role: ColorRole) -> QColor:
        """Return the colour of a role; shared, so it must not be changed."""
        # Called thousands of times a second, so no colour is parsed, and ``_value_`` is faster to
        # read than ``value``.
        return _colors(self.name, self.is_high_contrast)[role._value_]

    def palette(self) -> QPalette:
        color = self.color
        palette = QPalette()
        role = QPalette.ColorRole
        panel, raised = color(ColorRole.PANEL), color(ColorRole.RAISED)
        text, selected = color(ColorRole.TEXT), color(ColorRole.BLUEBG)
        for target, value in (
            (role.Window, panel),
            (role.WindowText, text),
            (role.Base, color(ColorRole.BG)),
            (role.AlternateBase, panel),
            (role.Text, text),
            (role.PlaceholderText, color(ColorRole.MUTED)),
            (role.Button, raised),
            (role.ButtonText, text),
            (role.BrightText, text),
            (role.ToolTipBase, raised),
            (role.ToolTipText, text),
            (role.Highlight, selected),
            (role.HighlightedText, text),
            (role.Accent, color(ColorRole.BLUE)),
            (role.Link, text),
            (role.LinkVisited, text),
            (role.Light, raised.lighter(115)),
            (role.Midlight, raised.lighter(107)),
            (role.Mid, color(ColorRole.LINE)),
            (role.Dark, panel.darker(150)),
            (role.Shadow, panel.darker(200)),
        ):
            palette.setColor(target, value)
        faint = mixed(text, panel, 0.45)
        for target in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
            palette.setColor(QPalette.ColorGroup.Disabled, target, faint)
        palette.setColor(QPalette.ColorGroup.Disabled, role.Highlight, panel.darker(125))
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
        """Return an icon in the colour of text; raises ValueError if there is no such icon."""
        icon = self._icons.get((self.name, name))
        if icon is None:
            from .icons import drawn_icon  # noqa: PLC0415 - after the first paint

            faint = mixed(self.color(ColorRole.TEXT), self.color(ColorRole.PANEL), 0.35)
            icon = drawn_icon(name, self.color(ColorRole.TEXT), faint)
            self._icons[self.name, name] = icon
        return icon

    @Slot()
    def redraw_icons(self) -> None:
        """Draw icons again, because there is another screen, which may be sharper."""
        self._icons = {}
        self.changed.emit(self.name)

    def _use(self, name: ThemeName) -> None:
        if name != self.name:
            self.name = name
            self.changed.emit(name)

    def follow_system(self) -> None:
        """Follow the colours and contrast of the desktop from now on, and redraw for new screens.

        Apart from the constructor because it takes the first paint 12 ms.
        """
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._on_scheme_changed)
        # Since Qt 6.10.
        accessibility = getattr(hints, "accessibility", None)
        if accessibility is not None:
            accessibility().contrastPreferenceChanged.connect(self._on_contrast_changed)
            self._on_contrast_changed(accessibility().contrastPreference())
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.screenAdded.connect(self.redraw_icons)
        self._on_scheme_changed()

    @Slot()
    def _on_scheme_changed(self) -> None:
        self._use(_resolved(self.choice))

    @Slot(object)
    def _on_contrast_changed(self, preference: QtCore.Qt.ContrastPreference) -> None:
        is_high = preference is QtCore.Qt.ContrastPreference.HighContrast
        if is_high is not self.is_high_contrast:
            self.is_high_contrast = is_high
            self.changed.emit(self.name)


def _resolved(choice: ThemeChoice) -> ThemeName:
    if choice != "system":
        return choice
    match QGuiApplication.styleHints().colorScheme():
        case QtCore.Qt.ColorScheme.Dark:
            return "dark"
        case QtCore.Qt.ColorScheme.Light:
            return "light"
        case _:
            # The style's palette is the desktop's; the application may already have ours.
            return _name_of(QApplication.style().standardPalette())


def _name_of(palette: QPalette) -> ThemeName:
    lightness = palette.color(QPalette.ColorRole.Window).lightness()
    return "dark" if lightness < _DARK_BELOW else "light"


def phase_color(phase: Phase) -> QColor:
    return QColor(PHASE_COLORS[phase.name.lower()])


def mixed(color: QColor, other: QColor, share: float) -> QColor:
    """Return ``share`` of ``color`` over the rest of ``other``."""
    return QColor.fromRgbF(
        color.redF() * share + other.redF() * (1 - share),
        color.greenF() * share + other.greenF() * (1 - share),
        color.blueF() * share + other.blueF() * (1 - share),
    )
