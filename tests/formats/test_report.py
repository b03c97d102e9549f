"""The report: complete, self-contained, safe with any name, and the same on pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser
from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest
from msgspec import structs
from typing_extensions import override

from inspector.analysis.intervention_list import Intervention
from inspector.formats.captures.capture import Stream
from inspector.formats.drawing.display_list import Anchor, Group, Text
from inspector.formats.drawing.font_metrics import text_width
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.report.page_layout import A4, PageLayout, ReportTable
from inspector.formats.report.report import report_pages, write_html

PROVENANCE = Provenance("a <b>game</b>", datetime(2026, 1, 2, tzinfo=UTC), "0.1", "capture")


def report(
    times_ms: list[float],
    *,
    samples: str = "",
    options: ExportOptions | None = None,
    provenance: Provenance = PROVENANCE,
) -> str:
    intervals = np.array([round(each * 1_000_000) for each in times_ms], dtype=np.int64)
    frames = Stream("", "ms", intervals, samples=samples).frames()
    stream = BytesIO()
    write_html(frames, provenance, options or ExportOptions(), stream)
    return stream.getvalue().decode()


class Balanced(HTMLParser):
    """Notes elements that are not closed in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    @override
    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "meta":
            self.open.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize(
    "times_ms", [[16.7] * 100, [0.001], [10.0, 20.0, 900.0] * 50, [1000.0, 0.001]]
)
def test_that_the_page_is_well_formed_and_loads_nothing(times_ms: list[float]) -> None:
    page = report(times_ms)

    reader = Balanced()
    reader.feed(page)
    assert reader.open == []
    assert reader.wrong == []
    loaded = re.findall(r'(?:src|href)="?([^">\s]+)|url\(([^)]{0,30})', page)
    assert all((one or other).startswith("data:") for one, other in loaded)


def test_that_the_report_has_graph_distribution_and_statistics() -> None:
    page = report([10.0] * 98 + [20.0, 40.0])

    assert page.count("<svg") == 4
    assert all(f">{each}<" in page for each in ("Histogram", "Cumulative", "L-shape"))
    assert "<td>1% Low FPS</td><td class=n>33.3 fps</td>" in page
    assert "1000 / mean of the ⌊0.01 n⌋ + 1 longest f" in page
    assert "2 longer than" in report([10.0] * 398 + [20.0, 40.0])


def test_that_names_are_text() -> None:
    page = report([16.7] * 10)

    assert "<h1>a &lt;b&gt;game&lt;/b&gt;</h1>" in page
    assert "<b>" not in page


def test_that_a_name_that_cannot_be_decoded_is_escaped() -> None:
    page = report([16.7] * 10, provenance=structs.replace(PROVENANCE, scene="caf\udce9.py"))

    assert r"<h1>caf\udce9.py</h1>" in page


def test_that_of_samples_the_report_says_why_lows_are_missing() -> None:
    page = report([16.7] * 100, samples="It has samples.")

    assert "It has samples." in page
    assert "<td>1% Low FPS</td><td class=n>-</td><td>The log has samples" in page


def test_that_the_same_frames_give_the_same_bytes() -> None:
    assert report([10.0, 12.0] * 50) == report([10.0, 12.0] * 50)


def test_that_the_dark_theme_is_dark() -> None:
    page = report([10.0] * 50, options=ExportOptions(theme="dark"))

    assert "background:#ffffff" not in page


def frames_with(count: int) -> FrameTimes:
    intervals = np.full(600, 16_000_000, dtype=np.int64)
    pauses = tuple(
        Intervention(number, False, number * 16_000_000, number, f"pause “{number}”", "", "you")
        for number in range(1, count + 1)
    )
    return structs.replace(Stream("", "ms", intervals).frames(), interventions=pauses)


def test_that_the_pages_have_what_the_html_has() -> None:
    frames = frames_with(90)
    stream = BytesIO()
    write_html(frames, PROVENANCE, ExportOptions(), stream)
    page = unescape(stream.getvalue().decode())

    pages = report_pages(frames, PROVENANCE, ExportOptions())

    found = [text.text for each in pages for text in each.texts()]
    assert {"Frame times", "Distribution", "Statistics by tool", "Interventions"} <= set(found)
    for number in range(1, 91):
        assert f"pause “{number}”" in found
        assert f"pause “{number}”" in page
    assert found.count("Statistic") > 1
    assert f"page 1 of {len(pages)}" in " ".join(found)


@pytest.mark.parametrize("count", [0, 1, 400])
def test_that_nothing_on_a_page_is_beyond_it_or_on_something_else(count: int) -> None:
    for page in report_pages(frames_with(count), PROVENANCE, ExportOptions()):
        rows = [each for each in page.items if isinstance(each, Text)]
        for each in rows:
            width = text_width(each.text, each.size, is_bold=each.is_bold)
            left = each.at.x - (width if each.anchor is Anchor.END else 0)
            assert left >= 0
            assert left + width <= page.width
            assert 0 < each.at.y <= page.height
        pictures = [each for each in page.items if isinstance(each, Group)]
        assert sum(bool(picture.items) for picture in pictures) <= 4
        by_line: dict[float, list[tuple[float, float]]] = {}
        for each in rows:
            width = text_width(each.text, each.size, is_bold=each.is_bold)
            left = each.at.x - (width if each.anchor is Anchor.END else 0)
            by_line.setdefault(each.at.y, []).append((left, left + width))
        for spans in by_line.values():
            for (_left, end), (begin, _right) in pairwise(sorted(spans)):
                assert end <= begin


def test_that_the_unit_of_a_number_stays_beside_it() -> None:
    frames = Stream("", "ms", np.full(300, 16_666_667)).frames()

    pages = report_pages(frames, PROVENANCE, ExportOptions())

    texts = [each.text for page in pages for each in page.items if isinstance(each, Text)]
    assert "60.0 fps" in texts
    assert "fps" not in texts


def test_that_columns_of_a_table_share_the_width_without_cutting_words() -> None:
    pages = PageLayout(A4, "light", "A", datetime(2026, 1, 2, tzinfo=UTC), "0.1")
    long = "no evidence of a difference between the first and the second run"
    rows = tuple((f"clock {number}", "Average", "+0.0%", long, long) for number in range(3))
    pages.add_table(ReportTable(("Of", "Statistic", "Change", "Verdict", "Formula"), rows))

    (page,) = pages.finished()

    texts = [text.text for text in page.texts()]
    assert {"Change", "+0.0%", "Statistic"} <= set(texts)
    assert not [text for text in texts if "…" in text]
