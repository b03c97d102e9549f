"""The timeline as a picture: lanes below the frames, on the same axis, nothing cut or missing."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from msgspec import structs

from inspector.analysis.markers import Marker
from inspector.clocks import ManualTimeSource
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.transport import Run
from inspector.events.history import LogHistory
from inspector.formats.arrangement.pages import timeline_picture
from inspector.formats.arrangement.picture import MOST_ROWS, brief
from inspector.formats.drawing.display_list import (
    Columns,
    DisplayList,
    Group,
    Hatched,
    Item,
    Rects,
    Text,
)
from inspector.formats.drawing.font_metrics import text_width
from inspector.formats.export import TIMELINE_EXPORTERS, export_frames
from inspector.formats.frame_times import CAPTURED, FrameTimes, Provenance
from inspector.formats.options import GRAPH_COLORS, ExportOptions
from inspector.formats.traces.session_trace import Events
from inspector.sessions.captured import CapturedSession
from inspector.sessions.hosted import HostedSession
from inspector.sessions.provenance import provenance_of
from inspector.testing import held_session, pass_seconds, scene_file, virtual_session
from inspector.tokens import COLORS, STATE_COLORS, ThemeName
from inspector.vocabulary import MARK, NEVER, SAW_END, TIMER_FIRED
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
from tests.formats.test_frame_graph import budget_lines, plot_of

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


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> HostedSession:
    """Return four seconds: enemies are paused in the second, game is slow in the third."""
    session = virtual_session(scene_file(tmp_path_factory.mktemp("scene"), SCENE))
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
    """Return from where to where lanes are hatched, what is the clock's own last."""
    found = [each for each in items if isinstance(each, Hatched)]
    return [(float(rect[0]), float(rect[2]) + 1) for each in found for rect in each.rects.tolist()]


def filled(items: tuple[Item, ...], token: str, theme: ThemeName = "light") -> list[list[int]]:
    return [
        rect
        for each in items
        if isinstance(each, Rects) and each.fill == COLORS[theme][token]
        for rect in each.rects.tolist()
    ]


def test_that_every_lane_stands_below_the_frames_in_the_order_of_the_tree(
    session: HostedSession,
) -> None:
    picture = picture_of(session, width_pt=1_200.0)

    names = [each.name for each in picture.items if isinstance(each, Group)]
    lanes = names[names.index("lanes") + 1 : names.index("legend")]
    assert lanes == [
        *("root", "door", "game", "often", "arrives", "shut the door", "enemies", "attack"),
        "a branch with a name that nobody would call short",
    ]
    assert names[: names.index("lanes")] == ["title", "ruler", "frames", "frames header"]
    assert names[-1] == "provenance"


def test_that_pauses_are_hatched_where_they_are(session: HostedSession) -> None:
    picture = picture_of(session, width_pt=800.0)
    left, right = plot_of(picture)
    second = (right - left) / 4

    above, own = hatched(lane(picture, "enemies").items)
    (game,) = hatched(lane(picture, "game").items)

    # What a clock above has stopped lies below what is the clock's own.
    assert own == pytest.approx((left + second, left + 2 * second), abs=2.5)
    assert above == game == pytest.approx((left + 3 * second, left + 4 * second), abs=2.5)
    assert hatched(lane(picture, "root").items) == []
    assert "paused by you" in texts(lane(picture, "enemies").items)
    assert "×¼" in texts(lane(picture, "game").items)


def test_that_each_firing_is_a_tick_until_there_are_too_many(session: HostedSession) -> None:
    picture = picture_of(session)

    (density,) = (each for each in lane(picture, "often").items if isinstance(each, Columns))
    assert len(filled(lane(picture, "attack").items, "tick")) == 4 + 0 + 1 + 0
    assert density.cells.shape == (1, plot_of(picture)[1] - plot_of(picture)[0])


