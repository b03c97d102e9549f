"""Folding what frame systems report gives exactly what they say when asked directly.

Random operations, inside calls too; after each the state that is folded so far is compared
with the system itself, and at the end a fresh fold with what was true at every such instant.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.engines.cocos.dialects import DIALECTS, Dialect
from inspector.engines.cocos.reports import DialectTarget
from inspector.engines.cocos.scheduler import DialectScheduler
from inspector.engines.egret.repairs import longer_count
from inspector.engines.egret.ticker import Ticker
from inspector.engines.egret.timer import BY_CALLS, BY_ELAPSED, TickerTimer
from inspector.events.members import MemberState, MemberTable
from inspector.events.timeline import Timeline
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.scheduler.targets import TargetRecord
from inspector.frames.scheduling import PendingCall
from inspector.frames.state_machine import ANY, SOUND, Edge, MachineRules, StateMachine
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, Field, MemberKind
from tests.frames.recorded import Recorded
from tests.frames.test_scheduler_model import (
    CALLBACKS,
    DELTAS,
    LIMIT,
    TARGETS,
    Operation,
    Pair,
    changes,
    frames,
    hooks,
    random_change,
)
from tests.fuzz import rounds

#: Single precision is good for about this much after the few seconds of a test.
TOLERANCE = 2e-4


@dataclass(frozen=True)
class Cut:
    """What was true when so many events had been recorded."""

    cursor: int
    facts: object


class Cuts:
    """Compares the folded state with the facts, now and again at the end."""

    def __init__(self, recorded: Recorded, fold: Callable[[MemberTable], object]) -> None:
        self._recorded = recorded
        self._fold = fold
        self._cuts: list[Cut] = []

    def compare(self, facts: object) -> None:
        assert self._fold(self._recorded.members) == facts
        self._cuts.append(Cut(self._recorded.log.end, facts))

    def compare_again(self) -> None:
        log = self._recorded.log
        timeline = Timeline(log.strings)
        cursor = 0
        for cut in self._cuts:
            timeline.apply_all(log.slice(cursor, cut.cursor))
            cursor = cut.cursor
            assert self._fold(timeline.members) == cut.facts


def pending_of(
    members: MemberTable, scheduler: int, target_of: Callable[[int], object]
) -> tuple[list[PendingCall], list[PendingCall]]:
    """Return what is pending by the fold: updates in call order, and timers."""
    time_ns = members.by_id[scheduler].fields[Field.TIME]

    def call(member: MemberState) -> PendingCall:
        fields = member.fields
        is_paused = members.pausing(member.id) is not None
        target = target_of(member.parent_id)
        if member.kind is MemberKind.UPDATE:
            priority = fields[Field.PRIORITY]
            return PendingCall(target, member.name, priority, 0.0, None, None, is_paused)
        due_ns = fields.get(Field.DUE)
        remaining_ns = fields.get(Field.REMAINING, 0) if is_paused else (due_ns or 0) - time_ns
        remaining = None if due_ns == NEVER else remaining_ns / 1e9
        left = fields[Field.CALLS_LEFT]
        interval = fields[Field.INTERVAL] / 1e9
        calls_left = None if left < 0 else left
        return PendingCall(target, member.name, None, interval, remaining, calls_left, is_paused)

    timers = [
        call(member)
        for member in members.branch(scheduler)
        if member.kind is MemberKind.FRAME_TIMER
    ]
    return [call(update) for update in members.updates_of(scheduler)], timers


def key_of(call: PendingCall) -> tuple[object, ...]:
    return (id(call.target), call.label, call.priority, call.interval, call.remaining or 0)


# ------------------------------------------------------------- our scheduler


class RecordedPair(Pair):
    """The scheduler with a recorded clock; the model is not asked."""

    def __init__(self, inside: dict[tuple[str, int, int, int], list[Operation]]) -> None:
        super().__init__(inside)
        self.recorded = Recorded()
        self.recorded.tree.on_failure = lambda _: None
        self.scheduler = Scheduler(self.recorded.clock, max_calls_per_frame=LIMIT)
        self._names: dict[int, object] = {}
        self.cuts = Cuts(self.recorded, self.fold)

    def called(self) -> None:
        self.cuts.compare(self.facts())

    def target_of(self, number: int) -> object:
        owner = self.recorded.tree.members.find(number)
        if isinstance(owner, TargetRecord):
            self._names[number] = owner.target
        return self._names[number]

    def fold(self, members: MemberTable) -> object:
        number = self.scheduler.number
        updates, timers = pending_of(members, number, self.target_of)
        fields = members.by_id[number].fields
        targets = [members.by_id[target] for target in members.by_id[number].children]
        frame_timers = (m for m in members.by_id.values() if m.kind is MemberKind.FRAME_TIMER)
        return (
            [PendingCallText(call) for call in updates],
            sorted(str(PendingCallText(call)) for call in timers),
            {id(self.target_of(t.id)): t.is_paused for t in targets},
            sum(timer.fields.get(Field.MISSED, 0) for timer in frame_timers),
            fields[Field.TIME],
            fields[Field.RATE],
        )

    def facts(self) -> object:
        scheduler = self.scheduler
        pending = [PendingCallText(call) for call in scheduler.pending()]
        records = scheduler._targets.all()
        return (
            [call for call in pending if call.call.priority is not None],
            sorted(str(call) for call in pending if call.call.priority is None),
            {id(record.target): bool(record.pauses) for record in records},
            sum(timer.missed for timer in scheduler.timers()),
            scheduler.time_ns,
            scheduler.time_scale * RATE_DENOMINATOR,
        )


class PendingCallText:
    """A pending call that equals another by its text: the targets have no sound equality."""

    def __init__(self, call: PendingCall) -> None:
        self.call = call

    def __repr__(self) -> str:
        call = self.call
        remaining = None if call.remaining is None else round(call.remaining * 1e9)
        return (
            f"{id(call.target)} {call.label} {call.priority} {call.interval} {remaining}"
            f" {call.calls_left} {call.is_paused}"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PendingCallText) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]


@given(operations=st.lists(st.one_of(changes, frames, frames), max_size=40), inside=hooks)
def test_that_the_fold_knows_what_the_scheduler_knows(
    operations: list[Operation], inside: dict[tuple[str, int, int, int], list[Operation]]
) -> None:
    pair = RecordedPair(inside)

    for operation in operations:
        if operation[0] != "raise":
            pair.perform(operation)
            pair.called()

    pair.cuts.compare_again()


@pytest.mark.parametrize("seed", rounds(40))
def test_that_the_fold_knows_it_after_long_random_sequences(seed: int) -> None:
    dice = random.Random(seed)
    inside: dict[tuple[str, int, int, int], list[Operation]] = {}
    for _ in range(30):
        kind = dice.choice("UTT")
        changes_there = [random_change(dice) for _ in range(dice.randrange(1, 4))]
        callback = dice.randrange(CALLBACKS) if kind == "T" else 0
        inside[kind, dice.randrange(TARGETS), callback, dice.randrange(20)] = changes_there
    pair = RecordedPair(inside)

    for _ in range(120):
        is_frame = dice.random() < 0.55
        pair.perform(("frame", dice.choice(DELTAS)) if is_frame else random_change(dice))
        pair.called()

    pair.cuts.compare_again()


# ------------------------------------------------------------------ dialects

seconds = st.sampled_from([0.0, 0.0, 0.005, 0.016, 0.05, 0.1, 0.3])
numbers = st.integers(0, 2)
dialect_changes = st.one_of(
    st.tuples(
        st.just("schedule"),
        numbers,
        numbers,
        seconds,
        st.sampled_from([None, 0, 2]),
        seconds,
        st.booleans(),
    ),
    st.tuples(st.just("unschedule"), numbers, numbers),
    st.tuples(st.just("update"), numbers, st.integers(-1, 1), st.booleans()),
    st.tuples(st.just("no update"), numbers),
    st.tuples(st.just("no target"), numbers),
    st.tuples(st.just("nothing"), st.none() | st.integers(-1, 1)),
    st.tuples(st.just("pause"), numbers),
    st.tuples(st.just("resume"), numbers),
    st.tuples(st.just("pause all"), st.none() | st.integers(-1, 1)),
    st.tuples(st.just("resume all")),
    st.tuples(st.just("scale"), st.sampled_from([0.0, 0.5, 1.0, 2.0])),
    st.tuples(st.just("raise")),
)
dialect_hooks = st.dictionaries(
    st.tuples(st.sampled_from("UT"), numbers, numbers, st.integers(0, 2)),
    st.lists(dialect_changes, min_size=1, max_size=3),
    max_size=6,
)
dialect_frames = st.tuples(st.just("frame"), st.sampled_from([0.0, 1 / 60, 1 / 240, 0.1]))


class WantedError(Exception):
    """Raised by a callback because the sequence says so."""


class Thing:
    """A target."""


class DialectRun:
    """A dialect's scheduler, driven by operations."""

    def __init__(
        self,
        dialect: Dialect,
        inside: dict[tuple[str, int, int, int], list[Operation]],
        recorded: Recorded | None,
    ) -> None:
        clock = None if recorded is None else recorded.clock
        self.scheduler = DialectScheduler(dialect, lambda _: None, clock=clock)
        self.calls: list[object] = []
        self.on_call: Callable[[], object] = lambda: None
        self._inside = inside
        self._seen: dict[tuple[str, int, int], int] = {}
        self._paused: list[object] = []
        self.targets = [Thing() for _ in range(3)]
        self._timers = [[self._callback("T", t, c) for c in range(3)] for t in range(3)]
        self._updates = [self._callback("U", t, 0) for t in range(3)]

    def _callback(self, kind: str, t: int, c: int) -> Callable[[float], None]:
        def call(argument: float) -> None:
            self.calls.append((kind, t, c, argument))
            number = self._seen.get((kind, t, c), 0)
            self._seen[kind, t, c] = number + 1
            self.on_call()
            for operation in self._inside.get((kind, t, c, number), []):
                self.perform(operation)
                self.on_call()

        call.__qualname__ = f"{kind}{t}{c}"
        return call

    def try_to_perform(self, operation: Operation) -> None:
        try:
            self.perform(operation)
        except Exception as error:  # noqa: BLE001 - the originals crash in places
            self.calls.append(type(error))

    def perform(self, operation: Operation) -> None:  # noqa: C901, PLR0912 - one line for each
        scheduler, targets = self.scheduler, self.targets
        match operation:
            case ["frame", delta]:
                scheduler.update(delta)
            case ["schedule", t, c, interval, repeat, delay, paused]:
                scheduler.schedule(
                    self._timers[t][c],
                    interval,
                    target=targets[t],
                    repeat=repeat,
                    delay=delay,
                    paused=paused,
                )
            case ["unschedule", t, c]:
                scheduler.unschedule(self._timers[t][c], targets[t])
            case ["update", t, priority, paused]:
                callback = self._updates[t]
                scheduler.schedule_update(targets[t], priority, paused=paused, callback=callback)
            case ["no update", t]:
                scheduler.unschedule_update(targets[t])
            case ["no target", t]:
                scheduler.unschedule_target(targets[t])
            case ["nothing", minimum]:
                scheduler.unschedule_all(minimum)
            case ["pause", t]:
                scheduler.pause_target(targets[t])
            case ["resume", t]:
                scheduler.resume_target(targets[t])
            case ["pause all", minimum]:
                self._paused = scheduler.pause_all(minimum)
            case ["resume all"]:
                scheduler.resume(self._paused)
            case ["scale", scale]:
                scheduler.time_scale = scale
            case _:
                raise WantedError


