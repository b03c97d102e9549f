"""Tables and tree: what painting them costs, and a refresh with few rows and with many.

Painting all rows in view is compared with drawing nothing but the same texts, each by a plain
``QPainter.drawText``.

One refresh is what happens some times a second: time has passed, some timers have fired,
the panel takes what is new and paints. Fifty timers fire between two refreshes whatever the
number of rows, so what is compared is the rows alone.
"""

from __future__ import annotations

import os
import random
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

# Before anything imports Qt.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QTableView, QWidget
from typing_extensions import override

from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import TRANSPORT, Mode
from tests.benchmarks.measuring import Case, Effort, measure, powers_of_ten
from tests.benchmarks.report import Row
from tests.ui.world import PlayedSession
from ui.clock_tree.panel import ClockColumn, ClockTreePanel
from ui.events.panel import EventListPanel
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge
from ui.timer_queue.panel import TimerQueuePanel
from ui.why.panel import WhyPanel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from inspector.events.timeline import Timeline
    from tests.benchmarks.measuring import Work
    from ui.kit.table.painted_views import PaintedTable

_TICK_NS = 50_000_000
_FIRING = 50
_FEW_TIMERS, _MANY_TIMERS = 1_000, 100_000
_FEW_CLOCKS, _MANY_CLOCKS = 100, 10_000
#: A refresh with many rows may take this many times one with few.
_GROWTH_GOAL = 2.0
_REPEATS = 25
#: As many as in the first scene that people see.
_USUAL_CLOCKS, _USUAL_TIMERS = 11, 60
#: All rows in view may take this many times what their texts take.
_PAINT_GOAL = 5.0
#: And a refresh, painting included, this many times what painting all of them takes.
_REFRESH_GOAL = 3.0
_PAINTS = 20


#: Kept to the end: a widget must not be collected while another one is measured.
_widgets: list[QWidget] = []


def _nothing() -> None:
    """Be called."""


