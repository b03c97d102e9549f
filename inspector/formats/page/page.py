"""A page as one file that loads nothing: the data, what draws it, and nothing that could be run."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import numpy as np

from inspector.analysis.explain.explain import FIRES_IN, NOT_REACHED, OVERDUE
from inspector.formats.page.page_data import PageData, page_data
from inspector.tokens import COLORS, THEMES, ThemeName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.formats.arrangement.picture import Timed
    from inspector.formats.frame_times import Provenance
    from inspector.formats.options import ExportOptions

_HERE: Final = Path(__file__).parent
_SCRIPTS: Final = ("reading.js", "page.js")
_SEVEN_BITS: Final = 127
_MOST_BYTES: Final = 10
#: Lateness that is shown, in nanoseconds.
_LATE_FROM_NS: Final = 1_000_000

_BODY: Final = """\
<header>
<h1 id="title"></h1>
<p id="from"></p>
<label>Time <input id="time" size="12" aria-label="Session time"></label>
<input id="filter" type="search" placeholder="Find a lane" aria-label="Find a lane">
<span id="tools">
<button data-do="out" aria-label="Zoom out">−</button>
<button data-do="in" aria-label="Zoom in">+</button>
<button data-do="fit">Fit</button>
</span>
<p id="status" role="status">Reading…</p>
</header>
<main>
<div id="arrangement">
<div id="about-frames">
<strong>Frames</strong>
<dl><dt>P50</dt><dd id="p50"></dd><dt>P99</dt><dd id="p99"></dd><dt>max</dt><dd id="longest"></dd>
<dt>over</dt><dd id="over"></dd></dl>
<button data-do="previous over" title="Previous frame over budget (K)">◂ over</button>
<button data-do="next over" title="Next frame over budget (J)">over ▸</button>
</div>
<div><canvas id="top" role="img" aria-label="Frames and ruler"></canvas></div>
<div id="scroller">
<ul id="rows" role="tree" aria-label="Lanes"></ul>
<div id="lanes-box"><canvas id="lanes" role="img" aria-label="Firings of the lanes"></canvas></div>
</div>
</div>
<aside aria-label="Why">
<div role="tablist">
<button role="tab" data-tab="why" data-name="Why"></button>
<button role="tab" data-tab="queue" data-name="Timers"></button>
<button role="tab" data-tab="findings" data-name="Findings"></button>
<button role="tab" data-tab="late" data-name="Late"></button>
<button role="tab" data-tab="marks" data-name="Marks"></button>
</div>
<div id="side" role="tabpanel"></div>
<p class="muted">Wheel: zoom · Shift+wheel or drag: move · drag the ruler or Alt+click: playhead ·
← → firing or frame · ↑ ↓ lane · J K frame over budget · + − F zoom · C fold · / find · Esc</p>
</aside>
</main>
<div id="readout" hidden></div>
"""


def write_page(
    data: Timed, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    """Write a session as one HTML file.

    Args:
        data: Its frames, and its events if there are any.
        options: The title, the budgets and the theme, which a reader's system overrides.
        stream: Takes the file, UTF-8.
    """
    frames, events = data
    found = page_data(frames, events, provenance, options)
    stream.write(html_of(found, options.theme).encode("utf-8", "backslashreplace"))


def html_of(data: PageData, theme: ThemeName) -> str:
    style = _palettes(theme) + (_HERE / "page.css").read_text(encoding="utf-8")
    script = "".join((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    )
    packed_data = base64.b64encode(packed(data)).decode()
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(data.about['title'])}</title><style>{style}</style></head><body>\n"
        f'{_BODY}<script type="text/plain" id="data">{packed_data}</script>\n'
        f"<script>{script}</script></body></html>\n"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _palettes(theme: ThemeName) -> str:
    """Return the colours of the tokens: those of the reader's system, else of the theme."""
    shades = {
        each: "".join(f"--{name}:{value};" for name, value in COLORS[each].items())
        for each in THEMES
    }
    asked = "".join(
        f"@media (prefers-color-scheme:{each}){{:root{{{shades[each]}}}}}\n" for each in THEMES
    )
    return f":root{{{shades[theme]}}}\n{asked}"


def packed(data: PageData) -> bytes:
    """Return the data as a raw deflate stream: a length, texts as JSON, and the columns.

    Each column is differences, zigzag, seven bits a byte.
    """
    columns = [_varints(each) for each in data.columns]
    about = {
        **data.about,
        "columns": [
            [len(values), len(each)] for values, each in zip(data.columns, columns, strict=True)
        ],
        "lateFrom": _LATE_FROM_NS,
        "words": {"fires": FIRES_IN, "due": OVERDUE, "unreachable": NOT_REACHED},
    }
    text = json.dumps(about, ensure_ascii=True, separators=(",", ":")).encode()
    stream = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    parts = [stream.compress(len(text).to_bytes(4, "little") + text)]
    parts += [stream.compress(each) for each in columns]
    return b"".join([*parts, stream.flush()])


def _varints(values: Sequence[int]) -> bytes:
    known = np.array([0, *values], dtype=np.int64)
    differences = known[1:] - known[:-1]
    zigzag = ((differences << 1) ^ (differences >> 63)).view(np.uint64)
    shifts = np.arange(_MOST_BYTES, dtype=np.uint64) * np.uint64(7)
    groups = zigzag[:, None] >> shifts
    is_used = groups > 0
    is_used[:, 0] = True
    has_more = np.zeros_like(is_used)
    has_more[:, :-1] = is_used[:, 1:]
    numbers = (groups & np.uint64(_SEVEN_BITS)).astype(np.uint8) | (has_more.astype(np.uint8) << 7)
    used: bytes = numbers[is_used].tobytes()
    return used