def names_of(calls: Sequence[PendingCall]) -> list[tuple[object, ...]]:
    return [(id(call.target), call.label, call.priority, call.is_paused) for call in calls]


@given(
    dialect=st.sampled_from(DIALECTS),
    operations=st.lists(st.one_of(dialect_changes, dialect_frames, dialect_frames), max_size=30),
    inside=dialect_hooks,
)
def test_that_the_fold_knows_what_a_dialect_knows_and_changes_nothing(
    dialect: Dialect,
    operations: list[Operation],
    inside: dict[tuple[str, int, int, int], list[Operation]],
) -> None:
    recorded = Recorded()
    plain, run = DialectRun(dialect, inside, None), DialectRun(dialect, inside, recorded)
    scheduler = run.scheduler
    owners: dict[int, object] = {}

    def target_of(number: int) -> object:
        owner = recorded.tree.members.find(number)
        if isinstance(owner, DialectTarget):
            owners[number] = owner.target
        return owners[number]

    def fold_names(members: MemberTable) -> object:
        updates, timers = pending_of(members, scheduler.number, target_of)
        return names_of(updates), sorted(names_of(timers), key=str)

    def names() -> object:
        pending = scheduler.pending()
        updates = names_of([call for call in pending if call.priority is not None])
        timers = names_of([call for call in pending if call.priority is None])
        return updates, sorted(timers, key=str)

    cuts = Cuts(recorded, fold_names)
    run.on_call = lambda: cuts.compare(names())
    for operation in operations:
        if operation[0] == "raise":
            continue
        plain.try_to_perform(operation)
        run.try_to_perform(operation)
        assert run.calls == plain.calls
        cuts.compare(names())
        assert_same_times(pending_of(recorded.members, scheduler.number, target_of)[1], scheduler)
    cuts.compare_again()


