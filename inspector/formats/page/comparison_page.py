"""The interactive page of a comparison: its report, and the frames of its runs to explore."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.formats.html_page import svg_element
from inspector.formats.page.columns import PageData
from inspector.formats.page.page import html_of
from inspector.formats.page.page_data import budget_about, fills_of_classes, frames_about
from inspector.formats.report.report import Report, ReportSection, html_of_table
from inspector.tokens import CURVES, THEMES, ThemeName

if TYPE_CHECKING:
    from inspector.analysis.statistics.runs import ComparedRun

#: The section whose picture can be explored.
FRAME_TIMES: Final = "Frame times"
#: Removed from pictures: the policy of the page forbids further styles, and it has these itself.
_STYLES: Final = re.compile("<style>.*?</style>", re.DOTALL)
_PLOTS: Final = '<div id="plots" role="region" aria-label="Frames of the runs"></div>'


def comparison_html(
    reports: Mapping[ThemeName, Report],
    sides: Sequence[Sequence[ComparedRun]],
    budgets_ms: Sequence[float],
    theme: ThemeName,
) -> str:
    report = reports[theme]
    runs = [(run, place) for place, side in enumerate(sides) for run in side]
    median_ns = float(np.median(runs[0][0].times_ns))
    budget = FrameBudget.of_ms(budgets_ms[0]) if budgets_ms else None
    data = PageData({"title": report.title, "start": 0, "runs": []})
    data.about["budget"] = (
        {"ns": median_ns, "isGiven": False}
        if budget is None
        else {**budget_about(budget), "isGiven": True}
    )
    for run, place in runs:
        times_ns = run.times_ns
        frames = frames_about(
            *(data, np.arange(len(times_ns)), run.ends_ns, times_ns, times_ns * 0, budget)
        )
        token, _dash = CURVES[place % len(CURVES)]
        fills = fills_of_classes(token)
        data.about["runs"].append({"name": run.name, "fills": fills, "frames": frames})
    data.about["end"] = max(int(run.ends_ns[-1]) for run, _ in runs)
    sections = "\n".join(_parts(reports, theme))
    return html_of(data, theme, body="comparison.html", sections=sections)


def _parts(reports: Mapping[ThemeName, Report], theme: ThemeName) -> Iterator[str]:
    for place, section in enumerate(reports[theme].sections):
        yield f"<section><h2>{escape(section.title)}</h2>"
        if section.note:
            yield f'<p class="quiet">{escape(section.note)}</p>'
        is_explored = section.title == FRAME_TIMES
        if is_explored:
            yield _PLOTS
        for each in THEMES:
            name = f"{each} only-paper" if is_explored else each
            yield from _pictures(reports[each].sections[place], name)
        if section.table is not None:
            yield html_of_table(section.table)
        yield "</section>"
    yield html_of_table(reports[theme].about)


def _pictures(section: ReportSection, name: str) -> Iterator[str]:
    for picture in section.pictures:
        yield f'<div class="{name}">{_STYLES.sub("", svg_element(picture))}</div>'
