"""Reads Chrome trace-event JSON: an object with ``traceEvents``, or an array, also cut off.

Written by browsers, Perfetto, viztracer and many others. The events are read in pieces of a few
megabytes: where they begin and end is found by counting brackets outside of texts, and what is in
them is parsed by a native parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.errors import CaptureError
from inspector.formats.captures.capture import Capture
from inspector.formats.captures.trace import TraceReader
from inspector.formats.captures.trace_extras import OVERLAPPING
from inspector.timebase import MAX_NS, NS_PER_US

_EVENTS_KEY: Final = re.compile(rb'"traceEvents"\s*:\s*\[')
_BETWEEN_EVENTS: Final = re.compile(rb"\}\s*,\s*\{")
_BLANKS: Final = b" \t\r\n,"
#: Longer events count as damaged.
_LONGEST_EVENT: Final = 1 << 25
#: Bytes within which the key of the events is looked for.
_LONGEST_KEY: Final = 64
#: Only this many characters of a name are kept.
_LONGEST_NAME: Final = 400
#: Counter values beyond this are no counts, and infinity is not a number in JSON.
_LARGEST_VALUE: Final = 1e300
_QUOTE, _BACKSLASH = b'"\\'
_OPENING: Final = b"{["
_CLOSING: Final = b"}]"
_IGNORED: Final = {
    "N": "object event",
    "O": "object event",
    "D": "object event",
    "P": "sample",
    "v": "memory dump",
    "V": "memory dump",
}


class _Event(msgspec.Struct, gc=False):
    """An event as it is written; programs differ in the types of numbers."""

    ph: Any = ""
    name: Any = ""
    ts: Any = None
    dur: Any = None
    pid: Any = 0
    tid: Any = None
    cat: Any = ""
    id: Any = None
    id2: Any = None
    bp: Any = None
    bind_id: Any = None
    flow_in: Any = None
    flow_out: Any = None
    args: msgspec.Raw = msgspec.Raw(b"")


class _Names(msgspec.Struct):
    name: Any = ""


_decode_many = msgspec.json.Decoder(list[_Event]).decode
_decode_one = msgspec.json.Decoder(_Event).decode
_decode_values = msgspec.json.Decoder(dict[str, Any]).decode
_decode_name = msgspec.json.Decoder(_Names).decode
_PROBLEMS: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)


def is_json(head: bytes) -> bool:
    """Return whether a file begins like JSON; reading it shows whether it is a trace."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