class Scene:
    """A session with many clocks and timers, of which a few fire all the time."""

    def __init__(self, clocks: int, timers: int) -> None:
        chance = random.Random(1)
        self.session = PlayedSession()
        branches = [self.session.root]
        while len(branches) < clocks:
            # Wide rather than deep, as scenes are.
            above = branches[chance.randrange(max(1, len(branches) // 20))]
            branches.append(above.child(f"clock {len(branches)}", rate=chance.choice((1, 2))))
        for number in range(min(_FIRING, timers)):
            branches[0].set_interval_ns(_TICK_NS, _nothing, name=f"busy {number}")
        for number in range(timers - _FIRING):
            delay_ns = chance.randrange(3_600, 36_000) * 1_000_000_000
            chance.choice(branches).set_timeout_ns(delay_ns, _nothing, name=f"{number % 500}")
        self.session.log.append((0, TRANSPORT, Mode.RUNNING, 0, 0))
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.theme = Theme("light")

    @property
    def timeline(self) -> Timeline:
        return self.session.timeline

    def pass_time(self) -> None:
        """Let a tick pass and take its events into the timeline."""
        tree = self.session.tree
        tree.run_to(tree.now_ns + _TICK_NS)
        self.session.fold()
        self.session.log.settle()


class NaiveTable(QAbstractTableModel):
    """The timers as they would be shown without a thought: sorted in Python, then reset."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self._timeline = timeline
        self._rows: list[tuple[int, int]] = []

    def refresh(self) -> None:
        """Read all rows again."""
        self.beginResetModel()
        timers = self._timeline.timers
        self._timeline.resolve_dues()
        self._rows = sorted(zip(timers.session_due, timers.id, strict=True))
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
        due_ns, timer_id = self._rows[index.row()]
        timer = self._timeline.timers.row(timer_id)
        texts = (
            timer.label,
            self._timeline.clocks[timer.clock_id].name,
            timer.kind.text,
            format_instant(timer.due_ns),
            format_instant(due_ns),
            format_duration(due_ns - self._timeline.at_ns),
            format_duration(timer.interval_ns),
            str(timer.fired),
            format_duration(timer.last_lateness_ns),
            timer.call_site,
        )
        return texts[index.column()]


def _application() -> QApplication:
    application = QApplication.instance()
    if isinstance(application, QApplication):
        return application
    application = QApplication(["benchmark"])
    application.setStyle("Fusion")
    return application


@cache
def _scene(clocks: int, timers: int) -> Scene:
    _application()
    return Scene(clocks, timers)


def _case(
    name: str, scene: Scene, widget: QWidget, refresh: Callable[[], object], size: tuple[int, int]
) -> Case:
    """Return a case that measures one refresh of a widget, painting included."""
    application = _application()
    _widgets.append(widget)
    widget.resize(*size)
    widget.show()
    application.processEvents()

    @contextmanager
    def prepare() -> Iterator[Work]:
        scene.pass_time()
        scene.timeline.resolve_dues()

        def work() -> None:
            refresh()
            application.processEvents()

        yield work

    return Case(name, prepare)


def _queue_case(name: str, scene: Scene) -> Case:
    panel = TimerQueuePanel(scene.bridge, scene.theme)
    return _case(name, scene, panel, panel.refresh, (1_250, 300))


def _tree_case(name: str, scene: Scene) -> Case:
    panel = ClockTreePanel(scene.bridge, scene.theme)
    return _case(name, scene, panel, panel.refresh, (420, 600))


def _naive_queue_case(name: str, scene: Scene) -> Case:
    view, model = QTableView(), NaiveTable(scene.timeline)
    model.refresh()
    view.setModel(model)
    return _case(name, scene, view, model.refresh, (1_250, 300))


def _naive_tree_case(name: str, scene: Scene) -> Case:
    """Tell the view about every clock, each time: ``dataChanged`` on all."""
    panel = ClockTreePanel(scene.bridge, scene.theme)
    model = panel.model

    def refresh() -> None:
        panel.refresh()
        for row in range(model.rowCount()):
            model.dataChanged.emit(model.index(row, 0), model.index(row, ClockColumn.NEXT_DUE))

    return _case(name, scene, panel, refresh, (420, 600))


def _compared(name: str, cases: list[Case], repeats: int, sizes: tuple[int, int]) -> Iterator[Row]:
    """Measure a case with few rows, one with many, and perhaps the naive way with many."""
    few, many, *others = cases
    measured = measure(cases, repeats)
    times = (
        f"{measured.median_ns(few.name) / 1e6:.2f} and {measured.median_ns(many.name) / 1e6:.2f} ms"
    )
    small, large = (powers_of_ten(size) for size in sizes)
    yield Row(
        f"{name}/{large} to {small}",
        measured.ratio(many.name, few.name),
        _GROWTH_GOAL,
        detail=f"a refresh takes {times}",
        unit="x",
    )
    for naive in others:
        yield Row(
            f"{name}/{large} to naive",
            # Told, but no goal: half a second would hold against it.
            measured.ratio(many.name, naive.name),
            detail=f"naive: {measured.median_ns(naive.name) / 1e6:.0f} ms",
            unit="x",
        )


def bench_timer_queue(effort: Effort) -> Iterator[Row]:
    """Refresh the timer queue with 1 000 and with 100 000 pending timers."""
    many = _MANY_TIMERS if not effort.is_quick else 10_000
    few_scene, many_scene = _scene(_FEW_CLOCKS, _FEW_TIMERS), _scene(_FEW_CLOCKS, many)
    yield from _compared(
        "timer_queue",
        [
            _queue_case("few timers", few_scene),
            _queue_case("many timers", many_scene),
            _naive_queue_case("many timers, sorted and reset", many_scene),
        ],
        effort.repeats(_REPEATS),
        (_FEW_TIMERS, many),
    )


def bench_clock_tree(effort: Effort) -> Iterator[Row]:
    """Refresh the clock tree with 100 and with 10 000 clocks."""
    few_scene = _scene(_FEW_CLOCKS, _FEW_TIMERS)
    many_scene = _scene(_MANY_CLOCKS, _FEW_TIMERS)
    yield from _compared(
        "clock_tree",
        [
            _tree_case("few clocks", few_scene),
            _tree_case("many clocks", many_scene),
            _naive_tree_case("many clocks, all changed", many_scene),
        ],
        effort.repeats(_REPEATS),
        (_FEW_CLOCKS, _MANY_CLOCKS),
    )


def bench_details_and_events(effort: Effort) -> Iterator[Row]:
    """Refresh the two panels that should not care how much there is."""
    few_scene = _scene(_FEW_CLOCKS, _FEW_TIMERS)
    many_scene = _scene(_MANY_CLOCKS, _FEW_TIMERS if effort.is_quick else _MANY_TIMERS)
    for name, panel_class, size in (
        ("details", WhyPanel, (360, 600)),
        ("event_list", EventListPanel, (900, 300)),
    ):
        cases = []
        for label, scene in (("few", few_scene), ("many", many_scene)):
            panel = panel_class(scene.bridge, scene.theme)
            cases.append(_case(f"{name}, {label}", scene, panel, panel.refresh, size))
        yield from _compared(name, cases, effort.repeats(_REPEATS), (_FEW_CLOCKS, _MANY_CLOCKS))


class PlainTexts(QWidget):
    """Draws only texts in rows."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__()
        self._texts = texts

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        for number, text in enumerate(self._texts):
            painter.drawText(number % 10 * 120, number // 10 * 20 + 16, text)
        painter.end()


def _texts_in_view(view: PaintedTable) -> list[str]:
    shown = (
        view.shown_text(place.key, column)
        for place, cells in view.rows_in_view()
        for column in range(len(cells))
        if not view.isColumnHidden(column)
    )
    return [text for text in shown if text]


def _paint_case(name: str, viewport: QWidget) -> Case:
    def work() -> None:
        for _ in range(_PAINTS):
            viewport.repaint()

    @contextmanager
    def prepare() -> Iterator[Work]:
        yield work

    return Case(name, prepare, _PAINTS)


def bench_painting(effort: Effort) -> Iterator[Row]:
    """Paint all rows in view of a usual tree and of usual timers, and what time changes."""
    scene = _scene(_USUAL_CLOCKS, _USUAL_TIMERS)
    tree = ClockTreePanel(scene.bridge, scene.theme)
    queue = TimerQueuePanel(scene.bridge, scene.theme)
    for name, panel, size in (
        ("clock_tree", tree, (434, 400)),
        ("timer_queue", queue, (1_250, 230)),
    ):
        refresh = _case("refreshed", scene, panel, panel.refresh, size)
        texts = _texts_in_view(panel.view)
        plain = PlainTexts(texts)
        _widgets.append(plain)
        plain.resize(*size)
        plain.show()
        _application().processEvents()
        cases = [
            _paint_case("painted", panel.view.viewport()),
            _paint_case("plain texts", plain),
            refresh,
        ]
        found = measure(cases, effort.repeats(_REPEATS))
        painted_ms, plain_ms, refreshed_ms = (found.median_ns(case.name) / 1e6 for case in cases)
        yield Row(
            f"{name}/paint to plain texts",
            found.ratio("painted", "plain texts"),
            _PAINT_GOAL,
            detail=f"{len(texts)} texts in {painted_ms:.2f} and {plain_ms:.2f} ms",
            unit="x",
        )
        yield Row(
            f"{name}/refresh to paint",
            found.ratio("refreshed", "painted"),
            _REFRESH_GOAL,
            detail=f"{refreshed_ms:.2f} and {painted_ms:.2f} ms",
            unit="x",
        )


BENCHMARKS = (bench_painting, bench_timer_queue, bench_clock_tree, bench_details_and_events)
