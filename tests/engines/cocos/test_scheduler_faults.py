"""Each known fault of the originals: the dialect has it, our scheduler has not."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from inspector.engines.cocos.dialects import (
    COCOS2DX_3_4,
    COCOS2DX_3_15,
    CREATOR_2_4,
    CREATOR_3_8,
    DIALECTS,
    Dialect,
)
from inspector.engines.cocos.scheduler import Complaint, Diagnostic, DialectScheduler
from inspector.frames.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable

    FrameScheduler: TypeAlias = Scheduler | DialectScheduler

#: A frame; exact in single precision, as everything that is added up here.
FRAME = 1 / 64

Script: TypeAlias = "Callable[[FrameScheduler, list[str]], None]"


class _Thing:
    """A target that notes its updates."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.log = log
        self.on_update: Callable[[], object] = lambda: None

    def update(self, _: float) -> None:
        self.log.append(self.name)
        self.on_update()

    def tick(self, _: float) -> None:
        self.log.append(f"{self.name}.tick")


def _frames(scheduler: FrameScheduler, log: list[str], count: int, delta: float = FRAME) -> None:
    for _ in range(count):
        log.append("|")
        scheduler.update(delta)


def remove_an_earlier_target(scheduler: FrameScheduler, log: list[str]) -> None:
    a, b, c = (_Thing(name, log) for name in "abc")

    def remove_a(_: float) -> None:
        log.append("b removes a")
        scheduler.unschedule_target(a)

    scheduler.schedule(a.tick)
    scheduler.schedule(remove_a, target=b, repeat=0)
    scheduler.schedule(c.tick)
    _frames(scheduler, log, 2)


def insert_a_smaller_priority(scheduler: FrameScheduler, log: list[str]) -> None:
    a, b, c, new = (_Thing(name, log) for name in ("a", "b", "c", "new"))
    for priority, thing in enumerate((a, b, c), 2):
        scheduler.schedule_update(thing, priority)

    def insert() -> None:
        scheduler.schedule_update(new, 1)
        b.on_update = lambda: None

    b.on_update = insert
    _frames(scheduler, log, 1)


def put_an_update_behind(scheduler: FrameScheduler, log: list[str]) -> None:
    a, b = _Thing("a", log), _Thing("b", log)
    scheduler.schedule_update(a, 1)
    scheduler.schedule_update(b, 2)

    def move() -> None:
        scheduler.schedule_update(a, 3)
        a.on_update = lambda: None

    a.on_update = move
    _frames(scheduler, log, 2)


def schedule_again_in_the_last_call(scheduler: FrameScheduler, log: list[str]) -> None:
    thing = _Thing("a", log)

    def again(_: float) -> None:
        log.append("called")
        if log.count("called") == 1:
            scheduler.schedule(again, target=thing, repeat=0)

    scheduler.schedule(again, target=thing, repeat=0)
    _frames(scheduler, log, 5)


def unschedule_and_schedule_in_the_last_call(scheduler: FrameScheduler, log: list[str]) -> None:
    thing = _Thing("a", log)

    def again(_: float) -> None:
        log.append("called")
        if log.count("called") == 1:
            scheduler.unschedule(again, thing)
            scheduler.schedule(again, target=thing, repeat=0)

    scheduler.schedule(again, target=thing, repeat=0)
    _frames(scheduler, log, 5)


def run_an_interval_that_frames_do_not_divide(scheduler: FrameScheduler, log: list[str]) -> None:
    thing = _Thing("a", log)
    scheduler.schedule(thing.tick, 3 * FRAME)
    _frames(scheduler, log, 16, 2 * FRAME)


def shorten_an_interval(scheduler: FrameScheduler, log: list[str]) -> None:
    thing = _Thing("a", log)
    scheduler.schedule(thing.tick, 64 * FRAME)
    _frames(scheduler, log, 10)
    scheduler.schedule(thing.tick, 8 * FRAME)
    _frames(scheduler, log, 1)


def end_a_delay_with_the_frame(scheduler: FrameScheduler, log: list[str]) -> None:
    thing = _Thing("a", log)
    scheduler.schedule(thing.tick, repeat=1, delay=FRAME)
    _frames(scheduler, log, 2)


