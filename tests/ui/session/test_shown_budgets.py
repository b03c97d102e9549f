"""Which frame budgets the window shows first: the session's own, or the user's."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast
from weakref import ref

import numpy as np
import pytest

from inspector.analysis.statistics.frame_budget import DEFAULT_BUDGETS_MS, USUAL_FRAME, FrameBudget
from inspector.vocabulary import LoopKind
from ui.session.budgets import ShownBudgets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.events.timeline import Timeline
    from inspector.sessions.session import Session

MS = 1_000_000


class Frames:
    def __init__(self, *interval_ms: int) -> None:
        self.times_ns = np.array(interval_ms, dtype=np.int64) * MS

    @property
    def end(self) -> int:
        return len(self.times_ns)

    def numpy(self, _column: str, first: int, end: int) -> NDArray[np.int64]:
        return self.times_ns[max(first, 0) : end]


class Shown:
    waits = False

    def __init__(self, rate: int) -> None:
        self.frame_rate = Fraction(rate)


def session(rate: int = 60) -> Session:
    return cast("Session", Shown(rate))


def program(
    asked_ns: int = 0, rate: Fraction = Fraction(1), frames: Frames | None = None
) -> Timeline:
    loop = SimpleNamespace(kind=LoopKind.DRAWS_FRAMES, asked_ns=asked_ns)
    state = SimpleNamespace(loops={7: loop}, frames_of=7, frames=frames or Frames(), clocks={7: 0})
    state.effective_rate = lambda _clock_id: rate
    return cast("Timeline", state)


def shown_by(budgets: ShownBudgets) -> list[float]:
    return list(budgets.shown_ms)


SCENE = cast("Timeline", SimpleNamespace(loops={}, frames_of=0))


def test_that_what_a_loop_asks_for_comes_first_at_its_rate_also_while_it_is_held() -> None:
    budgets, shown = ShownBudgets(), session()
    assert budgets.note(shown, program(33_333_333))
    assert shown_by(budgets) == [1000 / 30, 1000 / 60, 1000 / 120]
    assert budgets.own is not None
    assert budgets.own.why == "asks for 30 fps"
    assert not budgets.note(shown, program(33_333_333))

    assert budgets.note(shown, program(33_333_333, rate=Fraction(1, 4)))
    assert budgets.shown_ms[0] == 133.333332
    held = program(33_333_333, rate=Fraction(0))
    assert not budgets.note(shown, held)
    assert budgets.shown_ms[0] == 133.333332
    assert budgets.note(session(), held)
    assert shown_by(budgets) == [*DEFAULT_BUDGETS_MS]


def test_that_a_loop_that_asks_for_nothing_is_held_to_its_usual_frame() -> None:
    budgets, shown = ShownBudgets(), session()
    assert not budgets.note(shown, program(frames=Frames(*[20] * 29)))
    assert shown_by(budgets) == [*DEFAULT_BUDGETS_MS]
    assert budgets.note(shown, program(frames=Frames(*[20] * 33)))
    assert budgets.own is not None
    assert (budgets.own.origin, budgets.own.why) == (USUAL_FRAME, "usual frame 20.0 ms")
    assert shown_by(budgets) == [20.0, *DEFAULT_BUDGETS_MS]
    # It is not found anew with each frame.
    assert not budgets.note(shown, program(frames=Frames(*[40] * 60)))
    assert budgets.note(shown, program(frames=Frames(*[40] * 64)))
    assert budgets.shown_ms[0] == 40
    assert budgets.note(shown, program(rate=Fraction(1, 4), frames=Frames(*[40] * 65)))
    assert budgets.shown_ms[0] == 160
    assert not budgets.note(shown, program(rate=Fraction(0), frames=Frames(*[40] * 65)))
    ended = program(rate=Fraction(1, 4), frames=Frames(*[40] * 65))
    ended.clocks.clear()
    assert budgets.note(shown, ended)
    assert budgets.shown_ms[0] == 40, "its clock is gone"


def test_that_the_rate_of_a_scene_comes_first_unless_it_is_the_usual_one() -> None:
    budgets = ShownBudgets()
    assert not budgets.note(session(), SCENE)
    assert budgets.note(session(30), SCENE)
    assert budgets.shown_ms[0] == 1000 / 30
    assert budgets.own == FrameBudget(33_333_333)
    assert budgets.note(None, SCENE)
    assert shown_by(budgets) == [*DEFAULT_BUDGETS_MS]


def test_that_what_the_user_chooses_comes_first_while_that_session_is_shown() -> None:
    budgets, shown, asks = ShownBudgets(), session(), program(33_333_333)
    budgets.note(shown, asks)
    assert budgets.choose((12.5, 1000 / 60), shown)
    assert budgets.own is None
    budgets.note(shown, program(20 * MS))
    assert shown_by(budgets) == list(budgets.chosen_ms) == [12.5, 1000 / 60]

    closed = ref(shown)
    del shown
    assert budgets.note(session(), asks)
    assert closed() is None, "whose log may be large"
    assert shown_by(budgets) == [33.333333, 12.5, 1000 / 60]
    assert list(budgets.chosen_ms) == [12.5, 1000 / 60]


def test_that_other_lines_do_not_make_the_loops_own_budget_a_choice() -> None:
    budgets, shown = ShownBudgets(), session()
    budgets.note(shown, program(33_333_333))
    assert budgets.choose((1000 / 30, 1000 / 60, 12.5), shown)
    assert budgets.own is not None
    assert list(budgets.chosen_ms) == [1000 / 60, 12.5, 1000 / 30]
    budgets.note(shown, program(20 * MS))
    budgets.choose((20.0, 12.5), shown)
    assert shown_by(budgets) == [20.0, 12.5]
    assert list(budgets.chosen_ms) == [12.5]

    budgets.choose((), shown)
    assert not budgets.note(session(), program(33_333_333))
    assert shown_by(budgets) == []


@pytest.mark.parametrize("budget_ms", [0, -1.0, float("nan"), float("inf")])
def test_that_an_unusable_budget_is_refused(budget_ms: float) -> None:
    with pytest.raises(ValueError, match=f"above 0 ms: {budget_ms}"):
        ShownBudgets().choose([budget_ms], None)
