"""Reads Perfetto traces in protobuf: track events, and Android's frame timeline.

Only the fields that are needed are read, by their numbers in Perfetto's definitions
(https://perfetto.dev/docs/reference/trace-packet-proto); all others are skipped.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from inspector.errors import CaptureError
from inspector.formats.captures.capture import Capture
from inspector.formats.captures.source import CaptureSource
from inspector.formats.captures.trace import TraceBuilder

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MOST_VARINT: Final = 10
_PACKET_TAG: Final = 0x0A
#: Perfetto's own limit is 512 kB; screenshots and others may be longer.
_LONGEST_PACKET: Final = 1 << 26
_MOST_EXPANDED: Final = 1 << 24
_SCREENED_PACKETS: Final = 4
_HIGHEST_FIELD: Final = 1_000
_LONGEST_NAME: Final = 400
_MOST_DEPTH: Final = 16

# Fields of a packet.
_CLOCK_SNAPSHOT: Final = 6
_TIMESTAMP: Final = 8
_SEQUENCE: Final = 10
_TRACK_EVENT: Final = 11
_INTERNED: Final = 12
_FLAGS: Final = 13
_COMPRESSED: Final = 50
_CLOCK_ID: Final = 58
_DEFAULTS: Final = 59
_TRACK: Final = 60
_FRAME: Final = 76
_COMPRESSED_ZSTD: Final = 133
#: Bit of the flags: what was interned before no longer counts.
_CLEARED: Final = 1
#: Clocks of a sequence, which may count in other units from the packet before.
_SEQUENCE_CLOCKS: Final = range(64, 128)
# Types of a track event.
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4
#: The events of the frame timeline by field: name of the track, and the field of its process.
_FRAMES: Final = {
    1: ("expected display frames", 3),
    2: ("actual display frames", 3),
    3: ("expected frames", 4),
    4: ("actual frames", 4),
}
_FRAME_END: Final = 5

_Field = tuple[int, int, int, int]


class _DamageError(ValueError):
    """The bytes are not a message."""


@dataclass(slots=True)
class _Sequence:
    """What packets of a sequence have defined for those that follow."""

    names: dict[int, str] = field(default_factory=dict)
    track: int = 0
    clock: int = 0
    clocks: dict[int, list[int]] = field(default_factory=dict)


def is_perfetto(head: bytes) -> bool:
    """Return whether a file begins with packets of a Perfetto trace."""
    at = count = 0
    try:
        while at < len(head) and count < _SCREENED_PACKETS:
            size, start = _varint(head, at + 1)
            if head[at] != _PACKET_TAG or size > _LONGEST_PACKET:
                return False
            if start + size > len(head):
                break
            if any(not 0 < each[0] < _HIGHEST_FIELD for each in _fields(head, start, start + size)):
                return False
            at = start + size
            count += 1
    except _DamageError:
        return False
    return count > 0


class PerfettoReader:
    """Reads the packets of a trace."""

    def __init__(self, path: Path) -> None:
        """Begin to read a file."""
        self._path = path
        self._source = CaptureSource(path)
        self._pieces = self._source.pieces(1 << 20)
        self._carry = b""
        self._builder = TraceBuilder()
        self._sequences: dict[int, _Sequence] = {}
        self._track_of: dict[int, int] = {}
        self._parents: dict[int, tuple[int, str, str]] = {}
        self._packets = 0

    @property
    def done(self) -> float:
        """The share of the file that was read, from 0 to 1."""
        return self._source.done

    def read_on(self) -> bool:
        """Read a megabyte; returns whether there is more."""
        piece = next(self._pieces, None)
        if piece is None:
            if self._carry:
                self._note_damage()
                self._carry = b""
            return False
        data = self._carry + piece
        at = self._take_packets(data)
        self._carry = data[at:]
        if len(self._carry) > _LONGEST_PACKET:
            message = f"{self._path} has a packet of more than 64 MB, so it is damaged."
            raise CaptureError(message)
        return True

    def capture(self) -> Capture:
        """Return what was read so far.

        Raises:
            CaptureError: There is no slice.
        """
        self._name_tracks()
        return self._builder.capture(self._path, "Perfetto trace", tuple(self._source.notes))

    # ------------------------------------------------------------------ packets

    def _note_damage(self) -> None:
        self._builder.note_damage(f"packet {self._packets + 1:,}")

    def _take_packets(self, data: bytes, depth: int = 0) -> int:
        """Take the whole packets; returns where the first that is not whole begins."""
        at, end = 0, len(data)
        while at < end:
            try:
                tag, start = _varint(data, at)
                size, start = _varint(data, start)
            except _DamageError:
                if end - at > 2 * _MOST_VARINT:
                    self._note_damage()
                    at = _next_packet(data, at + 1)
                    continue
                return at
            if tag != _PACKET_TAG or size > _LONGEST_PACKET:
                self._note_damage()
                at = _next_packet(data, at + 1)
                continue
            if start + size > end:
                return at
            try:
                self._take_packet(data, start, start + size, depth)
            except (_DamageError, zlib.error, UnicodeDecodeError):
                self._note_damage()
            self._packets += 1
            at = start + size
        return at

    def _take_packet(self, data: bytes, start: int, end: int, depth: int) -> None:
        found = {each[0]: each for each in _fields(data, start, end)}
        if packed := found.get(_COMPRESSED):
            if depth < 1:
                expander = zlib.decompressobj()
                inner = expander.decompress(data[packed[2] : packed[3]], _MOST_EXPANDED)
                self._take_packets(inner, depth + 1)
            return
        if _COMPRESSED_ZSTD in found:
            self._builder.ignore("packets compressed with zstd")
            return
        sequence = self._sequences.setdefault(_number(found, _SEQUENCE), _Sequence())
        self._take_definitions(data, found, sequence)
        event, frame = found.get(_TRACK_EVENT), found.get(_FRAME)
        if event or frame:
            at_ns = self._instant(found, sequence)
            if event:
                self._take_event(data, event, sequence, at_ns)
            if frame:
                self._take_frame(data, frame, at_ns)

    def _take_definitions(self, data: bytes, found: dict[int, _Field], sequence: _Sequence) -> None:
        """Take what later packets of the sequence refer to."""
        if _number(found, _FLAGS) & _CLEARED:
            sequence.names.clear()
            sequence.clocks.clear()
        if snapshot := found.get(_CLOCK_SNAPSHOT):
            self._take_clocks(data, snapshot, sequence)
        if defaults := found.get(_DEFAULTS):
            values = _message(data, defaults)
            sequence.clock = _number(values, _CLOCK_ID)
            if event_defaults := values.get(_TRACK_EVENT):
                sequence.track = _number(_message(data, event_defaults), 11)
        if interned := found.get(_INTERNED):
            for each in _fields(data, interned[2], interned[3]):
                if each[:2] == (2, _BYTES):
                    name = _message(data, each)
                    sequence.names[_number(name, 1)] = _text(data, name.get(2))
        if track := found.get(_TRACK):
            self._take_track(data, track)

    def _take_clocks(self, data: bytes, snapshot: _Field, sequence: _Sequence) -> None:
        for each in _fields(data, snapshot[2], snapshot[3]):
            if each[:2] == (1, _BYTES):
                clock = _message(data, each)
                unit = _number(clock, 4) or 1
                now = _number(clock, 2)
                sequence.clocks[_number(clock, 1)] = [now, unit, _number(clock, 3)]

    def _instant(self, found: dict[int, _Field], sequence: _Sequence) -> int:
        value = _number(found, _TIMESTAMP)
        clock_id = _number(found, _CLOCK_ID) or sequence.clock
        clock = sequence.clocks.get(clock_id) if clock_id in _SEQUENCE_CLOCKS else None
        if clock is None:
            return value
        if clock[2]:
            value = clock[0] = clock[0] + value
        return value * clock[1]

    def _take_track(self, data: bytes, track: _Field) -> None:
        values = _message(data, track)
        number = _number(values, 1)
        name = _text(data, values.get(2)) or _text(data, values.get(10))
        process = ""
        if found := values.get(3):
            inner = _message(data, found)
            process = f"{_text(data, inner.get(6)) or 'process'} ({_number(inner, 1)})"
            self._builder.name_process(str(_number(inner, 1)), process)
            name = name or "process"
        if found := values.get(4):
            inner = _message(data, found)
            process = str(_number(inner, 1))
            name = f"{_text(data, inner.get(5)) or name or 'thread'} ({_number(inner, 2)})"
        elif process:
            process = str(_number(_message(data, values[3]), 1))
        self._parents[number] = (_number(values, 5), name, process)

    def _name_tracks(self) -> None:
        """Name the tracks by their descriptors, which may follow their events."""
        for uuid, number in self._track_of.items():
            parent, name, process = self._parents.get(uuid, (0, "", ""))
            for _ in range(_MOST_DEPTH):
                if process or parent not in self._parents:
                    break
                parent, _, process = self._parents[parent]
            self._builder.rename_track(number, process or "Perfetto", name or f"track {uuid}")

    # ------------------------------------------------------------------ events

    def _take_event(self, data: bytes, event: _Field, sequence: _Sequence, at_ns: int) -> None:
        builder = self._builder
        values = _message(data, event)
        kind = _number(values, 9)
        if kind == _COUNTER:
            builder.ignore("counter values")
            return
        uuid = _number(values, 11) if 11 in values else sequence.track  # noqa: PLR2004
        track = self._track_of.get(uuid)
        if track is None:
            track = self._track_of[uuid] = builder.track(uuid, "Perfetto", f"track {uuid}")
        if kind == _END:
            builder.end(track, at_ns)
            return
        name = _text(data, values.get(23)) or sequence.names.get(_number(values, 10), "(no name)")
        if kind == _BEGIN:
            builder.begin(track, track, builder.text(name), at_ns)
        elif kind == _INSTANT:
            builder.add(track, builder.text(name), at_ns, 0)
        else:
            builder.ignore("events in Chrome's old form")

    def _take_frame(self, data: bytes, frame: _Field, at_ns: int) -> None:
        builder = self._builder
        for each in _fields(data, frame[2], frame[3]):
            if each[1] != _BYTES:
                continue
            values = _message(data, each)
            cookie = ("frame", _number(values, 1))
            if each[0] == _FRAME_END:
                builder.end(cookie, at_ns)
            elif each[0] in _FRAMES:
                name, pid_field = _FRAMES[each[0]]
                process = str(_number(values, pid_field))
                layer = _text(data, values.get(5)) if pid_field == 4 else ""  # noqa: PLR2004
                track = builder.track((name, process, layer), process, f"{name} {layer}".strip())
                builder.begin(cookie, track, builder.text(name.removesuffix("s")), at_ns)


# ---------------------------------------------------------------------- wire format


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    value = shift = 0
    for place in range(at, min(at + _MOST_VARINT, len(data))):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that more follows
            return value & 0xFFFF_FFFF_FFFF_FFFF, place + 1
        shift += 7
    raise _DamageError


def _fields(data: bytes, at: int, end: int) -> Iterator[_Field]:
    """Yield number, kind, and the value, or where the bytes begin and end."""
    while at < end:
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, kind, value, at
        elif kind == _BYTES:
            size, at = _varint(data, at)
            if at + size > end:
                raise _DamageError
            yield number, kind, at, at + size
            at += size
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
            if at + size > end:
                raise _DamageError
            yield number, kind, int.from_bytes(data[at : at + size], "little"), at + size
            at += size
        else:
            raise _DamageError
    if at != end:
        raise _DamageError


def _message(data: bytes, field_: _Field) -> dict[int, _Field]:
    """Return the last value of each field of a message within a message."""
    if field_[1] != _BYTES:
        raise _DamageError
    return {each[0]: each for each in _fields(data, field_[2], field_[3])}


def _number(fields: dict[int, _Field], number: int) -> int:
    found = fields.get(number)
    return found[2] if found is not None and found[1] != _BYTES else 0


def _text(data: bytes, field_: _Field | None) -> str:
    if field_ is None or field_[1] != _BYTES:
        return ""
    return data[field_[2] : min(field_[3], field_[2] + _LONGEST_NAME)].decode("utf-8", "replace")


def _next_packet(data: bytes, at: int) -> int:
    """Return where the next packet may begin."""
    found = data.find(_PACKET_TAG.to_bytes(1, "little"), at)
    return len(data) if found < 0 else found
