"""What adapters of libraries of jobs do with schedulers of which only what they touch is there."""

# ruff: noqa: ANN401 - as the libraries have it

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters import jobs as module
from inspector.probe.adapters.jobs import APSchedulerAdapter, JobsAdapter, ScheduleAdapter
from inspector.probe.kinds import (
    INTERVAL_DELAY,
    NEVER,
    TIMEOUT,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
)
from tests.probe.adapters.played import Played

MS = 1_000_000
_SUBMITTED, _OTHER = 1, 2


def greet() -> None: ...


class Jobs(Played):
    """A program that reads the time of day, which is a second after 2001 as it begins."""

    adapter: JobsAdapter

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(10**15)
        monkeypatch.setattr(module, "program_time", SimpleNamespace(time=self.time_s))

    def time_s(self) -> float:
        return 1e9 + self.program.own_clock.local_ns() / 1e9

    def at(self, ms: float) -> datetime:
        """Return a time of day, in milliseconds from the start of the program."""
        return datetime.fromtimestamp(1e9 + ms / 1e3, UTC)

    def pass_ms(self, ms: int) -> None:
        self.now_ns += ms * MS

    def pending(self) -> list[tuple[str, float, float]]:
        """Return names, due times and periods in milliseconds."""
        texts = self.program.texts
        return [
            (texts[name], round(due / MS), period / MS)
            for _, name, _, _, due, period in self.program.timers.values()
        ]

    def told(self, kind: int) -> list[tuple[int, int, int]]:
        return [
            (number, round(a / MS), b if b == NEVER else round(b / MS))
            for _, each, number, a, b in self.events
            if each == kind
        ]


