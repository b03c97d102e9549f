"""What the parameters of messages may be, as numbers of 64 bits and memory allow."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.probe.wire import BAD_PARAMS, WireError
from inspector.sessions.attached.doors.hosts.host import _ProcessThere
from inspector.sessions.attached.messages import (
    FIRST_PAGE_PID,
    BusyThreadMessage,
    ByeMessage,
    CostMessage,
    HelloMessage,
    KeyframeMessage,
    UnableMessage,
    decoded,
)


def test_that_numbers_and_texts_are_taken_within_their_limits() -> None:
    there = {"title": "", "note": ""}
    busy = {"clock": 1, "since_ns": 0}
    cost = {"cpu_ns": 0, "interval_ns": 0}
    hello = {"protocol": 0, "pid": 0, "name": ""}
    whole, instant, clock = (0, 2**63 - 1), (-(2**60), 2**60), (1, 2**40 - 1)
    kind: Any
    given: dict[str, Any]
    for kind, name, (least, most), given in (
        (CostMessage, "cpu_ns", whole, cost),
        (CostMessage, "interval_ns", whole, cost),
        (HelloMessage, "protocol", whole, hello),
        (HelloMessage, "pid", whole, hello),
        (HelloMessage, "parent_pid", whole, hello),
        (HelloMessage, "clock_ns", instant, hello),
        (BusyThreadMessage, "since_ns", instant, busy),
        (BusyThreadMessage, "clock", clock, busy),
        (_ProcessThere, "pid", (0, 2**31 - 1), there),
    ):
        for number in (least, most):
            assert getattr(decoded({**given, name: number}, kind), name) == number
        for wrong in (least - 1, most + 1, "1", 0.5):
            with pytest.raises(WireError) as refused:
                decoded({**given, name: wrong}, kind)
            assert refused.value.code == BAD_PARAMS
    longest: Any
    for kind, name, longest, given in (
        (HelloMessage, "name", "x" * 1_000, hello),
        (HelloMessage, "argv", [""] * 10_000, hello),
        (BusyThreadMessage, "thread", "x" * 1_000, busy),
        (KeyframeMessage, "waits_for", [1] * 10_000, {"state": "begun"}),
        (ByeMessage, "reason", "x" * 2**16, {}),
        (UnableMessage, "unable", "x" * 2**16, {"pid": 1, "name": ""}),
    ):
        assert getattr(decoded({**given, name: longest}, kind), name) == longest
        with pytest.raises(WireError):
            decoded({**given, name: longest + longest[:1]}, kind)


def test_that_a_program_that_says_little_is_one_with_full_control_and_no_parent() -> None:
    # What is not known of a message is left out.
    said = decoded({"protocol": 1, "pid": 5, "name": "game", "dreams": 7}, HelloMessage)
    assert (said.parent_pid, said.clock_ns, said.grant, said.argv) == (0, 0, "full", [])
    # No process has so high a number.
    assert FIRST_PAGE_PID == 2**31
