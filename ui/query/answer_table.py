"""Tables of queries: the columns that can be named, and the rows of an answer."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from inspector.display_text import one_line
from inspector.formats.query import Answer, QueryColumn, cell_text

from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_view import TableView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..kit.theme import Theme

#: Rows by which the width of a column of an answer is found.
_MEASURED: Final = 200
_WIDEST: Final = 60

_column = Column[QueryColumn]


class NameColumn(ColumnEnum):
    # fmt: off
    TABLE = _column("Table", lambda row: row.table, "What stands behind FROM", sample="metrics")
    NAME = _column("Column", lambda row: row.name, "Double-click or Enter writes it into the query",
                   lambda row: row.name, sample='"GPU0MemClk(MHz)"', least="frame_time_ms",
                   is_searched=True)
    MEANING = _column("Meaning", lambda row: row.meaning, "What it holds",
                      lambda row: f"{row.meaning}\n{row.type}", is_searched=True, yields=1,
                      least="in seconds")
    # fmt: on


class AnswerRow(NamedTuple):
    number: int  # Its place
    values: tuple[Any, ...]


def _text_at(place: int, row: AnswerRow) -> str:
    return cell_text(row.values[place])


def _value_at(place: int, row: AnswerRow) -> object:
    value = row.values[place]
    # Not a number has no place in any order, lists and the like have that of their texts.
    if isinstance(value, float):
        return value if value == value else None  # noqa: PLR0124 - not a number
    return value if value is None or isinstance(value, int | str) else str(value)


def answer_view(answer: Answer, theme: Theme) -> TableView:
    make = cast("Callable[[str, dict[str, Column[AnswerRow]]], type[ColumnEnum]]", ColumnEnum)
    columns = make("AnswerColumn", dict(_columns_of(answer)))
    model = ListTableModel[AnswerRow](columns, theme, attrgetter("number"), is_sortable=True)
    model.set_rows(map(AnswerRow, range(len(answer.rows)), answer.rows))
    # Another answer has other columns: what is made of these is not kept.
    return TableView(model, "Answer", {}, selects_many=True)


def _columns_of(answer: Answer) -> Iterator[tuple[str, Column[AnswerRow]]]:
    for place, title in enumerate(answer.titles):
        first = [row[place] for row in answer.rows[:_MEASURED]]
        yield (
            f"COLUMN_{place}",
            Column[AnswerRow](
                one_line(title),
                partial(_text_at, place),
                raw=partial(_value_at, place),
                sample=max((one_line(cell_text(each)) for each in first), key=len, default="")[
                    :_WIDEST
                ]
                or "-",
                is_number=any(
                    isinstance(each, int | float) and not isinstance(each, bool) for each in first
                ),
            ),
        )