def schedule_a_running_timer_from_its_own_call(scheduler: FrameScheduler, log: list[str]) -> None:
    thing = _Thing("a", log)

    def again(_: float) -> None:
        log.append("called")
        if log.count("called") == 1:
            scheduler.schedule(again, 4 * FRAME, target=thing)

    # No multiple of the frame: the time may not come back to where arming begins.
    scheduler.schedule(again, 1.5 * FRAME, target=thing)
    _frames(scheduler, log, 12)


def never_stop(scheduler: FrameScheduler, log: list[str]) -> None:
    thing = _Thing("a", log)

    def x(_: float) -> None:
        log.append("x")
        if log.count("x") == 1:
            scheduler.schedule(x, 0, target=thing, repeat=1, delay=0.25)
        elif len(log) < 1_000_000:
            scheduler.schedule(x, 0.25, target=thing, delay=0.25)

    def in_second_update() -> None:
        if log.count("a") == 2:
            scheduler.schedule(x, 0.5, target=thing, repeat=3, delay=1 / 32)

    thing.on_update = in_second_update
    scheduler.schedule_update(thing)
    for delta in (1, 2, 1 / 32):
        _frames(scheduler, log, 1, delta)


def pause_everything_and_resume(scheduler: FrameScheduler, log: list[str]) -> None:
    a, b = _Thing("a", log), _Thing("b", log)
    scheduler.schedule_update(a)
    scheduler.schedule_update(b)
    scheduler.pause_target(a)
    paused: Any = scheduler.pause_all()
    scheduler.resume(paused)
    _frames(scheduler, log, 1)


def pause_everything(scheduler: FrameScheduler, log: list[str]) -> None:
    scheduler.schedule_update(_Thing("a", log))
    scheduler.pause_all()
    _frames(scheduler, log, 1)


def unschedule_everything(scheduler: FrameScheduler, log: list[str]) -> None:
    scheduler.schedule_update(_Thing("a", log))
    scheduler.unschedule_all()
    _frames(scheduler, log, 1)


def pause_who_has_nothing(scheduler: FrameScheduler, log: list[str]) -> None:
    thing = _Thing("a", log)
    scheduler.pause_target(thing)
    scheduler.schedule_update(thing)
    _frames(scheduler, log, 1)


def pause_a_second_timer(scheduler: FrameScheduler, log: list[str]) -> None:
    thing = _Thing("a", log)
    scheduler.schedule(lambda _: log.append("first"), target=thing)
    scheduler.schedule(lambda _: log.append("second"), target=thing, paused=True)
    _frames(scheduler, log, 2)


def wait_for_the_first_frame(scheduler: FrameScheduler, log: list[str]) -> None:
    scheduler.schedule_once(_Thing("a", log).tick)
    _frames(scheduler, log, 2)


def raise_in_a_callback(scheduler: FrameScheduler, log: list[str]) -> None:
    a, b = _Thing("a", log), _Thing("b", log)

    def fail(_: float) -> None:
        log.append("fails")
        raise RuntimeError

    scheduler.schedule(fail, 2 * FRAME, target=a)
    scheduler.schedule(b.tick, 2 * FRAME)
    for _ in range(4):
        log.append("|")
        try:
            scheduler.update(FRAME)
        except RuntimeError:
            log.append("lost")


def remove_all_and_schedule_inside(scheduler: FrameScheduler, log: list[str]) -> None:
    thing = _Thing("a", log)

    def restart(_: float) -> None:
        log.append("again")
        scheduler.unschedule_target(thing)
        scheduler.schedule(thing.tick)

    scheduler.schedule(restart, target=thing)
    _frames(scheduler, log, 3)


def pause_with_the_same_priority(scheduler: FrameScheduler, log: list[str]) -> None:
    thing = _Thing("a", log)
    scheduler.schedule_update(thing, 1)
    scheduler.schedule_update(thing, 1, paused=True)
    _frames(scheduler, log, 1)


def change_a_priority_inside(scheduler: FrameScheduler, log: list[str]) -> None:
    a, b = _Thing("a", log), _Thing("b", log)
    scheduler.schedule_update(a, 1)
    scheduler.schedule_update(b, 2)

    def before_a() -> None:
        scheduler.schedule_update(b, -1)

    a.on_update = before_a
    _frames(scheduler, log, 2)


