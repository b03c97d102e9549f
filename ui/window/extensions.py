"""Reports in the window which installed extensions do not work."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from inspector.extensions import GROUPS, Registry, are_installed, registry_of, report
from inspector.extensions import logger as extension_problems

from ..actions.panels import PANELS
from ..kit.throttled_refresh import single_shot

if TYPE_CHECKING:
    from .main_window import MainWindow


class ExtensionReporter(logging.Handler):
    """Shows a notice when an extension does not work.

    All registries are asked in the turn after the window is complete: what does not load is
    said then, not in the midst of some work.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(logging.WARNING)
        self._window = window
        self._problems: list[str] = []
        extension_problems.addHandler(self)
        window.destroyed.connect(partial(extension_problems.removeHandler, self))
        self._turn = single_shot(window, self._load_all)
        self._turn.start(0)

    def emit(self, record: logging.LogRecord) -> None:
        """Show a notice, in the first turn with all that was reported before."""
        self._problems.append(record.getMessage())
        if not self._turn.isActive():
            self._notify()

    def _load_all(self) -> None:
        if are_installed():
            extensions = [each for registry in all_registries() for each in registry.extensions]
            # Panels were loaded with the menus, when nothing was reported here yet.
            told = (str(each) for each in extensions if each.problem)
            self._problems = list(dict.fromkeys([*told, *self._problems]))
        if self._problems:
            self._notify()

    def _notify(self) -> None:
        count = len(self._problems)
        many = f"{count} problems with extensions. " if count > 1 else ""
        text = f"{many}{self._problems[-1]}"
        self._window.notice.show_lasting(text, ("Show extensions", self._open))

    def blame(self, error: BaseException) -> bool:
        """Report an error that comes from an extension, once; return whether it does."""
        if self._window.panels.blame(error):
            return True
        for registry in all_registries() if are_installed() else ():
            extension = registry.culprit(error)
            if extension is not None:
                if not extension.problem:
                    report(registry.blame(extension, error))
                return True
        return False

    def stop(self) -> None:
        self._turn.stop()
        extension_problems.removeHandler(self)

    def _open(self) -> None:
        self._window.actions_by_id["extensions"].trigger()


def all_registries() -> list[Registry[Any]]:
    return [PANELS, *(registry_of(group) for group in GROUPS if GROUPS[group])]
