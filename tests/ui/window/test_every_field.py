"""Every field of every panel and dialog: it has a name, and takes nonsense without a fault."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import pytest
import shiboken6
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from inspector.commands.clocks import PauseClock
from inspector.sessions.scene import find_scene
from inspector.sessions.session import SessionPhase
from tests.fuzz import rounds
from tests.ui.lab.lab_stand import remember_cells
from tests.ui.shell import Shell
from tests.ui.used_window import UsedWindow
from ui.kit.range_note import RangeNote
from ui.session.bridge import Selection

_DIALOGS = (
    *("gallery", "open-program", "export", "export-timeline", "look-at", "step-by"),
    *("frame-rate-exact", "note", "name-range", "set-rate", "pause-from-priority"),
    *("time-scale", "palette", "help", "keys", "extensions", "about"),
)
_NONSENSE = ("abc", "", "1e999999999", "-5", "٣", "9" * 400)
#: As many for each field; the next field begins with the next.
_TRIED = min(len(_NONSENSE), len(rounds(4)))


@dataclass
class Found:
    """What the fields did.

    Attributes:
        nameless: What takes the keyboard and has no name.
        said: What spin boxes said to a letter, by where they are and what they are called.
        tried: What was typed, and where.
        phase: Of the session, in the end.
    """

    nameless: list[str] = field(default_factory=list)
    said: dict[tuple[str, str], str] = field(default_factory=dict)
    tried: list[tuple[str, str]] = field(default_factory=list)
    phase: SessionPhase | None = None


@pytest.fixture(scope="module")
def found(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Go through all fields of a window once."""
    assert qapp is not None
    folder, found, lender = tmp_path_factory.mktemp("fields"), Found(), UsedWindow()
    with pytest.MonkeyPatch.context() as patch:
        # Enter in the export dialog writes a file of the name that was typed, here.
        patch.chdir(folder)
        remember_cells(patch)
        shell = lender.lend(folder, find_scene("schedulers"))
        shell.pass_frames(60)
        # So that a program that is opened does not replace it unasked.
        shell.bridge.submit(PauseClock(shell.clock_id("squads")))
        shell.advance(1 / 60)
        shell.activate()
        for where, surface in _surfaces(shell):
            _look_at(surface, where, found)
            _try_nonsense(shell, surface, where, found.tried)
        found.phase = shell.bridge.status.phase
        shell.window.close()
        lender.give_back(shell)
    return found


def _open_dialog(shell: Shell, action_id: str) -> QDialog | None:
    """Open a dialog by its action, with something selected that it is about."""
    members = shell.bridge.timeline.members
    if action_id in {"pause-from-priority", "time-scale"}:
        target = next(each.id for each in members.by_id.values() if members.scheduler_of(each.id))
        shell.bridge.select(Selection.member(target))
    else:
        shell.bridge.select(Selection.clock(shell.clock_id("squads")))
    shell.trigger(action_id)
    QApplication.processEvents()
    shown = (each for each in QApplication.topLevelWidgets() if each.isVisible())
    return next((each for each in shown if isinstance(each, QDialog)), None)


def _surfaces(shell: Shell) -> Iterator[tuple[str, QWidget]]:
    """Go through the bars, the panels and the dialogs, each while it is shown."""
    shell.trigger("find")
    QApplication.processEvents()
    yield "lanes", shell.window
    for panel_id in shell.window.panels.ids:
        shell.window.panels.enter_panel(panel_id)
        shell.advance(1 / 60)
        QApplication.processEvents()
        yield panel_id, shell.window.panels.panel(panel_id)
    for action_id in _DIALOGS:
        dialog = _open_dialog(shell, action_id)
        if dialog is not None:
            yield action_id, dialog
            # With the question whether a program may replace the scene.
            for each in QApplication.topLevelWidgets():
                if isinstance(each, QDialog) and each.isVisible():
                    each.reject()
            QApplication.processEvents()


