"""Texts of people in the cells of a CSV: quoted, and never a formula.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@``, a tabulator or a
carriage return, whoever named a bookmark so. Such a text is written behind an apostrophe,
which spreadsheets take for "this is text", and is read back without it.
"""

from typing import Final

_BEGINS_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_APOSTROPHE: Final = "'"


def text_cell(text: str) -> str:
    """Return a text as a cell that no program runs."""
    return f"{_APOSTROPHE}{text}" if _is_risky(text) else text


def text_of_cell(cell: str) -> str:
    """Return the text that :func:`text_cell` made a cell of."""
    return cell.removeprefix(_APOSTROPHE) if _is_risky(cell) else cell


def quoted(cell: str) -> str:
    """Return a cell as it stands between commas (RFC 4180)."""
    is_plain = not any(char in cell for char in '",\r\n')
    return cell if is_plain else f'"{cell.replace(chr(34), 2 * chr(34))}"'


def _is_risky(text: str) -> bool:
    # A text that has apostrophes before it gets one more, so that each can be told from others.
    return text.lstrip(_APOSTROPHE).startswith(_BEGINS_FORMULA)
