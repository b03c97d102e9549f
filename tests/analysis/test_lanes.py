"""Lanes: what clocks, timers and machines did, read from the log as it grows."""

from __future__ import annotations

import random
import re
from array import array
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from inspector.analysis.lanes.lane_columns import Instants, PendingTimers, found_in
from inspector.analysis.lanes.lanes import Lane, LaneKind, LaneStore
from inspector.clocks import Clock
from inspector.events import EventLog, Timeline
from inspector.events.history import LogHistory
from inspector.events.log import BYTES_PER_EVENT
from inspector.events.timer_table import RowByNumber
from inspector.vocabulary import TIMER_ADDED, EventKind, Field, MemberKind, RawEvent
from tests.ui.members_world import MembersSession
from tests.ui.world import World

MS = 1_000_000
STRINGS = ["", "before", "after", "game", "boss"]


class CountedLooks(PendingTimers):
    looks = 0

    @override
    def __contains__(self, timer_id: int) -> bool:
        self.looks += 1
        return super().__contains__(timer_id)


def _nothing() -> None: ...


def read_all(world: World, store: LaneStore | None = None) -> LaneStore:
    world.fold()
    store = store or LaneStore()
    while store.read(world.history, world.timeline):
        pass
    return store


def lane_of(store: LaneStore, kind: LaneKind, label: str) -> Lane:
    return next(lane for lane in store.lanes.values() if lane.key[::2] == (kind, label))


def test_that_every_firing_is_on_its_lane_with_how_late_it_was() -> None:
    world = World()
    world.root.set_interval(0.01, _nothing, name="tick")
    world.run_to_ms(55)
    store = read_all(world)
    tick = lane_of(store, LaneKind.TIMER, "tick")
    assert list(tick.instants.at_ns) == [10 * MS, 20 * MS, 30 * MS, 40 * MS, 50 * MS]
    assert list(tick.instants.value) == [0] * 5
    assert len(tick.pending) == 1


def test_that_timers_of_one_label_on_one_clock_share_a_lane() -> None:
    world = World()
    for delay in (0.01, 0.02, 0.03):
        world.root.set_timeout(delay, _nothing, name="spawn")
    world.root.child("other").set_timeout(0.01, _nothing, name="spawn")
    world.run_to_ms(25)
    store = read_all(world)
    spawns = [lane for lane in store.lanes.values() if lane.label == "spawn"]
    assert [len(lane.instants) for lane in spawns] == [2, 1]
    assert len(spawns[0].pending) == 1


def test_that_reading_in_parts_gives_what_reading_at_once_gives() -> None:
    world = World()
    world.root.set_interval(0.001, _nothing, name="tick")
    world.run_to_ms(500)
    at_once = read_all(world)
    in_parts = LaneStore()
    in_parts.most_at_once = 100
    rests = [in_parts.read(world.history, world.timeline)]
    while rests[-1]:
        rests.append(in_parts.read(world.history, world.timeline))
    assert len(rests) > 3
    for key, lane in at_once.lanes.items():
        assert lane.instants.at_ns == in_parts.lanes[key].instants.at_ns


def test_that_a_piece_ends_early_where_its_events_make_many_lanes() -> None:
    world = World()
    for number in range(1_000):
        world.root.set_timeout(1, _nothing, name=f"spawn {number}")
    in_parts, counts = LaneStore(), [0]

    while in_parts.read(world.history, world.timeline):
        counts.append(len(in_parts.timer_lanes))
    counts.append(len(in_parts.timer_lanes))

    assert in_parts.cursor == world.history.end
    assert counts[-1] == 1_000
    assert max(after - before for before, after in pairwise(counts)) < 512


def test_that_a_pause_says_when_it_began_who_did_it_and_that_it_ended() -> None:
    world = World()
    clock = world.root.child("game")
    world.run_to_ms(10)
    clock.pause()
    world.run_to_ms(30)
    clock.resume()
    world.run_to_ms(40)
    clock.pause()
    world.run_to_ms(50)
    store = read_all(world)
    stands = list(store.clocks.standstills(clock.id, 0, 50 * MS))
    assert [(each.began_ns, each.end_ns, each.is_over) for each in stands] == [
        (10 * MS, 30 * MS, True),
        (40 * MS, 50 * MS, False),
    ]


