"""Files of settings that were damaged: the window opens all the same, and says so."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.sessions.breakpoints.file import breakpoints_to_json
from tests.fuzz import rounds
from tests.ui.shell import open_shell
from ui.window.settings import Settings, SettingsFile

_NUMBERS = (-1, 0, 2**31, 2**63, -(10**400), 1e308, float("nan"), float("inf"), True, None)
_TEXTS = ("", "\0", "\udce9", "x" * 70_000, "ff" * 500, "<img src='/dev/zero'>", "~nouser/x", "٣")


def _saved() -> dict[str, object]:
    """Return what a window has saved that was used."""
    broken = breakpoints_to_json([Breakpoint(BreakKind.TIMER_FIRES, "attack")])
    settings = Settings(
        theme="dark",
        recent_scenes=("/a.py", "/ü.py"),
        scene_breakpoints={"/a.py": broken, "/ü.py": broken},
        export_folder="/nowhere",
        export_choices={"format": "SVG", "width": "720"},
        panel_choices={"event_list.groups": "timers"},
        geometry="01d9d0cb000300000000000000000000000004ff000002f7",
        layout="000000ff00000000fd clock_tree=435x415 timer_queue=1280x258",
    )
    return settings._asdict()


def _odd_value(chance: random.Random, value: object, depth: int = 3) -> object:
    """Return another value."""
    match value:
        case dict() if value and depth and chance.random() < 0.7:
            key = chance.choice(list(value))
            return {**value, key: _odd_value(chance, value[key], depth - 1)}
        case list() | tuple() if value and depth and chance.random() < 0.7:
            index = chance.randrange(len(value))
            odd = _odd_value(chance, value[index], depth - 1)
            return [*value[:index], odd, *value[index + 1 :]]
        case str() if value and chance.random() < 0.5:
            at = chance.randrange(len(value))
            return value[:at] + chance.choice(_TEXTS[:4]) + value[at + chance.randrange(9) :]
    nested: object = 0
    for _ in range(chance.choice((1, 5, 300))):
        nested = [nested]
    numbers: list[object] = [*_NUMBERS]
    return chance.choice([*numbers, *_TEXTS, [], {}, nested, {"a": "b"}, ["x"] * 5_000])


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data))]


def _flipped(chance: random.Random, data: bytes) -> bytes:
    damaged = bytearray(data)
    for _ in range(chance.randrange(1, 9)):
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def _nested(chance: random.Random, data: bytes) -> bytes:
    sign = chance.choice((b"[", b'{"a":'))
    return sign * chance.choice((10, 900, 100_000)) + data


def _spliced(chance: random.Random, data: bytes) -> bytes:
    start, end = sorted(chance.randrange(len(data)) for _ in range(2))
    return data[:end] + data[start:]


_DAMAGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _cut,
    _flipped,
    _nested,
    _spliced,
)


def damaged_settings(seed: int) -> bytes:
    """Return a file of settings with something wrong in it; the same for the same seed."""
    chance = random.Random(seed)
    values = _saved()
    for _ in range(chance.randrange(4)):
        values[chance.choice(list(values))] = _odd_value(chance, values)
        key = chance.choice(list(values))
        values[key] = _odd_value(chance, values[key])
    data = json.dumps(values).encode()
    return data if chance.random() < 0.5 else chance.choice(_DAMAGES)(chance, data)


@pytest.mark.parametrize("seed", rounds(80))
def test_that_damaged_settings_are_read_or_kept_aside(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "settings.json"
    data = damaged_settings(seed)
    path.write_bytes(data)
    file = SettingsFile(path)

    settings = file.load()

    if file.problem:
        assert settings == Settings()
        assert (tmp_path / "settings.unreadable.json").read_bytes() == data
        assert len(file.problem) < 1_000
    assert file.save(settings)
    assert SettingsFile(path).load() == settings


@pytest.mark.parametrize("seed", rounds(6))
def test_that_the_window_opens_with_damaged_settings(
    qtbot: QtBot, tmp_path: Path, seed: int
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(damaged_settings(1_000_000 + seed))

    shell = open_shell(qtbot, tmp_path, is_wide=False)
    shell.advance(0.5)
    QApplication.processEvents()

    assert shell.window.isVisible()
    assert shell.window.notice.isVisible() == bool(shell.settings_file.problem)
    assert shell.window.width() <= shell.window.screen().availableSize().width()
    shell.window.close()
    assert SettingsFile(path).load().version == Settings().version