OLD = (CREATOR_2_4, CREATOR_3_8, COCOS2DX_3_4)
CREATOR = (CREATOR_2_4, CREATOR_3_8)

#: (fault, script, dialects that have it, what happens there, what happens here)
FAULTS = [
    (
        "skipped: the target after one that was removed",
        remove_an_earlier_target,
        CREATOR,
        "| | a.tick b removes a",
        "| a.tick b removes a c.tick | c.tick",
    ),
    (
        "doubled and skipped: a smaller priority comes in",
        insert_a_smaller_priority,
        CREATOR,
        "| a b b",
        "| a b c",
    ),
    (
        "doubled: an update moves behind the present one",
        put_an_update_behind,
        (COCOS2DX_3_15,),
        "| a b a | b a",
        "| a b | b a",
    ),
    (
        "refused: a priority changes inside a frame",
        change_a_priority_inside,
        OLD,
        "| a b | a b",
        "| a b | b a",
    ),
    (
        "lost: scheduled again in the last call",
        schedule_again_in_the_last_call,
        OLD,
        "| | called | | |",
        "| called | called | | |",
    ),
    (
        "lost: unscheduled and scheduled in the last call",
        unschedule_and_schedule_in_the_last_call,
        (CREATOR_2_4, COCOS2DX_3_4, COCOS2DX_3_15),
        "| | called | | |",
        "| called | called | | |",
    ),
    (
        "drifting: what is too much is thrown away",
        run_an_interval_that_frames_do_not_divide,
        OLD,
        "| | | a.tick | | a.tick | | a.tick | | a.tick | | a.tick | | a.tick | | a.tick |",
        (
            "| | a.tick | a.tick | | a.tick | a.tick | | a.tick | a.tick | | a.tick | a.tick |"
            " | a.tick | a.tick |"
        ),
    ),
    (
        "early: a shorter interval counts time that has passed",
        shorten_an_interval,
        OLD,
        "| | | | | | | | | | | a.tick",
        "| | | | | | | | | | |",
    ),
    (
        "early and doubled: a delay ends with the frame, interval 0",
        end_a_delay_with_the_frame,
        (COCOS2DX_3_15,),
        "| | a.tick a.tick",
        "| a.tick | a.tick",
    ),
    (
        "late by a second: scheduled again in its own call",
        schedule_a_running_timer_from_its_own_call,
        (COCOS2DX_3_15,),
        "| | | called | | | | | | | | |",
        "| | called | | | | called | | | | called | |",
    ),
    (
        "resumed although the user had paused it",
        pause_everything_and_resume,
        (CREATOR_2_4, COCOS2DX_3_4, COCOS2DX_3_15),
        "| a b",
        "| b",
    ),
    ("not paused: everything, but for updates", pause_everything, (CREATOR_3_8,), "| a", "|"),
    (
        "not unscheduled: everything, but for updates",
        unschedule_everything,
        (CREATOR_3_8,),
        "| a",
        "|",
    ),
    ("forgotten: pausing who has nothing yet", pause_who_has_nothing, DIALECTS, "| a", "|"),
    (
        "ignored: the paused flag of a second timer",
        pause_a_second_timer,
        DIALECTS,
        "| | first second",
        "| first | first",
    ),
    (
        "late by a frame: the first one only arms",
        wait_for_the_first_frame,
        DIALECTS,
        "| | a.tick",
        "| a.tick |",
    ),
    (
        "lost: the frame of the others when one raises",
        raise_in_a_callback,
        CREATOR,
        "| | | fails lost | fails lost",
        "| | fails b.tick | | fails b.tick",
    ),
    (
        "late by a frame: everything of a target is taken back first",
        remove_all_and_schedule_inside,
        DIALECTS,
        "| | again |",
        "| again | a.tick | a.tick",
    ),
    (
        "ignored: pausing with the same priority",
        pause_with_the_same_priority,
        (COCOS2DX_3_15,),
        "| a",
        "|",
    ),
]

CASES = [
    pytest.param(script, dialect, there, here, id=f"{dialect.name}: {fault}")
    for fault, script, dialects, there, here in FAULTS
    for dialect in dialects
]


