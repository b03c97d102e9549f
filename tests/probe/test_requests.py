"""What an inspector asks of a program, one request at a time."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.probe import wire
from inspector.probe.adapters import Adapter
from inspector.probe.clocks import Clock
from inspector.probe.kinds import CLOCK_PAUSED, CLOCK_RATE, CLOCK_RESUMED, MAX_RATE
from inspector.probe.kinds import RATE_DENOMINATOR as D
from inspector.probe.program import Timer
from inspector.probe.requests import Requests
from inspector.probe.wire import WireError
from tests.probe.adapters.played import Played

MS = 1_000_000


class Clearing(Adapter):
    """An adapter whose timers can be cleared, or not."""

    library = "lib"
    reason: str | bool = True

    def __init__(self, program: Any) -> None:  # noqa: ANN401 - a program
        super().__init__(program)
        self.cleared: list[tuple[str, int, int]] = []
        self.stepped: list[int] = []

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        self.cleared.append((clock.name, timer.number, cause))

    def capabilities(self, _clock: Clock) -> dict[str, str | bool]:
        return {"clear_timer": self.reason, "pause": self.reason, "rate": self.reason}

    def step_frame(self, _clock: Clock, frames: int) -> None:
        self.stepped.append(frames)


class Asked:
    """A program, with a loop, that is asked for something."""

    def __init__(self, grant: str = "full") -> None:
        self.played = Played(10**15)
        self.program = self.played.program
        self.adapter = Clearing(self.program)
        self.loop = self.program.clock("loop", adapter=self.adapter)
        self.played.events.clear()
        self.requests: Any = Requests(self.program, grant)

    def ask(self, method: str, **params: object) -> Any:  # noqa: ANN401 - an answer
        return self.requests.apply(method, params)

    def refused(self, method: str, **params: object) -> tuple[int, str]:
        with pytest.raises(WireError) as raised:
            self.requests.apply(method, params)
        return raised.value.code, raised.value.message

    @property
    def told(self) -> list[tuple[int, ...]]:
        return [event[1:] for event in self.played.events]


@pytest.fixture
def asked() -> Asked:
    return Asked()


def test_that_clocks_are_changed_by_their_commands(asked: Asked) -> None:
    number = asked.loop.number
    assert asked.ask("Clock.pause", clock=number, cause=3) == {}
    assert asked.ask("Clock.resume", clock=number, cause=4) == {}
    asked.ask("Clock.rate", clock=number, rate_n=0, cause=5)
    asked.ask("Clock.rate", clock=number, rate_n=MAX_RATE * D)
    asked.ask("Clock.pause", clock=number)
    asked.ask("Link.release")

    assert asked.told == [
        (CLOCK_PAUSED, number, 3, 0),
        (CLOCK_RESUMED, number, 4, 0),
        (CLOCK_RATE, number, 0, 5),
        (CLOCK_RATE, number, MAX_RATE * D, 0),
        (CLOCK_PAUSED, number, 0, 0),
        (CLOCK_RESUMED, number, 0, 0),
        (CLOCK_RATE, number, D, 0),
    ]
    assert asked.refused("Clock.rate", clock=number, rate_n=MAX_RATE * D + 1)[0] == wire.BAD_PARAMS
    assert asked.refused("Clock.pause", clock=99) == (wire.NO_SUCH, "There is no clock 99.")


def test_that_what_an_adapter_cannot_do_is_refused_with_its_reason(asked: Asked) -> None:
    asked.adapter.reason = "It cannot."
    timer = asked.program.timer(asked.loop, "tick", 0, 1)
    asked.played.events.clear()
    for method, params in (
        ("Clock.pause", {"clock": asked.loop.number}),
        ("Clock.resume", {"clock": asked.loop.number}),
        ("Clock.rate", {"clock": asked.loop.number, "rate_n": 1}),
        ("Timer.clear", {"timer": timer.number}),
    ):
        assert asked.refused(method, **params) == (wire.NOT_POSSIBLE, "It cannot.")
    assert asked.told == []
    assert asked.adapter.cleared == []


def test_that_a_timer_is_cleared_by_its_adapter(asked: Asked) -> None:
    timer = asked.program.timer(asked.loop, "tick", 0, 1)
    asked.ask("Timer.clear", timer=timer.number, cause=6)
    assert asked.adapter.cleared == [("loop", timer.number, 6)]
    assert asked.refused("Timer.clear", timer=9) == (wire.NO_SUCH, "There is no timer 9.")


def test_that_what_is_asked_of_others_is_handed_on(asked: Asked) -> None:
    requests = asked.requests
    handed_on: list[tuple[str, int]] = []
    requests.on_tasks_asked = lambda every_ns: handed_on.append(("tasks", every_ns))
    requests.on_acknowledged = lambda events: handed_on.append(("events", events))
    asked.ask("Program.tasks", every_ns=0)
    asked.ask("Program.tasks", every_ns=2**60)
    asked.ask("Events.ack", events=0)
    assert asked.refused("Program.tasks", every_ns=2**60 + 1)[0] == wire.BAD_PARAMS
    assert asked.refused("Program.tasks", every_ns=-1)[0] == wire.BAD_PARAMS

    assert handed_on == [("tasks", 0), ("tasks", 2**60), ("events", 0)]
    assert not requests.is_keyframe_wanted
    asked.ask("Events.keyframe")
    assert requests.is_keyframe_wanted
    assert asked.ask("Program.time") == {"clock_ns": asked.played.now_ns}
    assert asked.ask("Program.grant") == {"grant": "full"}


def test_that_a_program_is_held_after_a_long_turn_that_was_asked_for(asked: Asked) -> None:
    program = asked.program
    asked.ask("Program.hold_after", turn_ns=2**60, cause=8)
    assert (program._longest_turn_ns, program._longest_cause) == (2**60, 8)
    asked.ask("Program.hold_after", turn_ns=0)
    assert (program._longest_turn_ns, program._longest_cause) == (0, 0)
    assert asked.refused("Program.hold_after", turn_ns=2**60 + 1)[0] == wire.BAD_PARAMS


# ------------------------------------------------------------------------------------------- steps


def test_that_only_what_is_held_and_would_run_is_stepped(asked: Asked) -> None:
    assert asked.refused("Program.step", local_ns=1)[1].startswith("Only a program that is held")
    asked.played.hold()
    asked.played.set_rate(0)
    assert asked.refused("Program.step", local_ns=1)[1].startswith("The rate of")
    asked.played.set_rate(D)
    assert asked.refused("Program.step")[0] == wire.BAD_PARAMS
    assert asked.refused("Program.step", to="next")[0] == wire.BAD_PARAMS
    assert asked.refused("Program.step", to="next_timer") == (
        wire.NOT_POSSIBLE,
        "No timer of the program will be due.",
    )


@pytest.mark.parametrize(
    ("params", "is_taken"),
    [
        ({"frames": 0}, False),
        ({"frames": 1}, True),
        ({"frames": 1_000_000}, True),
        ({"frames": 1_000_001}, False),
        ({"local_ns": 0}, False),
        ({"local_ns": 1}, True),
        ({"local_ns": 2**60}, True),
        ({"local_ns": 2**60 + 1}, False),
    ],
)
def test_that_steps_have_a_length(asked: Asked, params: dict[str, int], *, is_taken: bool) -> None:
    asked.program.frames(asked.loop)
    asked.played.hold()
    if is_taken:
        asked.ask("Program.step", **params, cause=4)
        assert not asked.program.own_clock.is_paused
        assert asked.told[-1] == (CLOCK_RESUMED, asked.program.own_clock.number, 4, 0)
    else:
        assert asked.refused("Program.step", **params)[0] == wire.BAD_PARAMS
        assert asked.program.own_clock.is_paused


def test_that_a_step_of_frames_needs_frames(asked: Asked) -> None:
    asked.played.hold()
    assert asked.refused("Program.step", frames=1) == (
        wire.NOT_POSSIBLE,
        "No frames have been seen in this program.",
    )
    asked.program.frames(asked.loop)
    asked.ask("Program.step", frames=2)
    assert asked.adapter.stepped == [2]
    assert asked.program.clocks.step_ends_ns is None


def test_that_a_step_ends_after_its_time_or_with_the_next_timer(asked: Asked) -> None:
    program, clocks = asked.program, asked.program.clocks
    local_ns = program.own_clock.local_ns()
    asked.played.hold()
    asked.ask("Program.step", local_ns=7)
    assert clocks._limit_local_ns == local_ns + 7
    program.pause(program.own_clock)
    program.timer(asked.loop, "tick", 0, local_ns + 50)
    asked.ask("Program.step", to="next_timer")
    assert clocks._limit_local_ns == local_ns + 50
    program.pause(program.own_clock)
    # What a frame calls is called by the next.
    asked.adapter.calls_in_frames = True
    program.timer(asked.loop, "tick", 0, local_ns - 1)
    program.frames(asked.loop)
    asked.ask("Program.step", to="next_timer")
    assert asked.adapter.stepped == [1]
    assert program._frames_left == 1
    assert clocks.step_ends_ns is None


# ------------------------------------------------------------------------------------------ grants


@pytest.mark.parametrize(
    ("grant", "granted"),
    [("read-only", 0), ("step", 1), ("full", 2), ("everything", 0), ("", 0)],
)
def test_that_a_grant_includes_those_before_it(grant: str, granted: int) -> None:
    asked = Asked(grant)
    needed = [
        ("Program.time", {}),
        ("Clock.pause", {"clock": asked.loop.number}),
        ("Clock.rate", {"clock": asked.loop.number, "rate_n": 1}),
    ]
    for rank, (method, params) in enumerate(needed):
        if rank <= granted:
            asked.ask(method, **params)
        else:
            assert asked.refused(method, **params)[0] == wire.NOT_GRANTED
    assert asked.ask("Program.grant") == {"grant": grant if granted else "read-only"}


def test_that_what_no_one_can_be_asked_is_refused_in_short(asked: Asked) -> None:
    assert not asked.requests.knows("No.such")
    assert asked.requests.knows("Program.time")
    assert asked.refused("x" * 90) == (
        wire.UNKNOWN_METHOD,
        f"There is no request “{'x' * 80}”.",
    )
