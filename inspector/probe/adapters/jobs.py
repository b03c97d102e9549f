"""schedule, APScheduler and Celery beat: jobs that are due at a time of day.

They compare the times of jobs with ``datetime.now()``, which follows ``time.time``.
"""

from __future__ import annotations

import time as program_time  # which the program reads, followed
from abc import abstractmethod
from datetime import timedelta
from functools import wraps
from threading import RLock, get_ident
from types import ModuleType
from weakref import WeakSet

from ..clocks import whole_ns
from ..frames import Frames
from ..kinds import INTERVAL_DELAY, TIMEOUT
from ..program import name_of
from . import Adapter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from typing import Any, Optional

    from ..clocks import Clock
    from ..program import Program, Timer
    from . import Capability

_FOLLOWS = "Its jobs follow Python's time: hold or slow that, or the program."
_ITS_OWN = "The program alone takes jobs out."
#: Most entries that are listed, as all are read at each tick.
_MOST_ENTRIES = 1_000


class JobsAdapter(Adapter):
    """Jobs of a library, on a clock below that of ``time``."""

    reads_anywhere = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._lock = RLock()
        self._shown: dict[Any, Timer] = {}

    def installed(self, module: ModuleType) -> None:
        self._hook(module)
        # Only now, so that a library that is not as expected gets no clock.
        above: Any = self.program.adapters.get("python_time")
        self.clock = self.program.clock(self.library, None if above is None else above.clock, self)

    @abstractmethod
    def _hook(self, module: ModuleType) -> None:
        """Hook the module, so that it reports its jobs."""

    def capabilities(self, clock: Clock) -> dict[str, Capability]:
        return {"pause": _FOLLOWS, "rate": _FOLLOWS, "clear_timer": _ITS_OWN}

    def attached(self) -> None:
        self._shown.clear()

    def forked(self) -> None:
        self._lock = RLock()
        self._shown.clear()

    def due(  # noqa: PLR0913, PLR0917 - what a job is
        self, key: Hashable, job: Any, name: str, due_s: float, period_s: float = 0.0, site: int = 0
    ) -> None:
        """A job is due at a time of day; it was set, or called, or moved.

        Args:
            key: What it is known by.
            due_s: Seconds of the epoch.
            period_s: From one call to the next, 0 if it varies.
            site: Where it was set; by default, where the called function is defined.
        """
        program, timer = self.program, self._shown.get(key)
        due_ns = self.clock.local_ns() + whole_ns(due_s - program_time.time())
        period_ns = whole_ns(period_s)
        if timer is not None and timer.number in program.timers:
            if abs(timer.due_ns - due_ns) > _SAME_NS:
                timer.armed(due_ns, period_ns)
            return
        site = site or program.function_site(job)
        kind = INTERVAL_DELAY if period_ns else TIMEOUT
        self._shown[key] = program.timer(self.clock, name, site, due_ns, period_ns, kind)

    def called(self, key: Hashable, *, is_last: bool = False) -> None:
        """A job is called; unless it was the last time, :meth:`due` says when it is due again."""
        timer = self._shown.get(key)
        if timer is not None:
            local_ns = self.clock.local_ns()
            late_ns = max(local_ns - timer.due_ns, 0)
            timer.fired(late_ns, None if is_last else local_ns + max(timer.period_ns, 1))

    def keep(self, keys: set[Hashable]) -> None:
        """All jobs but these are gone."""
        for key in [key for key in self._shown if key not in keys]:
            self._shown.pop(key).cleared(self.program.call_site())


#: Readings of the time of day and of a clock differ by less.
_SAME_NS = 1_000_000


