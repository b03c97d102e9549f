"""Reads Perfetto traces in protobuf: track events, and Android's frame timeline.

Only the fields that are needed are read, by their numbers in Perfetto's definitions
(https://perfetto.dev/docs/reference/trace-packet-proto); all others are skipped.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from inspector.errors import CaptureError
from inspector.formats.captures.capture import Capture
from inspector.formats.captures.trace import TraceReader
from inspector.formats.captures.trace_extras import ONLY_SERIES
from inspector.formats.protobuf import (
    BYTES,
    FIXED64,
    MOST_VARINT,
    VARINT,
    DamageError,
    Field,
    fields_in,
    message_in,
    number_of,
    signed,
    text_of,
    varint_at,
)
from inspector.timebase import MAX_NS

_PACKET_TAG: Final = 0x0A
#: Perfetto's own limit is 512 kB, but screenshots and other packets may be longer.
_LONGEST_PACKET: Final = 1 << 26
_MOST_EXPANDED: Final = 1 << 24
_SCREENED_PACKETS: Final = 4
_HIGHEST_FIELD: Final = 1_000
_MOST_DEPTH: Final = 16

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
#: Bit of the flags: texts interned earlier in the sequence are no longer valid.
_CLEARED: Final = 1
#: Clocks of a single sequence; they may have other units, and count from the packet before.
_SEQUENCE_CLOCKS: Final = range(64, 128)
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4
#: Further fields of a track event: arguments, flows that continue or end here, counter values.
_ARGUMENTS: Final = 4
_LAST_FLOWS: Final = frozenset({42, 48})
_FLOWS: Final = frozenset({36, 47}) | _LAST_FLOWS
_VALUE, _DOUBLE_VALUE = 30, 44
_UNITS: Final = {1: "ns", 2: "", 3: "bytes"}
_LARGEST_VALUE: Final = 1e300
_LONGEST_TEXT: Final = 1 << 14
#: The events of the frame timeline by field: name of the track, and the field of its process.
_FRAMES: Final = {
    1: ("expected display frames", 3),
    2: ("actual display frames", 3),
    3: ("expected frames", 4),
    4: ("actual frames", 4),
}
_FRAME_END: Final = 5
_ACTUAL_FRAME: Final = 4
_JANK_TYPE: Final = 9
#: Why an actual frame is janky, by bit; Android's names.
_JANK_TYPES: Final = {
    2: "SurfaceFlingerScheduling",
    4: "PredictionError",
    8: "DisplayHAL",
    16: "SurfaceFlingerCpuDeadlineMissed",
    32: "SurfaceFlingerGpuDeadlineMissed",
    64: "AppDeadlineMissed",
    128: "BufferStuffing",
    256: "Unknown",
    512: "SurfaceFlingerStuffing",
    1024: "Dropped",
}


class _Sequence(Struct):
    names: dict[int, str] = field(default_factory=dict)
    argument_names: dict[int, str] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    track: int = 0
    clock: int = 0
    clocks: dict[int, list[int]] = field(default_factory=dict)

    def interned(self, kind: int) -> dict[int, str] | None:
        """Return the texts of a kind, by the number of its field; ``None`` for those not read."""
        match kind:
            case 2:
                return self.names
            case 3:
                return self.argument_names
            case 29:
                return self.texts
        return None


class _Descriptor(Struct, frozen=True):
    """The description of a track in the file."""

    parent: int = 0  # The track above it
    name: str = ""
    process: str = ""  # Number of its process, empty if it is below another track
    is_thread: bool = False  # Whether it is a thread


class _Counter(Struct):
    unit: str = ""  # The unit of its values; empty if unknown
    factor: int = 1  # What a value is multiplied with
    is_incremental: bool = False  # Whether values are added to the one before
    sum: float = 0.0  # The sum of incremental values so far


def is_perfetto(head: bytes) -> bool:
    at = count = 0
    try:
        while at < len(head) and count < _SCREENED_PACKETS:
            size, start = varint_at(head, at + 1)
            if head[at] != _PACKET_TAG or size > _LONGEST_PACKET:
                return False
            if start + size > len(head):
                break
            numbers = [each[0] for each in fields_in(head, start, start + size)]
            if not all(0 < number < _HIGHEST_FIELD for number in numbers):
                return False
            at = start + size
            count += 1
    except DamageError:
        return False
    return count > 0


class PerfettoReader(TraceReader):
    kind = "Perfetto trace"

    def __init__(self, path: Path) -> None:
        super().__init__(path, 1 << 20)
        self._sequences: dict[int, _Sequence] = {}
        self._track_of: dict[int, int] = {}
        self._parents: dict[int, _Descriptor] = {}
        self._packets = 0
        self._actual_frames = 0
        self._janks: Counter[str] = Counter()
        self._counters: dict[int, _Counter] = {}
        self._counter_names: dict[int, tuple[str, str]] = {}

    def _read_piece(self, text: bytes) -> bytes:
        at = self._read_packets(text)
        if len(text) - at > _LONGEST_PACKET:
            message = f"{self._path} has a packet of more than 64 MB, so it is damaged."
            raise CaptureError(message)
        return text[at:]

    def _read_end(self, rest: bytes) -> None:
        if rest:
            self._note_damage()

    def capture(self) -> Capture:
        self._name_tracks()
        return super().capture()

    def _notes(self) -> Iterator[str]:
        """Yield how many actual frames Android calls janky, by reason."""
        if self._actual_frames:
            listed = ", ".join(f"{name} {count:,}" for name, count in self._janks.most_common())
            of = f"{self._actual_frames:,} actual frames"
            yield f"Jank types of {of} (Android FrameTimeline): {listed or 'none'}."

    def _note_damage(self) -> None:
        self._builder.note_damage(f"packet {self._packets + 1:,}")

    def _read_packets(self, data: bytes, depth: int = 0) -> int:
        """Read the complete packets; return where the first incomplete one begins."""
        at, end = 0, len(data)
        while at < end:
            try:
                tag, start = varint_at(data, at)
                size, start = varint_at(data, start)
            except DamageError:
                if end - at > 2 * MOST_VARINT:
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
                self._read_packet(data, start, start + size, depth)
            except (DamageError, zlib.error, UnicodeDecodeError):
                self._note_damage()
            self._packets += 1
            at = start + size
        return at

    def _read_packet(self, data: bytes, start: int, end: int, depth: int) -> None:
        found = {each[0]: each for each in fields_in(data, start, end)}
        if packed := found.get(_COMPRESSED):
            if depth < 1:
                expander = zlib.decompressobj()
                inner = expander.decompress(data[packed[2] : packed[3]], _MOST_EXPANDED)
                self._read_packets(inner, depth + 1)
            return
        if _COMPRESSED_ZSTD in found:
            self._builder.ignored["zstd-compressed packet"] += 1
            return
        sequence = self._sequences.setdefault(number_of(found, _SEQUENCE), _Sequence())
        self._read_definitions(data, found, sequence)
        event, frame = found.get(_TRACK_EVENT), found.get(_FRAME)
        if event or frame:
            at_ns = self._instant(found, sequence)
            if event:
                self._read_event(data, event, sequence, at_ns)
            if frame:
                self._read_frame(data, frame, at_ns)

    def _read_definitions(self, data: bytes, found: dict[int, Field], sequence: _Sequence) -> None:
        """Keep what later packets of the sequence refer to."""
        if number_of(found, _FLAGS) & _CLEARED:
            sequence.names.clear()
            sequence.argument_names.clear()
            sequence.texts.clear()
            sequence.clocks.clear()
        if snapshot := found.get(_CLOCK_SNAPSHOT):
            self._read_clocks(data, snapshot, sequence)
        if defaults := found.get(_DEFAULTS):
            values = message_in(data, defaults)
            sequence.clock = number_of(values, _CLOCK_ID)
            if event_defaults := values.get(_TRACK_EVENT):
                sequence.track = number_of(message_in(data, event_defaults), 11)
        if interned := found.get(_INTERNED):
            for each in fields_in(data, interned[2], interned[3]):
                known = sequence.interned(each[0])
                if known is not None and each[1] == BYTES:
                    name = message_in(data, each)
                    known[number_of(name, 1)] = text_of(data, name.get(2))
        if track := found.get(_TRACK):
            self._read_track(data, track)

    def _read_clocks(self, data: bytes, snapshot: Field, sequence: _Sequence) -> None:
        for each in fields_in(data, snapshot[2], snapshot[3]):
            if each[:2] == (1, BYTES):
                clock = message_in(data, each)
                unit = number_of(clock, 4) or 1
                now = number_of(clock, 2)
                sequence.clocks[number_of(clock, 1)] = [now, unit, number_of(clock, 3)]

    def _instant(self, found: dict[int, Field], sequence: _Sequence) -> int:
        value = number_of(found, _TIMESTAMP)
        clock_id = number_of(found, _CLOCK_ID) or sequence.clock
        clock = sequence.clocks.get(clock_id) if clock_id in _SEQUENCE_CLOCKS else None
        if clock is None:
            return value
        if clock[2]:
            value = clock[0] = clock[0] + value
        return value * clock[1]

    def _read_track(self, data: bytes, track: Field) -> None:
        values = message_in(data, track)
        number = number_of(values, 1)
        name = text_of(data, values.get(2)) or text_of(data, values.get(10))
        process = ""
        if found := values.get(3):
            inner = message_in(data, found)
            process = f"{text_of(data, inner.get(6)) or 'process'} ({number_of(inner, 1)})"
            self._builder.name_process(str(number_of(inner, 1)), process)
            name = name or "process"
        if found := values.get(4):
            inner = message_in(data, found)
            process = str(number_of(inner, 1))
            name = f"{text_of(data, inner.get(5)) or name or 'thread'} ({number_of(inner, 2)})"
        elif process:
            process = str(number_of(message_in(data, values[3]), 1))
        is_thread = values.get(4) is not None
        self._parents[number] = _Descriptor(number_of(values, 5), name, process, is_thread)
        self._counter_names.clear()
        if found := values.get(8):
            inner = message_in(data, found)
            unit = text_of(data, inner.get(6)) or _UNITS.get(number_of(inner, 3), "")
            factor = number_of(inner, 4) or 1
            self._counters[number] = _Counter(unit, factor, bool(number_of(inner, 5)))

    def _name_tracks(self) -> None:
        for uuid, number in self._track_of.items():
            self._builder.rename_track(number, *self._named(uuid))

    def _named(self, uuid: int) -> tuple[str, str]:
        found = self._parents.get(uuid, _Descriptor())
        path = [found.name or f"track {uuid}"]
        for _ in range(_MOST_DEPTH):
            if found.process or found.parent not in self._parents:
                break
            found = self._parents[found.parent]
            if not found.process or (found.is_thread and uuid in self._counters):
                path.append(found.name)
        return found.process or "Perfetto", " / ".join(filter(None, reversed(path)))

    def _read_event(self, data: bytes, event: Field, sequence: _Sequence, at_ns: int) -> None:
        builder = self._builder
        values = message_in(data, event)
        kind = number_of(values, 9)
        uuid = number_of(values, 11) if 11 in values else sequence.track  # noqa: PLR2004
        if kind == _COUNTER:
            self._count(values, uuid, at_ns)
            return
        track = self._track_of.get(uuid)
        if track is None:
            track = self._track_of[uuid] = builder.track(uuid, "Perfetto", f"track {uuid}")
        arguments = self._arguments(data, event, sequence) if _ARGUMENTS in values else b""
        if kind == _END:
            builder.end(track, at_ns, arguments)
            return
        name = text_of(data, values.get(23)) or sequence.names.get(number_of(values, 10))
        name = name or "(no name)"
        if kind == _BEGIN:
            builder.begin(track, track, builder.text(name), at_ns, arguments)
        elif kind == _INSTANT:
            builder.add(track, builder.text(name), at_ns, 0, arguments)
        else:
            builder.ignored["legacy Chrome event"] += 1
            return
        if not _FLOWS.isdisjoint(values):
            for each in fields_in(data, event[2], event[3]):
                if each[0] in _FLOWS and each[1] != BYTES:
                    flow = builder.extras.flow(each[2], "", ends=each[0] in _LAST_FLOWS)
                    if kind == _BEGIN:
                        builder.add_flow_of_begun(flow, track)
                    else:
                        builder.add_flow(flow, track, at_ns, is_next=False)

    def _count(self, values: dict[int, Field], uuid: int, at_ns: int) -> None:
        """Take the value of a counter, under the name that the file has given so far."""
        value: float
        if (found := values.get(_DOUBLE_VALUE)) is not None and found[1] == FIXED64:
            value = _double(found)
        else:
            value = signed(number_of(values, _VALUE))
        if not abs(value) <= _LARGEST_VALUE or not -MAX_NS < at_ns < MAX_NS:
            self._builder.ignored["non-numeric counter value"] += 1
            return
        counter = self._counters.get(uuid) or _Counter()
        if counter.is_incremental:
            counter.sum += value
            value = counter.sum
        if uuid not in self._counter_names:
            self._counter_names[uuid] = self._named(uuid)
        process, name = self._counter_names[uuid]
        self._builder.extras.add_counter(
            *(process, name, ONLY_SERIES, at_ns, value * counter.factor, counter.unit)
        )

    def _arguments(self, data: bytes, event: Field, sequence: _Sequence) -> bytes:
        found: dict[str, object] = {}
        for each in fields_in(data, event[2], event[3]):
            if each[:2] == (_ARGUMENTS, BYTES):
                name, value = self._argument(data, each, sequence, _MOST_DEPTH)
                found[name] = value
        try:
            return msgspec.json.encode(found)
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
            return b""

    def _argument(
        self, data: bytes, argument: Field, sequence: _Sequence, depth: int
    ) -> tuple[str, object]:
        name = ""
        value: object = None
        entries: dict[str, object] = {}
        values: list[object] = []
        for each in fields_in(data, argument[2], argument[3]):
            number, kind = each[:2]
            if number == _ARGUMENT_NAME and kind == BYTES:
                name = text_of(data, each, _LONGEST_TEXT)
            elif number == _ARGUMENT_NAME_NUMBER:
                name = sequence.argument_names.get(each[2], "")
            elif number in (_ENTRY, _ELEMENT) and kind == BYTES and depth:
                key, inner = self._argument(data, each, sequence, depth - 1)
                if number == _ENTRY:
                    entries[key] = inner
                else:
                    values.append(inner)
            elif number == _KNOWN_TEXT:
                value = sequence.texts.get(each[2], "")
            elif (read := _VALUES.get((number, kind))) is not None:
                value = read(data, each)
        return name, entries or values or value

    def _read_frame(self, data: bytes, frame: Field, at_ns: int) -> None:
        builder = self._builder
        for each in fields_in(data, frame[2], frame[3]):
            if each[1] != BYTES:
                continue
            values = message_in(data, each)
            cookie = ("frame", number_of(values, 1))
            if each[0] == _FRAME_END:
                builder.end(cookie, at_ns)
            elif each[0] in _FRAMES:
                name, pid_field = _FRAMES[each[0]]
                process = str(number_of(values, pid_field))
                if each[0] == _ACTUAL_FRAME:
                    self._actual_frames += 1
                    found = number_of(values, _JANK_TYPE)
                    self._janks.update(name for bit, name in _JANK_TYPES.items() if found & bit)
                layer = text_of(data, values.get(5)) if pid_field == 4 else ""  # noqa: PLR2004
                track = builder.track((name, process, layer), process, f"{name} {layer}".strip())
                builder.begin(cookie, track, builder.text(name.removesuffix("s")), at_ns)


def _double(field: Field) -> float:
    (value,) = struct.unpack("<d", field[2].to_bytes(8, "little"))
    return float(value)


def _json(data: bytes, field: Field) -> object:
    """Return a value that is written as JSON, nothing if it is damaged."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(data[field[2] : field[3]])
    return None


# Fields of an argument: its name, and the entries of nested values.
_ARGUMENT_NAME_NUMBER, _ARGUMENT_NAME = 1, 10
_ENTRY, _ELEMENT, _KNOWN_TEXT = 11, 12, 17
#: Functions that read the value of an argument, by number and kind of the field.
_VALUES: Final[dict[tuple[int, int], Callable[[bytes, Field], object]]] = {
    (2, VARINT): lambda _data, field: bool(field[2]),
    (3, VARINT): lambda _data, field: field[2],
    (4, VARINT): lambda _data, field: signed(field[2]),
    (5, FIXED64): lambda _data, field: _double(field),
    (6, BYTES): lambda data, field: text_of(data, field, _LONGEST_TEXT),
    (7, VARINT): lambda _data, field: field[2],
    (9, BYTES): _json,
}


def _next_packet(data: bytes, at: int) -> int:
    found = data.find(_PACKET_TAG.to_bytes(1, "little"), at)
    return len(data) if found < 0 else found
