"""Plot and report of a comparison: everything is in them, whatever the names and the frames."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from inspector.analysis.statistics.runs import ComparedRun, differences
from inspector.errors import ExportError
from inspector.formats.aligned_chart import AlignedRun, aligned_chart
from inspector.formats.drawing.display_list import Box, Group, Polyline, Text
from inspector.formats.report.comparison import (
    comparison_report,
    html_of_comparison,
    write_comparison,
)
from inspector.sessions.compared import run_of_file
from tests.formats.test_report import Balanced
from tests.sessions.test_compared import sampled

pytestmark = pytest.mark.usefixtures("few_resamples")
MS = 1_000_000
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def run(name: str, *times_ms: float, count: int = 100) -> ComparedRun:
    return ComparedRun(name, (np.tile(times_ms, count) * MS).astype(np.int64))


def test_that_the_page_is_well_formed_and_names_are_text() -> None:
    runs = [run("<a>", 10, 11), run("b & c", 12, 13), run("d", 10, 11)]

    found = differences(runs)
    page = html_of_comparison(found, "dark", (16.7, 8.3), NOW)

    reader = Balanced()
    reader.feed(page)
    assert (reader.open, reader.wrong) == ([], [])
    assert "“b &amp; c” is slower than “&lt;a&gt;”" in page
    assert "There is no evidence that “d” is faster or slower" in page
    assert page == html_of_comparison(differences(runs), "dark", (16.7, 8.3), NOW)


def test_that_it_is_written_in_the_format_of_its_suffix(qapp: object, tmp_path: Path) -> None:
    assert qapp is not None
    found = differences([run("a", 10, 11), run("b", 12, 13)])

    for name, head in (
        *(("c.html", b"<!doctype html>"), ("c.pdf", b"%PDF-")),
        *(("c.png", b"\x89PNG"), ("c.svg", b"<?xml")),
    ):
        write_comparison(found, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(head)
    with pytest.raises(
        ExportError, match=r"suffix \.html, \.pdf, \.md, \.png, \.svg, \.csv or \.json"
    ):
        write_comparison(found, tmp_path / "c.txt")


def test_that_names_are_text_in_markdown_too(tmp_path: Path) -> None:
    sides = [
        ComparedRun.pooled("a|b", [run("<1>", 10, 11), run("two", 10, 12)]),
        ComparedRun.pooled("c", [run("*3*", 12, 13), run("four", 12, 14)]),
    ]

    write_comparison(differences(sides), tmp_path / "c.md")

    lines = (tmp_path / "c.md").read_text().splitlines()
    assert lines[0] == "# Comparison: a\\|b – c"
    (row,) = (line for line in lines if line.startswith("| \\<1\\> |"))
    assert row.startswith("| \\<1\\> | 200 | 2.10 s | 95.2 fps | 10.0 ms |")
    assert any(line.startswith("| a\\|b: all frames | 400 |") for line in lines)
    assert any("| \\*3\\* |" in line for line in lines)
    rules = [line.count("|") for line in lines if line.startswith("| ---")]
    assert len(rules) == 2


@pytest.mark.parametrize("suffix", [".json", ".csv", ".html", ".md"])
def test_that_letters_of_names_are_written_as_they_are(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"c{suffix}"

    write_comparison(differences([run("früh", 10, 11), run("遅い", 12, 13)]), path)

    text = path.read_text(encoding="utf-8")
    assert "früh" in text
    assert "遅い" in text


def test_that_every_run_has_a_line_that_ends_where_it_does() -> None:
    runs = [
        AlignedRun(name, np.full(count, 10 * MS), np.arange(1, count + 1) * 10 * MS)
        for name, count in (("long", 1000), ("short", 500))
    ]

    items = aligned_chart(runs, Box(0, 0, 600, 300), "light")

    lines = {item.name: item.items[0] for item in items if isinstance(item, Group)}
    long, short = lines["long"], lines["short"]
    assert isinstance(long, Polyline)
    assert isinstance(short, Polyline)
    left = long.points[0].x
    full = long.points[-1].x - left
    assert short.points[-1].x - left == pytest.approx(full / 2, rel=0.01)
    assert long.points[0].y == short.points[0].y


def test_that_a_frame_that_is_cut_off_is_marked_and_a_million_are_thinned() -> None:
    times = np.full(1_000_000, 10 * MS)
    times[500_000] = 900 * MS

    items = aligned_chart(
        [AlignedRun("run", times, np.cumsum(times))], Box(0, 0, 600, 300), "light"
    )

    (line,) = (each.items[0] for each in items if isinstance(each, Group) and each.name == "run")
    assert isinstance(line, Polyline)
    assert len(line.points) < 3_000
    assert min(point.y for point in line.points) < 50
    labels = [item.text for item in items if isinstance(item, Text)]
    assert "15" in labels or "10" in labels


def test_that_samples_are_drawn_over_their_time_without_distributions(tmp_path: Path) -> None:
    sides = [run_of_file(sampled(tmp_path / f"{mean}.csv", mean)) for mean in (16.6, 15.0)]
    found = differences(sides)

    report = comparison_report(found, "light", (), datetime.now(UTC))
    for suffix in (".html", ".pdf", ".svg"):
        write_comparison(found, tmp_path / f"c{suffix}")

    titles = [each.title for each in report.sections]
    assert "Frame times" in titles
    assert "Distributions" not in titles
    (runs,) = (each.table for each in report.sections if each.title == "Runs")
    assert runs is not None
    assert runs.rows[0][1:3] == ("100", "50.0 s")
    said = (tmp_path / "c.svg").read_text()
    assert "100 samples, mean 16." in said
    assert "P99" not in said
