"""Texts of other people as they are shown: in one line, and never as HTML of ours."""

from __future__ import annotations

import re
from typing import Final

_BROKEN: Final = re.compile("\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
#: Of a text that is longer, nobody reads the rest in a tool tip.
_MOST_SHOWN: Final = 4_000
_HTML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def one_line(text: str) -> str:
    """Return a text in one line: its line ends as ``⏎``, its tabulators as ``⇥``."""
    if _BROKEN.search(text) is None:  # as good as always, and asked for every cell
        return text
    return _BROKEN.sub(lambda found: "⇥" if found.group() == "\t" else "⏎", text)


def in_quotes(text: str, most: int = 60) -> str:
    """Return what somebody wrote as it stands in a sentence: in one line, and not for pages."""
    cut = one_line(text[:most])
    return f"“{cut}…”" if len(text) > most else f"“{cut}”"


def as_html(text: str) -> str:
    """Return a text as it is written in HTML.

    What ``html.escape`` does; the module of that brings in the names of 2,231 characters,
    which is half a megabyte in a window that is idle.
    """
    return text.translate(_HTML)


def as_plain(text: str) -> str:
    """Return a text so that Qt shows it as it is in a tool tip or a label.

    Qt takes for HTML what looks like it, and so a name such as ``<img src="/dev/zero">``
    would be read until there is no memory left. What is too long to be looked at is cut.
    """
    if len(text) > _MOST_SHOWN:
        text = f"{text[:_MOST_SHOWN]} …"
    if "<" not in text:
        return text
    return f'<p style="white-space:pre-wrap">{as_html(text)}</p>'
