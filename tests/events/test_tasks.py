"""The tasks of attached programs: the fold, the tree, recordings, and what people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.task_rows import task_rows
from inspector.events.history import LogHistory
from inspector.events.recording import open_recording
from inspector.events.tasks import TaskState, task_tree
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    CLOCK_REMOVED,
    SAW_END,
    TASK_ADDED,
    TASK_AT,
    TASK_AWAITED,
    TASK_ENDED,
    TASK_ORIGIN,
    TASK_WAITS,
    TASKS_TOLD,
    TaskWait,
)
from tests.analysis.test_lateness import CRUNCH, DUE_NS, LIBRARY, LOOP, MAIN, MS, PROGRAM, Program
from tests.events.recording.recorded_worlds import record

if TYPE_CHECKING:
    from pathlib import Path


def told() -> Program:
    """A program of which two tasks were told, one waiting for the other."""
    program = Program()
    text, log = program.log.intern, program.log
    for event in (
        (TASK_ADDED, 1, LOOP, text("main")),
        (TASK_ORIGIN, 1, 0, text("/srv/server.py:40 in main")),
        (TASK_WAITS, 1, int(TaskWait.TASK), 0),
        (TASK_ADDED, 2, LOOP, text("poll")),
        (TASK_ORIGIN, 2, text("/srv/server.py:41 in main"), text("/srv/server.py:8 in poll")),
        (TASK_AT, 2, text("/srv/server.py:9 in poll"), text("Queue.get")),
        (TASK_WAITS, 2, int(TaskWait.QUEUE), 3 * MS),
        (TASK_AWAITED, 2, 1, 1),
        (TASKS_TOLD, PROGRAM, 2, 8),
    ):
        log.append((10 * MS, *event))
    return program


def state_of(program: Program) -> Timeline:
    history = LogHistory(program.log)
    return history.state_before(history.end)


def test_that_the_tasks_are_as_they_were_told_last() -> None:
    program = told()
    tasks = state_of(program).tasks
    assert tasks.told_ns == {PROGRAM: 10 * MS}
    text = program.log.intern
    created, defined = text("/srv/server.py:40 in main"), text("/srv/server.py:41 in main")
    assert tasks.by_id == {
        1: TaskState(
            *(1, LOOP, text("main"), 0, created, TaskWait.TASK, 10 * MS, False, 0, 0, 0, 0)
        ),
        2: TaskState(
            *(2, LOOP, text("poll"), defined, text("/srv/server.py:8 in poll")),
            *(TaskWait.QUEUE, 7 * MS, True),
            *(text("/srv/server.py:9 in poll"), text("Queue.get"), 1, 1),
        ),
    }
    poll = tasks.by_id[2]
    assert (poll.wait, poll.since_ns, poll.is_since_exact) == (TaskWait.QUEUE, 7 * MS, True)
    program.log.append((20 * MS, TASK_ENDED, 2, 0, 0))
    assert list(state_of(program).tasks.by_id) == [1]


def test_that_every_event_of_tasks_has_them_shown_anew() -> None:
    program = told()
    program.log.append((20 * MS, TASKS_TOLD, PROGRAM, 0, 0))
    events = [event for event in program.log.read().events if event[0] >= 10 * MS]
    timeline = Timeline(program.log.strings)
    timeline.apply_all(program.log.read().events[: -len(events)])
    for event in events:
        before = timeline.tasks.version
        timeline.apply_all([event])
        assert timeline.tasks.version > before, event


def test_that_no_task_is_known_once_nobody_asks() -> None:
    program = told()
    program.log.append((20 * MS, TASKS_TOLD, PROGRAM, 0, 0))
    tasks = state_of(program).tasks
    assert (tasks.by_id, tasks.told_ns) == ({}, {})


def test_that_no_task_is_known_of_a_clock_that_is_gone() -> None:
    for gone, told_ns in ((LOOP, {PROGRAM: 10 * MS}), (PROGRAM, {})):
        program = told()
        program.log.append((20 * MS, CLOCK_REMOVED, gone, 0, 0))
        tasks = state_of(program).tasks
        assert (tasks.by_id, tasks.told_ns) == ({}, told_ns)


def test_that_a_recording_keeps_the_tasks_of_each_instant(tmp_path: Path) -> None:
    program = told()
    for number in range(20):
        program.log.append((30 * MS + number, TASK_WAITS, 2, int(TaskWait.TIMER), 0))
    recording = open_recording(record(program.log, tmp_path / "a.tlrec", portion=3))
    history = LogHistory(program.log)
    for cursor in range(history.first, history.end + 1):
        expected, found = history.state_before(cursor).tasks, recording.state_before(cursor).tasks
        assert (found.by_id, found.told_ns) == (expected.by_id, expected.told_ns)
    recording.close()


def test_that_what_each_waits_for_is_said_below_the_one_that_waits_for_it() -> None:
    program = told()
    timeline = state_of(program)
    timeline.set_present(12 * MS)
    rows = task_rows(LogHistory(program.log), timeline)
    assert [(row.depth, row.name, row.waits_for) for row in rows] == [
        (0, "main", "1 task"),
        (1, "poll", "queue: Queue.get"),
    ]
    # At the instant at which they were told: they may have gone on since.
    assert [row.waited_text for row in rows] == ["not known yet", "3.00 ms"]
    assert rows[1].line == "/srv/server.py:9 in poll"


def test_that_a_task_that_could_go_on_is_blocked_by_what_the_loop_is_in() -> None:
    program = told()
    for until_ms in (10, 20):
        program.sample(MAIN, LIBRARY, CRUNCH, until_ms=until_ms, begins=until_ms == 10)
    program.log.append((DUE_NS + 21 * MS, TASK_WAITS, 2, int(TaskWait.READY), 0))
    program.log.append((DUE_NS + 21 * MS, TASK_WAITS, 1, int(TaskWait.RUNNING), 0))
    rows = task_rows(LogHistory(program.log), state_of(program))
    assert [row.waits_for for row in rows] == ["runs crunch()", "blocked by crunch()"]
    program.sample(until_ms=24, covers_ms=4, flags=SAW_END)
    rows = task_rows(LogHistory(program.log), state_of(program))
    assert [row.waits_for for row in rows] == ["runs", "its loop"]


@given(st.lists(st.integers(0, 12), max_size=12))
def test_that_every_task_is_in_the_tree_once_whoever_waits_for_whom(awaiters: list[int]) -> None:
    tasks = [TaskState(n, 1, 0, awaiter=by) for n, by in enumerate(awaiters, 1)]
    found = task_tree(tasks)
    assert sorted(task.id for task, _ in found) == [task.id for task in tasks]
    depths = {task.id: depth for task, depth in found}
    for task, depth in found:
        if depth:
            assert depth == depths[task.awaiter] + 1
