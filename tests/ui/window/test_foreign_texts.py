"""Names are texts: nothing of a scene or a file is taken for HTML, and no fault ends the window."""

from __future__ import annotations

import inspect
import logging
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

import ui
from inspector.display_text import as_plain
from inspector.events.annotations import Annotation
from inspector.events.recording import RecordingError, annotate
from tests.events.recording import damaged_recordings
from tests.events.recording.damaged_recordings import damage, whole_recording
from tests.fuzz import rounds
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.findings import FindingsPanel
from ui.kit import guards
from ui.kit.table.columns import Column, ColumnEnum
from ui.kit.table.models import ListTableModel
from ui.kit.theme import Theme
from ui.session.bridge import Selection

#: A name that would be read until there is no memory left.
NASTY = '<img src="/dev/null">'


def show_everything(shell: Shell) -> None:
    """Have every panel shown once, with clocks, timers and members selected in turn."""
    bridge = shell.bridge
    for panel_id in shell.window.panels.ids:
        shell.window.panels.enter_panel(panel_id)
        bridge.refresh_now()
        QApplication.processEvents()
    timeline = bridge.timeline
    chosen = [Selection.clock(each) for each in list(timeline.clocks)[:3]]
    chosen += [Selection.timer(each) for each in list(timeline.timers.ids())[:3]]
    chosen += [Selection.member(each) for each in list(timeline.members.by_id)[:8]]
    for selection in chosen:
        bridge.select(selection)
        bridge.refresh_now()
        QApplication.processEvents()


def cells(model: QAbstractItemModel, parent: QModelIndex, depth: int = 0) -> Iterator[QModelIndex]:
    """Go through the cells of a model, as far as they matter."""
    for row in range(min(model.rowCount(parent), 200)):
        # PySide6 refuses to ask lists.
        columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)
        for column in range(columns):
            yield model.index(row, column, parent)
        if depth < 10:
            yield from cells(model, model.index(row, 0, parent), depth + 1)


def rich_texts(window: QWidget) -> Iterator[str]:
    """Go through every text that Qt would take for HTML."""
    for widget in (window, *window.findChildren(QWidget)):
        texts = [widget.toolTip(), widget.statusTip(), widget.whatsThis()]
        if isinstance(widget, QLabel) and widget.textFormat() != Qt.TextFormat.PlainText:
            texts.append(widget.text())
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            found = cells(widget.model(), QModelIndex())
            texts += [str(cell.data(Qt.ItemDataRole.ToolTipRole) or "") for cell in found]
        texts += [action.toolTip() for action in widget.actions() if action.toolTip()]
        yield from (text for text in texts if GuiQt.mightBeRichText(text))


