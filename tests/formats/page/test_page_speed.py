"""How much a page does in the browser for a million events, counted and not timed."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

import pytest

from inspector.formats.export import PAGE, export_frames
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.traces.session_trace import Events
from inspector.sessions.scene import find_scene
from inspector.testing import pass_seconds, virtual_session
from tests.formats.page.browser_tab import Tab

MILLION = 1_000_000
ABOUT = Provenance("game", datetime(2026, 1, 2, tzinfo=UTC), "1.0", "virtual time", Fraction(60))
#: Counts what is drawn and how often instants are compared while a page is drawn.
COUNTED = """
(() => {
  const drawn = { shapes: 0 }, context = CanvasRenderingContext2D.prototype;
  for (const name of ["fillRect", "strokeRect", "fillText", "stroke", "fill"]) {
    const method = context[name];
    context[name] = function (...values) { drawn.shapes++; return method.apply(this, values); };
  }
  globalThis.shapesOf = (low, high) => {
    page.low = low; page.high = high; drawn.shapes = 0; page.draw(); return drawn.shapes;
  };
})()
"""
#: Gives every lane, and the frames, as many entries.
CROWDED = f"""
(() => {{
  const end = page.about.end, none = new Float64Array({MILLION}), step = end / {MILLION};
  const at = none.map((_, i) => i * step), ns = none.map((_, i) => step * (0.5 + (i % 7) / 14));
  for (const lane of page.about.lanes) if (!lane.word) {{ lane.at = at; lane.late = none; }}
  page.frames = new Frames({{ index: at, at, ns, own: none, class: none }});
}})()
"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory, browser: Tab) -> Tab:
    """The page of ten seconds of a game in Chromium."""
    session = virtual_session(find_scene("small_game"))
    session.pictures.is_watched = True
    pass_seconds(session, 10)
    session.refresh()
    path = tmp_path_factory.mktemp("page") / "game.page.html"
    frames = FrameTimes.from_history(session.timeline.frames)
    events = Events(session.history, pictures=session.pictures)
    export_frames(frames, ABOUT, ExportOptions(), path, events=events, exporter=PAGE)
    browser.open(path)
    browser.run(COUNTED)
    return browser


@pytest.fixture(scope="module")
def crowded(tab: Tab) -> Tab:
    tab.run(CROWDED)
    return tab


def test_that_a_million_events_a_lane_are_drawn_once_a_pixel(crowded: Tab) -> None:
    lanes = crowded.run("page.rows.length")
    width = crowded.run("page.width")
    whole = crowded.run("[page.about.start, page.about.end]")

    # A firing and a frame take one shape a pixel; clocks, marks and axes are few.
    for share in (1.0, 0.5, 0.01):
        low, high = whole[0], whole[0] + (whole[1] - whole[0]) * share
        assert crowded.run(f"shapesOf({low}, {high})") < (lanes + 1) * (width + 40) + 400


def test_that_panning_a_million_events_takes_a_fraction_of_a_frame_of_the_processor(
    crowded: Tab,
) -> None:
    crowded.call("Performance.setTimeDomain", timeDomain="threadTicks")
    crowded.call("Performance.enable")

    def script_s() -> float:
        metrics = crowded.call("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "ScriptDuration"))

    def pan(count: int) -> float:
        before = script_s()
        crowded.run(
            f"for (let step = 0; step < {count}; step++)"
            "{ page.low = step * 1e6; page.high = page.low + page.about.end / 2; page.draw(); }"
        )
        return script_s() - before

    pan(4)
    # A frame at 60 Hz has 16.7 ms; machines differ, so a twentieth of a second must do.
    assert pan(20) / 20 < 0.05


def test_that_what_is_first_drawn_waits_for_no_picture_of_the_scene(tab: Tab) -> None:
    order = tab.run(
        "(async () => { const found = [];"
        "for (const kind of [Page, Scene]) { const draw = kind.prototype.draw;"
        "  kind.prototype.draw = function (...values) {"
        "    found.push(kind.name); return draw.apply(this, values); }; }"
        "await open();"
        "while (!found.includes('Scene')) await new Promise(requestAnimationFrame);"
        "return found; })()"
    )

    assert order[0] == "Page"
    assert order.index("Scene") > 0
