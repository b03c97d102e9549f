"""Writes packets of Perfetto traces, for tests."""

from __future__ import annotations


def varint(number: int) -> bytes:
    """Return a number as it is written in protobuf."""
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def number_field(field: int, number: int) -> bytes:
    """Return a field that is a number."""
    return varint(field << 3) + varint(number)


def bytes_field(field: int, content: bytes) -> bytes:
    """Return a field that is a text or a message."""
    return varint(field << 3 | 2) + varint(len(content)) + content


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
