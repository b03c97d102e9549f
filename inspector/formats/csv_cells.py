"""Free text in CSV cells: quoted, and never a formula.

A spreadsheet evaluates a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage
return. Such a text is written after an apostrophe, by which spreadsheets recognise text, and is
read back without it.
"""

from typing import Final

_BEGINS_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_APOSTROPHE: Final = "'"


def text_cell(text: str) -> str:
    """Return a text as a cell that no program evaluates."""
    return f"{_APOSTROPHE}{text}" if _is_risky(text) else text


def text_of_cell(cell: str) -> str:
    return cell.removeprefix(_APOSTROPHE) if _is_risky(cell) else cell


def quoted(cell: str) -> str:
    """Return a cell as written between commas (RFC 4180)."""
    is_plain = not any(char in cell for char in '",\r\n')
    return cell if is_plain else f'"{cell.replace(chr(34), 2 * chr(34))}"'


def _is_risky(text: str) -> bool:
    # A text that starts with apostrophes gets one more, so that it is read back unchanged.
    return text.lstrip(_APOSTROPHE).startswith(_BEGINS_FORMULA)