def nasty_recording(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Record a scene in which everything has a nasty name."""
    scene = damaged_recordings.SCENE
    for name in ("level", "boss", "heart", "angry", "never", "door", "fails", "swings", "calls"):
        scene = scene.replace(f'"{name}"', repr(f"{NASTY} {name}"))
    scene = scene.replace('"open"', repr(f"{NASTY} open")).replace('"shut"', repr(f"{NASTY} shut"))
    scene = scene.replace('ValueError("no")', f"ValueError({NASTY!r})")
    scene = scene.replace('stage.mark("', f'stage.mark({NASTY!r} "')
    scene = scene.replace("def build(stage):\n", f"def build(stage):\n    stage.name({NASTY!r})\n")
    monkeypatch.setattr(damaged_recordings, "SCENE", scene)
    path = whole_recording(folder)
    annotate(path, Annotation("note", 5, name=NASTY, text=f"{NASTY}\nand more"))
    return path.rename(folder / "<b>whole.tlrec")


def test_that_no_name_is_taken_for_html(
    lend: Lend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = nasty_recording(tmp_path, monkeypatch)
    shell = lend(None)
    shell.window.open_path(path)
    shell.bridge.refresh_now()

    assert shell.bridge.timeline.clocks
    show_everything(shell)

    assert [text for text in rich_texts(shell.window) if "<img" in text or "<b>whole" in text] == []


def test_that_a_name_that_looks_like_html_is_shown_as_it_is() -> None:
    assert as_plain("a < b") == '<p style="white-space:pre-wrap">a &lt; b</p>'
    assert as_plain("boss & co\nsecond line") == "boss & co\nsecond line"
    assert len(as_plain("x" * 10_000_000)) < 5_000


# ------------------------------------------------------------------ guards


#: No virtual methods: Qt calls its own.
_NOT_CALLED = frozenset({"close", "setSelection", "setWordWrap"})


def overrides() -> Iterator[tuple[type, str]]:
    """Go through the methods of the window that Qt calls instead of its own."""
    for module in pkgutil.walk_packages(ui.__path__, "ui."):
        for _, found in inspect.getmembers(import_module(module.name), inspect.isclass):
            foreign = {
                name
                for base in found.__mro__
                if base.__module__.partition(".")[0] == "PySide6"
                for name in base.__dict__
            }
            for owner in found.__mro__:
                if owner.__module__.startswith("ui."):
                    yield from ((owner, name) for name in foreign & owner.__dict__.keys())


def test_that_whatever_qt_calls_is_guarded() -> None:
    unguarded = {
        f"{owner.__module__}.{owner.__name__}.{name}"
        for owner, name in overrides()
        if not name.startswith("_") and name not in _NOT_CALLED
        if callable(owner.__dict__[name]) and not guards.is_guarded(owner.__dict__[name])
    }

    assert unguarded == set()


def test_that_a_panel_that_fails_when_it_is_shown_is_shown_all_the_same(
    shell: Shell, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        # Raised by the interpreter, not by a statement: what PySide 6.11 crashes on.
        iter(()).__next__()

    panels = shell.window.panels
    # Only until it is shown: the next refresh would have it look again.
    with monkeypatch.context() as broken, qtbot.capture_exceptions() as exceptions:
        broken.setattr(FindingsPanel, "analyse", fail)
        panels.enter_panel("findings")

    assert [kind for kind, _, _ in exceptions] == [StopIteration]
    assert panels.is_open("findings")


@pytest.mark.parametrize("name", ["event", "eventFilter", "setData", "showEvent"])
def test_that_what_fails_when_it_happens_is_reported_and_counts_as_not_done(
    qtbot: QtBot, name: str
) -> None:
    def fail(*_: object) -> bool:
        return bool(1 // 0)

    failing = guards.guarded(type("Failing", (), {name: fail}))
    with qtbot.capture_exceptions() as exceptions:
        answer = getattr(failing(), name)(None)

    assert not answer
    assert [kind for kind, _, _ in exceptions] == [ZeroDivisionError]


class _Columns(ColumnEnum):
    """One column."""

    VALUE = Column[int]("Value", str)


@guards.guarded
class _Faulty(ListTableModel[int]):
    """A model that cannot say what is in its cells."""

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        raise KeyError(index.row(), role)


def test_that_a_cell_that_fails_shows_a_question_mark_and_is_logged_once(
    qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    assert qtbot is not None
    model = _Faulty(_Columns, Theme("light"))
    with caplog.at_level(logging.ERROR):
        found = [model.data(model.index(0, 0), role) for role in (0, 3, 0)]
    guards.faults.clear()

    assert found == ["?", None, "?"]
    assert [record.getMessage() for record in caplog.records] == [
        "a fault in _Faulty.data; shown as “?”"
    ]


# ------------------------------------------------------------------ damaged recordings


@pytest.mark.parametrize("turn", rounds(2))
def test_that_the_window_survives_damaged_recordings(
    lend: Lend, tmp_path: Path, caplog: pytest.LogCaptureFixture, turn: int
) -> None:
    whole = whole_recording(tmp_path).read_bytes()
    path = tmp_path / "damaged.tlrec"
    shell = lend(None)
    for number in (2 * turn, 2 * turn + 1):
        what = damage(whole, path, number)
        with caplog.at_level(logging.ERROR):
            try:
                shell.window.open_path(path)
                show_everything(shell)
                for at_ns in (0, shell.bridge.timeline.at_ns // 2):
                    shell.bridge.set_playhead(at_ns)
                    shell.bridge.refresh_now()
                    QApplication.processEvents()
            except RecordingError as error:
                raise AssertionError(number, what) from error
        assert [each.getMessage() for each in caplog.records] == [], (number, what)
        shell.bridge.set_playhead(None)
