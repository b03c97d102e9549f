"""Writes packets of Perfetto traces, for tests."""

from __future__ import annotations

from inspector.formats.protobuf import bytes_field, number_field


def packet(content: bytes) -> bytes:
    """Return a packet of a trace."""
    return bytes_field(1, content)


def begin(at_ns: int, track: int | None, *, name: bytes = b"", name_iid: int = 0) -> bytes:
    """Return the beginning of a slice."""
    event = number_field(9, 1)
    event += b"" if track is None else number_field(11, track)
    event += bytes_field(23, name) if name else number_field(10, name_iid)
    return packet(number_field(8, at_ns) + number_field(10, 3) + bytes_field(11, event))


def end(at_ns: int, track: int | None) -> bytes:
    """Return the end of a slice."""
    event = number_field(9, 2) + (b"" if track is None else number_field(11, track))
    return packet(number_field(8, at_ns) + number_field(10, 3) + bytes_field(11, event))
