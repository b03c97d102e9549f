"""Panels and time sources of packages in the window: at work, failing, and in the list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.extension_packages import install, python_with

_PANEL = """
from inspector.extensions import Panel, PanelArea

PANEL = Panel("counter", "Counter", PanelArea.BOTTOM, "ext_counter_view:Counter", "counts frames")
"""
_VIEW = """
from PySide6.QtWidgets import QLabel

class Counter(QLabel):
    def __init__(self, bridge, theme, parent=None):
        super().__init__("nothing yet", parent)
        self._bridge = bridge
        bridge.refreshed.connect(self.count)

    def count(self, _new):
        self.setText(f"{self._bridge.timeline.frames.end} frames")
"""
_POINTS = {"counter": "ext_counter:PANEL"}
_PROGRAM = """
import json, sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from tests.ui.shell import open_shell
from ui.window.process import FaultReporter

class Keep(list):
    addWidget = list.append

keep = Keep()
shell = open_shell(keep, Path.cwd())
window = shell.window
FaultReporter(window)
said = {"panels": list(window.docks.ids)}
if "aaa" in said["panels"]:
    window.actions_by_id["panel-aaa"].trigger()
def look():
    for _ in range(5):
        QApplication.processEvents()
if "counter" in said["panels"]:
    window.actions_by_id["panel-counter"].trigger()
    shell.advance(0.1)
    look()
    said["text"] = window.docks.panel("counter").text()
    window.resize(900, 700)
    shell.advance(0.1)
    look()
    said["later"] = window.docks.panel("counter").text()
said["events"] = shell.bridge.timeline.frames.end
said["notice"] = window.notice.label.text() if window.notice.isVisible() else ""
window.actions_by_id["extensions"].trigger()
said["list"] = window.findChild(object, "extensions").list.toPlainText()
window.close()
print(json.dumps(said))
"""


def seen(
    folder: Path, view: str = _VIEW, panel: str = _PANEL, points: Mapping[str, str] = _POINTS
) -> dict[str, Any]:
    """Return what a window shows in which a package has added a panel."""
    modules = {"ext_counter.py": panel, "ext_counter_view.py": view}
    install(folder, "ext-counter", modules, {"panels": points})
    done = python_with(folder, "-c", _PROGRAM)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_that_a_panel_of_a_package_is_docked_and_shows_the_session(tmp_path: Path) -> None:
    said = seen(tmp_path)

    assert said["panels"][-1] == "counter"
    assert said["later"] == f"{said['events']} frames"
    assert said["notice"] == ""
    assert "✔ counter, ext-counter 1.0" in said["list"]


def test_that_a_panel_that_cannot_be_built_shows_the_reason_in_its_place(tmp_path: Path) -> None:
    said = seen(tmp_path, "from PySide6 import NoSuchName")

    reason = "The panel “counter” of ext-counter 1.0 does not work: ImportError: cannot import"
    assert said["text"].startswith(reason)
    assert said["later"] == said["text"] == said["notice"]
    assert said["events"] > 0
    assert "✖ counter, ext-counter 1.0" in said["list"]


def test_that_a_panel_that_is_no_widget_shows_the_reason(tmp_path: Path) -> None:
    said = seen(tmp_path, "def Counter(bridge, theme, parent):\n    return 3\n")

    assert said["text"].startswith("The panel “counter” of ext-counter 1.0 does not work: TypeErr")


def test_that_a_panel_that_fails_in_a_refresh_is_replaced_by_the_reason(tmp_path: Path) -> None:
    said = seen(tmp_path, _VIEW.replace("frames.end}", "frames.no_such}"))

    reason = "The panel “counter” of ext-counter 1.0 does not work: AttributeError:"
    assert said["text"].startswith(reason)
    assert said["notice"].startswith(reason)
    assert said["events"] > 0


def test_that_a_panel_that_fails_while_it_is_painted_is_replaced_by_the_reason(
    tmp_path: Path,
) -> None:
    said = seen(tmp_path, f"{_VIEW}\n    def paintEvent(self, event):\n        [][1]\n")

    assert said["later"].startswith(
        "The panel “counter” of ext-counter 1.0 does not work: IndexError: list index"
    )


def test_that_of_two_panels_in_a_module_the_one_that_fails_is_replaced(tmp_path: Path) -> None:
    view = _VIEW.replace("frames.end}", "frames.no_such}")
    view += (
        "\nclass Other(QLabel):\n    def __init__(self, bridge, theme, parent):\n        1 / 0\n"
    )
    panel = (
        f"{_PANEL}OTHER = Panel('aaa', 'Other', PanelArea.BOTTOM, 'ext_counter_view:Other', 'x')\n"
    )
    points = {"aaa": "ext_counter:OTHER", "counter": "ext_counter:PANEL"}

    said = seen(tmp_path, view, panel, points)

    assert said["later"].startswith("The panel “counter” of ext-counter 1.0 does not work: Attri")


def test_that_a_panel_that_does_not_load_is_named_in_a_notice(tmp_path: Path) -> None:
    said = seen(tmp_path, panel=_PANEL.replace("PanelArea.BOTTOM", "None"))

    assert "counter" not in said["panels"]
    assert said["notice"] == (
        "The panel “counter” of ext-counter 1.0 does not work: it has no area, and the middle "
        "of the window is taken."
    )


_SOURCE = """
from inspector.sessions.sources.time_sources import TimeSourceKind

class Slow:
    def __init__(self, host):
        self.host, self.count = host, 0
        self.set_wake, self.attach, self.close = host.set_wake, host.attach, host.close

    def now_ns(self):
        self.count += 1
        if self.count > LIMIT:
            raise RuntimeError("no more time")
        return self.host.now_ns()

SLOW = TimeSourceKind("slow", "a test", Slow)
"""
_SOURCE_PROGRAM = """
import json
from pathlib import Path
from PySide6.QtWidgets import QApplication
from tests.ui.shell import open_shell
from ui.window.process import FaultReporter

class Keep(list):
    addWidget = list.append

keep = Keep()
shell = open_shell(keep, Path.cwd())
window = shell.window
FaultReporter(window)
shell.trigger("time-source-slow")
window.open_path(Path("scene.py"))
QApplication.processEvents()
said = {"source": type(shell.bridge.session.source).__name__}
def late():
    shell.sources[-1].advance(0.1)
from PySide6.QtCore import QTimer
for _ in range(40):
    QTimer.singleShot(0, late)
    QApplication.processEvents()
said["notice"] = window.notice.label.text() if window.notice.isVisible() else ""
window.close()
print(json.dumps(said))
"""


@pytest.mark.parametrize(
    ("limit", "source"), [("1e9", "Slow"), ("0", "ManualTimeSource"), ("20", "Slow")]
)
def test_that_a_time_source_that_fails_is_named_and_the_window_goes_on(
    tmp_path: Path, limit: str, source: str
) -> None:
    module = _SOURCE.replace("LIMIT", limit)
    install(tmp_path, "ext-s", {"ext_s.py": module}, {"time_sources": {"slow": "ext_s:SLOW"}})

    done = python_with(tmp_path, "-c", _SOURCE_PROGRAM)

    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["source"] == source
    reason = "The time source “slow” of ext-s 1.0 does not work: RuntimeError: no more time."
    assert said["notice"].partition(" “scene”")[0].startswith("" if limit == "1e9" else reason)
    assert bool(said["notice"]) == (limit != "1e9")