def assert_same_times(folded: list[PendingCall], scheduler: DialectScheduler) -> None:
    """Compare what changes in every frame, between frames."""
    timers = [call for call in scheduler.pending() if call.priority is None]
    for ours, theirs in zip(sorted(folded, key=key_of), sorted(timers, key=key_of), strict=True):
        assert ours.remaining == pytest.approx(theirs.remaining, abs=TOLERANCE)
        assert ours.interval == pytest.approx(theirs.interval, abs=1e-9)
        assert ours.calls_left == theirs.calls_left


# ------------------------------------------------------------------ machines


@given(
    edges=st.lists(
        st.tuples(
            st.sampled_from("pqr"),
            st.sampled_from(["a", "b", "c", ANY, ("a", "b")]),
            st.sampled_from("abc"),
            st.booleans(),
        ),
        max_size=8,
    ),
    names=st.lists(st.sampled_from("pqr"), max_size=20),
    nested=st.dictionaries(st.integers(0, 20), st.sampled_from(["p", "q", "r", "raise"])),
    rules=st.sampled_from([MachineRules(), SOUND]),
)
def test_that_the_fold_knows_a_machines_states(
    edges: list[tuple[str, Any, str, bool]],
    names: list[str],
    nested: dict[int, str],
    rules: MachineRules,
) -> None:
    recorded = Recorded()
    transitions: dict[str, list[Edge[str]]] = {name: [] for name in "pqr"}
    for name, source, target, passes in edges:
        guard = None if passes else lambda _: False
        transitions[name].append(Edge(source, target, guard=guard))
    machine = StateMachine("a", transitions, rules=rules, clock=recorded.clock)
    entered = ["a"]

    def fold(members: MemberTable) -> object:
        history = members.histories[machine.number]
        strings = recorded.log.strings
        return (
            members.field_text(machine.number, Field.STATE),
            [strings[state] for state in history.state],
        )

    cuts = Cuts(recorded, fold)

    def on_enter(_: str, new: str) -> None:
        entered.append(new)
        cuts.compare((machine.state, list(entered)))
        action = nested.get(len(entered))
        if action == "raise":
            raise WantedError
        if action is not None:
            machine.go(action)

    machine.on_enter = dict.fromkeys("abc", on_enter)
    for name in names:
        with suppress(WantedError):
            machine.go(name)
        cuts.compare((machine.state, list(entered)))
    cuts.compare_again()


