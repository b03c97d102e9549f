"""The row of marks: interventions, breakpoint hits, bookmarks, failures and holds."""

from __future__ import annotations

from typing import Literal

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QEnterEvent, QHelpEvent, QImage
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from inspector.events.annotations import Annotation
from inspector.events.states import BreakHit, CommandRecord, Failure, Held, Mark
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.flags import PlacedMark, lay_out_marks
from inspector.formats.arrangement.sheet import Row, Sheet
from inspector.formats.drawing.display_list import Rects, Text
from inspector.tokens import COLORS
from tests.ui.frame_times.pixels import pixel_of_frame
from tests.ui.plotting.frames import add_frame, timeline_of
from ui.frame_times import marks_row
from ui.frame_times.frame_plot import FramePlot
from ui.frame_times.marks_row import MarksRow
from ui.frame_times.timeline_marks import MarkKind, TimelineMarks
from ui.kit.theme import ColorRole, Theme

MS = 1_000_000


@pytest.fixture
def timeline() -> Timeline:
    return timeline_of([20 * MS] * 600)


class Marked:
    """The row of marks below the frames that it belongs to."""

    def __init__(self, timeline: Timeline, theme: Theme) -> None:
        self.plot = FramePlot(theme)
        self.row = MarksRow(theme, self.plot.view, self.plot)
        self.row.holds_moved.connect(self.plot.set_holds)
        self.plot.resize(900, 300)
        self.row.setGeometry(0, 250, 900, 24)
        self.plot.view.leave_room(100)
        self.plot.set_timeline(timeline)
        self.plot.view.fit()

    def refresh(self) -> None:
        self.plot.refresh()
        self.row.refresh()

    def text_at(self, frame: int) -> str:
        return self.row.text_at(pixel_of_frame(self.plot, frame).x())


@pytest.fixture
def marked(qtbot: QtBot, timeline: Timeline) -> Marked:
    marked = Marked(timeline, Theme("light"))
    qtbot.addWidget(marked.plot)
    with qtbot.waitExposed(marked.plot):
        marked.plot.show()
    return marked


def test_that_interventions_and_hits_say_what_they_are(marked: Marked, timeline: Timeline) -> None:
    pause = CommandRecord(2_000 * MS, 1, "pause “game”", "", by="breakpoint 4")
    timeline.commands.append(pause)
    timeline.hits.append(BreakHit(6_000 * MS, 4, "timer “boss” fires", 299))
    marked.refresh()

    assert marked.text_at(100) == "0:02.000  breakpoint 4: pause game"
    assert marked.text_at(300) == "0:06.000  breakpoint 4, frame 299: timer boss fires"
    kinds = [group.kind for group in marked.row.groups]
    assert kinds == [MarkKind.COMMAND, MarkKind.HIT]


def test_that_a_mark_says_what_it_is_where_the_pointer_rests(
    marked: Marked, timeline: Timeline
) -> None:
    timeline.hits.append(BreakHit(6_000 * MS, 4, "timer “boss” fires", 299))
    marked.refresh()
    row, at = marked.row, QPoint(round(pixel_of_frame(marked.plot, 300).x()), 5)

    QApplication.sendEvent(row, QEnterEvent(at, at, at))
    QApplication.sendEvent(row, QHelpEvent(QEvent.Type.ToolTip, at, row.mapToGlobal(at)))

    assert QToolTip.text() == marked.text_at(300)
    QToolTip.hideText()


def test_that_a_hit_is_shown_before_what_it_did(marked: Marked, timeline: Timeline) -> None:
    timeline.commands.append(CommandRecord(2_000 * MS, 1, "pause “game”", ""))
    timeline.hits.append(BreakHit(2_000 * MS, 4, "timer “boss” fires", 99))
    marked.refresh()

    (group,) = marked.row.groups
    assert group.kind is MarkKind.HIT
    assert len(marked.text_at(100).splitlines()) == 2


