"""A probe that listens in this process, without adapters, for tests of its link."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from inspector.probe.connection import listening
from inspector.probe.link import Link
from inspector.probe.program import Program
from tests.probe.receiver import TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator


class Served:
    """A program with a probe.

    Attributes:
        program: The program, which consists of its clock.
        link: Its link.
        address: Where it listens.
    """

    def __init__(self, address: str, grant: str) -> None:
        self.program = Program("served")
        listener, self.address = listening(address)
        self.link = Link(self.program, TOKEN, grant, listener=listener)
        self.link.start()


@contextmanager
def served(grant: str = "full", address: str = "") -> Iterator[Served]:
    with TemporaryDirectory() as folder:
        opened = Served(address or f"unix:{Path(folder) / 'socket'}", grant)
        try:
            yield opened
        finally:
            opened.link.close("the test is over")
