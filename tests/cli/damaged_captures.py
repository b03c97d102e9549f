"""Captures as other programs and accidents leave them: whole ones, and ways to damage them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_OWN_COLUMNS = (
    "frame,at_ns,interval_ns,delta_ns,busy_ns,timers_ns,before_update_ns,start_ns,update_ns,"
    "late_update_ns,after_update_ns,draw_ns,at_ms,interval_ms,delta_ms,busy_ms,landmarks"
)
_FRAMES = 12
_TIMES_MS = (16.7, 16.6, 33.4, 8.25, 16.7, 0.5, 16.7, 100.125, 16.7, 16.6, 16.7, 16.8)

#: What a cell, a word or a value may turn into.
_ABSURD = (
    "0",
    "-0",
    "-1",
    "1e-300",
    "1e300",
    "1e999999999",
    "-1e-999999999",
    "4000000000000000000",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "1" * 5_000,
    "nan",
    "inf",
    "NA",
    "",
    " ",
    "1,5",
    "0x10",
    "true",
    "null",
    '"',
    '"""',
    "[]",
    "[[1],[2]]",
    "{}",
    "=1+1",
    "=cmd|' /C calc'!A0",
    "é\u2028\x00",
    "frametime",
    "x" * 140_000,
)


def own_csv() -> bytes:
    """Return our own CSV of twelve frames, with a bookmark."""
    lines = [_OWN_COLUMNS]
    at_ns = 0
    for frame, ms in zip(range(_FRAMES), _TIMES_MS, strict=True):
        ns = round(ms * 1_000_000)
        at_ns += ns
        name = "“boss”, réveil" if frame == 3 else ""
        cells = [frame, at_ns, ns, ns, 1_000, *[0] * 7, at_ns / 1e6, ms, ms, 0.001, f'"{name}"']
        lines.append(",".join(map(str, cells)))
    return "\r\n".join([*lines, ""]).encode()


def own_json() -> bytes:
    """Return our own JSON of twelve frames, with an intervention and a named range."""
    names = _OWN_COLUMNS.split(",")[:12]
    columns = {name: [frame * 1_000 for frame in range(_FRAMES)] for name in names}
    columns["frame"] = list(range(_FRAMES))
    values = {
        "format": "timeline-inspector frame times",
        "version": 1,
        "provenance": {"scene": "game", "created": "2026-01-02T03:04:05", "frame_rate": "60"},
        "columns": columns,
        "interventions": [
            {
                "kind": "command",
                "number": 1,
                "frame": 2,
                "at_ns": 2_000,
                "clock": "boss",
                "local_ns": 1,
                "host_time": "2026-01-02T03:04:05",
                "text": "Pause “boss”",
                "by": "window",
                "refusal": None,
                "undone_by": None,
            }
        ],
        "landmarks": [
            {
                "kind": "range",
                "frame": 1,
                "at_ns": 1_000,
                "last_frame": 3,
                "end_ns": 3_000,
                "name": "fight",
                "text": "",
            }
        ],
    }
    return json.dumps(values, indent=1).encode()


def _presentmon() -> bytes:
    head = "Application,ProcessID,SwapChainAddress,TimeInSeconds,MsBetweenPresents,QPCTime"
    rows = [
        f"game.exe,{7 + row % 2},0x{row % 3},{row / 60:.4f},{ms},{row * 99_999}"
        for row, ms in enumerate(_TIMES_MS)
    ]
    return "\n".join([head, *rows, ""]).encode()


def _mangohud() -> bytes:
    head = "os,cpu\nLinux,fast\nfps,frametime,elapsed"
    rows = [f"{1000 / ms:.1f},{ms},{row * 16_000_000}" for row, ms in enumerate(_TIMES_MS)]
    return "\n".join([head, *rows, ""]).encode()


def _plain() -> bytes:
    return "\n".join(map(str, _TIMES_MS)).encode()


def _european() -> bytes:
    rows = [f"{row};{str(ms).replace('.', ',')}" for row, ms in enumerate(_TIMES_MS)]
    return "\n".join(["// Größe", "Bild;ms", *rows]).encode("cp1252")


