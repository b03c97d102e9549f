"""The examples of the help page are tests that pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inspector.resources import resource_path
from tests.pytest_plugin.running import run_source

_PAGE = (resource_path("help") / "testing.md").read_text(encoding="utf-8")
_EXAMPLES = re.findall(r"^```python\n(.*?)^```", _PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("place", range(len(_EXAMPLES)))
def test_that_the_examples_of_the_page_pass(tmp_path: Path, place: int) -> None:
    source = _EXAMPLES[place]
    plugins = ("asyncio",) if "mark.asyncio" in source else ()

    outcome = run_source(tmp_path, source, plugins=plugins)

    assert outcome.counts == {"passed": source.count("def test_")}, outcome.output
