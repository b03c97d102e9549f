"""Numbers in words; and foreign texts: in one line, and never interpreted as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

_BROKEN: Final = re.compile("\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
#: Characters that move a terminal's cursor or change the direction of writing, except tab and
#: line feed.
_HARMFUL: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]"
)
#: Longest texts of other programs, in characters: a name or a place, and a traceback.
_MOST_OF_LINE: Final = 500
_MOST_OF_LINES: Final = 20_000
#: Longest text of a tool tip, in characters.
_MOST_SHOWN: Final = 4_000
#: A name between quotation marks.
QUOTED: Final = re.compile("“([^“”]*)”")
_HTML: Final = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;"))


def without_quotes(text: str) -> str:
    """Return a sentence whose names stand in their own spelling alone."""
    return QUOTED.sub(r"\1", text)


def shared_name(words: Iterable[str]) -> str:
    """Return a name of words that names share, without a bracket whose end they do not share."""
    name = " ".join(words)
    while name.count("(") > name.count(")"):
        name = name[: name.rindex("(")].rstrip()
    return name


def one_line(text: str) -> str:
    """Return a text in one line, with line ends as ``⏎`` and tabs as ``⇥``."""
    if _BROKEN.search(text) is None:  # nearly always, and for every cell
        return text
    return _BROKEN.sub(lambda found: "⇥" if found.group() == "\t" else "⏎", text)


def foreign_line(text: str) -> str:
    """Return a name that another program gives, in one line; a very long one lacks its middle."""
    return foreign_lines(one_line(text), _MOST_OF_LINE)


def foreign_lines(text: str, most: int = _MOST_OF_LINES) -> str:
    """Return a text of another program as it may be printed: control characters as ``\ufffd``."""
    if len(text) > most:
        half = (most - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    if text.isascii() and text.isprintable():  # nearly always
        return text
    return _HARMFUL.sub("\ufffd", text.replace("\r\n", "\n"))


def in_quotes(text: str, most: int = 60) -> str:
    """Return a text from the user for a message: in one line, printable and shortened."""
    cut = foreign_line(text[:most])
    return f"“{cut}…”" if len(text) > most else f"“{cut}”"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return ``1 frame`` or ``2,000 frames``; of ``frame is`` the plural is ``frames are``."""
    return f"1 {noun}" if count == 1 else f"{count:,} {plural or f'{noun}s'}"


def with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "AEIOUaeiou" else f"a {noun}"


def listed(names: Sequence[str], most: int = 3) -> str:
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    if len(names) <= 1:
        return names[0] if names else "nothing"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def as_html(text: str) -> str:
    """Escape a text for HTML.

    Like ``html.escape``, whose module loads the names of 2,231 characters, half a megabyte.
    """
    for plain, escaped in _HTML:
        text = text.replace(plain, escaped)
    return text


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
