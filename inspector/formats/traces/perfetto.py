"""A session as a Perfetto trace in protobuf: track events, with clocks as nested tracks.

Fields are numbered as in https://perfetto.dev/docs/reference/trace-packet-proto. Each name is
written once; packets refer to it by number. Times are nanoseconds of session time.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, BinaryIO, Final

from inspector.formats.captures.trace_extras import CounterTrack
from inspector.formats.protobuf import bytes_field, double_field, fixed_field, number_field, varint
from inspector.formats.traces.session_trace import Events, write_trace
from inspector.formats.traces.writer import NOTHING, Reach, SliceDetails

if TYPE_CHECKING:
    from inspector.formats.frame_times import Provenance
    from inspector.formats.options import ExportOptions

_PID: Final = 1
#: Identifiers of the tracks of counters begin here.
_COUNTERS: Final = 1 << 40
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4
#: The tag of the field for the instant of a packet.
_AT: Final = varint(8 << 3)
#: Sequence and flags of the first packet: no names are known.
_CLEARED: Final = number_field(10, 1) + number_field(13, 1)
#: Sequence and flags of all other packets: names may be those of earlier packets.
_CONTINUED: Final = number_field(10, 1) + number_field(13, 2)
#: Children of a track are ordered by their ranks.
_BY_RANK: Final = number_field(11, 3)


def write_perfetto(
    events: Events, provenance: Provenance, _options: ExportOptions, stream: BinaryIO
) -> None:
    writer = _PerfettoWriter(stream)
    write_trace(events, writer, provenance.scene)
    writer.end_slices()


class _PerfettoWriter:
    """Writes packets.

    A slice is written as its beginning and its end, in the order in which they nest.
    """

    nests = True

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._tail = _CLEARED
        # The fields that refer to a name; the first packet that has one also defines the name.
        self._event_names: dict[str, bytes] = {}
        self._arg_names: dict[str, bytes] = {}
        self._new_names = b""
        self._counters: dict[tuple[int, CounterTrack], bytes] = {}
        self._heads: dict[tuple[int, int], bytes] = {}
        self._pids: dict[int, int] = {}
        # Ends of the open slices of each track, the innermost last.
        self._open: dict[int, list[int]] = {}

    def track(
        self,
        track: int,
        name: str,
        parent: int,
        *,
        is_process: bool = False,
        number: int | None = None,
    ) -> None:
        told = number_field(1, track + 1) + _BY_RANK
        if is_process:
            self._pids[track] = _PID + track if number is None else number
            told += bytes_field(3, number_field(1, self._pids[track]) + bytes_field(6, name))
        elif number is not None:
            pid = number_field(1, self._pids[parent])
            told += bytes_field(4, pid + number_field(2, number) + bytes_field(5, name))
        else:
            told += bytes_field(2, name) + number_field(5, parent + 1) + number_field(12, track)
        self._write(bytes_field(60, told))

    def slice(
        self, track: int, name: str, at_ns: int, took_ns: int, about: SliceDetails = NOTHING
    ) -> None:
        self._end_until(track, at_ns)
        self._event(at_ns, _BEGIN, track, self._name(name) + self._about(about))
        self._open.setdefault(track, []).append(at_ns + took_ns)

    def instant(
        self,
        track: int,
        name: str,
        at_ns: int,
        reach: Reach,  # noqa: ARG002 - an instant of Perfetto is one of its track
        about: SliceDetails = NOTHING,
    ) -> None:
        self._event(at_ns, _INSTANT, track, self._name(name) + self._about(about))

    def counter(self, track: int, counted: CounterTrack, at_ns: int, value: float) -> None:
        uuid = self._counters.get((track, counted))
        if uuid is None:
            number = _COUNTERS + len(self._counters)
            uuid = number_field(9, _COUNTER) + number_field(11, number)
            self._counters[track, counted] = uuid
            told = number_field(1, number) + bytes_field(2, counted.title)
            told += number_field(5, track + 1)
            told += bytes_field(8, bytes_field(6, counted.unit) if counted.unit else b"")
            self._write(bytes_field(60, told))
        event = uuid + double_field(44, value)
        self._write(_AT + varint(at_ns) + bytes_field(11, event))

    def end_slices(self) -> None:
        for track in self._open:
            self._end_until(track, None)

    def _end_until(self, track: int, at_ns: int | None) -> None:
        waiting = self._open.get(track, ())
        while waiting and (at_ns is None or waiting[-1] <= at_ns):
            self._event(waiting.pop(), _END, track)

    def _event(self, at_ns: int, kind: int, track: int, more: bytes = b"") -> None:
        head = self._heads.get((kind, track))
        if head is None:
            head = number_field(9, kind) + number_field(11, track + 1)
            self._heads[kind, track] = head
        event = head + more
        names, self._new_names = self._new_names, b""
        interned = bytes_field(12, names) if names else b""
        size = varint(len(event))
        self._write(b"%b%b%b\x5a%b%b" % (_AT, varint(at_ns), interned, size, event))

    def _name(self, name: str) -> bytes:
        found = self._event_names.get(name)
        if found is None:
            number = len(self._event_names) + 1
            found = self._event_names[name] = number_field(10, number)
            self._new_names += bytes_field(2, number_field(1, number) + bytes_field(2, name))
        return found

    def _about(self, about: SliceDetails) -> bytes:
        found = b""
        for name, value in about.arguments.items():
            found += bytes_field(4, self._arg_name(name) + _valued(value))
        for step in about.flows:
            found += fixed_field(48 if step.ends else 47, step.flow + 1)
        return found

    def _arg_name(self, name: str) -> bytes:
        found = self._arg_names.get(name)
        if found is None:
            number = len(self._arg_names) + 1
            found = self._arg_names[name] = number_field(1, number)
            self._new_names += bytes_field(3, number_field(1, number) + bytes_field(2, name))
        return found

    def _write(self, content: bytes) -> None:
        size = varint(len(content) + len(self._tail))
        self._stream.write(b"\x0a%b%b%b" % (size, content, self._tail))
        self._tail = _CONTINUED


def _valued(value: object) -> bytes:  # noqa: PLR0911 - one for each kind of value
    match value:
        case bool():
            return number_field(2, int(value))
        case int() if -(1 << 63) <= value < 1 << 63:
            return number_field(4, value)
        case int() if 0 <= value < 1 << 64:
            return number_field(3, value)
        case float():
            return double_field(5, value)
        case str():
            return bytes_field(6, value)
        case dict() if value:
            parts = (bytes_field(10, str(name)) + _valued(each) for name, each in value.items())
            return b"".join(bytes_field(11, part) for part in parts)
        case list() if value:
            return b"".join(bytes_field(12, _valued(each)) for each in value)
    # Null and empty values have no field of their own, and are written as JSON.
    return bytes_field(9, json.dumps(value))