def test_that_a_lane_goes_on_behind_what_has_fallen_off_and_counts_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Copies of states are large.
    monkeypatch.delattr(LogHistory, "state_before")
    world = World()
    world.log.budget_bytes = BYTES_PER_EVENT * 100
    clock = world.root.child("game")
    clock.set_interval(0.001, _nothing, name="tick")
    for at_ms in range(10, 400, 10):
        world.run_to_ms(at_ms)
        world.log.settle()
    store = read_all(world)
    tick = lane_of(store, LaneKind.TIMER, "tick")
    assert store.lost > 0
    assert 0 < len(tick.instants) < 390
    assert len(tick.pending) == 1
    assert tick.instants.at_ns[-1] == 390 * MS
    assert store.clocks.local_ns(clock.id, 390 * MS) == 390 * MS
    assert store.clocks.by_id[clock.id].name == "game"


def test_that_machines_have_their_states_and_what_was_refused() -> None:
    session = MembersSession()
    session.machine(5, "door", "shut", {"open": ("shut", "open"), "close": ("open", "shut")})
    session.run_to_ms(10)
    session.enter(5, "open", "open")
    session.run_to_ms(20)
    session.refuse(5, "open", "not now")
    store = read_all(session)
    steps = lane_of(store, LaneKind.MACHINE, "door").steps
    assert list(steps.at_ns) == [0, 10 * MS]
    assert [session.log.strings[each] for each in steps.value] == ["shut", "open"]
    assert list(store.refusals[5].at_ns) == [20 * MS]


def read_events(*events: RawEvent) -> LaneStore:
    log = EventLog()
    for text in STRINGS[1:]:
        log.intern(text)
    log.append((0, EventKind.CLOCK_ADDED, 1, 0, 3))
    for event in events:
        log.append(event)
    timeline = Timeline(log.strings)
    timeline.apply_all(log.read(0).events)
    store = LaneStore()
    store.read(LogHistory(log), timeline)
    return store


def member(number: int, kind: MemberKind, name: int, parent: int = 0) -> list[RawEvent]:
    return [
        (0, EventKind.MEMBER_ADDED, number, parent, name),
        (0, EventKind.MEMBER_ORIGIN, number, 1, kind),
    ]


def test_that_calls_are_on_the_lane_of_the_name_at_that_time() -> None:
    store = read_events(
        *member(4, MemberKind.TARGET, 4),
        *member(5, MemberKind.FRAME_TIMER, 1, 4),
        (10, EventKind.CALL_ENDED, 5, 0, 1),
        (20, EventKind.MEMBER_SET, 5, Field.NAME, 2),
        (30, EventKind.CALL_ENDED, 5, 0, 1),
        (40, EventKind.MEMBER_SET, 4, Field.NAME, 3),
        (50, EventKind.CALL_ENDED, 5, 0, 1),
    )

    calls = {
        lane.label: list(lane.instants.at_ns)
        for lane in store.lanes.values()
        if lane.kind is LaneKind.CALL
    }
    assert calls == {"boss: before": [10], "boss: after": [30], "game: after": [50]}


def test_that_a_machine_that_is_renamed_takes_its_past_along() -> None:
    store = read_events(
        *member(4, MemberKind.MACHINE, 1),
        *member(5, MemberKind.MACHINE, 2),
        (10, EventKind.STATE_ENTERED, 4, 3, 0),
        (20, EventKind.MEMBER_SET, 4, Field.NAME, 2),
        (30, EventKind.STATE_ENTERED, 4, 4, 0),
    )

    renamed = lane_of(store, LaneKind.MACHINE, "after (2)")
    assert list(renamed.steps.at_ns) == [10, 30]
    assert store.lanes[renamed.key] is renamed
    beside = [lane.label for lane in store.by_clock[1] if lane.kind is LaneKind.MACHINE]
    assert beside == ["after", "after (2)"]
    machines = [lane.label for lane in store.lanes.values() if lane.kind is LaneKind.MACHINE]
    assert sorted(machines) == ["after", "after (2)"]


def test_that_counts_of_columns_add_up_to_all_there_is() -> None:
    world = World()
    for number in range(7):
        world.root.set_interval(0.001 * (number + 1), _nothing, name="tick")
    world.run_to_ms(300)
    instants = lane_of(read_all(world), LaneKind.TIMER, "tick").instants
    edges = np.linspace(0, 300 * MS + 1, 120).astype(np.int64)
    places = instants.before(edges)
    assert int(np.diff(places).sum()) == len(instants)


@given(st.lists(st.integers(0, 10**6), max_size=300), st.integers(1, 60))
def test_that_the_latest_of_each_column_is_never_lost(values: list[int], columns: int) -> None:
    instants = Instants()
    for number, value in enumerate(values):
        instants.append(number, value, 0)
    edges = np.linspace(0, max(len(values), 1), columns + 1).astype(np.int64)
    found = instants.maxima(instants.before(edges))
    for number, (low, high) in enumerate(pairwise(edges)):
        assert found[number] == max(values[low:high], default=0)


