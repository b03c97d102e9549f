"""The timeline as a picture: lanes below the frames, on the same axis, nothing cut or missing."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from inspector.analysis.landmarks import Landmark
from inspector.analysis.lanes.lanes import LaneStore
from inspector.clocks import ManualTimeSource
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.transport import Run
from inspector.events.history import LogHistory
from inspector.formats.drawing.display_list import DisplayList, Group, Item, Polyline, Rect, Text
from inspector.formats.drawing.font_metrics import text_width
from inspector.formats.export import TIMELINE_EXPORTERS, export_frames
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import GRAPH_COLORS, ExportOptions
from inspector.formats.timeline.lane_rows import MOST_ROWS, brief, rows_of
from inspector.formats.timeline.timeline_picture import timeline_picture
from inspector.formats.traces.session_trace import Events
from inspector.sessions.captured import CapturedSession
from inspector.sessions.hosted import HostedSession
from inspector.sessions.provenance import provenance_of
from inspector.testing import held_session, pass_seconds, scene_file, virtual_session
from inspector.tokens import STATE_COLORS
from inspector.vocabulary import NEVER, SAW_END, TIMER_FIRED
from tests.analysis.test_lateness import (
    CRUNCH,
    DUE_NS,
    LIBRARY,
    LOOP,
    MAIN,
    MS,
    REBUILD,
    TIMER,
    Program,
)

SCENE = """
from inspector.frames.state_machine import Edge

def build(stage):
    game = stage.root.child("game")
    enemies = game.child("enemies")
    stage.root.child("a branch with a name that nobody would call short")
    enemies.set_interval(0.25, lambda: None, name="attack")
    game.set_interval(0.001, lambda: None, name="often")
    game.set_timeout(1, lambda: stage.mark("boss"), name="arrives")
    machine = stage.state_machine("open", {"shut": Edge("open", "closed")}, name="door")
    game.set_timeout(2, lambda: machine.go("shut"), name="shut the door")
