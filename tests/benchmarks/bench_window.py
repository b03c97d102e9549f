"""The whole window: what a refresh costs with all panels live, and how that grows.

Windows are measured as users have them: shown, fed by a running session, at the
pace of the bridge's own timer, painting included. What is counted is the CPU time of
the thread, so waiting for the next refresh is free. "At once" is the refresh that
brings every panel up to date, which is at most each fourth, until all had their turn.

The naive window has a plot and two tables as one writes them first: pyqtgraph's
defaults given all data, a model that is reset, and ``dataChanged`` on every clock.
"""

from __future__ import annotations

import gc
import os
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from time import sleep
from typing import TYPE_CHECKING, Final, cast

# Before anything imports Qt.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import (
    QAbstractTableModel,
    QCoreApplication,
    QEvent,
    QEventLoop,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Slot,
)
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QTableView, QWidget
from typing_extensions import override

from inspector.timebase import NS_PER_MS, format_duration, format_instant
from tests.benchmarks.measuring import Case, Effort, Measurements, measure, powers_of_ten
from tests.benchmarks.report import FRAME_MS, Row
from tests.ui.crowded_session import CrowdedSession
from ui.clock_tree.panel import ClockTreePanel
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.window.application import make_application
from ui.window.contents import WindowContents
from ui.window.main_window import MainWindow
from ui.window.settings import Settings, SettingsFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from inspector.events.timeline import Timeline
    from tests.benchmarks.measuring import Work
    from ui.timeline.panel import TimelinePanel

_SIZE: Final = (1_920, 1_040)
#: Frames, timers and clocks.
_MANY: Final = (1_000_000, 100_000, 10_000)
_FEW: Final = (10_000, 1_000, 100)
#: A refresh with much may take this many times one with little.
_GROWTH_GOAL: Final = 2.0
#: Refreshes in one measurement: half a second.
_REFRESHES: Final = 30
_NAIVE_REFRESHES: Final = 3
_AT_ONCE: Final = 5
#: Longer than the period of any panel; and more turns than there are panels.
_LONGER_THAN_ANY_PERIOD_S: Final = 0.16
_MOST_TURNS: Final = 20
_REPEATS: Final = 9
_SETTLING_TURNS: Final = 10
_SETTLING_S: Final = 0.03


