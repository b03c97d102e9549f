"""Texts of other people as they are shown where there is room for one line."""

from __future__ import annotations

import re
from typing import Final

_BROKEN: Final = re.compile("\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
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
