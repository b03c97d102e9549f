"""The query panel: a SELECT, the columns it can name, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from msgspec import structs
from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QFontDatabase, QKeyEvent, QPalette
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit, QSpinBox, QWidget
from typing_extensions import override

from inspector.display_text import counted, one_line
from inspector.errors import InspectorError
from inspector.foreign.paths import is_recording_name, stored_path
from inspector.formats.frame_times import FrameTimes
from inspector.formats.query import (
    NO_DUCKDB,
    Answer,
    Queried,
    Query,
    QueryColumn,
    cell_text,
    is_duckdb_missing,
    query_columns,
)
from inspector.sessions.frame_files import read_frame_file
from inspector.sessions.session import Session, ShowsCapture, beside_of

from ..kit.background import Background
from ..kit.fonts import in_type
from ..kit.guards import guarded
from ..kit.labels import ElidedLabel, WrappedLabel, plain_label
from ..kit.layouts import bar, fill, splitter, tool_button
from ..kit.range_note import RangeNote
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import ENTER, TableView
from ..kit.theme import ColorRole, Theme
from ..session.bridge import SessionBridge

if TYPE_CHECKING:
    from ..kit.background import Report

_SQL: Final = "query_sql"
_LIMIT: Final = "query_limit"
_USUAL_LIMIT: Final = 1_000
_MOST_ROWS: Final = 100_000
_EXAMPLE: Final = (
    "select frame, at_s, frame_time_ms from frames\norder by frame_time_ms desc limit 20"
)

#: The first rows of an answer, from which the widths of its columns are determined.
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
    # NaN has no place in an order; lists and the like are ordered by their texts.
    if isinstance(value, float):
        return value if value == value else None  # noqa: PLR0124 - not a number
    return value if value is None or isinstance(value, int | str) else str(value)


def answer_view(answer: Answer, theme: Theme) -> TableView:
    make = cast("Callable[[str, dict[str, Column[AnswerRow]]], type[ColumnEnum]]", ColumnEnum)
    columns = make("AnswerColumn", dict(_columns_of(answer)))
    model = ListTableModel[AnswerRow](columns, theme, attrgetter("number"), is_sortable=True)
    model.set_rows(map(AnswerRow, range(len(answer.rows)), answer.rows))
    # The choices of columns are not kept, because another answer has other columns.
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


@guarded
class _Statement(QPlainTextEdit):
    """Where the statement is typed; Tab leaves it."""

    entered = Signal()  # Ctrl+Enter was pressed

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setAccessibleName("SQL statement")
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        in_type(self, "text")
        self.setTabChangesFocus(True)

    def _is_run(self, event: QEvent) -> bool:
        return (
            isinstance(event, QKeyEvent)
            and event.key() in ENTER
            and bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        )

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and self._is_run(event):
            event.accept()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._is_run(event):
            self.entered.emit()
        else:
            super().keyPressEvent(event)


class _NameList(TablePanel):
    def __init__(self, view: TableView, theme: Theme) -> None:
        super().__init__(view, theme, None, filter_hint="Filter columns")
        self.lay_out()

    @override
    def why_empty(self) -> str:
        return "The filter hides all columns."


@guarded
class QueryPanel(QWidget):
    """Answers a SELECT on the frames of what is open and of files, in a background thread."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge, self._theme = bridge, theme
        self._query: Query | None = None
        # The files that were added, as they were read; None until then
        self.files: dict[Path, Queried | None] = {}
        self.answer: TableView | None = None  # The rows; None before the first answer
        self._asked = self._answered = ""  # The last query, and the one that they answer
        self._background = Background(self, expected=InspectorError)
        choices = bridge.panel_choices
        self.statement = _Statement(choices.get(_SQL, _EXAMPLE))
        self.names = ListTableModel[QueryColumn](NameColumn, theme)
        self._names_view = TableView(self.names, "Columns", choices)
        self._name_list = _NameList(self._names_view, theme)
        self.limit_box = QSpinBox()
        self.limit_box.setRange(1, _MOST_ROWS)
        self.limit_box.setGroupSeparatorShown(True)
        self.limit_box.setAccessibleName("Rows at most")
        RangeNote(self.limit_box)
        kept = choices.get(_LIMIT, "")
        self.limit_box.setValue(int(kept) if kept.isdecimal() else _USUAL_LIMIT)
        self.run_button = tool_button("Run", "Answer the query (Ctrl+Enter)")
        self.cancel_button = tool_button("Cancel", "Stop reading files and answering")
        self.add_button = tool_button("Add files …", "Query more captures and recordings, too")
        self.remove_button = tool_button("Remove files", "Query only what is open")
        self.message, self.problem = ElidedLabel(), WrappedLabel()
        self._lay_out()
        self._connect()
        self.setFocusProxy(self.statement)
        self.problem.set_text(NO_DUCKDB if is_duckdb_missing() else "")
        self._refresh_state()
        self._refresh_names()

    def _lay_out(self) -> None:
        left, asked, answered = QWidget(), QWidget(), QWidget()
        limit = (10, plain_label("Rows at most"), self.limit_box)
        files = (self.add_button, self.remove_button)
        tools = bar(self.run_button, self.cancel_button, *limit, *files, (self.message, 1))
        fill(asked, (self.statement, 1), tools, self.problem)
        self._answers = fill(answered)
        upright = (asked, 2), (answered, 3)
        fill(left, (splitter(Qt.Orientation.Vertical, *upright, sizes=(110, 190)), 1))
        parts = (left, 3), (self._name_list, 2)
        fill(self, (splitter(Qt.Orientation.Horizontal, *parts, sizes=(760, 420)), 1))

    def _connect(self) -> None:
        self._background.done.connect(self._on_found)
        self._background.failed.connect(self._on_problem)
        self.statement.entered.connect(self.run)
        self.run_button.clicked.connect(self.run)
        self.cancel_button.clicked.connect(self.cancel)
        self.add_button.clicked.connect(self._ask_for_files)
        self.remove_button.clicked.connect(self._remove_files)
        self._bridge.session_changed.connect(self._on_session_changed)
        self._bridge.window_closing.connect(self._stop)
        self._names_view.doubleClicked.connect(self._write_name)
        for key in ENTER:
            self._names_view.on(key, self._write_current_name)

    @Slot()
    def run(self) -> None:
        """Answer the query, instead of one that is being answered."""
        sql, most = self.statement.toPlainText(), self.limit_box.value()
        choices = self._bridge.panel_choices
        choices[_SQL], choices[_LIMIT] = sql, f"{most}"
        self._stop()
        query = self._query = Query(sql, most)
        self._asked = sql
        self.problem.set_text("")
        self._background.start(
            partial(_answer, query, _open_frames(self._bridge.session), self.files)
        )
        self._refresh_state()

    @Slot()
    def cancel(self) -> None:
        former = "" if self._query is None else self._fade_answer()
        self._stop()
        self.message.set_text(f"The query was cancelled. {former}".rstrip())
        self._refresh_state()

    @Slot()
    def _stop(self) -> None:
        self._background.cancel()
        if self._query is not None:
            self._query.stop()
            self._query = None

    def finish(self) -> None:
        self._background.wait()

    @Slot(object)
    def _on_session_changed(self, _session: object) -> None:
        self._stop()
        self._refresh_state()
        self._refresh_names()

    @Slot()
    def _ask_for_files(self) -> None:
        dialog = QFileDialog(self, "Add captures and recordings")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self.add_files)
        dialog.open()

    @Slot(list)
    def add_files(self, paths: Iterable[str]) -> None:
        """Read files, so that the columns that they have are listed."""
        self._stop()
        self.files |= dict.fromkeys(set(map(Path, paths)) - self.files.keys())
        self.problem.set_text("")
        self._background.start(partial(_read, self.files))
        self._refresh_state()

    @Slot()
    def _remove_files(self) -> None:
        self._stop()
        self.files = {}
        self.message.set_text("")
        self._refresh_state()
        self._refresh_names()

    @Slot(object)
    def _on_found(self, found: Answer | None) -> None:
        self._query = None
        self._refresh_names()
        if found is None:
            self.message.set_text(f"{counted(len(self.files), 'file')} added.")
        else:
            self._set_answer(found)
        self._refresh_state()

    @Slot(object)
    def _on_problem(self, problem: InspectorError) -> None:
        # Drop files that could not be read: every query would fail because of them.
        self.files = {path: file for path, file in self.files.items() if file is not None}
        self.message.set_text("" if self._query is None else self._fade_answer())
        self._query = None
        # A line that points up with carets points nowhere in letters of different widths.
        lines = (line for line in str(problem).splitlines() if line.strip(" ^") or not line)
        self.problem.set_text("\n".join(lines))
        self._refresh_state()

    def _fade_answer(self) -> str:
        """Show that the rows answer another query than the last; returns which, in a sentence."""
        if self.answer is None:
            return ""
        faded = self.answer.palette()
        for role in (QPalette.ColorRole.Text, QPalette.ColorRole.WindowText):
            faded.setColor(role, self._theme.color(ColorRole.MUTED))
        self.answer.setPalette(faded)
        return f"The rows below answer: {self._answered}"

    def _set_answer(self, found: Answer) -> None:
        self._answered = self._asked
        if self.answer is not None:
            self.answer.hide()
            self.answer.deleteLater()
        self.answer = answer_view(found, self._theme)
        is_empty = self._bridge.session is None and not self.files
        why = "Nothing is open, and no file was added." if is_empty else "The answer has no rows."
        self.answer.notice.set_text("" if found.rows else why)
        self._answers.addWidget(self.answer)
        count = counted(len(found.rows), "row")
        self.message.set_text(f"The first {count}: there are more." if found.has_more else count)

    def _refresh_state(self) -> None:
        is_running = self._background.is_running
        self.cancel_button.setVisible(is_running)
        self.remove_button.setVisible(bool(self.files))
        if is_running:
            self.message.set_text("Answering …" if self._query is not None else "Reading …")

    def _refresh_names(self) -> None:
        files = [file.frames.beside for file in self.files.values() if file is not None]
        self.names.set_rows(query_columns([beside_of(self._bridge.session), *files]))
        self._name_list.update_counts()

    @Slot(QModelIndex)
    def _write_name(self, index: QModelIndex) -> None:
        row = self.names.row_at(index.row())
        if row is not None:
            self.statement.insertPlainText(row.table if index.column() == 0 else row.name)
            self.statement.setFocus()

    def _write_current_name(self) -> None:
        self._write_name(self._names_view.currentIndex())


def _open_frames(session: Session | None) -> Path | Queried | None:
    """Return what is open: the file of a recording, or its frames as they are now."""
    if session is None:
        return None
    path = stored_path(session.source_label) if session.is_recorded else None
    if path is not None and is_recording_name(path):
        # The recording is opened again: only the thread that opened a file can read it.
        return path
    frames = FrameTimes.from_history(session.timeline.frames)
    if isinstance(session, ShowsCapture):
        frames = structs.replace(
            frames, samples=session.samples, facts=session.facts, beside=session.beside
        )
        return Queried(session.path.name, session.stream, frames)
    return Queried(session.title, "", frames)


def _answer(
    query: Query, opened: Path | Queried | None, files: dict[Path, Queried | None], report: Report
) -> Answer:
    if isinstance(opened, Path):
        opened = read_frame_file(opened, on_progress=report).queried(opened.name)
    _read(files, report)
    found = [opened, *files.values()]
    return query.run([each for each in found if each is not None])


def _read(files: dict[Path, Queried | None], report: Report) -> None:
    for path in [path for path, file in files.items() if file is None]:
        files[path] = read_frame_file(path, on_progress=report).queried(path.name)
