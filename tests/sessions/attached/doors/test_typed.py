"""What people type into the window, as a door."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inspector.errors import AttachError
from inspector.sessions.attached.doors.browser import Browser
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.attached.doors.typed import TypedProgram
from tests.javascript import node


@pytest.mark.parametrize(
    "url", ["http://localhost:8080/", "https://example.org/a?b c", "file:///x"]
)
def test_that_a_url_leads_to_a_browser(url: str) -> None:
    typed = TypedProgram(f" {url} ", hold=True, grant="step")
    assert typed.door() == Browser(url, hold=True, grant="step")


def test_that_the_file_of_a_page_leads_to_a_browser(tmp_path: Path) -> None:
    (tmp_path / "game.html").write_text("")
    assert TypedProgram("game.html", str(tmp_path)).door() == Browser(str(tmp_path / "game.html"))


def test_that_a_script_for_node_is_run_by_it(tmp_path: Path) -> None:
    node()
    (tmp_path / "game.js").write_text("")
    expected = Launch(("node", "game.js", "--fast"), tmp_path)
    assert TypedProgram("game.js --fast", str(tmp_path)).door() == expected


def test_that_a_number_is_a_process() -> None:
    assert str(os.getpid()) in TypedProgram(str(os.getpid())).door().title
    for typed in (str(2**22 + 1), "9" * 5_000):
        with pytest.raises(AttachError, match="no process"):
            TypedProgram(typed).door()
