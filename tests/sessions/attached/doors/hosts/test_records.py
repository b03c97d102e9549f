"""Records on a line that breaks: none is lost, and none comes twice."""

from __future__ import annotations

from struct import Struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.probe.wire import FrameReader, notification, unpacked_json
from inspector.sessions.attached.doors.hosts.records import (
    ACKNOWLEDGE,
    DATA,
    RESUME,
    BrokenRecordError,
    Records,
)
from inspector.sessions.attached.doors.hosts.relay import PING


class _Wire:
    """Two ends, and what is under way between them."""

    def __init__(self) -> None:
        self.ends = Records(), Records()
        self.under_way = [b"", b""]
        self.sent: list[list[bytes]] = [[], []]
        self.received: list[list[bytes]] = [[], []]
        self.join()

    def join(self) -> None:
        """Break the line, with all that is under way, and make another."""
        self.under_way = [end.begin_line() for end in self.ends]

    def send(self, end: int, payload: bytes) -> None:
        self.sent[end].append(payload)
        self.under_way[end] += self.ends[end].packed(DATA, 7, payload)

    def deliver(self, end: int, most: int) -> None:
        """Let so many bytes arrive that an end has sent."""
        data, self.under_way[end] = self.under_way[end][:most], self.under_way[end][most:]
        found, again = self.ends[1 - end].feed(data)
        self.under_way[1 - end] += again
        self.received[1 - end] += [payload for _, _, payload in found]


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(0, 1), st.binary(max_size=40)),
        st.tuples(st.just("deliver"), st.integers(0, 1), st.integers(1, 60)),
        st.tuples(st.just("tell"), st.integers(0, 1), st.just(0)),
        st.tuples(st.just("break"), st.just(0), st.just(0)),
    ),
    max_size=60,
)


@given(_STEPS)
def test_that_whatever_breaks_the_line_each_record_arrives_once_and_in_order(
    steps: list[tuple[str, int, bytes | int]],
) -> None:
    wire = _Wire()

    for what, end, value in steps:
        match what, value:
            case "send", bytes(payload):
                wire.send(end, payload)
            case "deliver", int(most):
                wire.deliver(end, most)
            case "tell", _:
                wire.under_way[end] += wire.ends[end].heartbeat()
            case _:
                wire.join()
    for _ in range(3):
        for end in (0, 1):
            wire.deliver(end, 1 << 20)

    assert wire.received == [wire.sent[1], wire.sent[0]]


def test_that_what_has_arrived_is_not_kept() -> None:
    wire = _Wire()
    for end in (0, 1):
        wire.deliver(end, 1 << 20)
    wire.send(0, b"x" * 1_000)
    wire.deliver(0, 1 << 20)
    assert wire.ends[0].kept > 1_000

    wire.under_way[1] += wire.ends[1].heartbeat()
    wire.deliver(1, 1 << 20)

    assert wire.ends[0].kept == 0


@pytest.mark.parametrize(
    "data", [b"\xff" * 64, b"\0" * 64, b"\x0d\0\0\0D" + b"\0" * 4 + b"\x09" + b"\0" * 7]
)
def test_that_what_is_no_record_or_comes_after_a_missing_one_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenRecordError):
        Records().feed(data)


def test_that_probes_are_kept_from_letting_go_by_a_ping_of_the_protocol() -> None:
    ((_, payload),) = FrameReader().feed(PING)

    assert unpacked_json(payload) == notification("Link.ping", {"n": 0})


def _head(length: int, number: int = 1) -> bytes:
    return Struct("<IBIQ").pack(length, DATA, 7, number)


def test_that_a_record_has_a_whole_head_and_little_more_than_a_mebibyte() -> None:
    most = (1 << 20) + 64
    for length, found in ((13, [(DATA, 7, b"")]), (14, []), (most, [])):
        assert Records().feed(_head(length)) == (found, b"")
    for length in (12, most + 1):
        with pytest.raises(BrokenRecordError):
            Records().feed(_head(length))
    one = Records()
    assert one.feed(_head(13)[:16]) == ([], b"")
    assert one.feed(_head(13)[16:] + _head(13, 2)) == ([(DATA, 7, b"")] * 2, b"")
    # What has come already comes again after a break.
    assert one.feed(_head(13) + _head(13, 2)) == ([], b"")
    assert one.heartbeat() == Struct("<IBIQ").pack(13, ACKNOWLEDGE, 0, 2)
    assert one.begin_line() == Struct("<IBIQ").pack(13, RESUME, 0, 2)
    with pytest.raises(BrokenRecordError):
        one.feed(_head(13, 4))


def test_that_nothing_is_sent_on_a_line_before_it_is_known_what_has_arrived() -> None:
    one = Records()
    assert one.packed(DATA, 7, b"a") == b""
    assert one.kept == 18
    assert one.packed(DATA, 7, b"b") == b""
    resume = Struct("<IBIQ").pack(13, RESUME, 0, 1)
    assert one.feed(resume) == ([], _head(14, 2) + b"b")
    assert one.packed(DATA, 7, b"c") == _head(14, 3) + b"c"
    assert one.kept == 36
    one.begin_line()
    assert one.packed(DATA, 7, b"d") == b""