@pytest.mark.parametrize(("script", "dialect", "there", "here"), CASES)
def test_that_the_dialect_has_the_fault_and_ours_has_not(
    script: Script,
    dialect: Dialect,
    there: str,
    here: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL)
    log_there: list[str] = []
    log_here: list[str] = []

    script(DialectScheduler(dialect, lambda _: None), log_there)
    script(Scheduler(), log_here)

    assert " ".join(log_there) == there
    assert " ".join(log_here) == here


def test_that_the_endless_loop_of_cocos2d_x_is_cut_off_and_reported() -> None:
    complaints: list[Complaint] = []
    log: list[str] = []
    scheduler = DialectScheduler(COCOS2DX_3_15, lambda found: complaints.append(found.complaint))

    never_stop(scheduler, log)

    assert complaints.count(Complaint.ENDLESS) == 1
    assert log.count("x") > 1_000
    scheduler.update(FRAME)


def test_that_our_scheduler_goes_through_what_never_ends_in_cocos2d_x() -> None:
    log: list[str] = []

    never_stop(Scheduler(), log)

    assert log == ["|", "a", "|", "a", "|", "a", "x"]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_that_a_stall_makes_one_call_many_calls_or_as_many_as_are_allowed(dialect: Dialect) -> None:
    ours, theirs = Scheduler(max_calls_per_frame=10), DialectScheduler(dialect)
    counts: dict[str, int] = {"ours": 0, "theirs": 0}

    def call(who: str) -> Callable[[float], None]:
        def note(_: float) -> None:
            counts[who] += 1

        return note

    ours.schedule(call("ours"), FRAME)
    theirs.schedule(call("theirs"), FRAME)
    for scheduler in (ours, theirs):
        scheduler.update(0)
        scheduler.update(5)

    assert counts == {"ours": 10, "theirs": 320 if dialect is COCOS2DX_3_15 else 1}


def test_that_the_priority_of_the_first_entry_keeps_another_where_it_is() -> None:
    log: list[str] = []
    ours = Scheduler()
    theirs = DialectScheduler(COCOS2DX_3_4)
    schedulers: tuple[FrameScheduler, ...] = (theirs, ours)
    for scheduler in schedulers:
        a, b, c = (_Thing(name, log) for name in "abc")
        scheduler.schedule_update(a, 1)
        scheduler.schedule_update(b, 3)
        scheduler.schedule_update(c, 3)
        # b gets the priority of a, and c the one it has.
        scheduler.schedule_update(b, 3)
        _frames(scheduler, log, 1)

    assert " ".join(log) == "| a c b | a b c"


def _diagnosed(dialect: Dialect) -> tuple[DialectScheduler, list[Diagnostic]]:
    found: list[Diagnostic] = []
    return DialectScheduler(dialect, found.append), found


def test_that_five_arguments_take_repeat_for_paused() -> None:
    log: list[str] = []
    scheduler, _ = _diagnosed(CREATOR_2_4)
    thing = _Thing("a", log)

    scheduler.schedule_as_written(thing.tick, thing, 0, 3, 0)

    assert scheduler.is_target_paused(thing)


def test_that_cocos2d_x_takes_no_three_arguments() -> None:
    thing = _Thing("a", [])
    with pytest.raises(TypeError, match=r"cocos2d-x 3\.4 has no schedule with 3 arguments"):
        DialectScheduler(COCOS2DX_3_4).schedule_as_written(thing.tick, thing, 0)


def test_that_two_arguments_are_too_few_for_everybody() -> None:
    thing = _Thing("a", [])
    with pytest.raises(TypeError, match="no schedule with 2 arguments"):
        DialectScheduler(CREATOR_3_8).schedule_as_written(thing.tick, thing)


def test_that_a_missing_update_method_raises_in_creator_2_and_is_passed_over_in_3() -> None:
    scheduler = DialectScheduler(CREATOR_2_4)
    scheduler.schedule_update("has none")
    with pytest.raises(TypeError, match="no update method"):
        scheduler.update(FRAME)

    tolerant = DialectScheduler(CREATOR_3_8)
    tolerant.schedule_update("has none")
    tolerant.update(FRAME)


