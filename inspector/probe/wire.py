"""Framing, limits and checks of the protocol, used at both ends of a link.

The help page *Protocol* is the specification. On a stream, a frame is a length of four bytes
(little-endian, counting what follows), a type byte and the payload. Every limit is checked before
memory is taken for what it limits. :class:`WireError` means that the other side does not follow
the protocol: refuse its message and close the link.
"""

from __future__ import annotations

import json
from itertools import starmap
from struct import Struct
from struct import error as StructError  # noqa: N812 - an exception

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Optional

PROTOCOL = 1

JSON = ord("J")
EVENTS = ord("E")

MAX_FRAME_BYTES = 1 << 20
MAX_EVENTS = 1_024
MAX_NESTING = 8
#: Most bytes of one text in UTF-8.
MAX_TEXT_BYTES = 64 * 1024
MAX_NUMBER = 2**63 - 1
MAX_ID = 2**53

#: Bytes of events that may be sent without an acknowledgement.
WINDOW_BYTES = 8 << 20
BYTES_PER_EVENT = 40
#: Events are sent at the latest this long after the oldest of them.
BATCH_NS = 16_000_000
PING_NS = 500_000_000
#: A side that is silent for this long is gone.
SILENCE_NS = 2_000_000_000
#: The longest a connection may take until its first message is complete.
HELLO_NS = 5_000_000_000

MALFORMED = 1
UNKNOWN_METHOD = 2
BAD_PARAMS = 3
NOT_GRANTED = 4
NOT_POSSIBLE = 5
NO_SUCH = 6
TOO_LARGE = 7
WRONG_TOKEN = 8
WRONG_VERSION = 9

_HEADER = Struct("<IB")
_EVENT = Struct("<qqqqq")
_LOWEST = -(2**63)
#: Most characters of a number, with its sign: parsing more takes Python ever longer per digit.
_MOST_DIGITS = 20


class WireError(Exception):
    """The other side does not follow the protocol, or asks for what cannot be done."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code  # One of the error codes
        self.message = message  # A sentence


def frame(kind: int, payload: bytes) -> bytes:
    return _HEADER.pack(len(payload) + 1, kind) + payload


class FrameReader:
    """Takes a stream apart into frames; holds at most one incomplete frame."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Take received bytes; return whole frames. A :class:`WireError` for an impossible one."""
        waiting = self._bytes
        waiting += data
        frames = []
        at, size = 0, len(waiting)
        while size - at >= _HEADER.size:
            length, kind = _HEADER.unpack_from(waiting, at)
            if length > MAX_FRAME_BYTES:
                raise WireError(TOO_LARGE, f"a frame of {length:,} bytes is too large")
            if length == 0 or kind not in (JSON, EVENTS):
                raise WireError(MALFORMED, "not a frame of this protocol")
            if size - at < 4 + length:
                break
            frames.append((kind, bytes(waiting[at + _HEADER.size : at + 4 + length])))
            at += 4 + length
        del waiting[:at]
        return frames


def packed_events(events: Sequence[tuple[int, int, int, int, int]]) -> bytes:
    """Return up to :data:`MAX_EVENTS` events as a payload.

    Numbers beyond 64 bits are clamped, others that are not whole are rounded; a library may hand
    over what it was given by the program.
    """
    try:
        return b"".join(starmap(_EVENT.pack, events))
    except (StructError, OverflowError):
        return b"".join(_EVENT.pack(*map(_fitting, event)) for event in events)


def _fitting(number: float) -> int:
    try:
        return round(min(max(number, _LOWEST), MAX_NUMBER))
    except (TypeError, ValueError):
        # Not a number at all.
        return 0


def counted_events(payload: bytes) -> int:
    """Return the number of events in a payload; refuse none, half ones and too many."""
    events, rest = divmod(len(payload), BYTES_PER_EVENT)
    if len(payload) > MAX_EVENTS * BYTES_PER_EVENT:
        raise WireError(TOO_LARGE, f"a batch has at most {MAX_EVENTS:,} events")
    if not payload or rest:
        raise WireError(MALFORMED, "not a batch of events")
    return events


def packed_json(message: object) -> bytes:
    payload = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    encoded = payload.encode("utf-8", "replace")
    if len(encoded) >= MAX_FRAME_BYTES:
        raise WireError(TOO_LARGE, f"a message of {len(encoded):,} bytes is too large")
    return encoded