"""
GAME, ENEMIES = 2, 3
ABOUT = Provenance(
    "A scene", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "1.0", "virtual time", Fraction(60)
)


@pytest.fixture
def session(tmp_path: Path) -> HostedSession:
    """Return four seconds: enemies are paused in the second, game is slow in the third."""
    session = virtual_session(scene_file(tmp_path, SCENE))
    pass_seconds(session, 1)
    session.submit(PauseClock(ENEMIES))
    pass_seconds(session, 1)
    session.submit(ResumeClock(ENEMIES))
    session.submit(SetRate(GAME, Fraction(1, 4)))
    pass_seconds(session, 1)
    session.submit(PauseClock(GAME))
    pass_seconds(session, 1)
    session.refresh()
    return session


def picture_of(session: HostedSession, start_ns: int = 0, **options: object) -> DisplayList:
    frames = FrameTimes.from_history(session.timeline.frames)
    events = Events(session.history, start_ns)
    return timeline_picture((frames, events), ABOUT, ExportOptions(**options))  # type: ignore[arg-type]


def lane(picture: DisplayList, name: str) -> Group:
    return next(each for each in picture.items if isinstance(each, Group) and each.name == name)


def texts(items: tuple[Item, ...]) -> list[str]:
    return [each.text for each in items if isinstance(each, Text)]


def hatched(items: tuple[Item, ...]) -> list[tuple[float, float]]:
    """Return from where to where lanes are hatched."""
    zigzags = [each for each in items if isinstance(each, Polyline) and len(each.points) > 2]
    return [(min(p.x for p in each.points), max(p.x for p in each.points)) for each in zigzags]


def test_that_every_lane_stands_below_the_frames_in_the_order_of_the_tree(
    session: HostedSession,
) -> None:
    picture = picture_of(session)

    names = [each.name for each in picture.items if isinstance(each, Group)]
    lanes = names[names.index("Marks") : names.index("legend")]
    assert lanes == [
        *("Marks", "Commands", "root", "door", "game", "often", "arrives", "shut the door"),
        *("enemies", "attack", "a branch with a name that nobody would call short"),
    ]
    assert names.index("frames") < names.index("Marks")
    assert {"budgets", "time axis", "frames axis", "provenance"} <= set(names)


def test_that_pauses_are_hatched_where_they_are(session: HostedSession) -> None:
    picture = picture_of(session)
    box = lane(picture, "frames axis").items[0]
    assert isinstance(box, Polyline)
    left = box.points[0].x
    base = lane(picture, "frames axis").items[1]
    assert isinstance(base, Polyline)
    second = (base.points[1].x - left) / 4

    above, own = hatched(lane(picture, "enemies").items)
    (game,) = hatched(lane(picture, "game").items)

    # What a clock above has stopped lies below what is the clock's own.
    assert own == pytest.approx((left + second, left + 2 * second), abs=2.5)
    assert above == game == pytest.approx((left + 3 * second, left + 4 * second), abs=2.5)
    assert hatched(lane(picture, "root").items) == []
    assert "paused" in texts(lane(picture, "enemies").items)
    assert "×0.25" in texts(lane(picture, "game").items)


def test_that_each_firing_is_a_tick_until_there_are_too_many(session: HostedSession) -> None:
    picture = picture_of(session)

    ticks = [each for each in lane(picture, "attack").items if isinstance(each, Rect)]
    crowd = [each for each in lane(picture, "often").items if isinstance(each, Rect)]
    assert len(ticks) == 4 + 0 + 1 + 0
    assert 0 < len(crowd) < picture.width


def test_that_states_and_marks_are_named(session: HostedSession) -> None:
    picture = picture_of(session)

    assert texts(lane(picture, "door").items) == ["door", "open", "closed"]
    assert "boss" in texts(lane(picture, "Marks").items)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_states_have_the_colours_of_the_window(session: HostedSession, theme: str) -> None:
    picture = picture_of(session, theme=theme)

    states = [each for each in lane(picture, "door").items if isinstance(each, Rect)]
    assert [each.fill for each in states] == list(STATE_COLORS[:2])
    said = [each for each in lane(picture, "door").items if isinstance(each, Text)]
    assert [each.color for each in said[-2:]] == ["#ffffff", "#14171a"]


def test_that_a_state_keeps_its_colour_in_a_part_without_the_first(session: HostedSession) -> None:
    frames = FrameTimes.from_history(session.timeline.frames, 200, 220)
    events = Events(session.history, int(frames.at_ns[0]), int(frames.at_ns[-1]))

    picture = timeline_picture((frames, events), ABOUT, ExportOptions())

    (state,) = (each for each in lane(picture, "door").items if isinstance(each, Rect))
    assert state.fill == STATE_COLORS[1]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(720.0, 405.0), (400.0, 300.0), (1600.0, 1200.0)])
def test_that_nothing_leaves_the_picture_and_no_name_is_cut_early(
    session: HostedSession, theme: str, size: tuple[float, float]
) -> None:
    picture = picture_of(session, theme=theme, width_pt=size[0], height_pt=size[1])

    assert picture.background == GRAPH_COLORS[theme].background
    assert (picture.width, picture.height >= size[1]) == (size[0], True)
    for text in picture.texts():
        width = text_width(text.text, text.size, is_bold=text.is_bold)
        left = text.at.x - {"start": 0, "middle": width / 2, "end": width}[text.anchor.value]
        assert left >= 0
        assert left + width <= picture.width + 0.01
        assert 0 <= text.at.y <= picture.height
    if size[0] > 700:
        assert not any("…" in each.text for each in picture.texts())


def test_that_bookmarks_and_ranges_are_named_and_everything_can_be_left_out(
    session: HostedSession,
) -> None:
    frames = FrameTimes.from_history(session.timeline.frames)
    landmarks = (
        Landmark("bookmark", 500_000_000, 30, "here"),
        Landmark("range", 1_000_000_000, 60, "the fight", end_ns=3_000_000_000, last_frame=180),
        Landmark("mark", 1_000_000_000, 60, "boss"),
    )
    data = replace(frames, landmarks=landmarks), Events(session.history)

    picture = timeline_picture(data, ABOUT, ExportOptions())
    without = timeline_picture(data, ABOUT, ExportOptions(interventions=False, landmarks=False))

    assert texts(lane(picture, "Bookmarks").items) == ["Bookmarks", "the fight", "here"]
    said = {each.text for each in without.texts()}
    assert not said & {"Bookmarks", "here", "Marks", "Commands"}


def test_that_a_part_begins_with_the_state_before_it(session: HostedSession) -> None:
    frames = FrameTimes.from_history(session.timeline.frames, 90, 110)
    events = Events(session.history, int(frames.at_ns[0]), int(frames.at_ns[-1]))

    picture = timeline_picture((frames, events), ABOUT, ExportOptions())

    ((left, right),) = hatched(lane(picture, "enemies").items)
    base = lane(picture, "time axis").items[0]
    assert isinstance(base, Polyline)
    assert (left, right) == pytest.approx((base.points[0].x, base.points[1].x), abs=1.5)
    assert "arrives" not in [each.name for each in picture.items if isinstance(each, Group)]


def test_that_frames_without_events_stand_alone_and_the_picture_says_so(
    session: HostedSession,
) -> None:
    frames = FrameTimes.from_history(session.timeline.frames)

    picture = timeline_picture((frames, None), ABOUT, ExportOptions())

    assert any("Frames alone" in each.text for each in picture.texts())
    assert "without clocks and timers" in picture.description
    assert not any(isinstance(each, Group) and each.name == "root" for each in picture.items)


def test_that_a_capture_in_the_window_is_frames_alone_too(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("MsBetweenPresents\n" + "16.7\n" * 100)
    session = CapturedSession(path)
    while session.status.phase.goes_on:
        session.refresh()
    frames = FrameTimes.from_history(session.timeline.frames)

    picture = timeline_picture(
        (frames, Events(session.history)), provenance_of(session), ExportOptions()
    )

    assert "without clocks and timers" in picture.description
    assert picture.texts()[1].text.endswith("Frames alone: the file has no clocks and timers")


def test_that_late_firings_stand_out(tmp_path: Path) -> None:
    scene = 'def build(stage):\n    stage.root.set_interval(0.25, lambda: None, name="beat")'
    source = ManualTimeSource()
    session = held_session(scene_file(tmp_path, scene), source)
    session.submit(Run())
    source.advance(0.4)
    # The host is busy for a while.
    source.jump(0.2)
    source.advance(0.5)
    session.refresh()

    picture = picture_of(session)

    assert "fires more than 16.7 ms late" in [each.text for each in picture.texts()]
    spike = GRAPH_COLORS["light"].spike
    late = [each for each in lane(picture, "beat").items if getattr(each, "fill", "") == spike]
    # How late it was, the tick, and a sign for those who do not see the colour.
    assert len(late) == 3


def test_that_timers_made_at_one_call_site_share_a_lane(tmp_path: Path) -> None:
    scene = """
