"""The examples of the help page about schedulers print what the page says."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO

import pytest

from inspector.resources import resource_path

PAGE = resource_path("help", "schedulers.md").read_text(encoding="utf-8")
SETUP = re.findall(r"```python setup\n(.*?)```", PAGE, re.DOTALL)[0]
EXAMPLES: list[tuple[str, str]] = re.findall(
    r"```python example\n(.*?)```\n```output\n(.*?)```", PAGE, re.DOTALL
)


def _printed(source: str) -> str:
    with redirect_stdout(StringIO()) as printed:
        exec(compile(source, "schedulers.md", "exec"), {"__name__": "example"})  # noqa: S102
    return "\n".join(line.rstrip() for line in printed.getvalue().splitlines())


def test_that_every_example_has_its_output() -> None:
    assert len(EXAMPLES) == PAGE.count("```python example") == 22


@pytest.mark.parametrize(("source", "output"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_that_the_example_prints_what_the_page_says(source: str, output: str) -> None:
    lines = [line.rstrip() for line in output.splitlines()]

    assert _printed(SETUP + source) == "\n".join(lines)


def test_that_the_first_program_of_the_page_runs() -> None:
    source = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]

    printed = _printed(source)

    assert printed.count("step 0.25") == 5
    assert printed.count("blink after 0.5") == 2
