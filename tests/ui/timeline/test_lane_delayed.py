"""What the lanes show of the calls that a blocked loop delayed, while the pointer is on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF

from inspector.analysis.lanes.lanes import LaneKind, LaneStore
from inspector.analysis.lateness.blocks import delayed_calls
from inspector.events.history import LogHistory
from inspector.vocabulary import SAW_END
from tests.analysis.test_lateness import CRUNCH, DUE_NS, LIBRARY, LOOP, MAIN, MS, REBUILD, Program
from ui.kit.theme import ColorRole, Theme
from ui.timeline.lane_canvas import LaneCanvas

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from inspector.analysis.lateness.blocks import Block, DelayedCall


def test_that_pointing_at_what_blocked_a_loop_marks_the_calls_that_waited_for_it(
    qtbot: QtBot,
) -> None:
    program = Program()
    for until_ms in range(-40, 201, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms, begins=until_ms == -40)
    program.sample(until_ms=204, covers_ms=4, flags=SAW_END)
    program.fire(204)
    history, store = LogHistory(program.log), LaneStore()
    timeline = history.state_before(history.end)
    while store.read(history, timeline):
        pass
    theme = Theme("light")
    asked: list[Block] = []

    def delayed_by(block: Block) -> list[DelayedCall]:
        asked.append(block)
        return delayed_calls(history, block)

    canvas = LaneCanvas(theme)
    qtbot.addWidget(canvas)
    canvas.resize(1_800, 300)
    canvas.picture.late_ns = 10_000 * MS
    canvas.set_session(timeline, history.strings, store, delayed_by)
    canvas.view.set_span_ns(DUE_NS - 100 * MS, DUE_NS + 300 * MS)
    clock, timer = (
        next(row for row in canvas.rows.rows if row.kind is kind and row.clock_id == LOOP)
        for kind in (LaneKind.CLOCK, LaneKind.TIMER)
    )
    middle = canvas.lane_window().x(DUE_NS + 100 * MS)

    def color_of_the_wait() -> str:
        picture = canvas.viewport().grab().toImage()
        place = canvas.place_of(timer, DUE_NS + 100 * MS)
        return str(picture.pixelColor(place.toPoint()).name())

    orange = theme.color(ColorRole.ORANGE).name()
    before = color_of_the_wait()
    for x in (middle, middle + 5):
        canvas.point_at(QPointF(x, canvas.place_of(clock, 0).y()))
    pointed = color_of_the_wait()
    (delayed,) = canvas.delayed
    canvas.point_at(QPointF(middle, canvas.place_of(timer, 0).y()))

    assert (delayed.call.name, delayed.ns) == ("tick", 204 * MS)
    assert before != orange
    assert pointed == orange
    assert color_of_the_wait() != orange
    # Events are read once for a stretch, however the pointer moves on it.
    assert len(asked) == 1
