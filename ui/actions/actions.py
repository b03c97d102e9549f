"""Qt actions made from their descriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QToolButton

from inspector.display_text import as_plain

from ..kit.theme import Theme
from ..kit.throttled_refresh import single_shot
from .descriptions import ActionDescription, ActionFacts, HandlerT, Needs, why_not
from .menus import MenuId

#: The reason of an action that is not bound yet.
_NOT_READY: Final = "the window is still loading"


class DescribedAction(QAction):
    """A Qt action made from its description.

    Its check mark shows what :meth:`set_checked` has set, never the click.
    """

    def __init__(self, description: ActionDescription[Any], parent: QObject) -> None:
        super().__init__(description.title, parent)
        self.description = description
        self.reason = _NOT_READY  # Why it is disabled, else empty
        # By its name: enumerations take long to be looked up.
        self.needs = description.needs.name
        self._callback: Callable[[], object] | None = None
        self._is_shown_checked = False
        self._file_word = ""
        self.icon_name = description.icon
        self.setObjectName(description.id)
        if description.label:
            self.setIconText(description.label)
        self.setCheckable(description.is_checkable)
        self.setShortcuts([QKeySequence(keys) for keys in description.shortcuts])
        self.setEnabled(False)
        self.triggered.connect(self._perform)

    def bind(self, callback: Callable[[], object]) -> None:
        self._callback = callback

    @property
    def is_bound(self) -> bool:
        return self._callback is not None

    def set_checked(self, is_checked: bool) -> None:  # noqa: FBT001 - like setChecked
        # A click does not change the mark, so what was set last is what is shown.
        if is_checked != self._is_shown_checked:
            self._is_shown_checked = is_checked
            self.setChecked(is_checked)

    def set_text(self, text: str) -> None:
        if text != self.text():
            self.setText(text)
            self._refresh_tip()

    @property
    def is_on_button(self) -> bool:
        return any(isinstance(each, QToolButton) for each in self.associatedObjects())

    def set_icon(self, name: str, theme: Theme) -> None:
        if name != self.icon_name:
            self.icon_name = name
            self.setIcon(theme.icon(name))

    def apply(self, reason: str, file_word: str) -> None:
        """Enable it unless there is a reason not to; a file that is shown is called by its word."""
        reason = reason if self._callback else _NOT_READY
        is_other_file = file_word != self._file_word and bool(self.description.file_tip)
        if reason != self.reason or self.isEnabled() == bool(reason) or is_other_file:
            self.reason, self._file_word = reason, file_word
            self.setEnabled(not reason)
            if self.description.file_title:
                is_file = bool(file_word)
                self.setText(self.description.file_title if is_file else self.description.title)
            self._refresh_tip()

    @Slot()
    def _perform(self) -> None:
        if self.isCheckable():
            self.setChecked(self._is_shown_checked)
        if self._callback is not None:
            self._callback()

    def _refresh_tip(self) -> None:
        title = self.text().replace("&", "").removesuffix(" …")
        keys = " or ".join(self.description.shortcut_texts)
        tip = f"{title} ({keys})" if keys else title
        said = self.description.tip
        if self._file_word and self.description.file_tip:
            said = self.description.file_tip.format(self._file_word)
        if said:
            tip = f"{tip}\n{said}"
        if self.reason:
            tip = f"{tip}\nUnavailable: {self.reason}."
        self.setToolTip(as_plain(tip))


class ActionSet(QObject):
    applied = Signal()  # Other actions may be possible now

    def __init__(self, parent: QObject, descriptions: Iterable[ActionDescription[Any]]) -> None:
        super().__init__(parent)
        self.by_id = {each.id: DescribedAction(each, self) for each in descriptions}
        self._choices: dict[MenuId, list[DescribedAction]] = {}
        for action in self.by_id.values():
            menu = action.description.menu
            if action.isCheckable():
                self._choices.setdefault(menu, []).append(action)
        self.facts = ActionFacts()
        self._theme: Theme | None = None
        self._undrawn: list[DescribedAction] = []
        self._icon_turn = single_shot(self, self._draw_menu_icons)

    def __getitem__(self, action_id: str) -> DescribedAction:
        return self.by_id[action_id]

    def bind(self, handler: HandlerT, descriptions: Iterable[ActionDescription[HandlerT]]) -> None:
        for description in descriptions:
            if description.callback is not None:
                self._bind(description.id, partial(description.callback, handler))

    def bind_commands(self, give: Callable[[str], object]) -> None:
        """Bind each action without a callback to the command that it stands for."""
        for name, action in self.by_id.items():
            if action.description.callback is None:
                self._bind(name, partial(give, name))

    def _bind(self, action_id: str, callback: Callable[[], object]) -> None:
        action = self.by_id[action_id]
        action.bind(callback)
        action.apply(why_not(action.description.needs, self.facts), self.facts.file_word)

    def apply(self, facts: ActionFacts) -> None:
        self.facts = facts
        reasons = {needs.name: why_not(needs, facts) for needs in Needs}
        for action in self.by_id.values():
            action.apply(reasons[action.needs], facts.file_word)
        self.applied.emit()

    def set_choice(self, menu: MenuId, choice: str) -> None:
        for action in self._choices.get(menu, ()):
            action.set_checked(action.description.choice == choice)

    def set_icons(self, theme: Theme) -> None:
        """Draw all icons in the colours of a theme; those of menus alone in the next turn."""
        self._theme, self._undrawn = theme, []
        for action in self.by_id.values():
            if action.icon_name and action.is_on_button:
                action.setIcon(theme.icon(action.icon_name))
            elif action.icon_name:
                self._undrawn.append(action)
        self._icon_turn.start()

    @Slot()
    def _draw_menu_icons(self) -> None:
        if self._theme is not None:
            for action in self._undrawn:
                action.setIcon(self._theme.icon(action.icon_name))
        self._undrawn = []
