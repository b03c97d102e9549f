"""One line of Why above the foot, in a window too narrow for the side column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from ...actions.actions import ActionSet
from ...kit.fonts import text_scale
from ...kit.guards import guarded
from ...kit.labels import ElidedLabel
from ...kit.layouts import IS_DEFAULT, REST, fill, hairline, in_row, tool_button
from ...kit.throttled_refresh import ThrottledRefresh
from ...session.bridge import Selection, SessionBridge
from ...session.stops import StopNotices
from .window_panels import WindowPanels

if TYPE_CHECKING:
    from ...why.panel import WhyPanel

_HEIGHT: Final = 36
_WHY: Final = "details"


@guarded
class WhyLine(QWidget):
    """Says what is selected and the answer about it; *Why* opens the side column over the rest.

    While the window looks back and nothing is selected, it says at which instant, and leads on
    from there or back to the present.
    """

    def __init__(self, bridge: SessionBridge, panels: WindowPanels, actions: ActionSet) -> None:
        super().__init__()
        self.setObjectName("why_line")
        self._bridge = bridge
        self._panels = panels
        self._stops = StopNotices.of(bridge)
        self.name, self.answer = ElidedLabel(), ElidedLabel("[;,] ")
        self.name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        font = QFont(self.name.font())
        font.setWeight(QFont.Weight.DemiBold)
        self.name.setFont(font)
        self.button = tool_button("Why", "Show the side column over the lanes")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(self.open_why)
        self.rewind, self.back = tool_button("Rewind to here"), tool_button("Back to the present")
        self.rewind.setProperty(IS_DEFAULT, True)
        self._ways = ((self.rewind, actions["rewind"]), (self.back, actions["look-live"]))
        for button, action in self._ways:
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(action.trigger)
        parts = self.name, (self.answer, 1), self.rewind, self.back, self.button
        row = in_row(*parts, margins=(12, 0, 12, 0), spacing=8)
        fill(self, hairline(), REST, row, REST, spacing=0)
        self._fit()
        throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh)
        throttle.follow()
        for changed in (
            bridge.selection_changed,
            bridge.playhead_changed,
            bridge.session_changed,
            self._stops.changed,
            panels.visibility_changed,
            actions.applied,
        ):
            changed.connect(self.refresh)
        self.refresh()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(round(_HEIGHT * text_scale(self)))

    @Slot()
    def open_why(self) -> None:
        self._panels.open_panel(_WHY)

    @Slot()
    @Slot(object)
    def refresh(self, _news: object = None) -> None:
        """Say what there is to say; hidden while the side column has room, or says it."""
        is_selected, stop = self._bridge.selection != Selection.nothing(), self._stops.sentence
        session = self._bridge.session
        looks_back = self._bridge.playhead_ns is not None and not is_selected and not stop
        looks_back = looks_back and session is not None and not session.is_recorded
        is_shown = self._panels.is_narrow and not self._panels.is_column_shown
        is_shown = is_shown and (bool(stop) or is_selected or looks_back)
        for button, action in self._ways if is_shown else ():
            button.setVisible(looks_back)
            button.setEnabled(action.isEnabled())
            button.setToolTip(action.toolTip())
        if is_shown:
            name, answer = cast("WhyPanel", self._panels.panel(_WHY)).short_texts()
            self.name.set_text("" if stop else name)
            self.name.setHidden(bool(stop))
            if not answer.startswith("Its "):
                # The answer continues the sentence that the name begins.
                answer = answer[:1].lower() + answer[1:]
            if looks_back:
                # The first sentence only, beside two more buttons; the side column has the rest.
                answer = answer.partition(". ")[0]
            self.answer.set_text(stop or answer)
        self.setVisible(is_shown)
