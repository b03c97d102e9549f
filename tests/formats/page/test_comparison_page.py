"""A comparison as one HTML file: what was found out, and the frames of every run."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.analysis.statistics.runs import ComparedRun, differences
from inspector.formats.report.comparison import write_comparison
from inspector.tokens import CURVES
from tests.formats.page.browser_tab import Tab

pytestmark = pytest.mark.usefixtures("few_resamples")
MS = 1_000_000
HOSTILE = "</script><img src=x onerror=document.title='run'>\u202e'\"&amp;"


def run(name: str, around_ms: float, seed: int) -> ComparedRun:
    dice = np.random.default_rng(seed)
    times_ms = dice.normal(around_ms, 0.5, 600)
    times_ms[300] = 40.0
    return ComparedRun(name, (times_ms * MS).astype(np.int64))


RUNS = [run("before", 17.0, 1), run(HOSTILE, 15.0, 2), run("before again", 17.0, 3)]


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory, browser: Tab) -> Tab:
    path = tmp_path_factory.mktemp("page") / "comparison.html"
    write_comparison(differences(RUNS), path, budgets_ms=(1000 / 60,))
    browser.open(path)
    return browser


def test_that_a_page_of_a_comparison_has_its_sentences_and_tables(tab: Tab) -> None:
    told = tab.run("document.querySelector('main').textContent")

    for each in differences(RUNS):
        assert each.sentence.replace("\u202e", "\\u202e") in told.replace("\u202e", "\\u202e")
    titles = tab.run("[...document.querySelectorAll('h2')].map((each) => each.textContent)")
    assert titles[:4] == ["Verdict", "Runs", "Frame times", "Distributions"]
    shown = tab.run(
        "[...document.querySelectorAll('svg')].filter((each) => each.getClientRects().length)"
        ".map((each) => each.querySelector('title').textContent.split(' of')[0])"
    )
    assert shown == ["Histogram", "Cumulative", "L-shape"]


def test_that_a_page_of_a_comparison_has_every_frame_of_every_run(tab: Tab) -> None:
    told = tab.run("page.about.runs.map((run) => [run.name, ...run.frames.ns])")

    assert told == [[each.name, *each.times_ns.tolist()] for each in RUNS]
    fills = tab.run("page.about.runs.map((run) => run.fills)")
    assert fills == [[token, "orange", "red", token] for token, _dash in CURVES[:3]]
    numbers = tab.run("page.bands.map((band) => band.numbers.longest.textContent)")
    assert numbers == ["40.0 ms"] * 3


def test_that_names_in_a_comparison_are_text_and_nothing_is_loaded(tab: Tab) -> None:
    assert tab.run("document.querySelectorAll('img, link, style').length") == 1
    assert tab.run("document.title.startsWith('Comparison: before')")
    assert HOSTILE in tab.run("page.bands[1].element.textContent")
    policy = tab.run("document.querySelector('meta[http-equiv]').content")
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_that_frames_of_a_run_are_gone_through_by_keys_and_announced(tab: Tab) -> None:
    tab.run("page.goTo(0), page.bands[1].canvas.focus()")
    tab.press("j")

    third_of_a_way = int(RUNS[1].times_ns[:301].sum())
    assert tab.run("page.playhead") == third_of_a_way
    said = tab.run("document.getElementById('status').textContent")
    assert said.startswith(f"{HOSTILE}: frame 300, 40.0 ms, at 0:04.5")
    tab.press("ArrowLeft")
    assert tab.run("page.playhead") == third_of_a_way - 40 * MS
    sliders = [name for role, name, _ in tab.nodes() if role == "slider"]
    assert sliders == [f"Frames of {each.name}" for each in RUNS]


def test_that_a_comparison_is_printed_with_the_plot_of_its_frames(tab: Tab) -> None:
    tab.run(
        "addEventListener('beforeprint', () => { globalThis.onPaper = ["
        "...document.querySelectorAll('svg')].filter((each) => each.getClientRects().length)"
        ".map((each) => each.querySelector('title').textContent.split(' of')[0]); })"
    )

    tab.printed()

    assert tab.run("onPaper") == ["Frame times", "Histogram", "Cumulative", "L-shape"]