class Schedule(Jobs):
    """`schedule`, and a probe in it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(monkeypatch)
        jobs = self

        class Scheduler:
            def __init__(self) -> None:
                self.jobs: list[Any] = []

            def cancel_job(self, job: Any) -> None:
                self.jobs.remove(job)

            def clear(self) -> None:
                self.jobs.clear()

        class Job:
            latest = at_time = next_run = None

            def __init__(self, scheduler: Any, func: Callable[[], object], interval: int) -> None:
                self.unit, self.interval, self.scheduler = "seconds", interval, scheduler
                self.job_func = SimpleNamespace(func=func)
                scheduler.jobs.append(self)

            def _schedule_next_run(self) -> None:
                self.next_run = datetime.fromtimestamp(jobs.time_s() + self.interval, UTC)

            def run(self) -> str:
                self._schedule_next_run()
                self.job_func.func()
                return "done"

        self.scheduler: Any = Scheduler()
        self.job_type: Any = Job
        library: Any = SimpleNamespace(
            Job=Job, Scheduler=Scheduler, default_scheduler=self.scheduler
        )
        self.adapter = ScheduleAdapter(self.program)
        self.adapter.installed(library)

    def job(self, **more: object) -> Any:
        found = self.job_type(self.scheduler, greet, 2)
        vars(found).update(more)
        found._schedule_next_run()
        return found


@pytest.fixture
def schedule(monkeypatch: pytest.MonkeyPatch) -> Schedule:
    return Schedule(monkeypatch)


def test_that_a_job_of_schedule_is_an_interval_from_call_to_call(schedule: Schedule) -> None:
    job = schedule.job()
    assert schedule.pending() == [("greet", 2_000, 2_000)]
    schedule.pass_ms(2_030)
    assert job.run() == "done"
    schedule.pass_ms(1_990)
    assert job.run() == "done"

    # A second call was early.
    assert schedule.told(TIMER_FIRED) == [(1, 30, 4_030), (1, 0, 6_020)]
    assert schedule.pending() == [("greet", 6_020, 2_000)]
    assert schedule.count(TIMER_ADDED) == 1


def test_that_a_job_of_schedule_is_a_turn_on_the_thread_of_the_first(schedule: Schedule) -> None:
    began: list[int] = []

    def work() -> None:
        turns = schedule.adapter.turns
        assert turns is not None
        began.append(turns.began_ns)
        schedule.pass_ms(40)
        if len(began) == 1:
            job.run()

    job = schedule.job(job_func=SimpleNamespace(func=work))
    before_ns = schedule.now_ns
    job.run()
    elsewhere = Thread(target=job.run)
    elsewhere.start()
    elsewhere.join()

    # One within the other is the same turn; on another thread it is none.
    assert began == [before_ns, before_ns, 0]
    turns = schedule.adapter.turns
    assert turns is not None
    assert (turns.began_ns, turns.index, turns.busy_ns) == (0, 1, 80 * MS)
    schedule.adapter.forked()
    assert schedule.adapter.turns is None


@pytest.mark.parametrize("varies", [{"latest": 5}, {"at_time": "03:00"}])
def test_that_a_job_whose_times_vary_has_no_period(
    schedule: Schedule, varies: dict[str, object]
) -> None:
    job = schedule.job(**varies)
    name = "greet at 03:00" if "at_time" in varies else "greet"

    assert schedule.pending() == [(name, 2_000, 0)]
    schedule.pass_ms(2_000)
    schedule.adapter.called(id(job))
    # It is due again as soon as it says when.
    now_ns = schedule.adapter.clock.local_ns()
    assert [event[3:] for event in schedule.events if event[1] == TIMER_FIRED] == [(0, now_ns + 1)]
    assert [record[3] for record in schedule.program.timers.values()] == [TIMEOUT]


@pytest.mark.parametrize(("moved_us", "is_told"), [(990, False), (1_010, True)])
def test_that_a_job_is_moved_by_more_than_readings_differ(
    schedule: Schedule, moved_us: int, *, is_told: bool
) -> None:
    job = schedule.job()
    list(schedule.adapter.keyframe(schedule.adapter.clock))
    job.next_run += timedelta(microseconds=moved_us)
    list(schedule.adapter.keyframe(schedule.adapter.clock))

    assert schedule.count(TIMER_ARMED) == 1 + is_told
    assert schedule.count(TIMER_ADDED) == 1


def test_that_jobs_that_are_removed_are_cleared_where_they_were(schedule: Schedule) -> None:
    first, *_ = (schedule.job() for _ in range(3))
    schedule.scheduler.cancel_job(first)
    assert [number for number, *_ in schedule.told(TIMER_CLEARED)] == [1]
    schedule.scheduler.clear()

    assert schedule.program.timers == {}
    sites = [a for _, kind, _, a, _ in schedule.events if kind == TIMER_CLEARED]
    assert all("test_job_stand_ins" in schedule.program.texts[site] for site in sites)
    # What was removed is told to nobody who comes later.
    schedule.program.detach()
    schedule.attach()
    list(schedule.adapter.keyframe(schedule.adapter.clock))
    assert schedule.program.timers == {}


def test_that_jobs_from_before_an_inspector_are_told_when_it_comes(schedule: Schedule) -> None:
    schedule.program.detach()
    job, gone = schedule.job(), schedule.job()
    unplanned = schedule.job_type(schedule.scheduler, greet, 1)
    schedule.adapter._jobs.add(unplanned)  # type: ignore[attr-defined]
    schedule.pass_ms(500)
    job.run()
    schedule.scheduler.cancel_job(gone)
    schedule.attach()
    list(schedule.adapter.keyframe(schedule.adapter.clock))
    assert schedule.pending() == [("greet", 2_500, 2_000)]
    # Where it was set is not known, but where its function is.
    (site,) = (record[2] for record in schedule.program.timers.values())
    assert "test_job_stand_ins" in schedule.program.texts[site]
    assert unplanned.next_run is None
    assert schedule.count(TIMER_FIRED) == 0


class APScheduler(Jobs):
    """APScheduler, and a probe in it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(monkeypatch)

        class BaseScheduler:
            def __init__(self) -> None:
                self.jobs: list[Any] = []
                self.due: list[Any] = []
                self.told: list[int] = []

            def add_job(self, job: Any) -> Any:
                self.jobs.append(job)
                if not job.pending:
                    self._dispatch_event(SimpleNamespace(code=_OTHER))
                return job

            def get_jobs(self) -> list[Any]:
                return self.jobs

            def get_job(self, job_id: str) -> Any:
                return next((job for job in self.jobs if job.id == job_id), None)

            def _dispatch_event(self, event: Any) -> None:
                self.told.append(event.code)

            def _process_jobs(self) -> float:
                for call in self.due:
                    call()
                return 1.5

        base: Any = SimpleNamespace(BaseScheduler=BaseScheduler, EVENT_JOB_SUBMITTED=_SUBMITTED)
        self.adapter = APSchedulerAdapter(self.program)
        self.adapter.installed(base)
        self.scheduler_type: Any = BaseScheduler
        self.scheduler: Any = BaseScheduler()

    def job(self, name: str, due_ms: float | None, period_s: int = 0, **more: object) -> Any:
        trigger = SimpleNamespace(interval=timedelta(seconds=period_s)) if period_s else object()
        due = None if due_ms is None else self.at(due_ms)
        values = {"id": name, "name": name, "func": greet, "pending": False, **more}
        return SimpleNamespace(next_run_time=due, trigger=trigger, **values)


@pytest.fixture
def apscheduler(monkeypatch: pytest.MonkeyPatch) -> APScheduler:
    return APScheduler(monkeypatch)


def test_that_jobs_of_apscheduler_are_told_as_they_are_added(apscheduler: APScheduler) -> None:
    add = apscheduler.scheduler.add_job
    add(apscheduler.job("often", 2_000, 2))
    add(apscheduler.job("nightly", 9_000))
    add(apscheduler.job("paused", None))

    assert apscheduler.pending() == [("often", 2_000, 2_000), ("nightly", 9_000, 0)]
    kinds = [record[3] for record in apscheduler.program.timers.values()]
    assert kinds == [INTERVAL_DELAY, TIMEOUT]