def _refused_constant(name: str) -> object:
    raise WireError(MALFORMED, f"{name} is not a number of JSON")


def _whole_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise WireError(TOO_LARGE, "a number lies outside of 64 bits")
    return int(digits)


def unpacked_json(payload: bytes) -> dict[str, Any]:
    """Return a message, checked against every limit; a :class:`WireError` refuses it."""
    if len(payload) >= MAX_FRAME_BYTES:
        raise WireError(TOO_LARGE, f"a message of {len(payload):,} bytes is too large")
    try:
        message = json.loads(
            payload.decode("utf-8"), parse_constant=_refused_constant, parse_int=_whole_number
        )
    except RecursionError:
        raise WireError(TOO_LARGE, f"values nest at most {MAX_NESTING} deep") from None
    except ValueError:
        raise WireError(MALFORMED, "not JSON in UTF-8") from None
    if not isinstance(message, dict):
        raise WireError(MALFORMED, "a message is an object")
    _check_value(message, MAX_NESTING)
    _check_shape(message)
    return message


def _check_value(value: object, depth: int) -> None:
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, (dict, list)):
        if depth == 0:
            raise WireError(TOO_LARGE, f"values nest at most {MAX_NESTING} deep")
        if isinstance(value, dict):
            for name in value:
                _check_text(name)
            value = list(value.values())
        for item in value:
            _check_value(item, depth - 1)
    elif isinstance(value, (int, float)) and not _LOWEST <= value <= MAX_NUMBER:
        raise WireError(TOO_LARGE, "a number lies outside of 64 bits")


def _check_text(text: str) -> None:
    if len(text) > MAX_TEXT_BYTES:
        raise WireError(TOO_LARGE, f"a text has at most {MAX_TEXT_BYTES:,} bytes")
    if not text.isascii():
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise WireError(MALFORMED, "a text holds half a character") from None
        if size > MAX_TEXT_BYTES:
            raise WireError(TOO_LARGE, f"a text has at most {MAX_TEXT_BYTES:,} bytes")


def _check_shape(message: dict[str, Any]) -> None:
    number = message.get("id")
    if "id" in message and (type(number) is not int or not 0 <= number <= MAX_ID):
        raise WireError(MALFORMED, "the id of a message is a whole number from 0")
    if "method" in message:
        is_sound = isinstance(message["method"], str) and isinstance(
            message.setdefault("params", {}), dict
        )
    elif "error" in message:
        error = message["error"]
        is_sound = (
            number is not None
            and isinstance(error, dict)
            and type(error.get("code")) is int
            and isinstance(error.get("message"), str)
        )
    else:
        is_sound = number is not None and isinstance(message.get("result"), dict)
    if not is_sound:
        raise WireError(MALFORMED, "neither a request nor an answer")


def request(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"id": number, "method": method, "params": params}


def notification(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"method": method, "params": params}


def answer(number: int, result: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    return {"id": number, "result": result or {}}


def refusal(number: int, error: WireError) -> dict[str, Any]:
    return {"id": number, "error": {"code": error.code, "message": error.message}}


def whole(params: dict[str, Any], name: str, lowest: int = 0, highest: int = MAX_NUMBER) -> int:
    """Return a whole number of the parameters."""
    value = params.get(name)
    if type(value) is not int or not lowest <= value <= highest:
        raise WireError(BAD_PARAMS, f"{name} is a whole number from {lowest} to {highest}")
    return value


def text(params: dict[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise WireError(BAD_PARAMS, f"{name} is a text")
    return value


def text_batches(texts: Iterable[str]) -> Iterable[list[str]]:
    """Yield texts in lists that each fit into a message; longer texts are cut."""
    batch: list[str] = []
    room = MAX_FRAME_BYTES // 2
    for item in texts:
        kept = cut_text(item)
        # A character takes at most six bytes in JSON.
        size = 6 * len(kept) + 3
        if batch and size > room:
            yield batch
            batch, room = [], MAX_FRAME_BYTES // 2
        batch.append(kept)
        room -= size
    if batch:
        yield batch


def cut_text(item: str, limit: int = MAX_TEXT_BYTES) -> str:
    """Return a text cut to a number of bytes in UTF-8, without half characters."""
    encoded = item.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return encoded.decode()
    return encoded[: limit - 3].decode("utf-8", "ignore") + "…"