def test_that_a_hold_says_how_long_it_was_and_has_a_line_of_its_own(
    marked: Marked, timeline: Timeline
) -> None:
    before = marked.plot.grab().toImage()
    timeline.commands += [
        CommandRecord(6_000 * MS, 1, "hold", "", host_ms=1_000, form='{"command": "Hold"}'),
        CommandRecord(6_000 * MS, 2, "run", "", host_ms=3_500, form='{"command": "Run"}'),
    ]
    timeline.holds.append(Held(6_000 * MS))
    marked.refresh()

    (group,) = marked.row.groups
    assert group.kind is MarkKind.COMMAND
    assert group.has_hold
    assert "0:06.000  held for 2.50 s: no session time passed" in marked.text_at(300)
    image = marked.plot.grab().toImage()
    paused = Theme("light").color(ColorRole.HATCH).rgb()
    ratio = image.devicePixelRatio()
    x = round((marked.plot.area().left() + group.x) * ratio)
    ys = range(
        round((marked.plot.area().top() + 5) * ratio),
        round(marked.plot.area().bottom() * ratio) - 5,
    )

    def dots(shown: QImage) -> int:
        return sum(shown.pixel(x + dx, y) == paused for dx in (-1, 0, 1) for y in ys)

    assert dots(image) > len(ys) / 8
    assert dots(before) == 0


def test_that_signs_stay_with_their_frames_when_the_names_of_lanes_take_more_room(
    marked: Marked, timeline: Timeline
) -> None:
    timeline.commands.append(CommandRecord(6_000 * MS, 1, "hold", ""))
    marked.plot.view.make_room_for_lanes(are_shown=True)
    marked.refresh()

    for left in (120, 300):
        marked.plot.view.leave_room(left)

        (group,) = marked.row.groups
        place = pixel_of_frame(marked.plot, 300).x() - marked.plot.area().left()
        assert marked.plot.area().left() == left
        assert abs(group.x - place) < 2


def test_that_an_automatic_hold_has_a_sign(marked: Marked, timeline: Timeline) -> None:
    timeline.holds.append(Held(6_000 * MS))
    marked.refresh()

    (group,) = marked.row.groups
    assert group.kind is MarkKind.HELD
    assert marked.text_at(300) == "0:06.000  held: no session time passed"


def test_that_bookmarks_and_ranges_say_their_names(marked: Marked) -> None:
    marked.row.set_annotations(
        [
            Annotation("range", 2_000 * MS, 6_000 * MS, "fight"),
            Annotation("bookmark", 4_000 * MS, name="here"),
            Annotation("note", 7_000 * MS, text="look\nthere"),
        ]
    )
    assert marked.text_at(100) == "0:02.000 to 0:06.000  range: fight"
    assert marked.text_at(150) == "0:02.000 to 0:06.000  range: fight"
    assert marked.text_at(200) == "0:04.000  bookmark: here"
    assert marked.text_at(350) == "0:07.000  note: look"
    assert marked.text_at(330) == ""

    marked.row.set_annotations([])
    assert [marked.text_at(frame) for frame in (100, 150, 200)] == ["", "", ""]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_a_range_is_drawn_as_far_as_it_reaches(
    qtbot: QtBot, timeline: Timeline, theme: Literal["light", "dark"]
) -> None:
    marked = Marked(timeline, Theme(theme))
    qtbot.addWidget(marked.plot)
    marked.row.set_annotations([Annotation("range", 2_000 * MS, 6_000 * MS, "fight")])
    image: QImage = marked.row.grab().toImage()
    wanted = Theme(theme).color(ColorRole.EDGE)
    found = [
        frame
        for frame in (90, 110, 200, 290, 310)
        if image.pixelColor(int(pixel_of_frame(marked.plot, frame).x()), 21) == wanted
    ]
    assert found == [110, 200, 290]


def test_that_flags_have_names_as_long_as_there_is_room(marked: Marked, timeline: Timeline) -> None:
    for at_ns, text in ((2_000 * MS, "menu opened"), (6_000 * MS, "menu closed")):
        timeline.marks.append(Mark(at_ns, text, 0))
    timeline.hits.append(BreakHit(6_000 * MS, 4, "timer “boss” fires", 299))
    marks = TimelineMarks(timeline)
    marked.refresh()

    assert [marks.name_of(group) for group in marked.row.groups] == ["menu opened", "breakpoint 4"]
    assert [marks.instant_of(group) for group in marked.row.groups] == [2_000 * MS, 6_000 * MS]


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        *(((), 109), ((101,), 109), ((106,), 110), ((100, 106), 110)),
        *(((114,), 118), ((100, 114), 118), ((300,), 109)),
    ],
)
def test_that_a_name_stands_behind_a_line_that_leaves_it_no_room_unless_that_moves(
    lines: tuple[int, ...], left: int
) -> None:
    sheet = Sheet(COLORS["light"], 11.0)
    if lines and lines[-1] < 300:
        assert not lay_out_marks(
            *(sheet, [PlacedMark(100, "held")], Row(0, 20), 300), lines=lines, moving=lines[-1]
        )
        assert not any(isinstance(each, Text) for each in sheet.items())
        sheet.clear()

    whole = lay_out_marks(sheet, [PlacedMark(100, "held")], Row(0, 20), 300, lines=lines)

    (name,) = (each for each in sheet.items() if isinstance(each, Text))
    assert (whole, name.at.x) == (1, left)


