"""Libraries that compare the times of jobs with the time of day."""

from __future__ import annotations

import pytest

from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.libraries import python_with
from tests.probe.receiver import Receiver, attached

SCHEDULE = """
import schedule, time
def greet(): pass
schedule.every(1).seconds.do(greet)
schedule.every().day.at("03:00").do(greet)
while True:
    schedule.run_pending()
    time.sleep(0.02)
"""
APSCHEDULER = """
from apscheduler.schedulers.blocking import BlockingScheduler
def greet(): pass
scheduler = BlockingScheduler()
scheduler.add_job(greet, "interval", seconds=1)
scheduler.add_job(greet, "cron", hour=3, name="nightly")
scheduler.start()
"""
CELERY = """
import time
from celery import Celery
from celery.beat import Scheduler
from celery.schedules import crontab
app = Celery("tasks", broker="memory://")
app.conf.beat_schedule = {
    "often": {"task": "greet", "schedule": 1.0},
    "nightly": {"task": "greet", "schedule": crontab(hour=3, minute=0)},
}
scheduler = Scheduler(app)
while True:
    time.sleep(max(scheduler.tick(), 0.01))
"""
#: Code, clock, the job of each second, that of the night.
LIBRARIES = {
    "schedule": (SCHEDULE, "schedule", "greet", "greet at 03:00:00"),
    "apscheduler": (APSCHEDULER, "APScheduler", "greet", "nightly"),
    "celery": (CELERY, "Celery beat", "often (greet)", "nightly (greet)"),
}


def fired(receiver: Receiver, name: str, seconds: float) -> int:
    before = receiver.firings()[name]
    receiver.listen(seconds)
    return receiver.firings()[name] - before


@pytest.mark.parametrize("library", LIBRARIES)
def test_that_jobs_are_seen_with_names_and_next_runs_and_follow_the_program(library: str) -> None:
    code, clock, often, nightly = LIBRARIES[library]
    with attached(code, python=python_with(library)) as (receiver, _):
        receiver.wait_for(lambda: {often, nightly} <= set(receiver.timer_names().values()))
        top, number = receiver.clocks()["python -c"], receiver.clocks()[clock]
        receiver.ask("Clock.rate", clock=top, rate_n=20 * D)
        receiver.wait_for(lambda: receiver.firings()[often] > 3)
        timeline = receiver.timeline()
        rows = {row.label: row for row in map(timeline.timers.row, timeline.timers.ids())}
        local_ns = timeline.local_ns(number)
        assert rows[often].interval_ns == 10**9
        assert abs(rows[often].due_ns - local_ns) < 60e9
        assert 0 < rows[nightly].due_ns - local_ns <= 25 * 3600 * 10**9
        assert "hold or slow" in receiver.ask("Clock.pause", clock=number)["message"]

        # However long a job is to be waited for then.
        receiver.ask("Clock.rate", clock=top, rate_n=1)
        receiver.listen(0.2)
        receiver.ask("Clock.rate", clock=top, rate_n=20 * D)
        before = receiver.firings()[often]
        receiver.wait_for(lambda: receiver.firings()[often] > before)

        receiver.ask("Clock.pause", clock=top)
        receiver.listen(0.2)
        assert fired(receiver, often, 0.3) == 0
        receiver.ask("Clock.rate", clock=top, rate_n=D)
        receiver.ask("Clock.resume", clock=top)
        # What was held is not caught up.
        assert fired(receiver, often, 0.5) <= 1


#: Call one job ten times, and another once.
_COUNTED = {
    "schedule": """
import schedule, sys, time
times = 0
def greet():
    global times
    times += 1
def once():
    return schedule.CancelJob
schedule.every(0.1).seconds.do(greet)
schedule.every(0.5).seconds.do(once)
while times < 10:
    schedule.run_pending()
    time.sleep(0.01)
""",
    "apscheduler": """
from apscheduler.schedulers.blocking import BlockingScheduler
from datetime import datetime, timedelta
import sys
times = 0
def greet():
    global times
    times += 1
    if times == 10:
        scheduler.shutdown(wait=False)
def once(): pass
scheduler = BlockingScheduler()
scheduler.add_job(greet, "interval", seconds=0.1)
scheduler.add_job(once, "date", run_date=datetime.now() + timedelta(seconds=0.5))
scheduler.start()
""",
}


@pytest.mark.parametrize("library", _COUNTED)
def test_that_every_call_of_a_job_is_told(library: str) -> None:
    with attached(_COUNTED[library], python=python_with(library)) as (receiver, _):
        receiver.wait_for(lambda: receiver.said("Link.bye"))
        assert [receiver.firings()[name] for name in ("greet", "once")] == [10, 1]


def test_that_a_job_was_added_by_its_own_line_and_not_by_that_which_starts_the_scheduler() -> None:
    with attached(APSCHEDULER, python=python_with("apscheduler")) as (receiver, _):
        receiver.wait_for(lambda: {"greet", "nightly"} <= set(receiver.timer_names().values()))
        timers = receiver.timeline().timers
        rows = {row.label: row for row in map(timers.row, timers.ids())}

        lines = [
            int(rows[name].call_site.split(":")[1].split()[0]) for name in ("greet", "nightly")
        ]
        # In the code, one follows the other.
        assert lines[1] - lines[0] == 1
