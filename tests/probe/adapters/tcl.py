"""A stand-in for an interpreter of Tcl, of which tkinter's adapter uses little."""

from __future__ import annotations

import select
from collections.abc import Callable


class Tcl:
    """An interpreter of Tcl with files.

    Attributes:
        pending: The names and scripts of what it is going to call.
        told: What it was told to do.
        during: Called when it does that.
    """

    def __init__(self) -> None:
        self.during: Callable[[], None] = lambda: None
        self.pending: dict[str, str] = {}
        self.told: list[tuple[object, ...]] = []
        self.files: dict[int, Callable[[int, int], None]] = {}

    def createfilehandler(self, file: int, mask: int, call: Callable[[int, int], None]) -> None:
        assert mask == 2  # tkinter.READABLE
        self.files[file] = call

    def deletefilehandler(self, file: int) -> None:
        del self.files[file]

    def turn(self) -> None:
        """Have it look at its files."""
        for file, call in list(self.files.items()):
            if select.select([file], [], [], 0)[0]:
                call(file, 2)
                assert not select.select([file], [], [], 0)[0]

    def dooneevent(self, flags: int) -> None:
        self.told.append(("event", flags))
        self.during()

    def call(self, _command: str, what: object = "update", *words: str) -> object:
        if what == "info":
            return [self.pending[words[0]]] if words else list(self.pending)
        self.told.append((what, *words))
        self.during()
        return f"after#again{len(self.told)}"

    def splitlist(self, found: list[str]) -> list[str]:
        return found

    def quit(self) -> None:
        self.told.append(("quit",))
