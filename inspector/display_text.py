"""Numbers in words; and foreign texts: in one line, and never interpreted as HTML."""

from __future__ import annotations

import re
from typing import Final

_BROKEN: Final = re.compile("\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
#: Longest text of a tool tip, in characters.
_MOST_SHOWN: Final = 4_000
_HTML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def one_line(text: str) -> str:
    """Return a text in one line, with line ends as ``⏎`` and tabs as ``⇥``."""
    if _BROKEN.search(text) is None:  # nearly always, and for every cell
        return text
    return _BROKEN.sub(lambda found: "⇥" if found.group() == "\t" else "⏎", text)


def in_quotes(text: str, most: int = 60) -> str:
    """Return a text from the user for a message: in one line and shortened."""
    cut = one_line(text[:most])
    return f"“{cut}…”" if len(text) > most else f"“{cut}”"


def counted(count: int, noun: str) -> str:
    """Return ``1 frame`` or ``2,000 frames``."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def as_html(text: str) -> str:
    """Escape a text for HTML.

    Like ``html.escape``, whose module loads the names of 2,231 characters, half a megabyte.
    """
    return text.translate(_HTML)


def as_plain(text: str) -> str:
    """Return a text that Qt shows unchanged in a tool tip or a label.

    Qt interprets text that looks like HTML, so a name such as ``<img src="/dev/zero">`` would fill
    the memory. A very long text is cut.
    """
    if len(text) > _MOST_SHOWN:
        text = f"{text[:_MOST_SHOWN]} …"
    if "<" not in text:
        return text
    return f'<p style="white-space:pre-wrap">{as_html(text)}</p>'
