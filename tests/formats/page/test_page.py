"""A session as one HTML file: its numbers are the timeline's, and nothing in it can be run."""

from __future__ import annotations

import json
import random
import re
import subprocess
from datetime import UTC, datetime
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from typing_extensions import override

from inspector.analysis.explain.explain import explain
from inspector.analysis.markers import Marker
from inspector.analysis.statistics.column_summary import summary_of
from inspector.calls.call import SCHEDULED, Call, CallId, call_of
from inspector.cli import main as cli
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.events.history import LogHistory
from inspector.events.log import readable
from inspector.events.timeline import Timeline
from inspector.exit_codes import ExitCode
from inspector.formats.arrangement.fills import Severity, SeverityFill, Tone, fill_color
from inspector.formats.export import export_frames, exporter_for, exporters
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.page import page
from inspector.formats.traces.session_trace import Events
from inspector.sessions.frame_files import read_frame_file
from inspector.sessions.hosted import HostedSession
from inspector.testing import pass_seconds, scene_file, virtual_session
from inspector.timebase import format_duration, format_instant, format_local_time
from inspector.tokens import COLORS
from inspector.vocabulary import NEVER, SAW_END, TIMER_FIRED
from tests.analysis.test_lateness import (
    CRUNCH,
    DUE_NS,
    LIBRARY,
    MAIN,
    MS,
    REBUILD,
    TIMER,
    Program,
)
from tests.formats.page.browser_tab import Tab
from tests.fuzz import rounds
from tests.javascript import node

