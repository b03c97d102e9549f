"""The HTML of a report (``.html``): it loads nothing, and all names in it are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from inspector.formats.drawing.display_list import DisplayList
from inspector.formats.drawing.svg import svg_text
from inspector.formats.options import GRAPH_COLORS
from inspector.tokens import ThemeName

_STYLE: Final = """\
body{font:15px/1.5 Inter,system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;
color:%(text)s;background:%(background)s}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
table{border-collapse:collapse;font-size:.87em}
td,th{padding:.2em .9em .2em 0;text-align:left;vertical-align:top;border-bottom:1px solid %(grid)s}
td.n{text-align:right;white-space:nowrap}th{font-weight:600}
.quiet{color:%(muted)s}svg{max-width:100%%;height:auto}
"""


def html_page(title: str, theme: ThemeName, parts: Iterable[str]) -> str:
    """Return a page of HTML parts; a lone surrogate, as in undecodable file names, is escaped."""
    colors = GRAPH_COLORS[theme]
    style = _STYLE % {
        "text": colors.text,
        "background": colors.background,
        "grid": colors.grid,
        "muted": colors.muted_text,
    }
    page = '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    head = f"{page}<title>{escape(title)}</title><style>{style}</style></head><body>"
    body = (head, f"<h1>{escape(title)}</h1>", *parts, "</body></html>\n")
    return "\n".join(filter(None, body)).encode("utf-8", "backslashreplace").decode()


def svg_element(picture: DisplayList) -> str:
    return svg_text(picture).partition("?>")[2].strip()


def html_table(
    heading: Sequence[str], rows: Iterable[Sequence[str]], numbers: frozenset[int] | set[int]
) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heading)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{' class=n' if place in numbers else ''}>{escape(cell)}</td>"
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table>{f'<tr>{head}</tr>' if heading else ''}{body}</table>"
