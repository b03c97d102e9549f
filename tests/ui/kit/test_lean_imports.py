"""Libraries are loaded without every class of Qt and without the sources of all modules."""

from __future__ import annotations

import builtins
import gc
import subprocess
import sys
from pathlib import Path

import pytest

from ui.kit.lean_imports import plain_imports

PROJECT = Path(__file__).resolve().parents[3]

LEAN = """
import builtins, linecache
from PySide6 import QtCore, QtWidgets
from ui.kit.lean_imports import load_pyqtgraph
hooked, listed = builtins.__import__, len(dir(QtWidgets))
load_pyqtgraph()
import pyqtgraph
assert builtins.__import__ is hooked
assert len(dir(QtWidgets)) == listed
mirror = pyqtgraph.Qt.QtWidgets
assert "QCalendarWidget" not in vars(mirror), "every class was made"
assert mirror.QCalendarWidget is QtWidgets.QCalendarWidget
assert not hasattr(mirror, "QNothing")
assert not [name for name in linecache.cache if "numpy" in name], "sources were read"
application = QtWidgets.QApplication([])
plot = pyqtgraph.PlotWidget()
plot.plot([1, 3, 2])
plot.show()
application.processEvents()
# In this order: Python would delete them in any.
del plot
del application
"""

OTHER_PYQTGRAPH = """
import sys
from PySide6 import QtCore, QtWidgets
import ui.kit.lean_imports as lean

def import_halfway():
    sys.modules["pyqtgraph"] = sys.modules["pyqtgraph.Qt"] = type(sys)("pyqtgraph")
    raise ImportError("it does this otherwise")

lean._import_with_mirrors = import_halfway
lean.load_pyqtgraph()
import pyqtgraph
assert "QCalendarWidget" in vars(pyqtgraph.Qt.QtWidgets)
pyqtgraph.ViewBox
"""


@pytest.mark.parametrize("program", [LEAN, OTHER_PYQTGRAPH], ids=["lean", "another version"])
def test_pyqtgraph_works_and_is_loaded_lean_if_that_is_possible(program: str) -> None:
    finished = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr


def fail_among_plain_imports() -> None:
    with plain_imports():
        assert not gc.isenabled()
        message = "on the way"
        raise RuntimeError(message)


def test_plain_imports_puts_everything_back() -> None:
    hooked, was_collecting = builtins.__import__, gc.isenabled()
    with pytest.raises(RuntimeError, match="on the way"):
        fail_among_plain_imports()
    assert builtins.__import__ is hooked
    assert gc.isenabled() is was_collecting
