"""Framing, limits and checks: the vectors hold for every implementation."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from inspector.probe import wire
from inspector.probe.wire import FrameReader, WireError, packed_json, unpacked_json
from inspector.resources import resource_path
from tests.probe.receiver import unpacked_events

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors.json").read_text("utf-8")
)
PAGE = resource_path("help", "protocol.md").read_text(encoding="utf-8")


def received(data: bytes) -> list[Any]:
    """Return what a side receives that is sent these bytes."""
    found: list[Any] = []
    for kind, payload in FrameReader().feed(data):
        if kind == wire.JSON:
            found.append(unpacked_json(payload))
        else:
            found.append([list(event) for event in unpacked_events(payload)])
    return found


def bytes_of(vector: dict[str, Any]) -> bytes:
    """Return the bytes of a vector, in which a part may be repeated."""
    return b"".join(bytes.fromhex(part) * times for part, times in vector["bytes"])


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_that_every_vector_becomes_what_it_says(vector: dict[str, Any]) -> None:
    if "error" in vector:
        with pytest.raises(WireError) as caught:
            received(bytes_of(vector))
        assert caught.value.code == vector["error"]
    else:
        assert received(bytes_of(vector)) == vector["messages"]


@pytest.mark.parametrize(
    "vector", [vector for vector in VECTORS if "error" not in vector], ids=lambda v: v["name"]
)
def test_that_a_stream_may_be_cut_anywhere(vector: dict[str, Any]) -> None:
    data = bytes_of(vector)
    reader = FrameReader()

    frames = [frame for at in range(len(data)) for frame in reader.feed(data[at : at + 1])]

    assert frames == FrameReader().feed(data)


def test_that_an_announced_length_takes_no_memory() -> None:
    reader = FrameReader()

    with pytest.raises(WireError):
        reader.feed(struct.pack("<IB", 2**32 - 1, wire.JSON))

    assert len(reader._bytes) < 100


def test_that_a_frame_may_be_as_long_as_is_allowed() -> None:
    assert FrameReader().feed(struct.pack("<IB", wire.MAX_FRAME_BYTES, wire.JSON)) == []
    with pytest.raises(WireError, match="too large"):
        FrameReader().feed(struct.pack("<IB", wire.MAX_FRAME_BYTES + 1, wire.JSON))
    blank = b" " * (wire.MAX_FRAME_BYTES - 3)
    assert unpacked_json(b'{"id":1,"result":{}}' + blank[20:]) == wire.answer(1)
    with pytest.raises(WireError, match="too large"):
        unpacked_json(blank + b"   ")


@pytest.mark.parametrize(("length", "kind"), [(0, wire.JSON), (0, 9), (1, 9), (1, 0)])
def test_that_a_frame_without_a_kind_is_refused(length: int, kind: int) -> None:
    with pytest.raises(WireError, match="not a frame") as caught:
        FrameReader().feed(struct.pack("<IB", length, kind))
    assert caught.value.code == wire.MALFORMED


@pytest.mark.parametrize(("extra", "is_refused"), [(0, True), (-1, False)])
def test_that_a_message_has_to_fit_with_its_kind(extra: int, *, is_refused: bool) -> None:
    # The text, and the quotes around it.
    text = "x" * (wire.MAX_FRAME_BYTES - 2 + extra)
    if is_refused:
        with pytest.raises(WireError):
            packed_json(text)
    else:
        assert len(packed_json(text)) == wire.MAX_FRAME_BYTES - 1


def test_that_texts_are_sent_as_short_as_they_can_be() -> None:
    assert packed_json({"é": [1, "→"]}) == '{"é":[1,"→"]}'.encode()
    # Half of a pair of characters cannot be sent.
    assert packed_json("\ud800") == b'"?"'


def test_that_a_message_comes_back_as_it_was() -> None:
    message = wire.request(3, "Clock.rate", {"clock": 2, "rate_n": 180_180_000, "name": "½ “é”"})

    assert received(wire.frame(wire.JSON, packed_json(message))) == [message]


def test_that_events_come_back_as_they_were() -> None:
    events = [(-1, 16, 2**63 - 1, -(2**63), number) for number in range(wire.MAX_EVENTS)]

    assert unpacked_events(wire.packed_events(events)) == events


def test_that_a_number_beyond_64_bits_is_clamped_when_it_is_packed() -> None:
    packed = wire.packed_events([(1, 2, 3, 2**70, -(2**70))])

    assert unpacked_events(packed) == [(1, 2, 3, 2**63 - 1, -(2**63))]


def test_that_what_a_library_hands_over_as_another_number_is_rounded() -> None:
    events: list[Any] = [(1, 2, 3, 0.6, 1e300), (2, 2, True, float("nan"), None)]
    packed = wire.packed_events(events)
    assert unpacked_events(packed) == [(1, 2, 3, 1, 2**63 - 1), (2, 2, 1, 0, 0)]


def test_that_a_message_that_would_be_too_large_is_not_sent() -> None:
    with pytest.raises(WireError):
        packed_json(["x" * wire.MAX_FRAME_BYTES])


def test_that_texts_are_sent_in_messages_that_fit() -> None:
    texts = ["\x01" * wire.MAX_TEXT_BYTES] * 5 + ["é" * wire.MAX_TEXT_BYTES, "short"]

    batches = list(wire.text_batches(texts))

    for batch in batches:
        unpacked_json(packed_json(wire.notification("Events.texts", {"texts": batch})))
    assert sum(map(len, batches)) == len(texts)
    assert batches[-1][-1] == "short"


@pytest.mark.parametrize("value", [True, 1.0, -1, "1", None, [], 2**64])
def test_that_a_whole_number_is_nothing_else(value: object) -> None:
    assert wire.whole({"clock": 1}, "clock") == 1
    with pytest.raises(WireError) as caught:
        wire.whole({"clock": value}, "clock")
    assert caught.value.code == wire.BAD_PARAMS


def test_that_the_help_page_has_every_limit_and_error() -> None:
    numbers = {int(found) for found in re.findall(r"^\| (\d) \|", PAGE, re.MULTILINE)}

    assert {wire.MALFORMED, wire.WRONG_TOKEN, wire.WRONG_VERSION} <= numbers
    assert numbers == set(range(1, 10))
    assert f"1 to {wire.MAX_FRAME_BYTES:,}" in PAGE
    assert f"nesting of values | {wire.MAX_NESTING} |" in PAGE
    assert f"a text | {wire.MAX_TEXT_BYTES // 1024} KiB" in PAGE
    assert f"events in a batch | {wire.MAX_EVENTS:,} |" in PAGE
    assert f"version {wire.PROTOCOL}." in PAGE
    assert f"When {wire.WINDOW_BYTES >> 20} MiB" in PAGE
    assert f"at latest {wire.BATCH_NS // 10**6} ms" in PAGE


def test_that_limits_are_included() -> None:
    params = {"n": 5, "text": "abc"}

    assert wire.whole(params, "n", 5, 5) == 5
    for lowest, highest in ((6, 9), (0, 4)):
        with pytest.raises(WireError, match=f"n is a whole number from {lowest} to {highest}"):
            wire.whole(params, "n", lowest, highest)
    assert wire.text(params, "text") == "abc"
    with pytest.raises(WireError, match="n is a text"):
        wire.text(params, "n")
    assert [wire.cut_text("abcdef", limit) for limit in (6, 5)] == ["abcdef", "ab…"]
    # No character is cut in half.
    assert wire.cut_text("ééé", 5) == "é…"
