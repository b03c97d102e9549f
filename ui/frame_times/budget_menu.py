"""The menu of budgets: which lines are drawn, and which one bars are coloured by."""

import math
import re
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMenu, QWidget

from inspector.analysis.statistics.frame_budget import (
    BY_INSPECTOR_RULE,
    DEFAULT_BUDGETS_MS,
    budget_text,
)
from inspector.formats.arrangement.frame_bars import budget_ns_of

_ENTRY: Final = re.compile(r"\s*(\d+(?:[.,]\d+)?)\s*(ms|fps|hz)?\s*", re.IGNORECASE)
_SHORTEST_MS: Final = 0.001
_LONGEST_MS: Final = 60_000.0
_HINT: Final = "Milliseconds per frame, or frames per second:\n12.5 ms, 90 fps"


class BudgetMenu(QMenu):
    """Budgets to tick, to colour by, to add and to drop."""

    #: Other budgets are drawn, in milliseconds; bars are coloured by the first.
    budgets_chosen = Signal(object)  # tuple[float, ...]

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Budget", parent)
        # The choice of the budget that bars are coloured by
        self.colour_menu = QMenu("Colour by", self)
        # Whether frames that only the inspector made too long are left out. The menu is not its
        # parent, as that would delete it when cleared.
        self.left_out_action = QAction("Leave out frames that only the inspector made late", parent)
        self.left_out_action.setCheckable(True)
        self.left_out_action.setToolTip(
            f"In the statistics: frames of the interval that are {BY_INSPECTOR_RULE}"
        )
        self.setToolTipsVisible(True)
        self._known: list[float] = list(DEFAULT_BUDGETS_MS)
        self._own: tuple[float, ...] = ()
        self._shown: tuple[float, ...] = ()
        self.set_budgets(())

    def set_budgets(self, budgets_ms: Sequence[float], *, is_first_own: bool = False) -> None:
        """Tick budgets; a first that is the session's own takes the place of its former one."""
        self._shown = tuple(budgets_ms)
        chosen = self._shown
        if is_first_own:
            self._own, chosen = chosen[:1], chosen[1:]
        self._known += [each for each in chosen if not _is_among(each, self._known)]
        own = [each for each in self._own if not _is_among(each, self._known)]
        self.clear()
        for budget_ms in sorted((*self._known, *own)):
            action = self._action(budget_ms)
            action.setChecked(_is_among(budget_ms, self._shown))
            action.triggered.connect(self._toggle)
            self.addAction(action)
        self.addSeparator()
        self.colour_menu.clear()
        self.colour_menu.setEnabled(bool(self._shown))
        self.addMenu(self.colour_menu)
        for place, budget_ms in enumerate(self._shown):
            action = self._action(budget_ms)
            action.setChecked(place == 0)
            action.triggered.connect(self._put_first)
            self.colour_menu.addAction(action)
        self.addSeparator()
        self.addAction("Other budget…").triggered.connect(self.ask)
        self.addSeparator()
        self.addAction(self.left_out_action)

    @Slot()
    def ask(self) -> None:
        text, is_given = QInputDialog.getText(
            self.parentWidget(), "Budget", _HINT, QLineEdit.EchoMode.Normal, ""
        )
        while is_given:
            budget_ms = parse_budget_ms(text)
            if budget_ms is not None:
                rest = (other for other in self._shown if not _is_among(other, (budget_ms,)))
                self.budgets_chosen.emit((budget_ms, *rest))
                return
            hint = f"“{text}” is neither a time nor a rate.\n{_HINT}"
            text, is_given = QInputDialog.getText(
                self.parentWidget(), "Budget", hint, QLineEdit.EchoMode.Normal, text
            )

    def _action(self, budget_ms: float) -> QAction:
        action = QAction(budget_text(budget_ns_of(budget_ms)), self, checkable=True)
        action.setData(budget_ms)
        return action

    @Slot()
    def _toggle(self) -> None:
        budget_ms = self._sender_budget_ms()
        rest = tuple(other for other in self._shown if not _is_among(other, (budget_ms,)))
        is_added = len(rest) == len(self._shown)
        self.budgets_chosen.emit((*rest, budget_ms) if is_added else rest)

    @Slot()
    def _put_first(self) -> None:
        budget_ms = self._sender_budget_ms()
        rest = (other for other in self._shown if not _is_among(other, (budget_ms,)))
        self.budgets_chosen.emit((budget_ms, *rest))

    def _sender_budget_ms(self) -> float:
        action = self.sender()
        assert isinstance(action, QAction), "only connected to actions"
        return float(action.data())


def parse_budget_ms(text: str) -> float | None:
    """Return the budget that a person typed, in milliseconds; ``None`` if it is none.

    Understood are ``12.5``, ``12.5 ms``, ``90 fps`` and ``90 Hz``.
    """
    match = _ENTRY.fullmatch(text)
    if match is None:
        return None
    number = float(match[1].replace(",", "."))
    is_rate = (match[2] or "ms").lower() != "ms"
    if is_rate and number == 0:
        return None
    budget_ms = 1000 / number if is_rate else number
    return budget_ms if _SHORTEST_MS <= budget_ms <= _LONGEST_MS else None


def _is_among(budget_ms: float, others: Sequence[float]) -> bool:
    return any(math.isclose(budget_ms, other, rel_tol=1e-6) for other in others)