def test_that_a_mark_at_the_present_is_named_once_time_stands_still(
    marked: Marked, timeline: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    moving = list[int | None]()

    def note(*_marks: object, **lines: int | None) -> None:
        moving.append(lines["moving"])

    monkeypatch.setattr(marks_row, "lay_out_marks", note)
    timeline.marks.append(Mark(timeline.at_ns, "held", 0))
    timeline.is_running = True
    marked.refresh()
    QApplication.processEvents()
    assert moving[-1] == marked.row.line is not None

    timeline.is_running = False
    marked.row.refresh()
    QApplication.processEvents()
    assert moving[-1] is None


@pytest.mark.parametrize("scale", [1.0, 1.25, 1.5, 2.0])
def test_that_a_name_keeps_apart_from_its_sign_in_larger_text(scale: float) -> None:
    sheet = Sheet(COLORS["light"], 11.0 * scale, scale=scale)

    lay_out_marks(sheet, [PlacedMark(100, "held")], Row(0, 40), 400)

    items = sheet.items()
    (name,) = (each for each in items if isinstance(each, Text))
    drawn = [each.rects for each in items if isinstance(each, Rects)]
    assert name.at.x - max(int(each[:, 2].max()) for each in drawn) > 2
    # The pole goes on below the flag as wide as beside it.
    (beside,), (below, *_) = ({int(r - x) for x, _, r, _ in each[:1]} for each in drawn)
    assert beside == below


def test_that_a_name_ends_before_a_line_further_away() -> None:
    sheet = Sheet(COLORS["light"], 11.0)

    mark = PlacedMark(100, "the menu was opened and closed")
    whole = lay_out_marks(sheet, [mark], Row(0, 20), 400, lines=(180,))

    (name,) = (each for each in sheet.items() if isinstance(each, Text))
    assert not whole
    assert name.at.x == 109
    assert name.text.endswith("…")


def test_that_a_sign_has_no_name_where_another_follows_a_line_close_by() -> None:
    sheet = Sheet(COLORS["light"], 11.0)

    marks = [PlacedMark(100, "held"), PlacedMark(120, "")]
    assert not lay_out_marks(sheet, marks, Row(0, 20), 400, lines=(114,))

    assert not any(isinstance(each, Text) for each in sheet.items())


def test_that_a_double_click_on_a_flag_looks_back_at_it(
    marked: Marked, timeline: Timeline, qtbot: QtBot
) -> None:
    timeline.marks.append(Mark(2_000 * MS, "menu opened", 0))
    marked.refresh()
    place = QPoint(round(pixel_of_frame(marked.plot, 100).x()), 10)

    with qtbot.waitSignal(marked.row.playhead_moved) as moved:
        qtbot.mouseDClick(marked.row, Qt.MouseButton.LeftButton, pos=place)

    assert moved.args == [2_000 * MS]


def test_that_signs_say_what_happened(marked: Marked, timeline: Timeline) -> None:
    add_frame(timeline.frames, 300 * MS, cut_ns=50 * MS)
    timeline.marks.append(Mark(20 * 100 * MS, "boss", 0))
    traceback = "Traceback (most recent call last):\nValueError: no"
    timeline.failures.append(Failure(20 * 300 * MS, 300, "think", traceback, 4))
    timeline.commands += [
        CommandRecord(20 * 500 * MS, 1, "pause enemies", ""),
        CommandRecord(20 * 500 * MS, 2, "step 5 frames", "there are none"),
    ]
    marked.refresh()

    assert marked.text_at(100) == "0:02.000  mark: boss"
    assert marked.text_at(300) == "0:06.000  think failed: ValueError: no"
    assert marked.text_at(500) == (
        "0:10.000  pause enemies\n0:10.000  step 5 frames (refused: there are none)"
    )
    assert marked.text_at(600) == "0:12.300  stall: 50.0 ms cut from the delta of frame 600"
    assert marked.text_at(200) == ""


def test_that_signs_that_come_later_are_shown_at_the_next_refresh(
    marked: Marked, timeline: Timeline
) -> None:

    timeline.marks.append(Mark(timeline.frames.at_ns[50], "here", 0))
    marked.refresh()

    assert len(marked.row.groups) == 1
