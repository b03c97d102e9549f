"""This PySide6 does not lose references to the constants of this Python.

6.12.0 does, before Python 3.12: one to ``None`` in every call that returns
nothing, one to ``True`` in every emission. The interpreter then aborts after a
few thousand calls, at random places. The pins in pyproject.toml keep it out;
these tests would notice the next such version.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from PySide6.QtCore import QObject, QTimer, Signal

pytestmark = pytest.mark.usefixtures("qapp")

_TOLERANCE = 50
_MANY_CALLS = """
from PySide6.QtCore import QCoreApplication, QTimer

application = QCoreApplication([])
timer = QTimer()
for interval in range(100_000):
    timer.setInterval(interval % 1000)
print("survived")
"""


class _Sender(QObject):
    happened = Signal(bool)


def test_that_calls_returning_nothing_keep_references_to_none() -> None:
    timer = QTimer()
    before = sys.getrefcount(None)

    for interval in range(1000):
        timer.setInterval(interval)

    assert abs(sys.getrefcount(None) - before) <= _TOLERANCE


def test_that_emissions_keep_references_to_true() -> None:
    sender = _Sender()
    heard: list[int] = []
    sender.happened.connect(lambda value: heard.append(int(value)))
    before = sys.getrefcount(True)

    for _ in range(1000):
        sender.happened.emit(True)

    assert abs(sys.getrefcount(True) - before) <= _TOLERANCE
    assert len(heard) == 1000


def test_that_connecting_keeps_references_to_true() -> None:
    sender = _Sender()
    before = sys.getrefcount(True)

    for _ in range(1000):
        connection = sender.happened.connect(print)
        sender.happened.disconnect(connection)

    assert abs(sys.getrefcount(True) - before) <= _TOLERANCE


def test_that_a_hundred_thousand_calls_do_not_abort_the_interpreter() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MANY_CALLS], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout.strip()) == (0, "survived"), done.stderr