#: What programs write that have no format of their own.
TABLES: tuple[Callable[[], bytes], ...] = (
    *(_presentmon, _mangohud, _plain, _european),
    lambda: own_csv().decode().encode("cp1252"),
    lambda: _presentmon().decode().encode("utf-16"),
    lambda: b"\xef\xbb\xbf" + _presentmon(),
)
_WHOLE = (own_csv, own_csv, own_json, own_json, *TABLES)


def damaged(random: Random) -> bytes:
    """Return a capture with one to four things that are wrong with it."""
    return damage(random.choice(_WHOLE)(), random)


def damage(data: bytes, random: Random) -> bytes:
    """Return data with one to four things that are wrong with it."""
    for _ in range(random.randint(1, 4)):
        data = random.choice(_DAMAGE)(data, random)
    return data


def _place(data: bytes, random: Random) -> int:
    return random.randint(0, len(data))


def _cut(data: bytes, random: Random) -> bytes:
    return data[: _place(data, random)]


def _beheaded(data: bytes, random: Random) -> bytes:
    return data[_place(data, random) :]


def _flipped(data: bytes, random: Random) -> bytes:
    found = bytearray(data or b"\n")
    for _ in range(random.randint(1, 8)):
        found[random.randrange(len(found))] ^= 1 << random.randrange(8)
    return bytes(found)


def _zeroed(data: bytes, random: Random) -> bytes:
    at = _place(data, random)
    return data[:at] + bytes(random.randint(1, 40)) + data[at + 20 :]


def _absurd_cell(data: bytes, random: Random) -> bytes:
    separator = random.choice([b",", b";", b"\n", b":", b" "])
    cells = data.split(separator)
    cells[random.randrange(len(cells))] = random.choice(_ABSURD).encode()
    return separator.join(cells)


def _absurd_column(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    at, value = random.randrange(8), random.choice(_ABSURD[:-1]).encode()
    for number, line in enumerate(lines[1:], 1):
        cells = line.split(b",")
        if at < len(cells):
            cells[at] = value
            lines[number] = b",".join(cells)
    return b"\n".join(lines)


def _lines_moved(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    at, to = random.randrange(len(lines)), random.randrange(len(lines))
    lines.insert(to, lines[at] if random.random() < 1 / 2 else lines.pop(at))
    return b"\n".join(lines)


def _columns_doubled(data: bytes, random: Random) -> bytes:
    lines = [line.split(b",") for line in data.split(b"\n")]
    at, to = random.randrange(8), random.randrange(8)
    for cells in lines:
        if at < len(cells):
            cells.insert(to, cells[at] if random.random() < 0.95 else cells.pop(at))
    return b"\n".join(b",".join(cells) for cells in lines)


def _other_encoding(data: bytes, random: Random) -> bytes:
    text = data.decode(errors="replace")
    return text.encode(random.choice(["utf-16", "utf-16-be", "cp1252", "utf-32"]), "replace")


def _json_value(data: bytes, random: Random) -> bytes:
    """Replace a value somewhere in a JSON."""
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        return _flipped(data, random)
    at = whole
    while isinstance(at, dict | list) and at:
        key = random.choice(list(at)) if isinstance(at, dict) else random.randrange(len(at))
        if not isinstance(at[key], dict | list) or random.random() < 1 / 3:
            at[key] = random.choice(
                [None, True, 1.5, -1, 10**30, "x", [], {}, [[1, 2]], {"a": [1]}, [None], ["1e9"]]
            )
            break
        at = at[key]
    return json.dumps(whole).encode()


def _nested(data: bytes, random: Random) -> bytes:
    at = _place(data, random)
    return data[:at] + random.choice([b"[", b'{"a":', b'"', b"\r"]) * 5_000 + data[at:]


_DAMAGE: tuple[Callable[[bytes, Random], bytes], ...] = (
    _cut,
    _beheaded,
    _flipped,
    _zeroed,
    _absurd_cell,
    _absurd_cell,
    _absurd_column,
    _lines_moved,
    _columns_doubled,
    _other_encoding,
    _json_value,
    _json_value,
    _json_value,
    _nested,
)