def test_that_a_job_keeps_the_line_at_which_it_was_added_before_the_start(
    apscheduler: APScheduler,
) -> None:
    job = apscheduler.scheduler.add_job(apscheduler.job("often", None, 2, pending=True))
    assert apscheduler.pending() == []
    (site,) = apscheduler.adapter._sites.values()  # type: ignore[attr-defined]
    # It has a time once its scheduler has started.
    job.next_run_time = apscheduler.at(2_000)
    assert apscheduler.scheduler._process_jobs() == 1.5

    assert [record[2] for record in apscheduler.program.timers.values()] == [site]
    assert site != apscheduler.program.function_site(greet)


def test_that_a_job_fires_when_it_is_submitted_and_is_gone_after_the_last_time(
    apscheduler: APScheduler,
) -> None:
    scheduler = apscheduler.scheduler
    often, last = apscheduler.job("often", 2_000, 2), apscheduler.job("last", 2_000)
    scheduler.add_job(often)
    # It was added before the probe came.
    scheduler.jobs.append(last)
    apscheduler.pass_ms(2_040)

    def submit() -> None:
        scheduler.jobs.remove(last)
        # Of what happens while it calls, only the calls matter.
        scheduler._dispatch_event(SimpleNamespace(code=_OTHER))
        for job in (often, last):
            scheduler._dispatch_event(SimpleNamespace(code=_SUBMITTED, job_id=job.id))
        often.next_run_time = apscheduler.at(4_000)

    scheduler.due.append(submit)
    assert scheduler._process_jobs() == 1.5

    assert scheduler.told == [_OTHER, _OTHER, _SUBMITTED, _SUBMITTED]
    assert apscheduler.told(TIMER_FIRED) == [(1, 40, 4_040), (2, 40, NEVER)]
    assert apscheduler.pending() == [("often", 4_000, 2_000)]
    assert apscheduler.count(TIMER_CLEARED) == 0


def test_that_other_schedulers_keep_their_jobs(apscheduler: APScheduler) -> None:
    other = apscheduler.scheduler_type()
    job = apscheduler.job("one", 2_000)
    apscheduler.scheduler.add_job(job)
    other.add_job(apscheduler.job("one", 3_000))
    assert [due for _, due, _ in apscheduler.pending()] == [2_000, 3_000]
    apscheduler.scheduler.jobs.remove(job)
    apscheduler.scheduler._dispatch_event(SimpleNamespace(code=_OTHER))

    assert [due for _, due, _ in apscheduler.pending()] == [3_000]
    assert [number for number, *_ in apscheduler.told(TIMER_CLEARED)] == [1]


def test_that_an_inspector_that_comes_is_told_the_jobs_of_all_schedulers(
    apscheduler: APScheduler,
) -> None:
    apscheduler.program.detach()
    other = apscheduler.scheduler_type()
    for scheduler in (apscheduler.scheduler, other):
        scheduler.add_job(apscheduler.job("one", 2_000, 2))
        scheduler._process_jobs()
        scheduler._dispatch_event(SimpleNamespace(code=_SUBMITTED, job_id="one"))
    assert apscheduler.program.timers == {}
    apscheduler.attach()
    for _ in range(2):
        assert list(apscheduler.adapter.keyframe(apscheduler.adapter.clock)) == [None, None]

    assert apscheduler.pending() == [("one", 2_000, 2_000)] * 2
    places = {record[2] for record in apscheduler.program.timers.values()}
    assert places == {apscheduler.program.function_site(greet)}
    # Nor has another inspector or a child that was forked what was told before; a thread that
    # the child does not have may hold the lock.
    adapter = apscheduler.adapter
    before, adapter._shown = adapter._lock, {"old": adapter._shown.popitem()[1]}
    adapter.attached()
    assert adapter._shown == {}
    adapter._shown["old"] = None  # type: ignore[assignment]
    adapter.forked()
    assert adapter._shown == {}
    assert adapter._lock is not before


def test_that_schedulers_are_known_once_they_are_made_or_call_jobs(
    apscheduler: APScheduler,
) -> None:
    early = apscheduler.scheduler_type.__new__(apscheduler.scheduler_type)
    early.jobs, early.due = [], []
    clock = apscheduler.adapter.clock
    assert list(apscheduler.adapter.keyframe(clock)) == [None]
    early._process_jobs()

    assert list(apscheduler.adapter.keyframe(clock)) == [None, None]


def test_that_a_scheduler_that_fails_is_not_taken_for_one_that_calls(
    apscheduler: APScheduler,
) -> None:
    apscheduler.scheduler.due.append(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        apscheduler.scheduler._process_jobs()
    apscheduler.scheduler.add_job(apscheduler.job("one", 2_000))

    assert apscheduler.pending() == [("one", 2_000, 0)]
