"""Settings survive a restart, and nothing in a file that cannot be read is lost."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import platformdirs
import pytest

from inspector.analysis.statistics.frame_budget import DEFAULT_BUDGETS_MS
from ui.window.settings import Settings, SettingsFile, settings_from_json


def test_that_saving_and_loading_changes_nothing(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / "deep" / "settings.json")
    settings = Settings(
        theme="dark",
        recent_scenes=("/a.py", "/ü.py"),
        step_frames=3,
        budgets_ms=(7.5, 16.0),
        failure_policy="stop",
        precision="fine",
        export_folder="/tmp/x",  # noqa: S108 - only a text
        export_choices={"format": "SVG"},
        geometry="01ab",
        layout="ff",
    )

    assert file.save(settings)

    assert file.load() == settings
    assert file.problem == ""


def test_that_a_name_that_is_no_utf_8_is_kept(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / "settings.json")
    settings = Settings(recent_scenes=(os.fsdecode(b"/caf\xe9.py"), "/ü.py"))

    assert file.save(settings)

    assert file.load() == settings
    assert file.problem == ""


def test_that_a_first_start_has_the_defaults_without_complaint(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / "settings.json")

    assert file.load() == Settings()
    assert Settings().budgets_ms == DEFAULT_BUDGETS_MS
    assert file.problem == ""


@pytest.mark.parametrize(
    "text",
    [
        "{not json",
        "[]",
        '{"theme": "mauve"}',
        '{"step_frames": 0}',
        '{"step_frames": true}',
        '{"recent_scenes": [1]}',
        '{"budgets_ms": [0]}',
        '{"budgets_ms": [NaN]}',
        '{"budgets_ms": [1e300]}',
        '{"budgets_ms": [1e-300]}',
        '{"version": 99}',
        "[" * 100_000,
        '{"panel_choices": ' + '{"a":' * 50_000 + "1" + "}" * 50_001,
        '{"budgets_ms": [1' + "0" * 400 + "]}",
        '{"step_frames": -1' + "0" * 4_000 + "}",
        '{"theme": "' + "x" * 11_000_000 + '"}',
        "\xff\xfe",
    ],
)
def test_that_a_file_that_makes_no_sense_is_kept_aside_and_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(text.encode("latin-1"))
    file = SettingsFile(path)

    assert file.load() == Settings()

    kept = tmp_path / "settings.unreadable.json"
    assert str(kept) in file.problem
    assert kept.read_bytes() == text.encode("latin-1")
    assert not path.exists()


def test_that_no_file_kept_aside_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    for text in ("first", "second", "third"):
        path.write_text(text, encoding="utf-8")
        SettingsFile(path).load()

    kept = sorted(each.read_text(encoding="utf-8") for each in tmp_path.iterdir())
    assert kept == ["first", "second", "third"]


def test_that_unknown_fields_of_the_same_version_do_no_harm() -> None:
    assert settings_from_json(b'{"theme": "dark", "hologram": true}') == Settings(theme="dark")


def test_that_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    file = SettingsFile(tmp_path / "file" / "settings.json")

    assert not file.save(Settings())
    assert "cannot be saved" in file.problem


def test_that_saving_leaves_no_other_file(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / "settings.json")

    file.save(Settings())
    file.save(Settings(theme="dark"))

    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]
    assert json.loads(file.path.read_bytes())["theme"] == "dark"


def test_that_recent_scenes_are_newest_first_once_and_at_most_ten() -> None:
    settings = Settings()
    for number in [*range(12), 5]:
        settings = settings.with_recent_scene(Path(f"/scenes/{number}.py"))

    names = [Path(each).stem for each in settings.recent_scenes]
    assert names == ["5", "11", "10", "9", "8", "7", "6", "4", "3", "2"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the library is asked itself")
@pytest.mark.parametrize("configured", ["", "relative", "/configured", None])
def test_that_the_file_is_where_the_library_of_such_folders_says(
    configured: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if configured is None:
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CONFIG_HOME", configured)

    expected = platformdirs.user_config_dir("timeline-inspector", appauthor=False)
    assert str(SettingsFile().path.parent) == expected
