"""The wire format of protobuf: reads and writes the fields of messages.

There are no schemas: a field is known by its number
(https://protobuf.dev/programming-guides/encoding/).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, TypeAlias

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
#: Bytes of the longest varint.
MOST_VARINT: Final = 10
_LONGEST_TEXT: Final = 400
_64_BITS: Final = 0xFFFF_FFFF_FFFF_FFFF
_MORE: Final = 0x80
_SHORT: Final = [bytes((value,)) for value in range(_MORE)]

#: A field: its number, its kind, its value (for bytes, where they begin), and where it ends.
Field: TypeAlias = tuple[int, int, int, int]


class DamageError(ValueError):
    """The bytes are not a message."""


def varint_at(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    if at < len(data) and data[at] < _MORE:
        # Most are so short that a whole trace is read in two thirds of the time.
        return data[at], at + 1
    value = shift = 0
    for place in range(at, min(at + MOST_VARINT, len(data))):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < _MORE:
            return value & _64_BITS, place + 1
        shift += 7
    raise DamageError


def fields_in(data: bytes, at: int, end: int) -> Iterator[Field]:
    """Yield the fields of a message; a :class:`DamageError` if they do not end with it."""
    while at < end:
        tag, at = varint_at(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, at = varint_at(data, at)
            yield number, kind, value, at
        elif kind == BYTES:
            size, at = varint_at(data, at)
            if at + size > end:
                raise DamageError
            yield number, kind, at, at + size
            at += size
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
            if at + size > end:
                raise DamageError
            yield number, kind, int.from_bytes(data[at : at + size], "little"), at + size
            at += size
        else:
            raise DamageError
    if at != end:
        raise DamageError


def message_in(data: bytes, field: Field) -> dict[int, Field]:
    """Return the last value of each field of a message within a message."""
    if field[1] != BYTES:
        raise DamageError
    return {each[0]: each for each in fields_in(data, field[2], field[3])}


def number_of(fields: dict[int, Field], number: int) -> int:
    """Return the number in a field, 0 if the field is missing."""
    found = fields.get(number)
    return found[2] if found is not None and found[1] != BYTES else 0


def signed(value: int) -> int:
    """Return a number of 64 bits that may be below 0."""
    return value - (1 << 64) if value >> 63 else value


def text_of(data: bytes, field: Field | None, most: int = _LONGEST_TEXT) -> str:
    """Return a text, cut to ``most`` bytes; empty if the field is missing."""
    if field is None or field[1] != BYTES:
        return ""
    return data[field[2] : min(field[3], field[2] + most)].decode("utf-8", "replace")


def varint(value: int) -> bytes:
    """Return a whole number of at most 64 bits; one below 0 takes all of them."""
    if 0 <= value < _MORE:
        return _SHORT[value]
    value &= _64_BITS
    found = bytearray()
    while value >= _MORE:
        found.append(value & 0x7F | _MORE)
        value >>= 7
    found.append(value)
    return bytes(found)


def number_field(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def fixed_field(number: int, value: int) -> bytes:
    """Return a field that holds a whole number from 0 on in eight bytes."""
    return varint(number << 3 | FIXED64) + struct.pack("<Q", value)


def double_field(number: int, value: float) -> bytes:
    return varint(number << 3 | FIXED64) + struct.pack("<d", value)


def bytes_field(number: int, content: bytes | str) -> bytes:
    held = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return varint(number << 3 | BYTES) + varint(len(held)) + held