@given(st.lists(st.integers(0, 50)).map(sorted), st.lists(st.integers(-5, 55), min_size=1))
def test_that_instants_are_found_as_in_the_whole_column(
    values: list[int], wanted: list[int]
) -> None:
    column, instants = array("q", values), np.array(sorted(wanted), np.int64)
    for side in ("left", "right"):
        expected = np.searchsorted(np.array(values, np.int64), instants, side)
        assert found_in(column, instants, side).tolist() == expected.tolist()


@given(
    st.lists(st.tuples(st.sampled_from("aabbfn-"), st.integers(0, 200)), max_size=300), st.data()
)
def test_that_lanes_know_their_pending_timers_as_dictionaries_would(
    steps: list[tuple[str, int]], data: st.DataObject
) -> None:
    lanes = RowByNumber()
    both, apart = PendingTimers(lanes), [PendingTimers(lanes, 0), PendingTimers(lanes, 1)]
    known: dict[int, int] = {}

    def expected(*numbers: int) -> list[int]:
        return [timer for timer, lane in known.items() if lane in numbers]

    for part in apart:
        both.join(part)
    for timer, (step, count) in enumerate(steps, 1):
        if step in "ab":
            lane = "ab".index(step)
            # Many at once, so that those that have ended are many.
            for each in range(1_000 * timer, 1_000 * timer + count):
                lanes[each] = known[each] = lane
                apart[lane].add(each)
                both.add(each)
        elif step == "-":
            for each in data.draw(st.sampled_from([list(known), [*reversed(known)]]))[:count]:
                lane = lanes.pop(each)
                apart[lane].note_end()
                both.note_end()
                del known[each]
        elif step == "n":
            assert both.newest() == next(reversed(known), 0)
            assert apart[1].newest() == next(reversed(expected(1)), 0)
        else:
            assert both.first(count) == expected(0, 1)[:count]
            assert apart[0].first(count) == expected(0)[:count]
    for pending, numbers in ((both, (0, 1)), (apart[0], (0,)), (apart[1], (1,))):
        wanted = expected(*numbers)
        assert len(pending) == len(wanted)
        assert pending.first(len(wanted) + 1) == wanted
        assert all((each in pending) == (known[each] in numbers) for each in known)
        assert 999 not in pending


def test_that_timers_that_have_ended_are_looked_through_once() -> None:
    lanes = RowByNumber()
    pending = CountedLooks(lanes, 0)
    for each in range(1, 1_001):
        lanes[each] = 0
        pending.add(each)
    for each in (*range(2, 400), 1_000):
        lanes.pop(each)
        pending.note_end()

    looked = []
    for _ in range(2):
        before = pending.looks
        assert pending.first(3) == [1, 400, 401]
        assert pending.newest() == 999
        looked.append(pending.looks - before)

    assert looked == [403, 1]


def test_that_a_timer_that_is_added_twice_is_pending_once() -> None:
    world = World()
    world.root.set_timeout(1, _nothing, name="spawn")
    world.root.set_timeout(1, _nothing, name="other")
    added, *_ = (each for each in world.log.read(0).events if each[1] == TIMER_ADDED)
    world.log.append(added)
    world.log.append((*added[:4], world.log.intern("other")))
    store = LaneStore()

    store.read(world.history, Timeline(world.log.strings))

    assert len(lane_of(store, LaneKind.TIMER, "spawn").pending) == 0
    other = lane_of(store, LaneKind.TIMER, "other")
    assert len(other.pending) == 2
    assert store.lane(LaneKind.TIMER, added[2]) is other


def play(chance: random.Random, world: World, clocks: list[Clock]) -> None:
    """Do something to a random clock."""
    clock = chance.choice(clocks)
    match chance.randrange(6):
        case 0:
            clock.pause()
        case 1:
            clock.resume()
        case 2:
            clock.rate = chance.choice((0, 0.5, 1, 2, 3))
        case 3 if len(clocks) < 8:
            clocks.append(clock.child(f"clock {len(clocks)}"))
        case 4 if clock is not world.root:
            above = chance.choice(clocks)
            is_below = any(each is clock for each in path_of(above))
            if not is_below:
                clock.move_to(above)
        case _:
            pass


def path_of(clock: Clock) -> list[Clock]:
    found = [clock]
    while found[-1].parent is not None:
        found.append(found[-1].parent)
    return found


@given(st.integers(0, 2**32))
def test_that_local_time_at_every_instant_of_the_past_is_what_the_engine_showed(seed: int) -> None:
    chance = random.Random(seed)
    world = World()
    clocks = [world.root]
    seen: list[tuple[int, int, int]] = []
    for step in range(1, 40):
        world.run_to_ms(step * 7)
        seen += [(clock.id, world.tree.now_ns, clock.time_ns) for clock in clocks]
        play(chance, world, clocks)
    store = read_all(world)
    # At the very instant of a change both sides of it show the same time.
    for clock_id, at_ns, local_ns in seen:
        assert store.clocks.local_ns(clock_id, at_ns) == local_ns


