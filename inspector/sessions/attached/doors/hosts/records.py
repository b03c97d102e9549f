"""Numbered records on a line that may break, for both ends of it; any Python from 3.9 on.

A record is a length (four bytes, little-endian, of what follows), its kind, a channel (four bytes),
its number (eight bytes) and the payload. Numbers begin with 1 in each direction. Each side keeps
what it sent until the other side acknowledges it. On a new line, each side first sends the number
of the last record that it received, and the other side sends all later records again.
"""

from __future__ import annotations

from collections import deque
from struct import Struct
from typing import Final

TYPE_CHECKING = False

# Kinds of records. The first two have no number of their own: they name the last one received.
RESUME: Final = ord("R")
ACKNOWLEDGE: Final = ord("A")
#: A probe has connected, in JSON: its process, and its token if the inspector speaks first.
OPENED: Final = ord("O")
#: Bytes from a probe, or whole frames for it.
DATA: Final = ord("D")
CLOSED: Final = ord("C")
#: Output of the program; the channel is 1 (standard output) or 2 (standard error).
OUTPUT: Final = ord("W")
#: Lines from the supervisor, or for it.
SUPERVISOR: Final = ord("S")
#: A question about programs that run there, and its answer, in JSON.
QUESTION: Final = ord("Q")
#: The sending side has finished.
END: Final = ord("E")

#: How often each side sends a sign of life.
HEARTBEAT_S: Final = 0.5
#: A line is taken for broken when nothing has come for this time.
BROKEN_S: Final = 4.0

#: Most bytes that are read at once.
READ: Final = 1 << 16
_MOST_BYTES: Final = (1 << 20) + 64
_HEADER: Final = Struct("<IBIQ")


class BrokenRecordError(Exception):
    """The bytes received are no record."""


class Records:
    """Both directions of a line, as seen from one end; no record is lost or received twice."""

    def __init__(self) -> None:
        self.kept = 0  # Bytes that the other side has not acknowledged
        self._sent: deque[tuple[int, bytes]] = deque()
        self._last = 0
        self._received = 0
        self._is_resumed = False
        self._buffer = bytearray()

    def packed(self, kind: int, channel: int, payload: bytes) -> bytes:
        """Keep a record until it has arrived; returns the bytes to send now.

        On a new line these are none until the other side has said which record it received last;
        then :meth:`feed` returns all later ones.
        """
        self._last += 1
        record = _record(kind, channel, self._last, payload)
        self._sent.append((self._last, record))
        self.kept += len(record)
        return record if self._is_resumed else b""

    def begin_line(self) -> bytes:
        """Return the first record on a new line."""
        self._buffer.clear()
        self._is_resumed = False
        return _record(RESUME, 0, self._received)

    def heartbeat(self) -> bytes:
        """Return a record that acknowledges what has arrived."""
        return _record(ACKNOWLEDGE, 0, self._received)

    def feed(self, data: bytes) -> tuple[list[tuple[int, int, bytes]], bytes]:
        """Return new records, and the bytes to send again.

        Raises:
            BrokenRecordError: The bytes are no record, or a record is missing before it.
        """
        self._buffer += data
        found, again, at = [], b"", 0
        while len(self._buffer) - at >= _HEADER.size:
            length, kind, channel, number = _HEADER.unpack_from(self._buffer, at)
            end = at + 4 + length
            if not _HEADER.size - 4 <= length <= _MOST_BYTES:
                raise BrokenRecordError
            if len(self._buffer) < end:
                break
            payload = bytes(self._buffer[at + _HEADER.size : end])
            at = end
            if kind in (RESUME, ACKNOWLEDGE):
                self._forget(number)
                if kind == RESUME:
                    self._is_resumed = True
                    again = b"".join(record for _, record in self._sent)
            elif number == self._received + 1:
                self._received = number
                found.append((kind, channel, payload))
            elif number > self._received:
                raise BrokenRecordError
        del self._buffer[:at]
        return found, again

    def _forget(self, number: int) -> None:
        while self._sent and self._sent[0][0] <= number:
            self.kept -= len(self._sent.popleft()[1])


def _record(kind: int, channel: int, number: int, payload: bytes = b"") -> bytes:
    return _HEADER.pack(_HEADER.size - 4 + len(payload), kind, channel, number) + payload
