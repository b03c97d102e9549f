"""Panels, exporters and time sources of packages in the window: at work, failing, listed."""

from __future__ import annotations

import json
from typing import Any

import pytest
import shiboken6
from PySide6.QtWidgets import QWidget

from inspector.extensions import logger as extension_problems
from tests.extension_packages import install, python_with
from ui.window.extensions import ExtensionReporter

_PANELS = """
from inspector.extensions import Panel, PanelArea

COUNTER, BUILD, VALUE, PAINT, REFRESH = (
    Panel(name, name.title(), PanelArea.BOTTOM, f"ext_view:{name.title()}", "<b>a test</b>")
    for name in ("counter", "build", "value", "paint", "refresh")
)
MISSING = Panel("missing", "Missing", PanelArea.BOTTOM, "ext_missing:Missing", "a test")
MIDDLE = Panel("middle", "Middle", None, "ext_view:Counter", "a test")
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

class Build(QLabel):
    def __init__(self, bridge, theme, parent=None):
        raise ValueError("<img src='/dev/zero'>" + "x" * 1000)

def Value(bridge, theme, parent):
    return 3

class Paint(Counter):
    def paintEvent(self, event):
        [][1]

class Refresh(Counter):
    def count(self, _new):
        self._bridge.no_such
"""
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
_EXPORTER = """
from inspector.formats.export import Exporter

def write(frames, provenance, options, stream):
    stream.write(frames.no_such)

COUNT = Exporter("Count", ".count", "number of <b>frames</b>", write)
"""
_LOOK = """
from pathlib import Path
from PySide6.QtCore import QTimer
from tests.ui.lone_window import finish, lone_shell, turn

shell = lone_shell()
window, notice = shell.window, shell.window.notice
NAMES = ["counter", "build", "value", "paint", "refresh", "missing"]
said = {"panels": list(window.panels.ids), "first": notice.label.text()}
for name in NAMES:
    if name in window.panels.ids:
        window.actions_by_id[f"panel-{name}"].trigger()
        shell.advance(0.1)
        turn()
        said[name] = window.panels.panel(name).text()
shell.advance(0.1)
said["counter"] = window.panels.panel("counter").text()
said["frames"] = f"{shell.bridge.timeline.frames.end} frames"
window.actions_by_id["extensions"].trigger()
said["list"] = window.findChild(object, "extensions").list.toPlainText()
said["last"] = notice.label.text() if notice.isVisible() else ""

shell.trigger("export")
dialog = window.findChild(object, "export_dialog")
said["exported"] = [dialog.export_to(Path("a.count")), Path("a.count").exists()]
said["problem"] = dialog.problem
said["exported"] += [dialog.export_to(Path("a.csv")), Path("a.csv").exists()]
dialog.reject()

def opened(name):
    notice.dismiss()
    shell.trigger(f"time-source-{name}")
    window.open_path(Path("scene.py"))
    turn()
    source = type(shell.bridge.session.source).__name__
    def pass_time():
        shell.sources[-1].advance(0.1)
    for _ in range(40):
        QTimer.singleShot(0, pass_time)
        turn(1)
    return source, notice.label.text() if notice.isVisible() else ""

said["sources"] = {name: opened(name) for name in ("once", "never", "later")}
finish(shell, said)
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what a window shows with panels, an exporter and time sources of packages."""
    folder = tmp_path_factory.mktemp("packages")
    names = ("counter", "build", "value", "paint", "refresh", "missing", "middle")
    points = {"panels": {name: f"ext_panels:{name.upper()}" for name in names}}
    install(folder, "ext", {"ext_panels.py": _PANELS, "ext_view.py": _VIEW}, points)
    points = {"exporters": {"count": "ext_count:COUNT"}}
    install(folder, "ext-count", {"ext_count.py": _EXPORTER}, points)
    for name, limit in (("never", "1e9"), ("once", "0"), ("later", "20")):
        module = _SOURCE.replace("LIMIT", limit).replace("slow", name)
        points = {"time_sources": {name: f"{name}:SLOW"}}
        install(folder, f"ext-{name}", {f"{name}.py": module}, points)
    done = python_with(folder, "-c", _LOOK)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_that_a_panel_of_a_package_shows_the_session_in_the_tray(
    seen: dict[str, Any],
) -> None:
    assert seen["counter"] == seen["frames"] != "0 frames"
    assert "✔ counter, ext 1.0" in seen["list"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("build", "ValueError: <img src='/dev/zero'>xxx"),
        ("value", "TypeError: "),
        ("paint", "IndexError: list index out of range."),
        ("refresh", "AttributeError: 'SessionBridge' object has no attribute 'no_such'"),
        ("missing", "ModuleNotFoundError: No module named 'ext_missing'."),
    ],
)
def test_that_a_panel_that_fails_shows_the_reason_in_its_place(
    seen: dict[str, Any], name: str, reason: str
) -> None:
    assert seen[name].startswith(f"The panel “{name}” of ext 1.0 does not work: {reason}")
    assert len(seen[name]) < 400
    assert f"✖ {name}, ext 1.0" in seen["list"]


def test_that_a_panel_that_does_not_load_is_named_in_a_notice(seen: dict[str, Any]) -> None:
    assert "middle" not in seen["panels"]
    assert seen["first"] == (
        "The panel “middle” of ext 1.0 does not work: it has no area, and the middle of the "
        "window is taken."
    )
    assert seen["last"].startswith("6 problems with extensions. The panel “missing” of ext")


def test_that_a_time_source_that_fails_is_named_and_the_window_goes_on(
    seen: dict[str, Any],
) -> None:
    assert seen["sources"]["never"] == ["Slow", ""]
    for name, source in (("once", "ManualTimeSource"), ("later", "Slow")):
        reason = (
            f"The time source “{name}” of ext-{name} 1.0 does not work: RuntimeError: no more time."
        )
        assert seen["sources"][name][0] == source
        assert reason in seen["sources"][name][1]


def test_that_an_exporter_that_fails_is_named_in_the_dialog_which_stays(
    seen: dict[str, Any],
) -> None:
    assert seen["exported"] == [False, False, True, True]
    reason = "The exporter “count” of ext-count 1.0 does not work: AttributeError: 'FrameTimes'"
    assert seen["problem"].startswith(reason)


@pytest.mark.usefixtures("qapp")
def test_that_a_window_that_is_gone_is_told_nothing() -> None:
    window: Any = QWidget()
    reporter = ExtensionReporter(window)

    shiboken6.delete(window)

    assert reporter not in extension_problems.handlers
