"""The input of the refresh-rate lab: timers, displays, subjects and duration."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Final, cast

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QMenu,
    QToolButton,
    QWidget,
)
from typing_extensions import override

from inspector.display_text import in_quotes
from inspector.engines.lab.display import (
    DISPLAY_RATES,
    VARIABLE,
    VARIABLE_MODEL,
    Display,
    display_named,
    recorded_display,
)
from inspector.engines.lab.subjects import SUBJECTS
from inspector.engines.lab.timer import LabTimer
from inspector.engines.lab.timer_files import parse_timer, read_timers
from inspector.sessions.frame_files import read_frame_file
from inspector.timebase import NS_PER_MS, format_duration, seconds_to_ns

from ..kit.guards import guarded
from ..kit.labels import ElidedLabel
from ..kit.layouts import bar, fill, menu_button, tool_button
from ..kit.range_note import RangeNote
from .lab_runner import LabJob, SceneJob

EXAMPLE_TEXT: Final = "1 s"
_EXAMPLE_RATES: Final = (60, 144, 240)
_LONGEST_S: Final = 60.0
#: This many firings are compared without a noticeable delay.
_MOST_FIRINGS: Final = 10_000
_MOST_FRAMES: Final = 20_000

#: The window's limits, in words.
LIMITS_TEXT: Final = (
    f"Limits: {_LONGEST_S:.0f} s, {_MOST_FIRINGS:,} firings, {_MOST_FRAMES:,} recorded frames"
)
LIMITS_TIP: Final = (
    f"At most {_LONGEST_S:.0f} s a run, {_MOST_FIRINGS:,} firings a timer and "
    f"{_MOST_FRAMES:,} frames of a recording"
)


class What(IntEnum):
    TIMERS = 0
    OPEN_SCENE = 1
    SCENE_FILE = 2


class LabForm(QWidget):
    changed = Signal()  # The input has changed
    file_wanted = Signal(str)  # The user wants a file dialog: "timers", "scene" or "frame times"

    def __init__(self) -> None:
        super().__init__()
        self._recorded: dict[str, tuple[int, ...]] = {}
        self._session_frames: Callable[[], tuple[int, ...]] = tuple
        self._open_scene: Callable[[], Path | None] = lambda: None
        self._scene_file: Path | None = None
        self._cuts: list[str] = []
        self.what_box = QComboBox()  # Whether timers or a scene are run
        self.what_box.setAccessibleName("What to run")
        self.what_box.addItems(["Timers", "The open scene", "Another scene"])
        # May become narrow where there is little room; the open list shows everything.
        self.what_box.setMinimumWidth(self.what_box.fontMetrics().horizontalAdvance("Timers") + 40)
        self.what_box.setToolTip(
            "A list of timers, side by side on everything they can run on,\n"
            "or the timers of a scene, rerun under each display"
        )
        self.scene_label = ElidedLabel()
        self.timers_line = QLineEdit(EXAMPLE_TEXT)
        self.timers_line.setAccessibleName("Timers")
        self.timers_line.setToolTip(
            "Timers, separated by semicolons: NAME=INTERVAL or INTERVAL, then ,repeat=N (calls "
            "after the first) and ,delay=D.\n"
            "For example: blink=500ms; shot=100ms,repeat=9,delay=2"
        )
        self.timers_line.setMinimumWidth(90)
        self.display_actions: dict[str, QAction] = {}
        self.subject_actions: dict[str, QAction] = {}
        self._displays_menu = self._make_displays_menu()
        self.displays_button = _menu_button("Displays", self._displays_menu)
        self.subjects_button = _menu_button("Runs on", self._make_subjects_menu())
        self.seconds_box = QDoubleSpinBox()
        self.seconds_box.setAccessibleName("Seconds")
        self.seconds_box.setRange(0.1, _LONGEST_S)
        self.seconds_box.setDecimals(1)
        self.seconds_box.setValue(10)
        self.seconds_box.setSuffix(" s")
        self.seconds_box.setKeyboardTracking(False)
        RangeNote(self.seconds_box)
        self.seconds_box.setToolTip(
            "Length of each run, in virtual time.\n"
            f"{LIMITS_TIP}; the command “timeline-inspector lab” has no such limits."
        )
        self._lay_out()
        self.timers_line.editingFinished.connect(self._on_timers_typed)
        self.seconds_box.valueChanged.connect(self._on_choice_changed)
        self._run_timers = self.timers_line.text()
        self.what_box.activated.connect(self._on_what_chosen)
        self._show_what()
        self._refresh_counts()

    def _make_displays_menu(self) -> QMenu:
        menu = StayingMenu(self)
        menu.setToolTipsVisible(True)
        for rate in DISPLAY_RATES:
            self._add_display(menu, f"{rate} Hz", is_checked=rate in _EXAMPLE_RATES)
        self._add_display(menu, VARIABLE, "Variable refresh", VARIABLE_MODEL)
        self._session_action = self._add_display(
            menu,
            "this session",
            "Frames of this session",
            "The frame times of the session up to the start of the run",
        )
        self._end_of_displays = menu.addSeparator()
        menu.addAction("Frame times of a file …", partial(self.file_wanted.emit, "frame times"))
        return menu

    def _add_display(
        self, menu: QMenu, name: str, title: str = "", tip: str = "", *, is_checked: bool = False
    ) -> QAction:
        action = QAction(title or name, menu)
        action.setCheckable(True)
        action.setChecked(is_checked)
        action.setToolTip(tip or title or name)
        action.toggled.connect(self._on_choice_changed)
        self.display_actions[name] = action
        menu.addAction(action)
        return action

    def _make_subjects_menu(self) -> QMenu:
        menu = StayingMenu(self)
        menu.setToolTipsVisible(True)
        menu.addAction("All", partial(self.choose_subjects, [each.name for each in SUBJECTS]))
        menu.addAction("None", partial(self.choose_subjects, []))
        menu.addSeparator()
        for subject in SUBJECTS:
            action = menu.addAction(subject.title)
            action.setCheckable(True)
            action.setChecked(True)
            action.setToolTip(subject.description)
            action.toggled.connect(self._on_choice_changed)
            self.subject_actions[subject.name] = action
        return menu

    def _lay_out(self) -> None:
        what = QLabel("R&un")
        what.setBuddy(self.what_box)
        self.file_button = tool_button("…")
        self.file_button.clicked.connect(self._want_file)
        typed = ((self.timers_line, 1), (self.scene_label, 1), self.file_button)
        menus = (self.displays_button, self.subjects_button, self.seconds_box)
        fill(self, bar(what, self.what_box, *typed, *menus, margins=(0, 0, 0, 0)))

    def choose_subjects(self, names: list[str]) -> None:
        for name, action in self.subject_actions.items():
            with QSignalBlocker(action):
                action.setChecked(name in names)
        self._on_choice_changed()

    def set_session_frames(self, frames: Callable[[], tuple[int, ...]]) -> None:
        """Set what returns the session's frame times in nanoseconds; empty without a session."""
        self._session_frames = frames

    def set_open_scene(self, open_scene: Callable[[], Path | None]) -> None:
        """Set what returns the file of the open scene; ``None`` without one."""
        self._open_scene = open_scene
        self._show_what()

    def choose_what(self, what: What) -> None:
        self.what_box.setCurrentIndex(what)
        self._show_what()
        self.changed.emit()

    def choose_scene(self, path: Path) -> None:
        self._scene_file = path
        self.choose_what(What.SCENE_FILE)

    def add_recording(self, path: Path) -> None:
        """Select the frame times of a file as a display; raises InspectorError if it has none."""
        read = read_frame_file(path)
        self._recorded[path.name] = tuple(read.frames.interval_ns.tolist())
        action = self.display_actions.get(path.name)
        if action is None:
            action = self._add_display(self._displays_menu, path.name, tip=str(path))
            self._displays_menu.insertAction(self._end_of_displays, action)
        with QSignalBlocker(action):
            action.setChecked(True)
        self._on_choice_changed()

    def load_timers(self, path: Path) -> None:
        """Load the timers of a file into the line; raises CaptureError if it has none."""
        self.timers_line.setText("; ".join(map(_timer_text, read_timers(path))))
        self._on_timers_typed()

    @property
    def cuts(self) -> tuple[str, ...]:
        """What the last :meth:`job` skipped, in sentences."""
        return tuple(self._cuts)

    def job(self) -> LabJob | SceneJob:
        self._cuts = []
        duration_ns = seconds_to_ns(self.seconds_box.value())
        if self.what is not What.TIMERS:
            self._show_what()
            return SceneJob(self._scene(), self._chosen_displays(duration_ns))
        timers = tuple(self._timer(text, duration_ns) for text in self._timer_texts())
        subjects = tuple(each for each in SUBJECTS if self.subject_actions[each.name].isChecked())
        if not timers:
            raise ValueError("Enter a timer, such as 1 s or blink=500 ms.")
        displays = self._chosen_displays(duration_ns)
        if not subjects:
            raise ValueError("Choose what the timers run on.")
        return LabJob(timers, subjects, displays)

    @property
    def what(self) -> What:
        return What(self.what_box.currentIndex())

    def _scene(self) -> Path:
        if self.what is What.SCENE_FILE:
            if self._scene_file is None:
                raise ValueError("Choose a scene file with the button “…”.")
            return self._scene_file
        path = self._open_scene()
        if path is None:
            raise ValueError("No scene is open. Open one, or choose “Another scene”.")
        return path

    def _chosen_displays(self, duration_ns: int) -> tuple[Callable[[], Display], ...]:
        names = [name for name, action in self.display_actions.items() if action.isChecked()]
        if not names:
            raise ValueError("Choose a display.")
        return tuple(self._display(name, duration_ns) for name in names)

    def _timer_texts(self) -> list[str]:
        return [text for text in self.timers_line.text().split(";") if text.strip()]

    @staticmethod
    def _timer(text: str, duration_ns: int) -> LabTimer:
        try:
            timer = parse_timer(text)
        except ValueError as error:
            raise ValueError(f"Timer {in_quotes(text.strip())}: {error}.") from None
        firings = duration_ns // timer.interval_ns
        if firings > _MOST_FIRINGS:
            raise ValueError(
                f"Timer {in_quotes(text.strip())} would fire {firings:,} times; the window "
                f"compares at most {_MOST_FIRINGS:,}. "
                "Choose a longer interval, or use “timeline-inspector lab”."
            )
        return timer

    def _display(self, name: str, duration_ns: int) -> Callable[[], Display]:
        if self.display_actions[name] is self._session_action:
            frames_ns = self._session_frames()
            if not frames_ns:
                message = "The session has no frames yet. Let it run, or choose another display."
                raise ValueError(message)
            return self._frames_of(name, frames_ns, duration_ns)
        if name in self._recorded:
            return self._frames_of(name, self._recorded[name], duration_ns)
        return partial(display_named, name, duration_ns)

    def _frames_of(
        self, name: str, frames_ns: tuple[int, ...], duration_ns: int
    ) -> Callable[[], Display]:
        whole_ns = sum(frames_ns)
        count = sum(at_ns <= duration_ns for at_ns in accumulate(frames_ns))
        lasts = format_duration(whole_ns)
        if count > _MOST_FRAMES:
            self._cuts.append(
                f"Only the first {_MOST_FRAMES:,} of the {len(frames_ns):,} frames of “{name}” are "
                f"run ({format_duration(sum(frames_ns[:_MOST_FRAMES]))} of {lasts})."
            )
        elif whole_ns > duration_ns:
            self._cuts.append(
                f"Only the first {format_duration(duration_ns)} of {lasts} of “{name}” are run."
            )
        elif whole_ns < duration_ns:
            self._cuts.append(f"“{name}” ends after {lasts}, and so do its runs.")
        return partial(recorded_display, name, frames_ns[:_MOST_FRAMES], duration_ns)

    @Slot()
    def _want_file(self) -> None:
        self.file_wanted.emit("timers" if self.what is What.TIMERS else "scene")

    @Slot(int)
    def _on_what_chosen(self, _index: int) -> None:
        self._show_what()
        if self.what is What.SCENE_FILE and self._scene_file is None:
            self.file_wanted.emit("scene")
        self.changed.emit()

    def _show_what(self) -> None:
        what = self.what
        is_timers = what is What.TIMERS
        self.timers_line.setVisible(is_timers)
        self.subjects_button.setVisible(is_timers)
        self.scene_label.setVisible(not is_timers)
        self.file_button.setVisible(what is not What.OPEN_SCENE)
        name = "Timers of a file" if is_timers else "Choose a scene file"
        tip = "Load timers from a CSV or JSON file" if is_timers else name
        self.file_button.setAccessibleName(name)
        self.file_button.setToolTip(tip)
        path = self._scene_file if what is What.SCENE_FILE else self._open_scene()
        none = "no scene is open" if what is What.OPEN_SCENE else "no file yet"
        self.scene_label.set_text(path.name if path else none, str(path or ""))

    @Slot()
    def _on_timers_typed(self) -> None:
        if self.timers_line.text() != self._run_timers:
            self._run_timers = self.timers_line.text()
            self.changed.emit()

    @Slot()
    def _on_choice_changed(self) -> None:
        self._refresh_counts()
        self.changed.emit()

    def _refresh_counts(self) -> None:
        displays = sum(action.isChecked() for action in self.display_actions.values())
        subjects = sum(action.isChecked() for action in self.subject_actions.values())
        self.displays_button.setText(f"Displays: {displays}")
        self.subjects_button.setText(f"Runs on: {subjects}")


@guarded
class StayingMenu(QMenu):
    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        action = cast("QAction | None", self.activeAction())
        if action is not None and action.isCheckable() and action.isEnabled():
            action.toggle()
        else:
            super().mouseReleaseEvent(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        action = cast("QAction | None", self.activeAction())
        if event.key() == Qt.Key.Key_Space and action is not None and action.isCheckable():
            action.toggle()
        else:
            super().keyPressEvent(event)


def _menu_button(name: str, menu: QMenu) -> QToolButton:
    button = menu_button("", "", menu)
    button.setAccessibleName(name)
    return button


def _timer_text(timer: LabTimer) -> str:
    name = "".join(" " if char in ";,=" else char for char in timer.name).strip()
    text = f"{name}={_ms(timer.interval_ns)}" if name else _ms(timer.interval_ns)
    if timer.count is not None:
        text += f",repeat={timer.count - 1}"
    if timer.delay_ns:
        text += f",delay={_ms(timer.delay_ns)}"
    return text


def _ms(ns: int) -> str:
    whole, rest = divmod(ns, NS_PER_MS)
    return f"{whole}.{rest:06d}".rstrip("0").rstrip(".") + "ms"
