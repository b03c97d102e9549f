"""The pages of help: contents, links, sections and search."""

from __future__ import annotations

import re

import pytest

from inspector.resources import resource_path
from inspector.sessions.scene import find_scene
from ui.actions.panels import PANELS
from ui.help.contents import CONTENTS, WINDOW_PAGE, PageEntry
from ui.help.pages import (
    anchor_of,
    read_page,
    search,
    sections_of,
)

PAGES = [page for _, pages in CONTENTS for page in pages]


def anchors_of(name: str) -> set[str]:
    return {anchor_of(section.title) for section in sections_of(read_page(name))}


def test_that_every_page_is_in_the_contents_once() -> None:
    files = sorted(path.stem for path in resource_path("help").glob("*.md"))

    assert sorted(page.name for page in PAGES) == files


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_that_the_contents_name_a_page_by_its_heading(page: PageEntry) -> None:
    assert read_page(page.name).splitlines()[0] == f"# {page.title}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_that_links_between_pages_lead_to_sections_that_are(page: PageEntry) -> None:
    for target in re.findall(r"\]\(([^)\s:]*)\)", read_page(page.name)):
        name, _, anchor = target.partition("#")
        if name.endswith((".md", "")) and not name.endswith((".png", ".svg", ".py", ".json")):
            name = name.removesuffix(".md") or page.name
            assert resource_path("help", f"{name}.md").is_file(), target
            assert not anchor or anchor in anchors_of(name), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_that_scenes_that_a_page_names_are_built_in(page: PageEntry) -> None:
    for name in re.findall(r"built-in scene `(\w+)`", read_page(page.name)):
        assert find_scene(name).stem.endswith(name)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.id)
def test_that_every_panel_has_a_section_on_the_page_of_the_window(panel: object) -> None:
    assert anchor_of(getattr(panel, "title", "")) in anchors_of(WINDOW_PAGE)


def test_that_headings_inside_code_are_no_sections() -> None:
    page = "# Title\nabove\n## Part\n```python\n# a comment\n```\nbelow"

    assert [(each.title, each.text) for each in sections_of(page)] == [
        ("Title", "above"),
        ("Part", "# a comment below"),
    ]


def test_that_signs_of_markdown_are_not_searched() -> None:
    section = sections_of("# A\n| **bold** | [link](other.md#part) |\n|--|--|\n`code`")[0]

    assert section.text == "bold link code"


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("pause", {"getting-started", "window"}),
        ("late", {"late"}),
        ("1 % low", {"statistics"}),
        ("attach", {"attach"}),
        ("embedding", {"embedding"}),
        ("dark theme", {"window"}),
        ("gallery", {"getting-started"}),
        ("slow motion", {"getting-started"}),
        ("screen reader", {"window"}),
    ],
)
def test_that_what_people_look_for_is_the_first_hit(text: str, pages: set[str]) -> None:
    assert search(text)[0].page.name in pages


def test_that_every_word_must_occur_whatever_its_case() -> None:
    hits = search("REWIND recording")

    assert hits
    for hit in hits:
        section = next(
            each for each in sections_of(read_page(hit.page.name)) if each.title == hit.section
        )
        whole = f"{section.title} {section.text}".casefold()
        assert "rewind" in whole
        assert "recording" in whole


def test_that_a_page_of_that_title_comes_first() -> None:
    assert search("breakpoints")[0].page.name == "breakpoints"
    assert search("state machines")[0].page.name == "state-machines"


def test_that_the_excerpt_shows_the_word() -> None:
    hit = next(hit for hit in search("lateness") if "lateness" not in hit.section.casefold())

    assert "lateness" in hit.excerpt.casefold()
    assert len(hit.excerpt) < 100


@pytest.mark.parametrize("text", ["", "   ", "zyzzyva"])
def test_that_nothing_is_found_where_nothing_is(text: str) -> None:
    assert search(text) == []
