"""The interactive page (``.page.html``) as one file: its data, its script, and a policy."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from inspector.formats.page.columns import PageData
from inspector.formats.page.page_data import page_data, pictures_data
from inspector.tokens import COLORS, THEMES, ThemeName

if TYPE_CHECKING:
    from inspector.formats.arrangement.picture import Timed
    from inspector.formats.frame_times import Provenance
    from inspector.formats.options import ExportOptions

_HERE: Final = Path(__file__).parent
_SCRIPTS: Final = (
    *("reading.js", "axis.js", "scene.js", "page.js"),
    *("comparison.js", "opening.js"),
)


def write_page(
    data: Timed, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    frames, events = data
    found = page_data(frames, events, provenance, options)
    pictures = pictures_data(found, frames, events)
    stream.write(html_of(found, options.theme, pictures).encode("utf-8", "backslashreplace"))


def html_of(
    data: PageData,
    theme: ThemeName,
    pictures: PageData | None = None,
    *,
    body: str = "session.html",
    sections: str = "",
) -> str:
    style = _palettes(theme) + (_HERE / "page.css").read_text(encoding="utf-8")
    script = "".join((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    elements = (_HERE / body).read_text(encoding="utf-8")
    elements = elements.replace("<!--sections-->", sections)
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    )
    blocks = [f'<script type="text/plain" id="data">{_in_base64(data)}</script>\n']
    if pictures is not None:
        # A block of its own, which the script reads after everything else is shown.
        blocks.append(f'<script type="text/plain" id="pictures">{_in_base64(pictures)}</script>\n')
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(data.about['title'])}</title><style>{style}</style></head><body>\n"
        f"{elements}{''.join(blocks)}<script>{script}</script></body></html>\n"
    )


def _in_base64(data: PageData) -> str:
    return base64.b64encode(data.packed()).decode()


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _palettes(theme: ThemeName) -> str:
    """Return the colours of the tokens: for the reader's light or dark mode, else for the theme."""
    shades = {
        each: "".join(f"--{name}:{value};" for name, value in COLORS[each].items())
        for each in THEMES
    }
    asked = "".join(
        f"@media (prefers-color-scheme:{each}){{:root{{{shades[each]}}}}}\n" for each in THEMES
    )
    return f":root{{{shades[theme]}}}\n{asked}:root.paper{{{shades['light']}}}\n"
