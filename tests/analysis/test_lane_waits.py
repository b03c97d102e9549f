"""What a lane says of the wait of its timers, in a few words."""

from __future__ import annotations

import pytest

from inspector.analysis.lanes.waits import LaneWait, calm_duration
from inspector.analysis.lint.survey import _quarters
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.vocabulary import MARK

MS = 1_000_000
SECOND = 1_000 * MS


@pytest.mark.parametrize(
    ("wait", "text", "briefs"),
    [
        (LaneWait(), "", ()),
        (LaneWait(due_in_ns=1_500 * MS), "→ 1.5 s", ()),
        (LaneWait(late_ns=5 * MS), "", ()),
        (LaneWait(late_ns=5 * MS + 1), "late 5.00 ms", ()),
        (LaneWait(paused=("game",), paused_id=2), "‖ game", ()),
        (LaneWait(paused=("game",), late_ns=7 * MS), "‖ game", ()),
        (LaneWait(paused=("game", "menu")), "‖ game, menu", ("‖ game +1", "‖ 2 clocks")),
        (LaneWait(paused=("a\nb", "c", "d")), "‖ a⏎b, c, d", ("‖ a⏎b +2", "‖ 3 clocks")),
    ],
)
def test_that_a_wait_is_a_pause_or_more_than_a_little_late_or_due_later(
    wait: LaneWait, text: str, briefs: tuple[str, ...]
) -> None:
    assert (wait.text(5 * MS), wait.briefs) == (text, briefs)


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (40 * MS, "40.0 ms"),
        (949 * MS, "0.9 s"),
        (999 * MS, "1.0 s"),
        (SECOND, "1.0 s"),
        (1_249 * MS, "1.2 s"),
        (99_940 * MS, "99.9 s"),
        (99_960 * MS, "100 s"),
    ],
)
def test_that_what_is_counted_down_changes_by_tenths_of_a_second(
    duration_ns: int, text: str
) -> None:
    assert calm_duration(duration_ns) == text


def test_that_a_check_is_made_in_quarters_of_the_time() -> None:
    log = EventLog()
    for at_ns in (0, 10, 20, 25, 26, 49, 51, 74, 76, 90, 99, 100):
        log.append((at_ns, MARK, 0, 0, 0))
    history = LogHistory(log)

    assert _quarters(history, 0, 12) == [4, 6, 8, 12]
    assert _quarters(history, 4, 4) == _quarters(history, 5, 4) == []
    assert _quarters(history, 11, 12) == [12, 12, 12, 12]
    assert _quarters(history, 0, 1) == [1, 1, 1, 1]