def test_that_a_dialect_calls_another_callback_than_update() -> None:
    log: list[float] = []
    scheduler = DialectScheduler(COCOS2DX_3_15)
    scheduler.schedule_update("player", callback=log.append)

    scheduler.update(FRAME)

    assert log == [FRAME]


def test_that_cocos2d_x_rounds_to_single_precision() -> None:
    log: list[float] = []
    schedulers = [DialectScheduler(dialect) for dialect in (CREATOR_2_4, COCOS2DX_3_4)]
    for scheduler in schedulers:
        scheduler.time_scale = 0.1
        scheduler.schedule_update("player", callback=log.append)
        scheduler.update(0.1)

    assert log == [0.1 * 0.1, 0.010000000707805157]


def test_that_creator_performs_no_posted_functions() -> None:
    with pytest.raises(TypeError, match=r"Cocos Creator 2\.4 does not perform functions"):
        DialectScheduler(CREATOR_2_4).post(print)


def test_that_clearing_inside_a_posted_function_drops_the_others() -> None:
    log: list[str] = []
    scheduler = DialectScheduler(COCOS2DX_3_15)
    scheduler.post(scheduler.clear_posted)
    scheduler.post(log.append, "never")

    scheduler.update(FRAME)

    assert not log


def test_that_a_timer_without_target_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a target"):
        DialectScheduler().schedule_as_written(print, None, 0)


def test_that_taking_back_what_is_not_there_says_so() -> None:
    scheduler = DialectScheduler()
    thing = _Thing("a", [])
    assert not scheduler.unschedule(thing.tick)
    scheduler.schedule(thing.tick)
    assert not scheduler.unschedule(thing.update)
    assert not scheduler.unschedule_update(thing)
    assert scheduler.unschedule(thing.tick)


def test_that_a_dialect_tells_what_is_pending() -> None:
    scheduler = DialectScheduler(COCOS2DX_3_4)
    thing = _Thing("a", [])
    scheduler.schedule_update(thing, 3, paused=True)
    scheduler.schedule_update("other", -1, callback=thing.update)
    scheduler.schedule(thing.tick, 4 * FRAME, repeat=2, delay=2 * FRAME)
    scheduler.update(FRAME)
    scheduler.update(FRAME)

    updates, (timer,) = scheduler.pending()[:2], scheduler.pending()[2:]

    assert [(call.target, call.label, call.priority, call.is_paused) for call in updates] == [
        ("other", "_Thing.update", -1, False),
        (thing, "update", 3, True),
    ]
    assert (timer.label, timer.interval, timer.remaining) == ("_Thing.tick", 4 * FRAME, FRAME)
    assert (timer.priority, timer.calls_left, timer.is_paused) == (None, 3, False)
    assert repr(scheduler) == "<DialectScheduler cocos2d-x 3.4, 2 updates, 1 timers>"


def test_that_an_update_marked_inside_a_frame_is_pending_no_more() -> None:
    scheduler = DialectScheduler(CREATOR_2_4)
    seen: list[int] = []
    scheduler.schedule_update("later", 1, callback=lambda _: None)

    def take_back(_: float) -> None:
        scheduler.unschedule_update("later")
        seen.append(len(scheduler.pending()))

    scheduler.schedule_update("first", callback=take_back)
    scheduler.update(FRAME)

    assert seen == [1]


def test_that_complaints_are_logged_without_a_handler(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    scheduler = DialectScheduler(CREATOR_2_4)
    thing = _Thing("a", [])
    scheduler.schedule(thing.tick)
    scheduler.schedule(thing.tick, 1)

    assert "Cocos Creator 2.4: a timer was scheduled that is scheduled" in caplog.text


def test_that_the_cut_off_loop_is_logged_as_an_error(caplog: pytest.LogCaptureFixture) -> None:
    never_stop(DialectScheduler(COCOS2DX_3_15), [])

    # Another test in this process may have enabled messages of all levels.
    told = [each.levelname for each in caplog.records if each.name.startswith("inspector")]
    assert told == ["ERROR"]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_that_every_rule_is_explained(dialect: Dialect) -> None:
    rules = dialect.explain()

    assert len(rules) == 17
    assert all(rule.sentence.endswith(".") and rule.source for rule in rules)
    assert {"overshoot", "cancel by", "lists"} <= {rule.name for rule in rules}
