"""What one sample tells: the stack, what runs and waits there, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, SimpleNamespace
from typing import Any

import pytest

from inspector.probe import sampler as module
from inspector.probe.adapters import Adapter
from inspector.probe.clocks import Clock
from inspector.probe.kinds import (
    COLLECTED,
    RUNNING_CALL,
    RUNS_CALLBACK,
    RUNS_FRAME,
    RUNS_TASK,
    SAMPLE_TIMES,
    SAMPLED,
    SAW_END,
    SAW_NO_TIMES,
    SAW_WAIT,
    STACK_FRAME,
)
from inspector.probe.stacks import Runner
from tests.probe.looked import MS, Looked


class Stacked:
    """A loop in a long turn, with a stack that the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, adapter_flag: str = "") -> None:
        self.looked = Looked(monkeypatch)
        self.stack: list[tuple[CodeType, int]] = []
        self.runner = Runner()
        self.waits = False, ""
        monkeypatch.setattr(module, "stack_of", lambda *_, **__: (self.stack, self.runner))
        monkeypatch.setattr(module, "wait_of", lambda _runner: self.waits)
        adapter = Adapter(self.looked.program)
        if adapter_flag:
            setattr(adapter, adapter_flag, True)
        self.loop: Clock = self.looked.program.clock("loop", adapter=adapter)
        self.looked.look_after(0)
        self.looked.program.frame_began(self.loop)
        self.looked.look_after(0)

    def sample(self) -> list[tuple[int, ...]]:
        """Look after 20 ms; returns what is told, without the instant."""
        self.looked.events.clear()
        self.looked.look_after(20, used_ms=20)
        return [event[1:] for event in self.looked.events]


def codes(*names: str) -> list[CodeType]:
    made: dict[str, Any] = {}
    for name in names:
        exec(f"def {name}(): pass", made)  # noqa: S102 - a function of that name
    return [made[name].__code__ for name in names]


def test_that_of_a_stack_is_told_what_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    stacked = Stacked(monkeypatch)
    texts = stacked.looked.program.texts
    main, play = codes("main", "play")
    told, depths = [], []
    for stack in (
        [(main, 1), (play, 2)],
        [(main, 1), (play, 3)],
        [(main, 1)],
        [(main, 1), (play, 3)],
    ):
        stacked.stack = stack
        events = stacked.sample()
        told.append([(a, texts[b]) for kind, _, a, b in events if kind == STACK_FRAME])
        depths += [b >> 8 & 0xFF for kind, *_, b in events if kind == SAMPLED]

    assert told == [
        [(0, "<string>:1 in main"), (1, "<string>:2 in play")],
        [(1, "<string>:3 in play")],
        [],
        [(1, "<string>:3 in play")],
    ]
    assert depths == [2, 2, 1, 2]


@pytest.mark.parametrize(
    ("what", "place"), [("time.sleep", "<built-in>:0 in time.sleep"), ("", "")]
)
def test_that_what_a_loop_waits_for_is_its_innermost_place(
    monkeypatch: pytest.MonkeyPatch, what: str, place: str
) -> None:
    stacked = Stacked(monkeypatch)
    stacked.stack = [(codes("main")[0], 1)]
    stacked.waits = True, what
    events = stacked.sample()
    places = [stacked.looked.program.texts[b] for kind, *_, b in events if kind == STACK_FRAME]

    assert places == ["<string>:1 in main", *[place] * bool(place)]
    assert [b & 0xFF for kind, *_, b in events if kind == SAMPLED] == [SAW_WAIT]


@pytest.mark.parametrize(
    ("name", "is_task", "flag", "kind"),
    [
        ("play", True, "", RUNS_TASK),
        ("play", False, "", RUNS_CALLBACK),
        ("", False, "", RUNS_FRAME),
        ("", False, "waits_for_events", RUNS_CALLBACK),
    ],
)
def test_that_what_a_loop_runs_is_named_by_its_stack(
    monkeypatch: pytest.MonkeyPatch, name: str, flag: str, kind: int, *, is_task: bool
) -> None:
    stacked = Stacked(monkeypatch, flag)
    runner = stacked.runner
    runner.name, runner.is_task, runner.identity = name, is_task, 5
    text = stacked.looked.program.text(name)
    first = stacked.sample()
    assert [event[2:] for event in first if event[0] == RUNNING_CALL] == [(text, kind)]
    # Another call of the same is a part of its own, unless frames are all that is known.
    runner.identity = 6
    parts = [b >> 32 for kind_, *_, b in stacked.sample() if kind_ == SAMPLED]
    assert parts == [kind != RUNS_FRAME]


@pytest.mark.parametrize(
    ("used_ms", "ready_ms", "covers_ms"), [(3, 4, 7), (20, 10, 20), (0, 0, None), (0, 5, 5)]
)
def test_that_a_hidden_turn_ends_when_its_thread_has_run_no_more(
    monkeypatch: pytest.MonkeyPatch, used_ms: int, ready_ms: int, covers_ms: int | None
) -> None:
    looked = Looked(monkeypatch)
    looked.hidden_loop()
    for _ in range(3):
        looked.look_after(20, used_ms=20)
    looked.events.clear()
    monkeypatch.setattr(looked.sampler, "_is_idle", lambda _watched: True)
    looked.look_after(20, used_ms=used_ms, ready_ms=ready_ms)

    ends = [(a, b & 0xFF) for _, kind, _, a, b in looked.events if kind == SAMPLED]
    assert ends == ([] if covers_ms is None else [(covers_ms * MS, SAW_END)])


def test_that_the_end_of_a_turn_says_whether_its_times_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = Looked(monkeypatch)
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    watched = looked.sampler._watched[loop.number]

    def unreadable() -> int:
        raise OSError

    looked.look_after(20, used_ms=20)
    watched.thread_times.cpu_ns = unreadable  # type: ignore[method-assign]
    looked.pass_ms(3)
    looked.program.frame_ended(loop)
    looked.look_after(4)

    flags = [b & 0xFF for _, kind, _, _, b in looked.events if kind == SAMPLED]
    assert flags == [0, SAW_END | SAW_NO_TIMES]
    times = [(a, b) for _, kind, _, a, b in looked.events if kind == SAMPLE_TIMES]
    assert times == [(20 * MS, 0), (0, 0)]


# ------------------------------------------------------------------------------------- collections


def test_that_a_collection_that_was_asked_for_is_told_with_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = Looked(monkeypatch)
    monkeypatch.setattr(module, "_line_that_collects", lambda _frame: 7)
    looked.sampler._collected("start", {})
    looked.pass_ms(1)
    looked.sampler._collected("stop", {"generation": 2})

    (told,) = [event[2:] for event in looked.events if event[1] == COLLECTED]
    assert told == (looked.program.own_clock.number, MS, 7 << 16 | 2)


@pytest.mark.parametrize(
    ("names", "called", "line"),
    [
        (("gc", "collect"), {"collect"}, 5),
        (("gc", "collect"), {"play"}, 0),
        (("play",), {"collect"}, 0),
    ],
)
def test_that_the_line_that_collects_is_one_that_calls_it(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], called: set[str], line: int
) -> None:
    frame: Any = SimpleNamespace(f_code=SimpleNamespace(co_names=names), f_lasti=4, f_lineno=5)

    def answer(found: Callable[[], set[str]]) -> int:
        monkeypatch.setattr(module, "called_names", lambda _code, _place: found())
        return module._line_that_collects(frame)

    assert answer(lambda: called) == line
    # The program may have a module “dis” of its own.
    assert answer(lambda: {str(1 // 0)}) == 0
    assert module._line_that_collects(None) == 0
