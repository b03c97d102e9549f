"""Markers of interventions, breakpoint hits and holds on the frame plot."""

from __future__ import annotations

from typing import Literal

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from inspector.events.annotations import Annotation
from inspector.events.states import BreakHit, CommandRecord, Held
from inspector.events.timeline import Timeline
from tests.ui.plotting.frames import timeline_of
from ui.frame_times.frame_plot import FramePlot
from ui.frame_times.timeline_marks import MarkKind
from ui.kit.theme import ColorRole, Theme

MS = 1_000_000


@pytest.fixture
def timeline() -> Timeline:
    return timeline_of([20 * MS] * 600)


@pytest.fixture
def plot(qtbot: QtBot, timeline: Timeline) -> FramePlot:
    plot = FramePlot(Theme("light"))
    qtbot.addWidget(plot)
    plot.resize(900, 300)
    with qtbot.waitExposed(plot):
        plot.show()
    plot.set_timeline(timeline)
    plot.view.fit()
    return plot


def text_at(plot: FramePlot, frame: int) -> str:
    return plot.mark_text_at(QPointF(plot.pixel_of_frame(frame).x(), plot.area().top() - 6))


def test_that_interventions_and_hits_say_what_they_are(plot: FramePlot, timeline: Timeline) -> None:
    pause = CommandRecord(2_000 * MS, 1, "pause “game”", "", by="breakpoint 4")
    timeline.commands.append(pause)
    timeline.hits.append(BreakHit(6_000 * MS, 4, "timer “boss” fires", 299))
    plot.refresh()

    assert text_at(plot, 100) == "00:02.000  pause “game” (by breakpoint 4)"
    assert text_at(plot, 300) == "00:06.000  breakpoint 4, frame 299: timer “boss” fires"
    kinds = [group.kind for group in plot._overlay.groups]
    assert kinds == [MarkKind.COMMAND, MarkKind.HIT]


def test_that_a_hit_is_shown_before_what_it_did(plot: FramePlot, timeline: Timeline) -> None:
    timeline.commands.append(CommandRecord(2_000 * MS, 1, "pause “game”", ""))
    timeline.hits.append(BreakHit(2_000 * MS, 4, "timer “boss” fires", 99))
    plot.refresh()

    (group,) = plot._overlay.groups
    assert group.kind is MarkKind.HIT
    assert len(text_at(plot, 100).splitlines()) == 2


def test_that_a_hold_says_how_long_it_was_and_has_a_line_of_its_own(
    plot: FramePlot, timeline: Timeline
) -> None:
    before = plot.grab().toImage()
    timeline.commands += [
        CommandRecord(6_000 * MS, 1, "hold", "", host_ms=1_000, form='{"command": "Hold"}'),
        CommandRecord(6_000 * MS, 2, "run", "", host_ms=3_500, form='{"command": "Run"}'),
    ]
    timeline.holds.append(Held(6_000 * MS))
    plot.refresh()

    (group,) = plot._overlay.groups
    assert group.kind is MarkKind.COMMAND
    assert group.has_hold
    assert "00:06.000  held for 2.50 s: no session time passed" in text_at(plot, 300)
    image = plot.grab().toImage()
    paused = Theme("light").color(ColorRole.HATCH).rgb()
    ratio = image.devicePixelRatio()
    x = round((plot.area().left() + group.x) * ratio)
    ys = range(round((plot.area().top() + 5) * ratio), round(plot.area().bottom() * ratio) - 5)

    def dots(shown: QImage) -> int:
        return sum(shown.pixel(x + dx, y) == paused for dx in (-1, 0, 1) for y in ys)

    assert dots(image) > len(ys) / 8
    assert dots(before) == 0


def test_that_signs_stay_with_their_frames_when_the_names_of_lanes_take_more_room(
    plot: FramePlot, timeline: Timeline
) -> None:
    timeline.commands.append(CommandRecord(6_000 * MS, 1, "hold", ""))
    plot.view.show_lanes(are_shown=True)
    plot.refresh()

    for left in (120, 300):
        plot.view.leave_room(left=left)

        (group,) = plot._overlay.groups
        place = plot.pixel_of_frame(300).x() - plot.area().left()
        assert plot.area().left() == left
        assert abs(group.x - place) < 2


def test_that_an_automatic_hold_has_a_sign(plot: FramePlot, timeline: Timeline) -> None:
    timeline.holds.append(Held(6_000 * MS))
    plot.refresh()

    (group,) = plot._overlay.groups
    assert group.kind is MarkKind.HELD
    assert text_at(plot, 300) == "00:06.000  held: no session time passed"


def test_that_bookmarks_and_ranges_say_their_names(plot: FramePlot) -> None:
    plot.show_annotations(
        [
            Annotation("range", 2_000 * MS, 6_000 * MS, "fight"),
            Annotation("bookmark", 4_000 * MS, name="here"),
            Annotation("note", 7_000 * MS, text="look\nthere"),
        ]
    )
    assert text_at(plot, 100) == "00:02.000 to 00:06.000  range: fight"
    assert text_at(plot, 150) == "00:02.000 to 00:06.000  range: fight"
    assert text_at(plot, 200) == "00:04.000  bookmark: here"
    assert text_at(plot, 350) == "00:07.000  note: look"
    assert text_at(plot, 330) == ""

    plot.show_annotations([])
    assert [text_at(plot, frame) for frame in (100, 150, 200)] == ["", "", ""]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_a_range_is_drawn_as_far_as_it_reaches(
    qtbot: QtBot, timeline: Timeline, theme: Literal["light", "dark"]
) -> None:
    plot = FramePlot(Theme(theme))
    qtbot.addWidget(plot)
    plot.resize(900, 300)
    with qtbot.waitExposed(plot):
        plot.show()
    plot.set_timeline(timeline)
    plot.view.fit()
    plot.show_annotations([Annotation("range", 2_000 * MS, 6_000 * MS, "fight")])
    image: QImage = plot.grab().toImage()
    wanted = plot._theme.color(ColorRole.BLUE)
    y = int(plot.area().top()) - 3
    found = [
        frame
        for frame in (90, 110, 200, 290, 310)
        if image.pixelColor(int(plot.pixel_of_frame(frame).x()), y) == wanted
    ]
    assert found == [110, 200, 290]
