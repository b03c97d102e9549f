"""Clocks of programs that are not the inspector's: compared, followed, and their error shown."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from inspector.probe.wire import JSON, answer, packed_json, unpacked_json
from inspector.sessions.attached.connections import ConnectionClosedError
from inspector.sessions.attached.link import Attached, ClockCompared, News, ProbeLink
from inspector.vocabulary import RATE_DENOMINATOR as D
from tests.sessions.attached.fake_probe import MS, Attachment, DryServer, Hand, hello

SECOND = 1_000 * MS


class PlayedConnection:
    """A connection with a program on another host, some milliseconds away."""

    is_local = False
    host = ""
    peer_pid = 0
    text = "played"

    def __init__(self, hand: Hand, clock: Callable[[], int], until_ns: int) -> None:
        self._hand = hand
        self._clock = clock
        self._until_ns = until_ns
        self.compared = 0
        self._waiting = [packed_json({"id": 0, "method": "Link.hello", "params": hello("5e" * 16)})]

    def send(self, _kind: int, payload: bytes) -> None:
        message = unpacked_json(payload)
        if message.get("method") == "Program.time":
            self.compared += 1
            self._hand.advance(2)
            clock_ns = self._clock()
            self._hand.advance(2)
            self._waiting.append(packed_json(answer(message["id"], {"clock_ns": clock_ns})))

    def receive(self, _timeout_s: float) -> list[tuple[int, bytes]]:
        if self._hand.now_ns > self._until_ns:
            message = "over"
            raise ConnectionClosedError(message)
        found, self._waiting = self._waiting, []
        if not found:
            self._hand.advance(50)
        return [(JSON, payload) for payload in found]

    def wake(self) -> None:
        pass

    def close(self) -> None:
        pass


def told(clock: Callable[[Hand], int], seconds: int) -> list[News]:
    """Return the news of a connection with a program that has such a clock."""
    hand = Hand()
    acceptor = DryServer(hand)
    connection = PlayedConnection(hand, lambda: clock(hand), hand.now_ns + seconds * SECOND)
    ProbeLink(connection, acceptor).run(dials=False, token=acceptor.token)
    return list(acceptor.pop_news(1 << 20))


def offsets(news: list[News]) -> list[int]:
    return [each.offset_ns for each in news if isinstance(each, Attached | ClockCompared)]


def test_that_a_clock_that_runs_alike_is_compared_once() -> None:
    news = told(lambda hand: hand.now_ns - 5 * SECOND, 60)
    assert offsets(news) == [5 * SECOND]


def test_that_a_program_that_reads_this_machines_clock_is_compared_in_the_beginning_only() -> None:
    hand = Hand()
    acceptor = DryServer(hand)
    connection = PlayedConnection(hand, hand, hand.now_ns + 60 * SECOND)
    connection.is_local = True
    ProbeLink(connection, acceptor).run(dials=False, token=acceptor.token)

    assert connection.compared == 5


def test_that_a_clock_that_drifts_is_followed_within_its_error() -> None:
    # 0.1 %, as no crystal does.
    news = told(lambda hand: hand.now_ns * 1_001 // 1_000 - 5 * SECOND, 60)
    found = offsets(news)
    assert len(found) > 5
    assert all(after < before for before, after in pairwise(found))
    attached = next(each for each in news if isinstance(each, Attached))
    last_ns = 61_000 * MS
    assert found[-1] == pytest.approx(5 * SECOND - last_ns // 1_000, abs=3 * attached.error_ns)


@pytest.mark.parametrize("slept_s", [3_600, -3_600])
def test_that_the_clock_of_a_machine_that_was_suspended_is_found_again(slept_s: int) -> None:
    """Of two machines, or with clocks that count a suspension or not."""

    def clock(hand: Hand) -> int:
        return hand.now_ns + (slept_s * SECOND if hand.now_ns > 20 * SECOND else 0)

    assert offsets(told(clock, 40)) == [0, -slept_s * SECOND]


def test_that_a_program_is_shown_where_its_clock_is_now(attachment: Attachment) -> None:
    session = attachment.session
    probe = attachment.join()
    probe.keyframe()
    attachment.settle(session.own_clocks)
    program = session.programs[0]
    drifted_ns = session._began_ns + program.translation.shift_ns + 7 * MS
    session.acceptor.put(ClockCompared(program.link, drifted_ns, 2 * MS))
    attachment.until(lambda: ("Events.keyframe", {}) in probe.asked)
    began_ns = attachment.hand.now_ns
    probe.keyframe()
    attachment.settle(lambda: session.timeline.at_ns > began_ns + program.translation.shift_ns)
    (_, clock_id) = session.own_clocks()[0]
    # The keyframe says when it began, in the program's own time.
    assert session.timeline.clocks[clock_id].off == -(began_ns + program.translation.shift_ns) * D
    assert program.clock_text == "compared with the inspector's, ± 2.00 ms, corrected by 7.00 ms"


def test_that_a_program_says_what_is_permitted_and_whose_clock_it_has(
    attachment: Attachment,
) -> None:
    probe = attachment.join()
    probe.keyframe()
    attachment.settle(attachment.session.own_clocks)

    facts = dict(attachment.session.programs[0].facts)

    assert facts["Permissions"] == "full control"
    assert facts["Runs on"] == "CPython 3.11"
    assert facts["Clock"] == "shared with the inspector"
