"""The window read through AT-SPI, as screen readers of Linux do: names, rows, announcements."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

_PYTHON = "/usr/bin/python3"
_BUS = "/usr/libexec/at-spi-bus-launcher"
_IMPORT = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"
#: Session bus, accessibility bus, window and reader, which end with the reader.
_SCRIPT = """
"$BUS" --launch-immediately & bus=$!
"$PYTHON" -m inspector & window=$!
"$READER_PYTHON" "$READER" "$FOUND"; code=$?
kill $window $bus
exit $code
"""
PARTS = (
    "Transport",
    "Rate of everything",
    "Session time",
    "Overview of the session",
    "Ruler",
    "Frames",
    "Lanes",
    "Scene",
    "Why",
    "Tray",
    "Status",
)


def _why_not() -> str:
    """Return what is missing on this system, empty for nothing."""
    for command in ("Xvfb", "dbus-run-session"):
        if shutil.which(command) is None:
            return f"{command} is not installed"
    if not Path(_BUS).is_file() or not Path(_PYTHON).is_file():
        return "at-spi2-core is not installed"
    known = subprocess.run([_PYTHON, "-c", _IMPORT], capture_output=True, check=False)
    return "" if known.returncode == 0 else "gir1.2-atspi-2.0 is not installed"


@dataclass(frozen=True)
class Read:
    """What a screen reader was told.

    Attributes:
        parts: Role and name of everything in the window.
        described: What is said of some of it, by name.
        said: What was announced.
    """

    parts: list[tuple[str, str]]
    described: dict[str, str]
    said: list[str]


@pytest.fixture
def read(display: str, tmp_path: Path) -> Read:
    folders = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    environment = {
        **os.environ,
        **dict.fromkeys(folders, str(tmp_path)),
        "DISPLAY": display,
        "QT_QPA_PLATFORM": "xcb",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        "BUS": _BUS,
        "PYTHON": sys.executable,
        "READER_PYTHON": _PYTHON,
        "FOUND": str(tmp_path / "found.json"),
        "READER": str(Path(__file__).with_name("read_by_screen_reader.py")),
    }
    command = ["dbus-run-session", "--", "sh", "-c", _SCRIPT]
    # Into files: a bus that outlives the reader would keep a pipe open.
    with (tmp_path / "log").open("w+") as log:
        ended = subprocess.run(
            command, env=environment, stdout=log, stderr=log, check=False, timeout=110
        )
    said = (tmp_path / "log").read_text(encoding="utf-8", errors="replace")
    assert ended.returncode == 0, said[-2_000:]
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    return Read([(role, name) for role, name in found["parts"]], found["described"], found["said"])


@pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "all is there")
def test_that_a_screen_reader_reads_every_part_the_lanes_and_what_was_done(read: Read) -> None:
    names = [name for _role, name in read.parts]
    rows = [name for role, name in read.parts if role in {"table cell", "tree item"}]

    assert [part for part in PARTS if part not in names] == []
    assert ("tree", "Lanes") in read.parts
    (enemies,) = (row for row in rows if row.startswith("enemies, clock, local time "))
    assert "seconds, rate 1, " in enemies
    assert enemies.endswith(" timers wait")
    assert any(row.startswith("boss arrives, timer, once, due in ") for row in rows)
    assert read.described == {
        "Overview of the session": "Follows the present",
        "Ruler": "At the present",
    }
    # A button without a text of its own is named.
    assert [part for part in read.parts if part == ("check box", "")] == []
    assert len(read.said) == 1
    assert "×¼" in read.said[0]