def _fields(surface: QWidget) -> list[QWidget]:
    """Return the fields that can be typed into; the line of a spin box is a part of it."""
    lines = [
        each
        for each in surface.findChildren(QLineEdit)
        if not each.isReadOnly() and not isinstance(each.parentWidget(), QAbstractSpinBox)
    ]
    fields = [*surface.findChildren(QAbstractSpinBox), *lines]
    return [each for each in fields if each.isVisible() and each.isEnabled()]


def _line_of(field: QWidget) -> QLineEdit:
    line = field.lineEdit() if isinstance(field, QAbstractSpinBox) else field
    assert isinstance(line, QLineEdit)
    return line


def _type(line: QLineEdit, text: str) -> None:
    """Type a text over what is there, and paste most of a long one.

    QTest knows no digits of other scripts.
    """
    line.setFocus()
    line.selectAll()
    QTest.keyClick(line, Qt.Key.Key_Backspace)
    line.insert(text[:-12])
    for letter in text[-12:]:
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            no_key = Qt.KeyboardModifier.NoModifier
            QApplication.sendEvent(line, QKeyEvent(kind, Qt.Key.Key_unknown, no_key, letter))


def _is_named(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    is_part = widget.objectName().startswith("qt_") or isinstance(widget, QLineEdit)
    if isinstance(parent, QAbstractScrollArea) and widget is parent.viewport():
        is_part = True
    if is_part and parent is not None and parent.accessibleName():
        return True
    has_text = isinstance(widget, QAbstractButton) and bool(widget.text())
    return has_text or bool(widget.accessibleName())


def _look_at(surface: QWidget, where: str, found: Found) -> None:
    """Find what has no name, and type a letter into spin boxes."""
    found.nameless += [
        f"{type(each).__name__} in {where}"
        for each in surface.findChildren(QWidget)
        if each.focusPolicy() & Qt.FocusPolicy.TabFocus and each.isVisible() and not _is_named(each)
    ]
    for box in (each for each in _fields(surface) if isinstance(each, QAbstractSpinBox)):
        before = box.text()
        (note,) = (each.note for each in box.findChildren(RangeNote))
        line = _line_of(box)
        line.setFocus()
        line.selectAll()
        QApplication.sendEvent(
            line,
            QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_X, Qt.KeyboardModifier.NoModifier, "x"),
        )
        assert box.text() == before
        found.said[where, box.accessibleName()] = note.text() if note.isVisible() else ""


def _try_nonsense(shell: Shell, shown: QWidget, where: str, tried: list[tuple[str, str]]) -> None:
    """Type nonsense into each field, and press Enter."""
    surface: QWidget | None = shown
    for place, _turn in product(range(len(_fields(shown))), range(_TRIED)):
        nonsense = _NONSENSE[len(tried) % len(_NONSENSE)]
        if surface is None or not shiboken6.isValid(surface) or not surface.isVisible():
            # Enter has closed it.
            surface = _open_dialog(shell, where) if where in _DIALOGS else None
        fields = _fields(surface) if surface is not None else []
        if place >= len(fields):
            continue
        typed, line = fields[place], _line_of(fields[place])
        _type(line, nonsense)
        QApplication.processEvents()
        tried.append((where, nonsense))
        if isinstance(typed, QSpinBox | QDoubleSpinBox):
            assert typed.minimum() <= typed.value() <= typed.maximum(), where
        if isinstance(line.parentWidget(), QComboBox) or where == "palette":
            continue  # Enter would start what was typed.
        QTest.keyClick(line, Qt.Key.Key_Return)
        QApplication.processEvents()


def test_that_no_field_minds_nonsense(found: Found) -> None:
    # Faults of slots fail the test by themselves; here is left that the session goes on.
    assert found.phase in {SessionPhase.RUNNING, SessionPhase.HELD}
    surfaces, texts = map(set, zip(*found.tried, strict=True))
    assert surfaces >= {"lanes", "lab", "breakpoints", "export", "set-rate"}
    assert texts == set(_NONSENSE)


def test_that_what_takes_the_keyboard_has_a_name_and_spin_boxes_say_which_numbers_they_take(
    found: Found,
) -> None:
    assert not found.nameless
    assert len(found.said) >= 4
    assert all(text.startswith("✖ Only numbers from ") for text in found.said.values()), found.said