class ScheduleAdapter(JobsAdapter):
    library = "schedule"
    waits_for_events = True
    hides: tuple[str, ...] = ("schedule",)

    def _hook(self, module: ModuleType) -> None:
        schedule: Any = module
        self._jobs: WeakSet[Any] = WeakSet(schedule.default_scheduler.jobs)
        job_type, scheduler_type = schedule.Job, schedule.Scheduler
        plan, run = job_type._schedule_next_run, job_type.run
        adapter, program = self, self.program

        @wraps(plan)
        def schedule_next_run(job: Any) -> None:
            plan(job)
            adapter._jobs.add(job)
            if program.emit is not None:
                program.guarded(adapter, adapter._planned, job, program.call_site())

        @wraps(run)
        def job_run(job: Any) -> Any:
            if program.emit is None:
                return run(job)
            program.guarded(adapter, adapter.called, id(job))
            turns = adapter._turns()
            if turns.began_ns or turns.threads[0] != get_ident():
                # Within another job, or on another thread than the first.
                return run(job)
            turns.begin(adapter.clock, program.clocks.now_ns())
            try:
                return run(job)
            finally:
                turns.end(adapter.clock, program.clocks.now_ns())

        job_type._schedule_next_run, job_type.run = schedule_next_run, job_run
        for name in ("cancel_job", "clear"):
            self._hook_removal(scheduler_type, name)

    def forked(self) -> None:
        super().forked()
        self.turns = None

    def _turns(self) -> Frames:
        if self.turns is None:
            self.turns = Frames()
            self.program.mention_change()
        return self.turns

    def _hook_removal(self, scheduler_type: Any, name: str) -> None:
        adapter, program, original = self, self.program, getattr(scheduler_type, name)

        @wraps(original)
        def removing(scheduler: Any, *args: Any, **kwargs: Any) -> None:
            original(scheduler, *args, **kwargs)
            if program.emit is not None:
                program.guarded(adapter, adapter._removed)

        setattr(scheduler_type, name, removing)

    def _planned(self, job: Any, site: int) -> None:
        if job.next_run is not None and job.job_func is not None:
            func = job.job_func.func
            period_s = timedelta(**{job.unit: job.interval}).total_seconds()
            varies = job.latest is not None or job.at_time is not None
            due_s = job.next_run.timestamp()
            name = name_of(func) if job.at_time is None else f"{name_of(func)} at {job.at_time}"
            self.due(id(job), func, name, due_s, 0.0 if varies else period_s, site)

    def _removed(self) -> None:
        self.keep({id(job) for job in list(self._jobs) if job in job.scheduler.jobs})

    def keyframe(self, clock: Clock) -> Iterator[None]:
        for job in list(self._jobs):
            if job.scheduler is not None and job in job.scheduler.jobs:
                self._planned(job, 0)
            yield