class JsonTraceReader(TraceReader):
    kind = "Chrome trace"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._has_begun = False
        self._events = 0
        self._threads: dict[object, int] = {}

    def _read_piece(self, text: bytes) -> bytes:
        if not self._has_begun:
            text = self._from_first_event(text)
            if not self._has_begun:
                return text
        rest = self._read_whole(text)
        while len(rest) > _LONGEST_EVENT:
            rest = self._read_whole(self._behind_damage(rest))
        return rest

    def _read_end(self, rest: bytes) -> None:
        while rest.strip(_BLANKS + b"]}"):
            rest = self._read_whole(self._behind_damage(rest))

    def capture(self) -> Capture:
        if not self._has_begun:
            raise refuse_json(self._path, self._source.head)
        return super().capture()

    def _from_first_event(self, text: bytes) -> bytes:
        start = text.removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith(b"["):
            self._has_begun = True
            return start[1:]
        found = _EVENTS_KEY.search(text)
        if found is None:
            return text[-_LONGEST_KEY:]
        self._has_begun = True
        return text[found.end() :]

    def _read_whole(self, text: bytes) -> bytes:
        """Read the complete events; return the rest of the text."""
        ends, is_over = _event_ends(text)
        if len(ends):
            events = text[: ends[-1]].strip(_BLANKS)
            try:
                found = _decode_many(b"[" + events + b"]")
            except _PROBLEMS:
                self._read_singly(text, ends)
            else:
                self._read(found)
        if is_over:
            self._is_over = True
            return b""
        return text[ends[-1] :] if len(ends) else text

    def _read_singly(self, text: bytes, ends: NDArray[np.int64]) -> None:
        """Read events one by one, because one of them is damaged."""
        start = 0
        for end in ends.tolist():
            event = text[start:end].strip(_BLANKS)
            start = end
            try:
                self._read([_decode_one(event)])
            except _PROBLEMS:
                self._events += 1
                self._builder.note_damage(f"event {self._events:,}")

    def _behind_damage(self, text: bytes) -> bytes:
        """Count a damaged event; return the text from where the next event seems to begin."""
        self._events += 1
        self._builder.note_damage(f"event {self._events:,}")
        found = _BETWEEN_EVENTS.search(text)
        return b"" if found is None else text[found.end() - 1 :]

    def _read(self, events: list[_Event]) -> None:
        handlers = self._HANDLERS
        for event in events:
            self._events += 1
            try:
                handlers[event.ph](self, event)
            except (TypeError, ValueError, OverflowError, KeyError):
                self._builder.note_damage(f"event {self._events:,}")

    def _complete(self, event: _Event) -> None:
        took_ns = 0 if event.dur is None else _ns(event.dur)
        name = self._builder.text(_name(event.name))
        track, at_ns = self._thread(event), _ns(event.ts)
        self._builder.add(track, name, at_ns, took_ns, _arguments(event))
        if event.bind_id is not None:
            self._bind(event, track, at_ns)

    def _begin(self, event: _Event) -> None:
        track, at_ns = self._thread(event), _ns(event.ts)
        name = self._builder.text(_name(event.name))
        self._builder.begin(track, track, name, at_ns, _arguments(event))
        if event.bind_id is not None:
            self._bind(event, track, at_ns)

    def _end(self, event: _Event) -> None:
        self._builder.end(self._thread(event), _ns(event.ts), _arguments(event))

    def _instant(self, event: _Event) -> None:
        name = self._builder.text(_name(event.name))
        self._builder.add(self._thread(event), name, _ns(event.ts), 0, _arguments(event))

    def _begin_async(self, event: _Event) -> None:
        name = _name(event.name)
        row = self._builder.track(
            ("async", str(event.pid), name), str(event.pid), f"{name}{OVERLAPPING}"
        )
        key, number = _async_key(event), self._builder.text(name)
        self._builder.begin(key, row, number, _ns(event.ts), _arguments(event))

    def _end_async(self, event: _Event) -> None:
        self._builder.end(_async_key(event), _ns(event.ts), _arguments(event))

    def _count(self, event: _Event) -> None:
        at_ns, name = _ns(event.ts), _name(event.name)
        if event.id is not None:
            name = f"{name}[{_name(event.id)}]"
        values = _decode_values(event.args) if event.args else {}
        for series, value in values.items():
            if type(value) in (int, float) and abs(value) <= _LARGEST_VALUE:
                self._builder.extras.add_counter(
                    *(str(event.pid), name, _name(series), at_ns, float(value))
                )
            else:
                self._builder.ignored["non-numeric counter value"] += 1

    def _flow(self, event: _Event) -> None:
        at_ns, name = _ns(event.ts), _name(event.name)
        number = event.id if event.id2 is None else event.id2
        key = ("flow", _name(event.cat), name, _name(number))
        kind = event.ph
        flow = self._builder.extras.flow(key, name, begins=kind == "s", ends=kind == "f")
        # The end of a flow binds to the next slice, or with ``bp: "e"`` to the enclosing one.
        is_next = kind == "f" and event.bp != "e"
        self._builder.add_flow(flow, self._thread(event), at_ns, is_next=is_next)

    def _bind(self, event: _Event, track: int, at_ns: int) -> None:
        """Add a slice to the flow that the slice itself names (``bind_id``)."""
        if event.flow_in or event.flow_out:
            flow = self._builder.extras.flow(("bind", _name(event.bind_id)), "")
            self._builder.add_flow(flow, track, at_ns, is_next=False)

    def _ignore(self, event: _Event) -> None:
        self._builder.ignored[_IGNORED[event.ph]] += 1

    def _thread(self, event: _Event) -> int:
        key = (event.pid, event.tid)
        number = self._threads.get(key)
        if number is None:
            name = "process" if event.tid is None else f"thread {_name(event.tid)}"
            number = self._builder.track(("thread", *map(str, key)), str(event.pid), name)
            self._threads[key] = number
        return number

    def _read_name(self, event: _Event) -> None:
        if event.name not in ("process_name", "thread_name"):
            return
        try:
            name = _name(_decode_name(event.args).name)
        except _PROBLEMS:
            return
        process = str(event.pid)
        if event.name == "process_name":
            self._builder.name_process(process, f"{name} ({_name(event.pid)})")
        else:
            named = f"{name} ({_name(event.tid)})"
            self._builder.rename_track(self._thread(event), process, named)

    #: The handlers of phases; as bound methods they would make the reader refer to itself.
    _HANDLERS: ClassVar[dict[object, Callable[[JsonTraceReader, _Event], None]]] = {
        "X": _complete,
        "B": _begin,
        "E": _end,
        **dict.fromkeys("iIRnTp", _instant),
        **dict.fromkeys("bS", _begin_async),
        **dict.fromkeys("eF", _end_async),
        **dict.fromkeys("stf", _flow),
        "C": _count,
        **dict.fromkeys(_IGNORED, _ignore),
        "M": _read_name,
    }