def test_that_an_empty_log_has_only_the_lanes_that_are_always_there() -> None:
    log = EventLog()
    assert not len(log)
    assert {lane.kind for lane in LaneStore().lanes.values()} == {
        LaneKind.BOOKMARKS,
        LaneKind.MARKS,
        LaneKind.COMMANDS,
        LaneKind.FAILURES,
        LaneKind.HITS,
    }


def of_one_site(world: World, *names: str) -> None:
    for name in names:
        world.root.set_interval(0.1, _nothing, name=name)


def test_that_a_family_whose_labels_share_no_word_is_called_by_its_function() -> None:
    world = World()
    of_one_site(world, "bakers open", "cinema closes", "lamps light")

    family = lane_of(read_all(world), LaneKind.TIMER, "bakers open").family

    assert family is not None
    assert re.fullmatch(r"of_one_site:\d+ ×3", family.title)


def test_that_two_timers_of_one_call_site_whose_labels_share_no_word_stay_apart() -> None:
    world = World()
    of_one_site(world, "backup", "send report")
    store = read_all(world)

    for name in ("backup", "send report"):
        assert lane_of(store, LaneKind.TIMER, name).family is None


def test_that_timers_made_at_one_call_site_are_a_family() -> None:
    world = World()
    of_one_site(world, "orc 1 attacks", "imp attacks 2")
    store = read_all(world)
    world.run_to_ms(450)
    of_one_site(world, "boss attacks")
    world.run_to_ms(1_000)
    store = read_all(world, store)

    lane = lane_of(store, LaneKind.TIMER, "orc 1 attacks")
    family = lane.family
    assert family is not None
    assert family.title == "attacks ×3"
    assert [each.label for each in family.members] == [
        *("orc 1 attacks", "imp attacks 2", "boss attacks"),
    ]
    assert len(family.pending) == 3
    at_ns = sorted(at for each in family.members for at in each.instants.at_ns)
    assert list(family.instants.at_ns) == at_ns
    assert lane_of(read_all(world), LaneKind.TIMER, "imp attacks 2").family is not None


def test_that_a_timer_made_at_a_site_of_its_own_is_in_no_family() -> None:
    world = World()
    world.root.set_interval(0.1, _nothing, name="spawn 1")
    world.root.set_interval(0.1, _nothing, name="spawn 2")
    store = read_all(world)
    assert lane_of(store, LaneKind.TIMER, "spawn 1").family is None


def crowded(seed: int) -> World:
    """Return a world in which thousands of timers are set in turn, at many places."""
    world, chance = World(), random.Random(seed)
    clocks = [world.root, *(world.root.child(name) for name in ("game", "shop"))]
    world.run_to_ms(10)
    for number in range(9_000):
        clock, kind = chance.choice(clocks), chance.choice(("orc", "imp"))
        if number < 4_000:
            of_one_site(world, f"{kind} attacks")
        elif number % 2:
            clock.set_timeout(1 + number / 1_000, _nothing, name=f"{kind} walks")
        else:
            clock.set_interval(1 + number / 1_000, _nothing)
    return world


@pytest.mark.parametrize("are_dropped", [False, True])
def test_that_many_new_timers_are_on_the_lanes_they_would_be_on_one_by_one(
    are_dropped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = crowded(1)
    if are_dropped:
        world.log.budget_bytes = BYTES_PER_EVENT * 7_000
        world.log.settle()
    monkeypatch.setattr(LaneStore, "most_at_once", 50_000)
    at_once, one_by_one = LaneStore(), LaneStore()
    assert not at_once.read(world.history, world.timeline)
    monkeypatch.setattr(LaneStore, "_add_timers", lambda *_: False)
    assert not one_by_one.read(world.history, world.timeline)

    def told(lane: Lane) -> tuple[object, ...]:
        numbers = lane.pending.first(9_000)
        return (
            lane.key,
            lane.subject_id,
            lane.sid,
            lane.site,
            lane.words,
            len(lane.pending),
            numbers,
        )

    assert sum(len(lane.pending) for lane in at_once.timer_lanes) == 9_000
    for store, other in zip(at_once.timer_lanes, one_by_one.timer_lanes, strict=True):
        assert told(store) == told(other)
        assert (store.family is None) == (other.family is None)
        if store.family is not None and other.family is not None:
            assert told(store.family) == told(other.family)
    assert at_once.version == one_by_one.version
    assert at_once.read_ns == one_by_one.read_ns