def build(stage):
    for number in range(30):
        stage.root.set_interval(0.5, lambda: None, name=f"imp {number} attacks")
    stage.root.set_interval(0.5, lambda: None, name="bar")
"""
    session = virtual_session(scene_file(tmp_path, scene))
    pass_seconds(session, 2)
    session.refresh()

    picture = picture_of(session)

    names = [each.name for each in picture.items if isinstance(each, Group)]
    assert names[names.index("root") + 1 : names.index("legend")] == ["imp attacks ×30", "bar"]


def test_that_many_lanes_share_lines(tmp_path: Path) -> None:
    scene = """
def build(stage):
    for number in range(100):
        clock = stage.root.child(f"clock {number}")
"""
    for each in range(20):
        scene += f"        clock.set_interval(0.5, lambda: None, name='timer {each}')\n"
    session = virtual_session(scene_file(tmp_path, scene))
    pass_seconds(session, 2)
    session.refresh()

    picture = picture_of(session)

    said = [each.text for each in picture.texts()]
    assert "20 lanes" in said
    assert any(re.fullmatch(r"\d+ more lanes", each) for each in said)
    groups = [each for each in picture.items if isinstance(each, Group)]
    assert len(groups) < MOST_ROWS + 15


def test_that_every_format_is_written_the_same_each_time(
    session: HostedSession, tmp_path: Path
) -> None:
    frames = FrameTimes.from_history(session.timeline.frames)
    events = Events(session.history)

    for exporter in TIMELINE_EXPORTERS:
        paths = [tmp_path / f"{name}{exporter.suffix}" for name in "ab"]
        for path in paths:
            export_frames(frames, ABOUT, ExportOptions(), path, events=events)
        assert paths[0].read_bytes() == paths[1].read_bytes()
        assert paths[0].stat().st_size > 5_000


def test_that_the_picture_is_described_in_words(session: HostedSession) -> None:
    said = picture_of(session).description

    assert "enemies paused from 00:01.016 to 00:02.016" in said
    assert "game paused from 00:03.016" in said


def test_that_a_name_without_end_takes_no_time(session: HostedSession) -> None:
    store = LaneStore()
    store.read(session.history, session.timeline)
    endless = "x" * 10_000_000

    assert len(brief(endless)) == 200
    assert all(len(brief(row.label)) <= 200 for row in rows_of(store, 0, 4e9))


def test_that_what_blocked_a_loop_is_named_on_its_clock() -> None:
    program = Program()
    for until_ms in range(10, 201, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms, begins=until_ms == 10)
    program.sample(until_ms=204, covers_ms=4, flags=SAW_END)
    program.log.append((DUE_NS + 300 * MS, TIMER_FIRED, TIMER, 0, NEVER))
    history = LogHistory(program.log)
    timeline = history.state_before(history.end)
    data = FrameTimes.from_history(timeline.frames), Events(history, DUE_NS - 100 * MS)

    picture = timeline_picture(data, ABOUT, ExportOptions())

    (clock,) = [
        group
        for group in picture.items
        if isinstance(group, Group) and "blocked by crunch() 204 ms" in texts(group.items)
    ]
    assert clock.name == timeline.clocks[LOOP].name
    red = GRAPH_COLORS["light"].failure
    assert [each.fill for each in clock.items if isinstance(each, Rect)].count(red) == 1
    assert "a function blocked its loop" in texts(lane(picture, "legend").items)
