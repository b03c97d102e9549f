"""The pages of help: their texts, their sections, and a search through them."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from msgspec import Struct

from inspector.resources import resource_path

from .contents import CONTENTS, PageEntry

_HEADING: Final = re.compile(r"(#{1,6}) +(.+)")
_NOT_IN_ANCHORS: Final = re.compile(r"[^\w\- ]")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
#: Characters of a section that are shown with a hit, and how many of them precede the word.
_EXCERPT: Final = 70
_LEAD: Final = 15
#: What words count for that stand together: more than any number of single words.
_TOGETHER: Final = 100


def anchor_of(heading: str) -> str:
    """Return the name by which links name a heading, as web sites that show Markdown make it."""
    return _NOT_IN_ANCHORS.sub("", heading.strip().lower()).replace(" ", "-")


class HelpSection(Struct, frozen=True):
    title: str  # The heading; the title of the page for what precedes any heading
    text: str  # The text in one line, without the signs of Markdown


class Hit(Struct, frozen=True):
    """A section in which every word of a search occurs."""

    page: PageEntry  # The page it is in
    section: str  # Its heading
    excerpt: str  # The text around the first word found; empty if only headings have it


def read_page(name: str) -> str:
    """Return a page as Markdown; raises OSError if there is no such page."""
    return resource_path("help", f"{name}.md").read_text(encoding="utf-8")


def sections_of(text: str) -> tuple[HelpSection, ...]:
    sections: list[HelpSection] = []
    title, lines, is_code = "", [], False
    for line in text.splitlines():
        is_code ^= line.startswith("```")
        heading = None if is_code else _HEADING.fullmatch(line)
        if heading is None:
            lines.append(line)
            continue
        if title:
            sections.append(HelpSection(title, _plain(lines)))
        title, lines = _plain([heading[2]]), []
    sections.append(HelpSection(title, _plain(lines)))
    return tuple(sections)


def search(text: str) -> list[Hit]:
    """Return the sections that have every word of ``text``, the best first.

    A word in a heading counts more than one in the text, and one in the title of a page counts
    for its first section. Words that stand together as they were typed come before all that are
    apart. Upper and lower case are alike.
    """
    words = text.casefold().split()
    found: list[tuple[int, int, Hit]] = []
    if not words:
        return []
    for page, sections in _all_sections():
        for section in sections:
            rank = _rank(words, section, is_first=section is sections[0])
            if rank:
                hit = Hit(page, section.title, _excerpt(section.text, words))
                found.append((-rank, len(found), hit))
    return [hit for _, _, hit in sorted(found)]


def _rank(words: list[str], section: HelpSection, *, is_first: bool) -> int:
    title, body = section.title.casefold(), section.text.casefold()
    rank = 0
    for word in words:
        if word in title:
            rank += 3 if is_first else 2
        elif word in body:
            rank += 1
        else:
            return 0
    phrase = " ".join(words)
    is_together = len(words) > 1 and (phrase in title or phrase in body)
    return rank + _TOGETHER * is_together


def _excerpt(text: str, words: list[str]) -> str:
    places = [place for word in words if (place := text.casefold().find(word)) >= 0]
    if not places:
        return ""
    start = max(0, min(places) - _LEAD)
    start = text.find(" ", start, min(places)) + 1 if start else 0
    end = start + _EXCERPT
    return "… " * bool(start) + text[start:end].strip() + " …" * (end < len(text))


def _plain(lines: list[str]) -> str:
    text = " ".join(line for line in lines if not line.startswith(("```", "|--", "|:-")))
    return " ".join(re.sub(r"[*`|]+", " ", _LINK.sub(r"\1", text)).split())


@cache
def _all_sections() -> tuple[tuple[PageEntry, tuple[HelpSection, ...]], ...]:
    return tuple(
        (page, sections_of(read_page(page.name))) for _, pages in CONTENTS for page in pages
    )