def test_that_states_are_named(session: HostedSession) -> None:
    picture = picture_of(session)

    assert texts(lane(picture, "door").items) == ["door", "open", "closed"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_states_have_the_colours_of_the_window(session: HostedSession, theme: str) -> None:
    picture = picture_of(session, theme=theme)

    states = [each for each in lane(picture, "door").items if isinstance(each, Rects)]
    assert [each.fill for each in states] == list(STATE_COLORS[:2])
    said = [each for each in lane(picture, "door").items if isinstance(each, Text)]
    assert [each.color for each in said[-2:]] == ["#ffffff", "#14171a"]


def test_that_a_state_keeps_its_colour_in_a_part_without_the_first(session: HostedSession) -> None:
    frames = FrameTimes.from_history(session.timeline.frames).between(200, 220)
    events = Events(session.history, int(frames.at_ns[0]), int(frames.at_ns[-1]))

    picture = timeline_picture((frames, events), ABOUT, ExportOptions())

    (state,) = (each for each in lane(picture, "door").items if isinstance(each, Rects))
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
    if size[0] > 1_000:
        assert not any("…" in each.text for each in picture.texts())


def test_that_bookmarks_and_ranges_are_named_and_everything_can_be_left_out(
    session: HostedSession,
) -> None:
    frames = FrameTimes.from_history(session.timeline.frames)
    markers = (
        Marker("bookmark", 500_000_000, 30, "here"),
        Marker("range", 1_000_000_000, 60, "the fight", end_ns=3_000_000_000, last_frame=180),
        Marker("mark", 1_000_000_000, 60, "boss"),
    )
    data = structs.replace(frames, markers=markers), Events(session.history)

    picture = timeline_picture(data, ABOUT, ExportOptions())
    without = timeline_picture(data, ABOUT, ExportOptions(interventions=False, markers=False))

    assert texts(lane(picture, "marks").items)[:2] == ["Marks", "here"]
    (edge,) = (
        each.rects[0]
        for each in lane(picture, "marks").items
        if isinstance(each, Rects) and each.fill == COLORS["light"]["edge"]
    )
    left, right = plot_of(picture)
    assert edge[2] + 1 - edge[0] == pytest.approx((right - left) / 2, abs=2)
    said = {each.text for each in without.texts()}
    assert not said & {"here", "Marks"}


def test_that_marks_that_repeat_are_named_once_with_their_number(session: HostedSession) -> None:
    frames = FrameTimes.from_history(session.timeline.frames)
    markers = tuple(
        Marker("mark", at_ms * MS, at_ms * 60 // 1_000, name)
        for at_ms, name in ((200, "wave"), (400, "wave"), (1_000, "boss"), (2_000, "wave"))
    )
    data = structs.replace(frames, markers=markers), Events(session.history)

    picture = timeline_picture(data, ABOUT, ExportOptions(interventions=False))

    row = lane(picture, "marks")
    assert texts(row.items) == ["Marks", "boss", "wave ×3"]
    poles = next(each for each in row.items if isinstance(each, Rects))
    assert len(poles.rects) == 4
    assert not [each for each in picture.texts() if "omitted" in each.text]


def test_that_the_legend_explains_what_lanes_have_and_nothing_else(session: HostedSession) -> None:
    picture = picture_of(session)
    assert texts(lane(picture, "legend of lanes").items) == [
        "runs, as high as its rate",
        "paused",
        "stopped by a clock above",
        "fires",
        "state of a machine",
    ]
    frames = FrameTimes.from_history(session.timeline.frames)
    alone = timeline_picture((frames, None), ABOUT, ExportOptions())
    assert "fires" not in [each.text for each in alone.texts()]


def test_that_a_part_begins_with_the_state_before_it(session: HostedSession) -> None:
    frames = FrameTimes.from_history(session.timeline.frames).between(90, 110)
    events = Events(session.history, int(frames.at_ns[0]), int(frames.at_ns[-1]))

    picture = timeline_picture((frames, events), ABOUT, ExportOptions())

    ((left, right),) = hatched(lane(picture, "enemies").items)
    assert (left, right) == pytest.approx(plot_of(picture), abs=1.5)
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


def test_that_clocks_of_a_trace_have_no_rate(session: HostedSession) -> None:
    frames = FrameTimes.from_history(session.timeline.frames)

    def said(source: str) -> list[str]:
        about = structs.replace(ABOUT, source=source)
        made = timeline_picture((frames, Events(session.history)), about, ExportOptions())
        return texts(lane(made, "root").items)

    assert "×1" in said("virtual time")
    assert "×1" not in said(CAPTURED)


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

    # How late it was with its cap, the tick, and a sign for people who do not see the colour.
    assert len(filled(lane(picture, "beat").items, "orange")) == 4


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


def test_that_of_very_many_lanes_it_is_said_how_many_are_left_out(tmp_path: Path) -> None:
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

    assert f"{2_101 - MOST_ROWS:,} more lanes" in picture.texts()[-1].text
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

    assert "enemies paused from 0:01.016 to 0:02.016" in said
    assert "game paused from 0:03.016" in said


def test_that_a_name_without_end_takes_no_time() -> None:
    assert len(brief("x" * 10_000_000)) == 200


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
        if isinstance(group, Group) and "blocked by crunch()   204 ms" in texts(group.items)
    ]
    assert clock.name == timeline.clocks[LOOP].name
    assert len(filled(clock.items, "red")) == 1


def test_that_a_program_s_call_was_late_before_it_was_made() -> None:
    program = Program()
    program.log.append((DUE_NS + 300 * MS, TIMER_FIRED, TIMER, 200 * MS, NEVER))
    program.log.append((DUE_NS + 600 * MS, MARK, 0, program.log.intern("end"), 0))
    history = LogHistory(program.log)
    timeline = history.state_before(history.end)
    data = FrameTimes.from_history(timeline.frames), Events(history, DUE_NS)

    picture = timeline_picture(data, ABOUT, ExportOptions())

    orange = filled(lane(picture, "tick").items, "orange")
    tick = max(orange, key=lambda rect: rect[3] - rect[1])
    assert min(rect[0] for rect in orange) < tick[0] - 50
    assert max(rect[2] for rect in orange) <= tick[2] + 2


def test_that_a_lane_says_what_its_timers_wait_for_as_in_the_window(tmp_path: Path) -> None:
    scene = """
def build(stage):
    game = stage.root.child("game")
    game.set_interval(1.5, lambda: None, name="boss arrives")
    game.set_interval(0.05, lambda: None, name="often")
    enemies = game.child("enemies")
    enemies.set_interval(0.5, lambda: None, name="attack")
"""
    session = virtual_session(scene_file(tmp_path, scene))
    pass_seconds(session, 1)
    session.submit(PauseClock(ENEMIES))
    pass_seconds(session, 1)
    session.refresh()

    picture = picture_of(session, width_pt=1_200.0)

    arrives, attack = lane(picture, "boss arrives").items, lane(picture, "attack").items
    assert texts(arrives) == ["boss arrives", "→ 1.0 s"]
    # Nothing is written over firings.
    assert texts(lane(picture, "often").items) == ["often"]
    # The sign of the pause is drawn, as that of each font is another.
    assert texts(attack) == ["attack", "enemies"]
    assert len(filled(attack, "muted")) == 2
    said = [each for each in (*arrives, *attack) if isinstance(each, Text)][1::2]
    right = budget_lines(picture)[0].points[1].x
    assert all(right - 9 <= each.at.x + text_width(each.text, 11.0) <= right - 7 for each in said)


def test_that_a_call_that_has_not_been_made_has_a_line_from_where_it_was_due() -> None:
    program = Program()
    program.log.append((DUE_NS + 300 * MS, TIMER_FIRED, TIMER, 0, DUE_NS + 400 * MS))
    program.log.append((DUE_NS + 600 * MS, MARK, 0, program.log.intern("end"), 0))
    history = LogHistory(program.log)
    data = (
        FrameTimes.from_history(history.state_before(history.end).frames),
        Events(history, DUE_NS),
    )

    picture = timeline_picture(data, ABOUT, ExportOptions())

    waits = lane(picture, "tick").items
    assert texts(waits)[1:] == ["late 200 ms"]
    (line,) = (rect for rect in filled(waits, "orange") if rect[3] - rect[1] == 1)
    assert line[2] - line[0] > 50
    assert "late by more than 16.7 ms" in texts(lane(picture, "legend of lanes").items)
