"""The style of buttons, fields, boxes and menus: flat, in the sizes of the tokens."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QMargins, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import (
    QProxyStyle,
    QStyle,
    QStyleOption,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QStyleOptionComplex,
    QStyleOptionFrame,
    QStyleOptionHeader,
    QStyleOptionSpinBox,
    QStyleOptionToolButton,
    QWidget,
)
from typing_extensions import override

from inspector.tokens import SIZES

from .fonts import text_scale
from .guards import guarded
from .layouts import IS_DEFAULT
from .theme import ColorRole, Theme, mixed

_State = QStyle.StateFlag
_Primitive = QStyle.PrimitiveElement
_Control = QStyle.ControlElement
_Complex = QStyle.ComplexControl
_Part = QStyle.SubControl
_Contents = QStyle.ContentsType

#: Share of the text colour in a control under the pointer, and in one that is pressed.
_HOVERED: Final = 0.08
_DOWN: Final = 0.14
#: Pixels around the slider of a scroll bar.
_BESIDE_SLIDER: Final = 4
#: Thickness of the line of a check mark.
_TICK: Final = 1.6
#: Size of the grip by which a dividing line is dragged, drawn where there is room for it.
_GRIP: Final = QSize(28, 3)
#: The side of a check box, and the gap between it and its text, in pixels.
_BOX, _BESIDE_BOX = 14, 6
#: The arrow of a button that opens a menu: room, width and thickness of its line, in pixels.
_CHEVRON_ROOM, _CHEVRON, _CHEVRON_LINE = 14, 7, 1.4
#: How high the arrows of spin boxes and of a sorted column are.
_SPIN_ARROW, _SORT_ARROW = 3, 4
#: The height of a line of 13 px letters.
_USUAL_LINE: Final = 16
#: For controls with a check mark, the element that draws their text.
_LABELS: Final = {
    _Control.CE_CheckBox: _Control.CE_CheckBoxLabel,
    _Control.CE_RadioButton: _Control.CE_RadioButtonLabel,
}
_HEIGHTS: Final = {
    _Contents.CT_PushButton: SIZES["control"],
    _Contents.CT_LineEdit: SIZES["control"],
    _Contents.CT_ComboBox: SIZES["control"],
    _Contents.CT_SpinBox: SIZES["control"],
    _Contents.CT_ToolButton: SIZES["target"],
}


@guarded
class FlatStyle(QProxyStyle):
    """Fusion without gradients, shadows and frames around what has the keyboard.

    Only what paints is overridden: what layouts ask for thousands of times stays in C++.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__("Fusion")
        self._theme = theme

    @override
    def drawPrimitive(
        self,
        element: QStyle.PrimitiveElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        match element:
            case _Primitive.PE_PanelButtonCommand | _Primitive.PE_PanelButtonTool:
                self._paint_button(option, painter, widget)
            case _Primitive.PE_PanelLineEdit:
                is_framed = isinstance(option, QStyleOptionFrame) and option.lineWidth > 0
                self._paint_field(option, painter, is_framed=is_framed)
            case _Primitive.PE_FrameLineEdit:
                self._paint_field(option, painter, is_framed=True)
            case _Primitive.PE_IndicatorCheckBox | _Primitive.PE_IndicatorItemViewItemCheck:
                self._paint_tick(option, painter, radius=SIZES["radius"] // 2)
            case _Primitive.PE_IndicatorRadioButton:
                self._paint_tick(option, painter, radius=option.rect.height() // 2)
            case _Primitive.PE_IndicatorHeaderArrow if isinstance(option, QStyleOptionHeader):
                is_up = option.sortIndicator is QStyleOptionHeader.SortIndicator.SortUp
                height = _SORT_ARROW * _scale_of(option)
                self._paint_arrow(painter, option.rect, height, is_up=is_up)
            case _Primitive.PE_FrameFocusRect:
                # Left out: the window's focus ring shows where the keyboard is.
                pass
            case _:
                super().drawPrimitive(element, option, painter, widget)

    @override
    def drawControl(
        self,
        element: QStyle.ControlElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        if element is _Control.CE_HeaderSection:
            painter.fillRect(option.rect, self._theme.color(ColorRole.PANEL))
            bottom = QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1)
            painter.fillRect(bottom, self._theme.color(ColorRole.LINE))
        elif element is _Control.CE_HeaderLabel and isinstance(option, QStyleOptionHeader):
            is_sorted = option.sortIndicator is not QStyleOptionHeader.SortIndicator.None_
            if is_sorted and widget is not None:
                # Fusion lets a right-aligned title run under the arrow.
                arrow = self.subElementRect(QStyle.SubElement.SE_HeaderArrow, option, widget)
                option.rect = option.rect.adjusted(0, 0, arrow.left() - option.rect.right(), 0)
            super().drawControl(element, option, painter, widget)
        elif element is _Control.CE_Splitter:
            self._paint_splitter(option, painter)
        elif element is _Control.CE_ToolButtonLabel and isinstance(option, QStyleOptionToolButton):
            self._paint_label(option, painter, widget)
        elif element in _LABELS and isinstance(option, QStyleOptionButton):
            self._paint_choice(element, option, painter, widget)
        else:
            super().drawControl(element, option, painter, widget)

    @override
    def drawComplexControl(
        self,
        control: QStyle.ComplexControl,
        option: QStyleOptionComplex,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        if control is _Complex.CC_ScrollBar and widget is not None:
            self._paint_scroll_bar(option, painter, widget)
        elif isinstance(option, QStyleOptionSpinBox) and widget is not None:
            self._paint_spin_box(option, painter, widget)
        elif isinstance(option, QStyleOptionToolButton) and _opens_menu(option):
            self._paint_menu_button(option, painter, widget)
        elif isinstance(option, QStyleOptionComboBox) and not option.editable:
            self._paint_button(option, painter)
            self._paint_chevron(option, painter, option.rect.right() - _BESIDE_SLIDER)
        else:
            super().drawComplexControl(control, option, painter, widget)

    @override
    def sizeFromContents(
        self,
        contents: QStyle.ContentsType,
        option: QStyleOption,
        size: QSize,
        widget: QWidget | None = None,
    ) -> QSize:
        if widget is None:
            return size
        found = super().sizeFromContents(contents, option, size, widget)
        least = _HEIGHTS.get(contents)
        if least is not None:
            found.setHeight(max(found.height(), round(least * text_scale(widget))))
        if isinstance(option, QStyleOptionToolButton):
            if _opens_menu(option):
                found.setWidth(found.width() + _chevron_room(option))
            if not option.icon.isNull():
                found.setWidth(found.width() + _icon_side(option) - option.iconSize.width())
        elif isinstance(option, QStyleOptionComboBox):
            found.setWidth(found.width() + _chevron_room(option) - _CHEVRON_ROOM)
        elif contents in (_Contents.CT_CheckBox, _Contents.CT_RadioButton):
            side = round(_BOX * text_scale(widget))
            found = found.expandedTo(QSize(0, side)).grownBy(QMargins(0, 0, side - _BOX, 0))
        return found

    def _paint_button(
        self, option: QStyleOption, painter: QPainter, widget: QWidget | None = None
    ) -> None:
        state, color = option.state, self._theme.color
        is_on = bool(state & _State.State_On)
        is_down = bool(state & _State.State_Sunken)
        is_enabled = bool(state & _State.State_Enabled)
        is_hovered = is_enabled and bool(state & _State.State_MouseOver)
        if state & _State.State_AutoRaise and not (is_on or is_down or is_hovered):
            return
        fill = color(ColorRole.RAISED)
        if is_down or is_on:
            fill = mixed(color(ColorRole.TEXT), fill, _DOWN)
        elif is_hovered:
            fill = mixed(color(ColorRole.TEXT), fill, _HOVERED)
        is_default = isinstance(option, QStyleOptionButton) and bool(
            option.features & QStyleOptionButton.ButtonFeature.DefaultButton
        )
        is_default = is_default or (widget is not None and bool(widget.property(IS_DEFAULT)))
        outline = color(ColorRole.EDGE) if is_default or is_on or is_down else None
        _paint_box(painter, option.rect, fill, outline)

    def _paint_menu_button(
        self, option: QStyleOptionToolButton, painter: QPainter, widget: QWidget | None
    ) -> None:
        self._paint_button(option, painter, widget)
        label = QStyleOptionToolButton(option)
        label.rect = option.rect.adjusted(0, 0, -_chevron_room(option), 0)
        if option.fontMetrics.horizontalAdvance(option.text) > label.rect.width():
            # What is left of the text does not touch the chevron.
            label.rect = label.rect.adjusted(0, 0, -_BESIDE_SLIDER, 0)
        self._paint_label(label, painter, widget)
        self._paint_chevron(option, painter, option.rect.right() - _BESIDE_SLIDER)

    def _paint_chevron(self, option: QStyleOption, painter: QPainter, right: float) -> None:
        is_enabled = bool(option.state & _State.State_Enabled)
        role = ColorRole.MUTED if is_enabled else ColorRole.EDGE
        scale = _scale_of(option)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color(role), _CHEVRON_LINE * scale))
        half = _CHEVRON * scale / 2
        x = right - (_CHEVRON_ROOM * scale - _BESIDE_SLIDER) / 2
        y = option.rect.center().y() + 1 - half / 2
        painter.drawPolyline([QPointF(x - half, y), QPointF(x, y + half), QPointF(x + half, y)])
        painter.restore()

    def _paint_label(
        self, option: QStyleOptionToolButton, painter: QPainter, widget: QWidget | None
    ) -> None:
        label = QStyleOptionToolButton(option)
        label.iconSize = QSize(1, 1) * _icon_side(option)
        muted = QPalette.ColorRole.PlaceholderText
        if widget is not None and widget.foregroundRole() is muted:
            palette = QPalette(option.palette)
            palette.setBrush(QPalette.ColorRole.ButtonText, palette.brush(muted))
            label.palette = palette
        if label.toolButtonStyle is Qt.ToolButtonStyle.ToolButtonTextBesideIcon:
            flag = Qt.TextFlag.TextShowMnemonic.value
            text = label.fontMetrics.size(flag, label.text).width()
            # Qt leaves this much between icon and text.
            needed = label.iconSize.width() + _BESIDE_SLIDER + text
            label.rect = label.rect.adjusted(max((label.rect.width() - needed) // 2, 0), 0, 0, 0)
        super().drawControl(_Control.CE_ToolButtonLabel, label, painter, widget)

    def _paint_choice(
        self,
        element: QStyle.ControlElement,
        option: QStyleOptionButton,
        painter: QPainter,
        widget: QWidget | None,
    ) -> None:
        """Draw a box or circle as large as its text, and the text."""
        side = round(_BOX * _scale_of(option))
        mark, text = QStyleOptionButton(option), QStyleOptionButton(option)
        mark.rect = QRect(option.rect.left(), option.rect.top(), side, option.rect.height())
        text.rect = option.rect.adjusted(side + _BESIDE_BOX, 0, 0, 0)
        is_box = element is _Control.CE_CheckBox
        self._paint_tick(mark, painter, radius=SIZES["radius"] // 2 if is_box else side // 2)
        super().drawControl(_LABELS[element], text, painter, widget)

    def _paint_tick(self, option: QStyleOption, painter: QPainter, *, radius: int) -> None:
        state, color = option.state, self._theme.color
        size = min(option.rect.width(), option.rect.height())
        rect = QRect(0, 0, size, size)
        rect.moveCenter(option.rect.center())
        is_enabled = bool(state & _State.State_Enabled)
        edge = color(ColorRole.MUTED if is_enabled else ColorRole.LINE)
        _paint_box(painter, rect, color(ColorRole.BG), edge, radius)
        inside = QRectF(rect).adjusted(size / 4, size / 4, -size / 4, -size / 4)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = color(ColorRole.TEXT if is_enabled else ColorRole.MUTED)
        painter.setPen(QPen(ink, _TICK))
        middle = inside.center()
        if state & _State.State_NoChange:
            painter.drawLine(
                QPointF(inside.left(), middle.y()), QPointF(inside.right(), middle.y())
            )
        elif state & _State.State_On and radius * 2 >= size - 1:
            painter.setBrush(ink)
            painter.drawEllipse(inside)
        elif state & _State.State_On:
            low = QPointF(middle.x() - _TICK / 2, inside.bottom())
            painter.drawPolyline([QPointF(inside.left(), middle.y()), low, inside.topRight()])
        painter.restore()

    def _paint_field(self, option: QStyleOption, painter: QPainter, *, is_framed: bool) -> None:
        outline = self._theme.color(ColorRole.EDGE) if is_framed else None
        if is_framed:
            _paint_box(painter, option.rect, self._theme.color(ColorRole.BG), outline)
        else:
            painter.fillRect(option.rect, option.palette.base())

    def _paint_splitter(self, option: QStyleOption, painter: QPainter) -> None:
        rect, center = option.rect, option.rect.center()
        if rect.isEmpty():
            return
        is_lying = rect.width() > rect.height()
        if is_lying:
            line = QRect(rect.left(), center.y(), rect.width(), 1)
        else:
            line = QRect(center.x(), rect.top(), 1, rect.height())
        painter.fillRect(line, self._theme.color(ColorRole.LINE))
        if is_lying and rect.height() > _GRIP.height():
            grip = QRect(QPoint(), _GRIP)
            grip.moveCenter(center)
            painter.fillRect(grip, self._theme.color(ColorRole.EDGE))

    def _paint_scroll_bar(
        self, option: QStyleOptionComplex, painter: QPainter, widget: QWidget
    ) -> None:
        painter.fillRect(option.rect, option.palette.window())
        part = _Part.SC_ScrollBarSlider
        slider = self.subControlRect(_Complex.CC_ScrollBar, option, part, widget)
        is_lying = slider.width() and option.state & _State.State_Horizontal
        around = (0, _BESIDE_SLIDER) if is_lying else (_BESIDE_SLIDER, 0)
        rect = slider.adjusted(around[0], around[1], -around[0], -around[1])
        if rect.isValid() and option.state & _State.State_Enabled:
            _paint_box(painter, rect, self._theme.color(ColorRole.EDGE), None)

    def _paint_spin_box(
        self, option: QStyleOptionSpinBox, painter: QPainter, widget: QWidget
    ) -> None:
        if option.frame:
            edge = self._theme.color(ColorRole.EDGE)
            _paint_box(painter, option.rect, self._theme.color(ColorRole.BG), edge)
        for part in (_Part.SC_SpinBoxUp, _Part.SC_SpinBoxDown):
            rect = self.subControlRect(_Complex.CC_SpinBox, option, part, widget)
            role = ColorRole.TEXT if option.activeSubControls & part else ColorRole.MUTED
            self._paint_arrow(
                *(painter, rect, _SPIN_ARROW * _scale_of(option), role),
                is_up=part is _Part.SC_SpinBoxUp,
            )

    def _paint_arrow(
        self,
        painter: QPainter,
        rect: QRect,
        height: float,
        role: ColorRole = ColorRole.MUTED,
        *,
        is_up: bool,
    ) -> None:
        """Paint a triangle that is twice as wide as it is high."""
        middle = QPointF(rect.center()) + QPointF(0.5, 0.5)
        unit = -height / 3 if is_up else height / 3
        base = [middle + QPointF(side * height, -unit) for side in (-1, 1)]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color(role))
        painter.drawPolygon(QPolygonF([middle + QPointF(0, 2 * unit), *base]))
        painter.restore()


def _opens_menu(option: QStyleOptionToolButton) -> bool:
    return bool(option.features & QStyleOptionToolButton.ToolButtonFeature.HasMenu)


def _scale_of(option: QStyleOption) -> float:
    """Return how large the text of a control is, as a multiple of the usual size."""
    return max(option.fontMetrics.height() / _USUAL_LINE, 1)


def _icon_side(option: QStyleOptionToolButton) -> int:
    return max(round(SIZES["icon"] * _scale_of(option)), option.iconSize.width())


def _chevron_room(option: QStyleOption) -> int:
    """Return how wide the mark of a button with a menu is, in pixels."""
    return round(_CHEVRON_ROOM * _scale_of(option))


def _paint_box(
    painter: QPainter,
    rect: QRect,
    fill: QColor,
    outline: QColor | None,
    radius: int = SIZES["radius"],
) -> None:
    """Fill a rectangle with round corners, on whole pixels, with a line around it or none."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    inside = QRectF(rect) if outline is None else QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5)
    path = QPainterPath()
    path.addRoundedRect(inside, radius, radius)
    painter.fillPath(path, fill)
    if outline is not None:
        painter.strokePath(path, outline)
    painter.restore()