# ------------------------------------------------------------------- tickers

waits = st.sampled_from([1.0, 7.0, 16.0, 50.0, 120.0])
ticker_changes = st.one_of(
    st.tuples(st.just("start"), numbers),
    st.tuples(st.just("stop"), numbers),
    st.tuples(st.just("reset"), numbers),
    st.tuples(st.just("delay"), numbers, waits),
    st.tuples(st.just("timeout"), waits),
    st.tuples(st.just("interval"), waits),
    st.tuples(st.just("clear timeout"), st.integers(1, 6)),
    st.tuples(st.just("clear interval"), st.integers(1, 6)),
    st.tuples(st.just("pause")),
    st.tuples(st.just("resume")),
)
ticker_frames = st.tuples(st.just("frame"), st.sampled_from([1.0, 4.0, 16.0, 100.0]))


class TickerRun:
    """A recorded ticker with three timers, each counting in its own way."""

    def __init__(self, inside: dict[int, list[Operation]]) -> None:
        self.recorded = Recorded()
        self.now_ms = 0.0
        self.ticker = Ticker(lambda: self.now_ms, clock=self.recorded.clock)
        countings = (BY_CALLS, BY_ELAPSED, longer_count(4))
        self.timers = [
            TickerTimer(self.ticker, 20, number, counting=counting)
            for number, counting in enumerate(countings)
        ]
        self._inside = inside
        self._calls = 0
        self.cuts = Cuts(self.recorded, self.fold)
        for timer in self.timers:
            timer.on_timer = timer.on_complete = self.called

    def called(self) -> None:
        self._calls += 1
        self.cuts.compare(self.facts())
        for operation in self._inside.get(self._calls, []):
            self.perform(operation)
            self.cuts.compare(self.facts())

    def perform(self, operation: Operation) -> None:  # noqa: C901 - one line for each
        ticker = self.ticker
        match operation:
            case ["frame", passed]:
                self.now_ms += passed
                ticker.update()
            case ["start", number]:
                self.timers[number].start()
            case ["stop", number]:
                self.timers[number].stop()
            case ["reset", number]:
                self.timers[number].reset()
            case ["delay", number, delay]:
                self.timers[number].delay_ms = delay
            case ["timeout", delay]:
                ticker.set_timeout(self.called, delay)
            case ["interval", delay]:
                ticker.set_interval(self.called, delay)
            case ["clear timeout", number]:
                ticker.clear_timeout(number)
            case ["clear interval", number]:
                ticker.clear_interval(number)
            case ["pause"]:
                ticker.pause()
            case _:
                ticker.resume()

    def fold(self, members: MemberTable) -> object:
        ticker = members.by_id[self.ticker.number]
        return (
            ticker.is_paused,
            {
                number: (
                    members.field_text(number, Field.RULES),
                    members.by_id[number].fields[Field.INTERVAL],
                    members.by_id[number].fields[Field.CALLS_LEFT],
                )
                for number in ticker.children
            },
        )

    def facts(self) -> object:
        known: dict[int, object] = {}
        for timer, counting in zip(
            self.timers, (BY_CALLS, BY_ELAPSED, longer_count(4)), strict=True
        ):
            if timer.is_running:
                left = timer.repeat_count - timer.current_count if timer.repeat_count else -1
                interval_ns = round(timer.delay_ms * 1e6)
                known[timer.number] = (counting.name, interval_ns, max(-1, left))
        for kind, left, entries in (
            ("timeout", 1, self.ticker.timeouts()),
            ("interval", -1, self.ticker.intervals()),
        ):
            for entry in entries:
                known[entry.number] = (kind, round(entry.delay_ms * 1e6), left)
        return self.ticker.is_paused, known


@given(
    operations=st.lists(st.one_of(ticker_changes, ticker_frames, ticker_frames), max_size=40),
    inside=st.dictionaries(
        st.integers(1, 8), st.lists(ticker_changes, min_size=1, max_size=3), max_size=5
    ),
)
def test_that_the_fold_knows_what_a_ticker_knows(
    operations: list[Operation], inside: dict[int, list[Operation]]
) -> None:
    run = TickerRun(inside)

    for operation in operations:
        run.perform(operation)
        run.cuts.compare(run.facts())

    run.cuts.compare_again()