class APSchedulerAdapter(JobsAdapter):
    library = "APScheduler"
    hides: tuple[str, ...] = ("apscheduler",)

    def _hook(self, module: ModuleType) -> None:
        base: Any = module
        self._schedulers: WeakSet[Any] = WeakSet()
        self._processing: set[int] = set()  # Schedulers that call what is due, by their id
        # Call sites of jobs that are not known yet, as their scheduler has not started
        self._sites: dict[Hashable, int] = {}
        scheduler_type = base.BaseScheduler
        init, process = scheduler_type.__init__, scheduler_type._process_jobs
        dispatch, calls = scheduler_type._dispatch_event, base.EVENT_JOB_SUBMITTED
        adapter, program = self, self.program

        @wraps(init)
        def scheduler_init(scheduler: Any, *args: Any, **kwargs: Any) -> None:
            adapter._schedulers.add(scheduler)
            init(scheduler, *args, **kwargs)

        @wraps(process)
        def process_jobs(scheduler: Any) -> Any:
            adapter._schedulers.add(scheduler)
            if program.emit is not None:
                # Jobs that are not known yet are about to be called.
                program.guarded(adapter, adapter._update_jobs, scheduler)
            adapter._processing.add(id(scheduler))
            try:
                waits_s = process(scheduler)
            finally:
                adapter._processing.discard(id(scheduler))
            if program.emit is not None:
                program.guarded(adapter, adapter._update_jobs, scheduler)
            return waits_s

        @wraps(dispatch)
        def dispatch_event(scheduler: Any, event: Any) -> None:
            dispatch(scheduler, event)
            if program.emit is None:
                return
            if event.code == calls:
                program.guarded(adapter, adapter._submitted, scheduler, event.job_id)
            elif id(scheduler) not in adapter._processing:
                program.guarded(adapter, adapter._update_jobs, scheduler, program.call_site())

        scheduler_type.__init__, scheduler_type._process_jobs = scheduler_init, process_jobs
        scheduler_type._dispatch_event = dispatch_event
        self._hook_adding(scheduler_type)

    def _hook_adding(self, scheduler_type: Any) -> None:
        adapter, program, add_job = self, self.program, scheduler_type.add_job

        @wraps(add_job)
        def scheduler_add_job(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
            job = add_job(scheduler, *args, **kwargs)
            if program.emit is not None:
                program.guarded(adapter, adapter._added, scheduler, job, program.call_site())
            return job

        scheduler_type.add_job = scheduler_add_job

    def _added(self, scheduler: Any, job: Any, site: int) -> None:
        if job.pending:
            self._sites[id(scheduler), job.id] = site

    def _submitted(self, scheduler: Any, job_id: str) -> None:
        # Not under our lock: the scheduler holds its own while it reports jobs that are added.
        is_last = scheduler.get_job(job_id) is None
        with self._lock:
            self.called((id(scheduler), job_id), is_last=is_last)

    def _update_jobs(self, scheduler: Any, site: int = 0) -> None:
        """Compare the jobs of a scheduler with those that are known."""
        jobs = scheduler.get_jobs()
        with self._lock:
            keys: set[Hashable] = set()
            for job in jobs:
                due = getattr(job, "next_run_time", None)
                if due is not None:
                    key, due_s = (id(scheduler), job.id), due.timestamp()
                    keys.add(key)
                    interval = getattr(job.trigger, "interval", None)
                    period_s = 0.0 if interval is None else interval.total_seconds()
                    added_at = self._sites.pop(key, site)
                    self.due(key, job.func, job.name, due_s, period_s, added_at)
            others = {key for key in self._shown if key[0] != id(scheduler)}
            self.keep(keys | others)

    def keyframe(self, clock: Clock) -> Iterator[None]:
        for scheduler in list(self._schedulers):
            self._update_jobs(scheduler)
            yield


class CeleryBeatAdapter(JobsAdapter):
    """The entries of Celery beat's schedule."""

    library = "Celery beat"
    hides: tuple[str, ...] = ("celery",)

    def _hook(self, module: ModuleType) -> None:
        beat: Any = module
        scheduler_type = beat.Scheduler
        tick, apply_entry = scheduler_type.tick, scheduler_type.apply_entry
        adapter, program = self, self.program
        self._scheduler: Optional[Any] = None

        @wraps(tick)
        def scheduler_tick(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
            adapter._scheduler = scheduler
            waits_s = tick(scheduler, *args, **kwargs)
            if program.emit is not None:
                program.guarded(adapter, adapter._update_jobs, scheduler)
            return waits_s

        @wraps(apply_entry)
        def scheduler_apply_entry(scheduler: Any, entry: Any, *args: Any, **kwargs: Any) -> Any:
            if program.emit is not None:
                program.guarded(adapter, adapter.called, entry.name)
            return apply_entry(scheduler, entry, *args, **kwargs)

        scheduler_type.tick, scheduler_type.apply_entry = scheduler_tick, scheduler_apply_entry

    def _update_jobs(self, scheduler: Any) -> None:
        entries = dict(scheduler.schedule)
        if len(entries) > _MOST_ENTRIES:
            self.message = f"More than {_MOST_ENTRIES:,} entries: they are not listed."
            return
        for name, entry in entries.items():
            is_due, next_s = entry.is_due()
            every = getattr(entry.schedule, "run_every", None)
            period_s = 0.0 if every is None else every.total_seconds()
            left_s = 0.0 if is_due else next_s
            self.due(name, None, f"{name} ({entry.task})", program_time.time() + left_s, period_s)
        self.keep(set(entries))

    def keyframe(self, clock: Clock) -> Iterator[None]:
        if self._scheduler is not None:
            self._update_jobs(self._scheduler)
        return iter(())
