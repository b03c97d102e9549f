"""What the first click needs is loaded before it, a module at a time."""

from __future__ import annotations

import subprocess
import sys


def test_that_each_turn_loads_one_module_until_all_are_there() -> None:
    code = """
import sys
from PySide6.QtCore import QCoreApplication, QObject
app = QCoreApplication([])
from ui.session.bridge import SessionBridge
from ui.window.preloading import Preloading
bridge, turns, ends = SessionBridge(), [], []
bridge.refresh_timer.queue_turn = lambda owner, act, **_how: turns.append(act)
preloading = Preloading(bridge, app)
preloading.finished.connect(lambda: ends.append(len(turns)))
wanted = "ui.why.reason_rows", "ui.findings"
assert not any(each in sys.modules for each in wanted)
preloading.load_next()
count = 1
while turns:
    turns.pop()()
    count += 1
assert all(each in sys.modules for each in wanted), sorted(sys.modules)
assert count > 10, count
assert ends == [0], ends
bridge.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
