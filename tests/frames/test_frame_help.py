"""The examples of the help pages about what runs per frame print what the pages say."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO

import pytest

from inspector.engines.creator.versions import COMPONENT_DIALECTS
from inspector.resources import resource_path

PAGES = {
    name: resource_path("help", name).read_text(encoding="utf-8")
    for name in ("schedulers.md", "components.md", "tickers.md", "loops.md", "state-machines.md")
}
EXAMPLES: list[tuple[str, str, str]] = [
    (name, *found)
    for name, page in PAGES.items()
    for found in re.findall(r"```python example\n(.*?)```\n```output\n(.*?)```", page, re.DOTALL)
]


def _printed(source: str) -> list[str]:
    with redirect_stdout(StringIO()) as printed:
        exec(compile(source, "example", "exec"), {"__name__": "example"})  # noqa: S102
    return [line.rstrip() for line in printed.getvalue().splitlines()]


def _first_program(name: str) -> list[str]:
    return _printed(re.findall(r"```python\n(.*?)```", PAGES[name], re.DOTALL)[0])


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("schedulers.md", 22),
        ("components.md", 6),
        ("tickers.md", 1),
        ("loops.md", 2),
        ("state-machines.md", 5),
    ],
)
def test_that_every_example_has_its_output(name: str, count: int) -> None:
    found = [example for example in EXAMPLES if example[0] == name]

    assert len(found) == PAGES[name].count("```python example") == count


@pytest.mark.parametrize(("name", "source", "output"), EXAMPLES)
def test_that_the_example_prints_what_the_page_says(name: str, source: str, output: str) -> None:
    setup = re.findall(r"```python setup\n(.*?)```", PAGES[name], re.DOTALL)

    assert _printed("".join([*setup, source])) == [line.rstrip() for line in output.splitlines()]


def test_that_the_first_program_of_schedulers_runs() -> None:
    printed = _first_program("schedulers.md")

    assert printed.count("step 0.25") == 5
    assert len([line for line in printed if line.startswith("blink after 0.5")]) == 2


def test_that_the_first_program_of_components_runs() -> None:
    assert _first_program("components.md") == ["start", "update 0.25", "update 0.25"]


def test_that_the_table_of_differences_has_a_column_for_each_version() -> None:
    table = PAGES["components.md"].split("## What differs\n\n")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]

    versions = [dialect.title.removeprefix("Cocos Creator ") for dialect in COMPONENT_DIALECTS]
    assert rows[0] == ["", *versions]
    assert {len(row) for row in rows} == {len(versions) + 1}