def _ns(value: object) -> int:
    if type(value) is int:
        found = value * NS_PER_US
    elif type(value) is str:
        found = round(float(value[:_LONGEST_NAME]) * NS_PER_US)
    elif type(value) is float:
        found = round(value * NS_PER_US)
    else:
        raise TypeError
    if not -MAX_NS < found < MAX_NS:
        raise ValueError
    return found


def _name(value: object) -> str:
    return value[:_LONGEST_NAME] if type(value) is str else str(value)[:_LONGEST_NAME]


def _arguments(event: _Event) -> bytes:
    """Return the arguments of an event if they are an object that is not empty."""
    # Copied, because a view would keep all the text that was read in memory.
    found = bytes(event.args)
    return found if len(found) > len(b"{}") and found.startswith(b"{") else b""


def _async_key(event: _Event) -> tuple[str, ...]:
    """Return the key by which the beginning and the end of an asynchronous slice are matched."""
    number = event.id if event.id2 is None else event.id2
    return ("async", str(event.pid), _name(event.cat), _name(event.name), _name(number))


def _event_ends(text: bytes) -> tuple[NDArray[np.int64], bool]:
    """Return where each whole event ends, and whether the array of events ends here.

    The text begins between two events. Brackets within strings do not count: those after an odd
    number of unescaped quotes.
    """
    data = np.frombuffer(text, dtype=np.uint8)
    quotes = np.flatnonzero(data == _QUOTE)
    if b"\\" in text:
        quotes = quotes[~_escaped(data, quotes)]
    is_opening = (data == _OPENING[0]) | (data == _OPENING[1])
    is_closing = (data == _CLOSING[0]) | (data == _CLOSING[1])
    brackets = np.flatnonzero(is_opening | is_closing)
    outside = (np.searchsorted(quotes, brackets) & 1) == 0
    brackets = brackets[outside]
    depth = np.cumsum(np.where(is_opening[brackets], 1, -1))
    over = np.flatnonzero(depth < 0)
    if len(over):
        brackets, depth = brackets[: over[0]], depth[: over[0]]
    return brackets[depth == 0] + 1, bool(len(over))


def _escaped(data: NDArray[np.uint8], places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which characters follow an odd number of backslashes."""
    odd = np.zeros(len(places), dtype=np.bool_)
    left = np.arange(len(places))
    at = places - 1
    while len(left):
        inside = at >= 0
        is_backslash = inside & (data[np.maximum(at, 0)] == _BACKSLASH)
        left, at = left[is_backslash], at[is_backslash] - 1
        odd[left] ^= True
    return odd


def refuse_json(path: Path, head: bytes) -> CaptureError:
    """Return why JSON that is no capture cannot be read, with what it looks like."""
    for key, what in _FOREIGN:
        if key in head:
            return CaptureError(f"{path} is {what}, which is not supported. {_CHOOSE}")
    return CaptureError(f"{path} is JSON, but neither a capture nor a trace. {_CHOOSE}")


_CHOOSE: Final = "Choose a capture, or a trace in Chrome's trace-event format."
#: JSON of other programs, recognised by a key near the beginning.
_FOREIGN: Final = (
    (b'"projectId"', "a trace of Google Cloud"),
    (b'"$schema": "https://www.speedscope', "a profile of speedscope"),
    (b'"$schema":"https://www.speedscope', "a profile of speedscope"),
    (b'"stackTable"', "a profile of Firefox"),
    (b'"nodes"', "a profile of V8"),
    (b'"log"', "a HAR archive"),
)