class NaiveTable(QAbstractTableModel):
    """The timers as they would be shown without a thought: put in order and reset."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self._timeline = timeline
        self._rows: list[int] = []
        self.refresh()

    def refresh(self) -> None:
        """Read all rows again."""
        self.beginResetModel()
        timers = self._timeline.timers
        self._timeline.resolve_dues()
        order = np.argsort(timers.numpy("session_due"), kind="stable")
        self._rows = timers.numpy("id")[order].tolist()
        self.endResetModel()

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    @override
    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 10

    @override
    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        timeline = self._timeline
        timer = timeline.timers.row(self._rows[index.row()])
        due_ns = timeline.session_due_ns(timer.id) or 0
        texts = (
            timer.label,
            timeline.clocks[timer.clock_id].name,
            timer.kind.text,
            format_instant(timer.due_ns),
            format_instant(due_ns),
            format_duration(due_ns - timeline.at_ns),
            format_duration(timer.interval_ns),
            str(timer.fired),
            format_duration(timer.last_lateness_ns),
            timer.call_site,
        )
        return texts[index.column()]


class NaiveWindow(QMainWindow):
    """Plot and two tables as one writes them first, refreshed whenever there is something new."""

    def __init__(self, bridge: SessionBridge) -> None:
        super().__init__()
        self._bridge = bridge
        timeline = bridge.timeline
        plot = pg.PlotWidget()
        self._curve = pg.PlotDataItem()
        plot.addItem(self._curve)
        self._table_model = NaiveTable(timeline)
        table = QTableView()
        table.setModel(self._table_model)
        self._clocks = ClockTreePanel(bridge, Theme("light"))
        clocks = QTableView()
        clocks.setModel(self._clocks.model)
        middle = QWidget()
        layout = QHBoxLayout(middle)
        for view in (clocks, plot, table):
            layout.addWidget(view)
        self.setCentralWidget(middle)
        bridge.refreshed.connect(self.refresh)

    @Slot(object)
    def refresh(self, events: int) -> None:
        """Show everything again if anything is new."""
        if not events:
            return
        timeline = self._bridge.timeline
        frames = timeline.frames
        times_ms = frames.numpy("interval_ns", frames.first, frames.end) / NS_PER_MS
        self._curve.setData(times_ms)
        self._table_model.refresh()
        self._clocks.refresh()
        model = self._clocks.model
        model.dataChanged.emit(
            model.index(0, 0), model.index(model.rowCount() - 1, model.columnCount() - 1)
        )


class LiveWindow(QObject):
    """A window, and the session that is let go on for a number of refreshes."""

    def __init__(self, session: CrowdedSession, folder: Path, *, is_naive: bool = False) -> None:
        super().__init__()
        self._application = make_application()
        self._session = session
        self._bridge = SessionBridge()
        self._bridge.set_session(session)
        self._window = (
            NaiveWindow(self._bridge) if is_naive else _complete_window(self._bridge, folder)
        )
        self._window.resize(*_SIZE)
        self._window.show()
        self._loop = QEventLoop()
        self._left = 0
        self._bridge.refreshed.connect(self._count)
        self._application.processEvents()
        if isinstance(self._window, MainWindow):
            # What follows the opening of a long log is no refresh: between them, lanes read on in
            # it for some seconds.
            panel = cast("TimelinePanel", self._window.panels.panel("timeline"))
            lanes = panel.canvas.store
            while lanes.cursor < session.history.end:
                self._application.processEvents()

    def case(self, name: str, refreshes: int) -> Case:
        """Return a case of refreshes as they come."""

        def work() -> None:
            self._left = refreshes
            self._session.is_going_on = True
            self._bridge.request_refresh()
            self._loop.exec()
            # The last one is painted too.
            self._application.processEvents()

        return Case(name, _prepared(work), refreshes)

    def case_at_once(self, name: str, refreshes: int) -> Case:
        """Return a case of refreshes so far apart that each of them is one for all panels."""

        def work() -> None:
            self._session.is_going_on = True
            for _ in range(refreshes):
                sleep(_LONGER_THAN_ANY_PERIOD_S)
                self._bridge.refresh_now()
                for _turn in range(_MOST_TURNS):
                    self._application.processEvents()
            self._hold()

        return Case(name, _prepared(work), refreshes)

    def close(self) -> None:
        """Delete the window while there is still an application."""
        self._window.close()
        self._bridge.close()
        self._window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    @Slot(object)
    def _count(self, _info: object) -> None:
        self._left -= 1
        if self._left == 0:
            self._hold()
            self._loop.quit()

    def _hold(self) -> None:
        """Let the bridge find nothing new, so that its timer stops."""
        self._session.is_going_on = False


def window(effort: Effort) -> Iterator[Row]:
    """Refresh the window with much in it, with little, and the naive window with much."""
    folder = Path(mkdtemp(prefix="bench-window-"))
    many = tuple(min(size, 10_000) if effort.is_quick else size for size in _MANY)
    windows = {
        "few": LiveWindow(CrowdedSession(*_FEW), folder),
        "many": LiveWindow(CrowdedSession(*many), folder),
        "naive": LiveWindow(CrowdedSession(*many), folder, is_naive=True),
    }
    # The events in the logs are not what is measured.
    gc.collect()
    gc.freeze()
    sizes = "/".join(powers_of_ten(size) for size in many)
    for name, is_at_once in (("window", False), ("window, all panels at once", True)):
        cases = []
        for key, live in windows.items():
            if is_at_once:
                cases.append(live.case_at_once(key, 1 if key == "naive" else _AT_ONCE))
            else:
                cases.append(live.case(key, _NAIVE_REFRESHES if key == "naive" else _REFRESHES))
        found = measure(cases, effort.repeats(_REPEATS))
        yield from _rows(name, sizes, found)
    for live in windows.values():
        live.close()


def _rows(name: str, sizes: str, found: Measurements) -> Iterator[Row]:
    few, many, naive = (
        f"{found.median_ns(key) / NS_PER_MS:.2f}" for key in ("few", "many", "naive")
    )
    growth, share = found.ratio("many", "few"), found.ratio("many", "naive")
    many_ms = found.median_ns("many") / NS_PER_MS
    yield Row(f"{name}/{sizes}", many_ms, FRAME_MS, unit="ms")
    # Told, but no goal: half a second would hold against it.
    yield Row(f"{name}/{sizes} to naive", share, detail=f"{many} and {naive} ms")
    to_few = "/".join(powers_of_ten(size) for size in _FEW)
    yield Row(f"{name}/{sizes} to {to_few}", growth, _GROWTH_GOAL, detail=f"{many} and {few} ms")


BENCHMARKS = (window,)


def _complete_window(bridge: SessionBridge, folder: Path) -> MainWindow:
    """Return the real window with timers in the tray and events in a window of their own."""
    window = MainWindow(Theme("light"), SettingsFile(folder / "settings.json"), Settings())
    window.resize(*_SIZE)
    WindowContents(window, bridge)
    window.panels.float_panel("event_list")
    window.panels.open_panel("timer_queue")
    bridge.select(Selection.clock(1))
    return window


def _prepared(work: Work) -> Callable[[], AbstractContextManager[Work]]:
    @contextmanager
    def prepare() -> Iterator[Work]:
        # What the measurement before has left to do later is not counted here.
        for _ in range(_SETTLING_TURNS):
            sleep(_SETTLING_S)
            QCoreApplication.processEvents()
        yield work

    return prepare