SCENES = Path(__file__).parents[3] / "resources" / "scenes"
_FOLDER = Path(page.__file__).parent
_HOSTILE = "</script><img src=x onerror=document.title='run'>\u202e'\"&amp;"
SCENE = f"""
HOSTILE = {_HOSTILE!r}

def build(stage):
    from inspector.pictures.shapes import box, circle, text
    game = stage.root.child("game")
    enemies = game.child("enemies", rate="1/3")
    ui = stage.root.child(HOSTILE)
    enemies.set_interval(0.25, lambda: None, name="attack")
    game.set_timeout(3.5, lambda: stage.mark("boss " + HOSTILE), name="arrives")
    game.set_interval(0.4, lambda: game.set_timeout(0.3, lambda: None, name="spark"), name="sparks")
    for number in range(3):
        ui.set_interval(1 + number / 7, lambda: None, name=f"blink {{number}} {{HOSTILE}}")

    def draw():
        return (
            box(0, 0, 10 + 20 * enemies.time, 20, "#aa3300", clock=enemies),
            circle(50 + 10 * game.time, 40, 9, "#00aa33", line="#ffffff", clock=game),
            text(5, 90, HOSTILE, "#ffffff", size=8),
        )

    stage.picture(draw, width=200, height=100, background="#101010")
"""
GAME, ENEMIES = 2, 3
ABOUT = Provenance(
    _HOSTILE, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "1.0", "virtual time", Fraction(60)
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> HostedSession:
    """Return five seconds: enemies are paused in the second, game is slow, then paused."""
    session = virtual_session(scene_file(tmp_path_factory.mktemp("scene"), SCENE))
    session.pictures.is_watched = True
    pass_seconds(session, 1)
    session.submit(PauseClock(ENEMIES))
    pass_seconds(session, 1)
    session.submit(ResumeClock(ENEMIES))
    session.submit(SetRate(GAME, Fraction(1, 4)))
    pass_seconds(session, 1)
    session.submit(PauseClock(GAME))
    pass_seconds(session, 1)
    session.submit(ResumeClock(GAME))
    pass_seconds(session, 1)
    session.refresh()
    return session


def written(session: HostedSession, path: Path) -> Path:
    frames = FrameTimes.from_history(session.timeline.frames)
    events = Events(LogHistory(session.log), pictures=session.pictures)
    bookmarks = (
        Marker("note", 1_200_000_000, 72, "", "why <b>here</b>"),
        Marker("range", 2_000_000_000, 120, "slow", "and why", 3_000_000_000, 180),
    )
    frames = structs.replace(frames, markers=bookmarks)
    exporter = next(each for each in exporters() if each.key == "page")
    export_frames(frames, ABOUT, ExportOptions(), path, events=events, exporter=exporter)
    return path


def in_node(script: str, *arguments: str) -> Any:  # noqa: ANN401 - any value of JSON
    code = "".join((_FOLDER / name).read_text() for name in ("reading.js", "scene.js"))
    source = f"{code};const page = {{...module.exports, Scene}};{script}"
    done = subprocess.run(
        [node(), "-e", source, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


_READ = """
const text = require("fs").readFileSync(process.argv[1], "utf8");
const data = /id="data">([^<]*)</.exec(text)[1];
page.unpacked(data).then(page.resolved).then((about) => {
  const queue = new page.Queue(about.queue), rows = queue.rows;
  const { texts, lanes } = about;
  const ago = (row, ns) => page.duration(ns - rows.since[row]);
  const said = (row, ns) => texts[rows.word[row]].replace("{ago}", ago(row, ns));
  const name = (row) => rows.lane[row] < 0 ? texts[rows.name[row]] : lanes[rows.lane[row]].name;
  const told = JSON.parse(process.argv[2]).map((ns) => queue.at(ns).map((row) => [
    name(row).split(": ").pop(), rows.due[row], rows.left[row],
    rows.due[row] < 0 ? about.texts[rows.wait[row]] : "",
    rows.due[row] < 0 ? said(row, ns) : ""]));
  console.log(JSON.stringify(told));
});
"""


def _row_of(history: LogHistory, timeline: Timeline, call: Call) -> list[object]:
    """Return what a page has to say of a call at the instant of a timeline."""
    name = call.name.split(": ")[-1]
    if call.session_due_ns is not None and not call.blockers:
        return [name, call.session_due_ns, 0, "", ""]
    said = explain(history, call.id, timeline.at_ns).headline
    if call.is_per_frame and not call.blockers:
        return [name, -3, 0, "every frame", said]
    waits = f"waits: {call.waits_for}" if call.blockers else ""
    return [name, -2, call.left_ns or 0, waits, said]


@pytest.mark.parametrize("scene", ["own", "07_schedulers", "08_components", "09_fast_screen"])
def test_that_the_calls_of_a_page_are_those_of_the_timeline_at_any_instant(
    session: HostedSession, tmp_path: Path, scene: str
) -> None:
    if scene != "own":
        session = virtual_session(SCENES / f"{scene}.py")
        pass_seconds(session, 4)
        session.refresh()
    path = written(session, tmp_path / "session.page.html")
    dice = random.Random(7)
    history = LogHistory(session.log)
    instants = sorted(dice.randrange(history.last_ns) for _ in rounds(6))

    told = in_node(_READ, str(path), json.dumps(instants))

    for at_ns, rows in zip(instants, told, strict=True):
        timeline = history.state_at(at_ns)
        timeline.set_present(at_ns)
        members = timeline.members.by_id.values()
        ids = [CallId(number) for number in timeline.timers.ids()]
        ids += [CallId(each.id, is_member=True) for each in members if each.kind in SCHEDULED]
        calls = [call for each in ids if (call := call_of(timeline, each)) is not None]
        expected = [_row_of(history, timeline, call) for call in calls]
        assert sorted(map(str, rows)) == sorted(map(str, expected)), at_ns


def test_that_calls_without_a_lane_say_what_they_belong_to(tmp_path: Path) -> None:
    session = virtual_session(SCENES / "07_schedulers.py")
    pass_seconds(session, 4.5)
    session.refresh()
    path = written(session, tmp_path / "session.page.html")

    told = in_node(_READ.replace('.split(": ").pop()', ""), str(path), "[4400000000]")

    names = [row[0] for row in told[0]]
    assert "turret a: update" in names or "turret a: Actor.update" in names
    assert "update" not in names


def test_that_a_page_writes_durations_and_instants_as_the_inspector_does() -> None:
    dice = random.Random(3)
    values = [0, 1, 999, 1_000, 999_499, 999_500, 999_500_000, 119_999_999_999, 120_000_000_000]
    values += [dice.randrange(10 ** dice.randrange(1, 15)) for _ in range(300)]

    told = in_node(
        "console.log(JSON.stringify(JSON.parse(process.argv[1]).map("
        "(ns) => [page.duration(ns), page.localTime(ns), page.instant(ns)])))",
        json.dumps(values),
    )

    # Halves are rounded to even here, and as they are stored there: both are the same number.
    assert told == [
        [format_duration(ns), format_local_time(ns), format_instant(ns)] for ns in values
    ]


DARK = {"name": "prefers-color-scheme", "value": "dark"}


def test_that_a_ruler_has_as_many_digits_as_its_steps_need() -> None:
    told = in_node(
        "console.log(JSON.stringify([page.tickText(1500000000, 1e6),"
        "page.tickText(1500250000, 1e3), page.tickText(1500250007, 1)]))"
    )

    assert told == ["0:01.500", "0:01.500 250", "0:01.500 250 007"]


TRACE = [
    {"ph": "X", "pid": 1, "tid": 1, "name": "outer", "ts": 0, "dur": 900},
    {"ph": "X", "pid": 1, "tid": 1, "name": "<b>inner</b>", "ts": 100, "dur": 300},
    {"ph": "X", "pid": 1, "tid": 1, "name": "inner", "ts": 500, "dur": 400},
    {"ph": "X", "pid": 1, "tid": 2, "name": "other", "ts": 50, "dur": 10},
    {"ph": "C", "pid": 1, "tid": 1, "name": "queue", "ts": 10, "args": {"length": 2.5}},
    {"ph": "C", "pid": 1, "tid": 1, "name": "queue", "ts": 700, "args": {"length": -1}},
]


def test_that_a_page_of_a_trace_has_its_slices_and_counters(tmp_path: Path, browser: Tab) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": TRACE}))
    out = tmp_path / "trace.page.html"

    assert cli.main(["export", str(path), "-o", str(out)]) == ExitCode.OK

    told = in_node(
        'const text = require("fs").readFileSync(process.argv[1], "utf8");'
        'page.unpacked(/id="data">([^<]*)</.exec(text)[1]).then(page.resolved).then((about) => {'
        "const slices = about.lanes.filter((lane) => lane.slices).map((lane) => lane.slices.map("
        "(level) => [...level.at].map((ns, place) =>"
        " [about.texts[level.word[place]], ns, level.end[place]])));"
        "const counters = about.lanes.filter((lane) => lane.value).map((lane) =>"
        " [lane.name, [...lane.at], [...lane.value]]);"
        "console.log(JSON.stringify([slices, counters])); })",
        str(out),
    )
    first = [["outer", 0, 900_000]]
    second = [["<b>inner</b>", 100_000, 400_000], ["inner", 500_000, 900_000]]
    assert sorted(told[0], key=len) == [[[["other", 50_000, 60_000]]], [first, second]]
    ((name, at_ns, values),) = told[1]
    assert "queue" in name
    assert (at_ns, values) == ([10_000, 700_000], [2_500, -1_000])
    browser.open(out)
    browser.run(
        "page.goTo(150000), page.select('lane', page.about.lanes.findIndex("
        "(lane) => lane.slices && lane.slices.length === 2))"
    )
    browser.rest()
    said = "[...document.querySelectorAll('#side p')].map((each) => each.textContent)"
    assert browser.run(said)[1:] == [
        "outer, 900 µs from 0:00.000",
        "<b>inner</b>, 300 µs from 0:00.000",
    ]
    browser.run("page.select('lane', page.about.lanes.findIndex((lane) => lane.value))")
    browser.rest()
    assert browser.run(said)[1].startswith("2.5")


COLUMNS = """\
TimeInSeconds,MsBetweenPresents,GPUPower(W),GPUClock(MHz),<b>Load</b>(%)
1.010,10,250,1500,NA
1.020,10,250.5,1500,NA
1.030,10,NA,1500,NA
1.060,10,100,1500,NA
1.080,20,100,2000,NA
"""


def test_that_a_page_of_a_capture_has_the_columns_beside_its_frames(
    tmp_path: Path, browser: Tab
) -> None:
    path, out = tmp_path / "presents.csv", tmp_path / "presents.page.html"
    path.write_text(COLUMNS)
    read = read_frame_file(path).frames
    assert read.beside is not None

    assert cli.main(["export", str(path), "-o", str(out)]) == ExitCode.OK

    browser.open(out)
    lanes = "page.about.lanes.map((lane) => [lane.name, lane.unit, [...lane.value]])"
    nothing = -(2**50) - 1
    assert browser.run(lanes) == [
        ["GPUPower(W)", "W", [250_000, 250_500, nothing, 100_000]],
        ["GPUClock(MHz)", "MHz", [1_500_000, nothing, 1_500_000, 2_000_000]],
    ]
    said = "[...document.querySelectorAll('#side p')].map((each) => each.textContent)"
    browser.run("page.select('lane', 0)")
    for at_ns, lasts_ns, value in zip(read.at_ns, read.interval_ns, TEXTS, strict=True):
        browser.run(f"page.goTo({at_ns - lasts_ns // 2})")
        browser.rest()
        assert browser.run(said)[1] == value
        note = browser.run("page.rows[0].note.textContent")
        assert note == (value if value.endswith(" W") else "")
    summary = summary_of(
        "GPUPower(W)", "W", read.beside.numbers([2])[0], read.interval_ns, are_frames=True
    )
    assert summary is not None
    assert browser.run(said)[2:] == [summary.mean_text(), *summary.lines()]


#: The value of a column in each frame.
TEXTS = ("250 W", "250.5 W", "It has no value at this instant.", "100 W", "100 W")


def test_that_marks_and_what_was_done_can_be_left_out_of_a_page(
    session: HostedSession, tmp_path: Path
) -> None:
    frames = FrameTimes.from_history(session.timeline.frames)
    events = Events(LogHistory(session.log))
    kinds = []
    for name, options in (
        ("all", ExportOptions()),
        ("few", ExportOptions(markers=False, interventions=False)),
    ):
        path = tmp_path / f"{name}.page.html"
        export_frames(frames, ABOUT, options, path, events=events, exporter=exporter_for(path))
        kinds.append(
            in_node(
                'const text = require("fs").readFileSync(process.argv[1], "utf8");'
                'page.unpacked(/id="data">([^<]*)</.exec(text)[1]).then((about) => '
                "console.log(JSON.stringify([...new Set(about.marks.map((each) => each.kind))])))",
                str(path),
            )
        )

    assert kinds == [["you"], []]


def test_that_turns_of_a_loop_that_waits_are_as_long_as_they_worked(
    session: HostedSession, tmp_path: Path
) -> None:
    frames = FrameTimes.from_history(session.timeline.frames)
    path = tmp_path / "loop.page.html"
    about = structs.replace(ABOUT, waits=True)

    export_frames(frames, about, ExportOptions(measure="busy"), path, exporter=exporter_for(path))

    name, ends_ns, times_ns = in_node(
        'const text = require("fs").readFileSync(process.argv[1], "utf8");'
        'page.unpacked(/id="data">([^<]*)</.exec(text)[1]).then(page.resolved).then((about) => {'
        "const { framesName, frames } = about;"
        "console.log(JSON.stringify([framesName, [...frames.at], [...frames.ns]])); })",
        str(path),
    )
    assert name == "Turns of the loop"
    assert times_ns == frames.busy_ns.tolist()
    assert ends_ns == (frames.at_ns + frames.busy_ns).tolist()


def test_that_a_call_that_is_overdue_says_what_made_it_late(tmp_path: Path, browser: Tab) -> None:
    program = Program()
    for until_ms in range(10, 201, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms, begins=until_ms == 10)
    program.sample(until_ms=204, covers_ms=4, flags=SAW_END)
    program.log.append((DUE_NS + 200 * MS, TIMER_FIRED, TIMER, 200 * MS, NEVER))
    history = LogHistory(program.log)
    frames = FrameTimes.from_history(history.state_before(history.end).frames)
    path = tmp_path / "late.page.html"
    events = Events(history)
    export_frames(frames, ABOUT, ExportOptions(), path, events=events, exporter=exporter_for(path))

    browser.open(path)
    late = browser.run("page.about.late[0]")
    browser.run(f"page.goTo({late['at'] - 1e6}), page.select('lane', {late['lane']})")
    browser.rest()
    said = browser.run("document.getElementById('side').textContent")

    assert "so far" in said
    assert late["text"] in said


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_that_whatever_things_are_called_a_page_loads_and_runs_nothing_else(
    session: HostedSession, tmp_path: Path
) -> None:
    text = written(session, tmp_path / "session.page.html").read_text()

    tags = _Tags()
    tags.feed(text)
    names = [tag for tag, _ in tags.found]
    assert "img" not in names
    assert names.count("script") == 3
    assert not any({"src", "href"} & attributes.keys() for _, attributes in tags.found)
    assert not any(name.startswith("on") for _, attributes in tags.found for name in attributes)
    policy = next(a["content"] for _, a in tags.found if "Content-Security-Policy" in a.values())
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in re.sub(r'id="data">[^<]*<', "", text).replace("http-equiv", "")


def test_that_frames_without_events_are_a_page_too(session: HostedSession, tmp_path: Path) -> None:
    frames = FrameTimes.from_history(session.timeline.frames)
    path = tmp_path / "frames.page.html"

    export_frames(frames, ABOUT, ExportOptions(), path, exporter=exporter_for(path))

    about = in_node(
        'const text = require("fs").readFileSync(process.argv[1], "utf8");'
        'page.unpacked(/id="data">([^<]*)</.exec(text)[1]).then(page.resolved).then((about) => {'
        "const { clocks, frames } = about;"
        "console.log(JSON.stringify([clocks.length, frames.at.length, frames.ns[9]])); })",
        str(path),
    )
    assert about == [0, len(frames), int(frames.interval_ns[9])]


def test_that_a_page_has_the_pictures_of_the_scene(session: HostedSession, tmp_path: Path) -> None:
    path = written(session, tmp_path / "session.page.html")
    frames = FrameTimes.from_history(session.timeline.frames)

    told = in_node(
        'const text = require("fs").readFileSync(process.argv[1], "utf8");'
        'page.unpacked(/id="pictures">([^<]*)</.exec(text)[1]).then((about) => {'
        "const scene = new page.Scene(about);"
        "console.log(JSON.stringify(JSON.parse(process.argv[2]).map((ns) => {"
        "const picture = page.placeAt(scene.at, ns), first = scene.firsts[picture];"
        "return [...Array(scene.count[picture]).keys()].map((next) => {"
        "const style = scene.styles[scene.shape[first + next]], place = scene.places[first + next];"
        "return [style[0], style[5], ...scene.numbers.subarray(place, place + style[1])];"
        "}); })))})",
        str(path),
        json.dumps(frames.at_ns.tolist()),
    )

    for frame, shapes in zip(frames.index.tolist(), told, strict=True):
        picture = session.pictures.at(frame)
        assert picture is not None
        assert shapes == [
            [each.kind, each.text, *(round(number * 20) for number in each.numbers)]
            for each in picture.shapes
        ]


@pytest.fixture(scope="module")
def page_path(session: HostedSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(session, tmp_path_factory.mktemp("page") / "session.page.html")


@pytest.fixture
def tab(page_path: Path, browser: Tab) -> Tab:
    """The page of the session in Chromium."""
    browser.open(page_path)
    return browser


def test_that_a_page_in_a_browser_shows_the_local_times_and_reasons_of_the_timeline(
    session: HostedSession, tab: Tab
) -> None:
    history = LogHistory(session.log)
    for tenth in range(1, 11, 2):
        at_ns = history.last_ns * tenth // 11
        timeline = history.state_at(at_ns)
        timeline.set_present(at_ns)

        tab.run(f"page.goTo({at_ns})")
        tab.rest()

        notes = tab.run(
            "page.rows.filter((row) => row.kind === 'clock').map((row) => row.note.textContent)"
        )
        clocks = tab.run("page.rows.filter((row) => row.kind === 'clock').map((row) => row.place)")
        names = tab.run("page.about.clocks.map((each) => each.name)")
        by_name = {clock.name: clock.id for clock in timeline.clocks.values()}
        expected = [format_local_time(timeline.local_ns(by_name[names[place]])) for place in clocks]
        assert notes == expected


def test_that_what_stands_still_is_grey_in_the_picture_at_the_playhead(tab: Tab) -> None:
    color_at = (
        "(() => { const canvas = document.querySelector('#scene canvas');"
        "const scale = canvas.width / 200;"
        "const found = canvas.getContext('2d').getImageData(6 * scale, 3 * scale, 1, 1).data;"
        "return [found[0] - found[2], canvas.getAttribute('aria-label')]; })()"
    )
    tab.wait("page.scene !== undefined && !page.waiting")
    looks = []
    for at_ns in (500_000_000, 1_500_000_000):
        tab.run(f"page.goTo({at_ns})")
        tab.wait("!page.waiting")
        looks.append(tab.run(color_at))

    assert looks[0][0] == 0xAA
    assert looks[1][0] < 0x30
    assert [label for _, label in looks] == ["Scene at 0:00.500", "Scene at 0:01.500"]


def test_that_hostile_names_are_shown_as_text_and_not_run(tab: Tab) -> None:
    assert tab.run("document.querySelectorAll('img').length") == 0
    assert tab.run("document.title") == _HOSTILE
    assert readable(_HOSTILE) in tab.run("document.getElementById('rows').textContent")


def test_that_a_page_is_used_by_keys_alone_and_says_why_a_timer_waits(tab: Tab) -> None:
    tab.run("page.goTo(1.5e9)")
    tab.press("ArrowDown")
    names = []
    for _ in range(12):
        names.append(tab.run("document.activeElement.textContent"))
        if "attack" in names[-1]:
            break
        tab.press("ArrowDown")

    assert "attack" in names[-1]
    assert tab.run("document.activeElement.getAttribute('aria-selected')") == "true"
    assert "Its time stands still: you paused enemies 483 ms ago." in tab.run(
        "document.getElementById('side').textContent"
    )
    tab.press("ArrowRight")
    assert tab.run("page.playhead") > 2e9
    tab.press("Escape")
    assert tab.run("page.selected") is None


def test_that_notes_and_named_ranges_are_marks_with_all_they_say(tab: Tab) -> None:
    tab.run("document.querySelector('[data-tab=marks]').click()")
    tab.rest()

    said = tab.run("[...document.querySelectorAll('#side li')].map((each) => each.textContent)")
    assert "0:01.200 note: why <b>here</b>" in said
    assert "0:02.000 range: slowand why" in said
    assert tab.run("page.about.marks.find((each) => each.kind === 'range').end") == 3e9


def test_that_a_screen_reader_is_told_of_every_part_and_of_what_changes(tab: Tab) -> None:
    tab.run("page.goTo(1.5e9)")
    tab.rest()
    nodes = tab.nodes()

    named = {(role, name) for role, name, _ in nodes}
    for role, name in (
        ("main", ""),
        ("region", "Frames and lanes"),
        ("complementary", "Side"),
        ("tree", "Lanes"),
        ("tablist", "About the session"),
        ("tabpanel", "About the session"),
        ("textbox", "Session time"),
        ("searchbox", "Find a lane"),
        ("button", "Zoom in"),
        ("image", "Scene at 0:01.500"),
    ):
        assert (role, name) in named, (role, name)
    items = [(name, said) for role, name, said in nodes if role == "treeitem"]
    assert "enemies, clock, paused by you, local time 00:00.338" in [name for name, _ in items]
    attack = next(said for name, said in items if name == "attack, timer, waits: enemies")
    assert attack["level"] == 4
    (frames,) = [said for role, name, said in nodes if (role, name) == ("slider", "Frames")]
    assert frames["value"] == 1_500
    said_of_frame = tab.run("page.top.getAttribute('aria-valuetext')")
    assert said_of_frame == "frame 89, 16.7 ms, at 0:01.500"
    assert not [name for role, name, _ in nodes if role in {"button", "tab"} and not name]
    live = [said for role, _, said in nodes if role == "status"]
    assert [said["live"] for said in live] == ["polite"]

    tab.run("page.top.focus()")
    tab.press("ArrowRight")
    assert tab.run("document.getElementById('status').textContent") == (
        "frame 90, 16.7 ms, at 0:01.516"
    )
    tab.run("document.querySelector('[role=tab][aria-selected=true]').focus()")
    tab.press("ArrowRight")
    assert tab.run("document.activeElement.dataset.tab") == "queue"
    assert tab.run("page.playhead") < 1.6e9


def test_that_frames_over_budget_have_the_colours_of_the_window_in_a_page(tab: Tab) -> None:
    fills = [SeverityFill(each, Tone.STRONG) for each in (*Severity, Severity.IN_BUDGET)]

    assert tab.run("page.about.fills.map(page.color)") == [
        fill_color(each, COLORS["light"]) for each in fills
    ]


def test_that_a_page_prints_all_lanes_on_white(tab: Tab) -> None:
    tab.call("Emulation.setEmulatedMedia", features=[DARK])
    tab.run(
        "addEventListener('beforeprint', () => { globalThis.onPaper = ["
        "page.lanes.height / devicePixelRatio >= page.height, page.color('bg')]; })"
    )

    document = tab.printed()

    assert document.startswith(b"%PDF")
    assert tab.run("onPaper") == [True, COLORS["light"]["bg"]]
    tab.rest()
    assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(27, 31, 37)"


def test_that_frames_and_lanes_have_one_axis_also_beside_a_scroll_bar(tab: Tab) -> None:
    tab.call(
        "Emulation.setDeviceMetricsOverride",
        width=900, height=340, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    tab.rest()

    assert tab.run("page.scroller.scrollHeight > page.scroller.clientHeight")
    assert tab.run("page.top.getBoundingClientRect().width") == tab.run(
        "page.lanes.getBoundingClientRect().width"
    )


def test_that_lanes_are_drawn_down_to_the_end_of_a_window_that_grew(tab: Tab) -> None:
    for height in (400, 700):
        tab.call(
            "Emulation.setDeviceMetricsOverride",
            width=1200, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        tab.wait(f"innerHeight === {height} && page.lanes.height === page.scroller.clientHeight")


def test_that_the_longest_frame_of_any_stretch_is_found() -> None:
    dice = random.Random(5)
    times = [dice.randrange(1, 1_000) for _ in range(9_000)]
    stretches = [sorted(dice.sample(range(9_001), 2)) for _ in range(200)]
    code = (_FOLDER / "axis.js").read_text()

    told = in_node(
        f"{code};const [ns, stretches] = JSON.parse(process.argv[1]);"
        "const frames = new Frames({ index: ns, at: ns, ns, own: ns, class: ns });"
        "console.log(JSON.stringify(stretches.map("
        "([first, end]) => ns[frames.longestWithin(first, end)])))",
        json.dumps([times, stretches]),
    )

    assert told == [max(times[first:end]) for first, end in stretches]


def test_that_a_link_leads_to_an_instant_and_a_selection(tab: Tab) -> None:
    tab.run("location.hash = '#t=1.25&select=enemies'")
    tab.wait("!page.waiting && page.reading === undefined && page.selected !== null")

    assert tab.run("page.playhead") == 1.25e9
    side = tab.run("document.getElementById('side').textContent")
    assert "Paused by you." in side
    assert "Clock · root / game / enemies" in side
