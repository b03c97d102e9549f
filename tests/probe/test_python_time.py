"""What programs read from ``time`` and sleep by it follows a clock."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from inspector.probe.adapters.python_time import PythonTimeAdapter
from inspector.probe.kinds import RATE_DENOMINATOR, TIMER_FIRED
from inspector.probe.program import Program
from inspector.probe.waits import Waits
from tests.interpreters import VERSIONS, interpreter
from tests.probe.receiver import Receiver, attached

D = RATE_DENOMINATOR

SLEEPS = """
import time
from time import sleep
while True:
    sleep(0.02)
    print(time.monotonic(), time.perf_counter_ns(), time.time(), flush=True)
"""


def sleeps_in(receiver: Receiver, seconds: float) -> int:
    before = receiver.firings()["time.sleep"]
    receiver.listen(seconds)
    return receiver.firings()["time.sleep"] - before


@pytest.mark.parametrize("version", VERSIONS)
def test_that_sleeps_are_timers_with_their_place(version: str) -> None:
    with attached(SLEEPS, python=interpreter(version)) as (receiver, _):
        receiver.wait_for(lambda: receiver.firings()["time.sleep"] > 2)

        assert "Python time" in receiver.clocks()
        sites = {receiver.texts[a] for _, kind, _, a, _ in receiver.events if kind == 17}
        assert any(site.endswith("in <module>") for site in sites)


def test_that_its_version_is_that_of_python() -> None:
    assert PythonTimeAdapter(Program("played")).version == platform.python_version()


def test_that_a_limited_wait_is_not_over_before_its_time_by_rounding() -> None:
    adapter = PythonTimeAdapter(Program("played", lambda: 10**15))

    waits = Waits(adapter.program, lambda _passed_ns: None)
    waits.rounding_ns = 7

    due_ns, timer = adapter._limit(waits, "Condition.wait", 0.1)

    assert timer is not None
    assert due_ns == timer.due_ns + 7


def test_that_a_held_program_sleeps_on_and_its_time_stands_still() -> None:
    with attached(SLEEPS) as (receiver, process):
        receiver.wait_for(lambda: receiver.firings()["time.sleep"] > 2)
        top = receiver.clocks()["python -c"]
        receiver.ask("Clock.pause", clock=top)
        receiver.listen(0.1)

        assert sleeps_in(receiver, 0.3) == 0
        before = receiver.timeline().local_ns(top)
        receiver.ask("Program.step", to="next_timer")
        receiver.wait_until_held()
        receiver.listen(0.1)

        assert sleeps_in(receiver, 0.2) == 0
        assert 0 < receiver.timeline().local_ns(top) - before <= 20_000_000
        receiver.ask("Clock.resume", clock=top)
        receiver.wait_for(lambda: sleeps_in(receiver, 0.1) > 0)
        process.kill()
        assert process.stdout is not None
        readings = [tuple(map(float, line.split())) for line in process.stdout][:-1]
        gaps = [after[0] - before[0] for before, after in pairwise(readings)]
        # Held for more than half a second, of which the program saw nothing.
        assert all(0.02 <= gap < 0.25 for gap in gaps)
        for monotonic_s, perf_ns, wall_s in readings:
            assert abs(monotonic_s - perf_ns / 1e9) < 0.05
            assert abs((wall_s - monotonic_s) - (readings[0][2] - readings[0][0])) < 0.05


def answer_of(process: subprocess.Popen[str]) -> list[float]:
    """Let a program read its clocks, and return what it found."""
    assert process.stdin is not None
    assert process.stdout is not None
    print(file=process.stdin, flush=True)
    return [float(each) for each in process.stdout.readline().split()]


def test_that_a_rate_scales_sleeps_and_readings_alike() -> None:
    with attached(SLEEPS) as (receiver, process):
        receiver.wait_for(lambda: receiver.firings()["time.sleep"] > 2)
        receiver.ask("Clock.rate", clock=receiver.clocks()["Python time"], rate_n=D // 4)
        receiver.listen(0.1)
        at = len(receiver.events)
        receiver.listen(0.6)

        fired = [event[0] for event in receiver.events[at:] if event[1] == TIMER_FIRED]
        assert len(fired) >= 2
        assert all(after - before >= 80e6 for before, after in pairwise(fired))
        process.kill()
        assert process.stdout is not None
        readings = [float(line.split()[0]) for line in process.stdout][:-1]
        assert all(b - a < 0.07 for a, b in pairwise(readings[5:]))


WAITS = """
import queue, threading, time
from concurrent.futures import Future, TimeoutError
def forever(wait):
    def run():
        while True:
            try:
                wait()
            except (queue.Empty, TimeoutError):
                pass
    threading.Thread(target=run, daemon=True).start()
condition = threading.Condition()
def in_condition():
    with condition:
        condition.wait(0.02)
def in_timer():
    timer = threading.Timer(0.02, told)
    timer.start()
    timer.join()
def told():
    pass
def in_join():
    endless.join(0.02)
endless = threading.Thread(target=threading.Event().wait, daemon=True)
endless.start()
forever(in_join)
forever(in_condition)
forever(lambda: threading.Event().wait(timeout=0.02))
forever(lambda: queue.Queue().get(timeout=0.02))
forever(lambda: Future().result(0.02))
forever(in_timer)
time.sleep(100)
"""
_NAMES = {"Condition.wait", "Event.wait", "Queue.get", "Future.result", "Thread.join", "told"}


@pytest.mark.parametrize("version", VERSIONS)
def test_that_waits_for_at_most_so_long_are_timers_that_are_held(version: str) -> None:
    with attached(WAITS, python=interpreter(version)) as (receiver, _):
        receiver.wait_for(lambda: all(receiver.firings()[name] > 2 for name in _NAMES))
        sites = {receiver.texts[a] for _, kind, _, a, _ in receiver.events if kind == 17}
        assert any("in in_condition" in site for site in sites)
        # Of a Timer, it is no longer known where it was set, but what it calls.
        assert any(site.endswith(" in told") for site in sites)

        top = receiver.clocks()["python -c"]
        receiver.ask("Clock.pause", clock=top)
        receiver.listen(0.2)
        before = receiver.firings()
        receiver.listen(0.3)
        assert receiver.firings() == before
        receiver.ask("Clock.resume", clock=top)
        receiver.wait_for(
            lambda: all(receiver.firings()[name] > before[name] + 2 for name in _NAMES)
        )


@pytest.fixture(scope="module")
def waiting() -> Iterator[Receiver]:
    with attached(WAITS) as (receiver, _):
        receiver.wait_for(lambda: all(receiver.firings()[name] > 2 for name in _NAMES))
        yield receiver


def test_that_waits_take_as_long_as_the_rate_says(waiting: Receiver) -> None:
    waiting.ask("Clock.rate", clock=waiting.clocks()["Python time"], rate_n=D // 4)
    waiting.listen(0.2)
    before = waiting.firings()
    waiting.listen(0.8)
    after = waiting.firings()
    waiting.ask("Link.release")
    # 10 of 20 ms at a quarter of the rate; the machine may be busy, but not ahead.
    assert all(1 <= after[name] - before[name] <= 11 for name in _NAMES)


def test_that_the_longest_waits_at_the_lowest_rate_end_nothing(waiting: Receiver) -> None:
    waiting.ask("Clock.rate", clock=waiting.clocks()["Python time"], rate_n=1)
    waiting.listen(0.2)
    waiting.ask("Clock.rate", clock=waiting.clocks()["Python time"], rate_n=D)
    before = waiting.firings()
    waiting.wait_for(lambda: all(waiting.firings()[name] > before[name] for name in _NAMES))


def test_that_a_wait_that_is_notified_is_over_and_says_so() -> None:
    code = """
import queue, threading
events, answers = queue.Queue(), queue.Queue()
def serve():
    while True:
        answers.put(events.get(timeout=100))
threading.Thread(target=serve, daemon=True).start()
for number in range(20):
    events.put(number)
    assert answers.get(timeout=100) == number
print("done", threading.Event().wait(0.001), flush=True)
threading.Event().wait(timeout=100)
"""
    with attached(code) as (receiver, process):
        assert process.stdout is not None
        assert process.stdout.readline() == "done False\n"
        receiver.wait_for(lambda: len(receiver.timeline().timers) == 2)
        assert receiver.firings()["Queue.get"] == 0


def test_that_a_join_is_over_with_the_thread() -> None:
    code = """
import threading
go = threading.Event()
thread = threading.Thread(target=go.wait)
try:
    thread.join(1)
except RuntimeError as error:
    print(error, flush=True)
thread.start()
threading.Timer(0.01, go.set).start()
print(thread.join(100), thread.is_alive(), flush=True)
threading.Event().wait()
"""
    with attached(code) as (receiver, process):
        assert process.stdout is not None
        assert process.stdout.readline() == "cannot join thread before it is started\n"
        assert process.stdout.readline() == "None False\n"
        receiver.wait_for(lambda: "Thread.join" in receiver.timer_names().values())
        receiver.wait_for(lambda: len(receiver.timeline().timers) == 0)
        assert receiver.firings()["Thread.join"] == 0


def test_that_what_waits_for_sockets_keeps_the_time_of_the_machine() -> None:
    code = """
import sched, select, selectors, time
print(selectors.select is select, sched.scheduler().timefunc is time.monotonic, flush=True)
while True:
    select.select([], [], [], 0.01)
    print("waited", flush=True)
"""
    with attached(code) as (receiver, process):
        assert process.stdout is not None
        assert process.stdout.readline().split() == ["True", "True"]
        receiver.wait_until_complete()
        receiver.ask("Clock.pause", clock=receiver.clocks()["python -c"])
        for _ in range(20):
            assert process.stdout.readline() == "waited\n"


BUILT_IN = """
import copy, functools, inspect, pickle, sys, time, types
class Kept:
    clock, tick, rest = time.monotonic, time.perf_counter_ns, time.sleep
class Other:
    clock = functools.partial(time.monotonic)
def told(call):
    try:
        return call()
    except TypeError as error:
        return str(error)
kept, names = Kept(), ("monotonic", "monotonic_ns", "perf_counter", "time", "time_ns", "sleep")
print(kept.clock() <= Kept.clock(), kept.tick() <= Kept().tick(), kept.rest(0))
for each in [getattr(time, name) for name in names]:
    print(each, inspect.isbuiltin(each), inspect.isroutine(each), inspect.isfunction(each))
    print(each.__name__, each.__qualname__, each.__module__, each.__self__ is time, each.__doc__)
    print(pickle.loads(pickle.dumps(each)) is each, copy.deepcopy(each) is each)
    print(isinstance(each, types.BuiltinFunctionType), each == each, {each: 1}[each])
    print(told(lambda: each(1, 2)), told(lambda: each(wrong=1)))
print(sys.stdin.readline() and "", flush=True)
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_that_what_replaces_a_function_is_like_one_that_is_built_in(version: str) -> None:
    python = interpreter(version)
    alone = subprocess.run(
        [python, "-c", BUILT_IN], input="\n", capture_output=True, text=True, check=True
    )

    with attached(BUILT_IN, python=python) as (_, process):
        said, errors = process.communicate("\n", timeout=30)

    assert (said, errors) == (alone.stdout, "")


def test_that_readings_that_were_kept_before_a_change_follow_it() -> None:
    code = """
import functools, sys, time
class Kept:
    clock = time.monotonic
readings = [Kept().clock, functools.partial(time.perf_counter), time.time, time.monotonic_ns]
for line in sys.stdin:
    before = [read() for read in readings]
    time.sleep(0.01)
    assert all(read() >= each for read, each in zip(readings, before))
    print(*before, flush=True)
"""
    with attached(code) as (receiver, process):
        read = partial(answer_of, process)
        receiver.wait_until_complete()
        first = read()
        receiver.ask("Clock.rate", clock=receiver.clocks()["python -c"], rate_n=100 * D)
        receiver.listen(0.2)
        passed = [after - before for after, before in zip(read(), first, strict=True)]
        passed[-1] /= 1e9

        assert all(each >= 20 for each in passed)
        assert max(passed) - min(passed) < 1


DATETIMES = """
import datetime as module, sys, time, warnings
from datetime import date, datetime, timezone
from pickle import dumps, loads
warnings.simplefilter("ignore")
class Moment(datetime):
    def __new__(cls, *args, **kwargs):
        return super().__new__(cls, *args, **kwargs)
    @classmethod
    def fromtimestamp(cls, _):
        raise AssertionError("now() does not ask it")
east = timezone(module.timedelta(hours=5))
def present():
    made = [datetime.now(), module.datetime.now(tz=east), datetime.utcnow(), Moment.now()]
    made.append(datetime.today())
    assert [type(each) for each in made] == [datetime] * 3 + [Moment, datetime]
    assert (made[0].tzinfo, made[1].tzinfo, made[2].tzinfo) == (None, east, None)
    assert loads(dumps(made[:3])) == made[:3] and abs(made[1].timestamp() - time.time()) < 60
    return [each.replace(tzinfo=timezone.utc).timestamp() for each in made]
for line in sys.stdin:
    try:
        datetime.now(5)
    except TypeError as error:
        assert "tzinfo" in str(error)
    print(*present(), flush=True)
"""


@pytest.mark.parametrize("version", [*VERSIONS, "3.11"])
def test_that_datetime_follows_the_time_of_day(version: str) -> None:
    with attached(DATETIMES, python=interpreter(version)) as (receiver, process):
        read = partial(answer_of, process)
        receiver.wait_until_complete()
        top, first = receiver.clocks()["python -c"], read()
        receiver.ask("Clock.rate", clock=top, rate_n=1000 * D)
        receiver.listen(0.2)
        receiver.ask("Clock.pause", clock=top)
        receiver.listen(0.1)
        second, third = read(), read()

        assert all(after - before > 150 for after, before in zip(second, first, strict=True))
        assert second == third


def test_that_datetime_warns_as_ever_of_what_is_old() -> None:
    code = """
import sys, warnings
from datetime import datetime
warnings.simplefilter("always")
for line in sys.stdin:
    with warnings.catch_warnings(record=True) as caught:
        datetime.utcnow()
    print([(str(each.message), each.filename, each.lineno) for each in caught], flush=True)
"""
    with attached(code, python=interpreter("3.12")) as (receiver, process):
        assert process.stdin is not None
        assert process.stdout is not None
        receiver.wait_until_complete()
        print(file=process.stdin, flush=True)
        before = process.stdout.readline()
        receiver.ask("Clock.pause", clock=receiver.clocks()["python -c"])
        print(file=process.stdin, flush=True)

        assert process.stdout.readline() == before
        assert "utcnow() is deprecated" in before


def test_that_what_changes_functions_in_c_finds_those(tmp_path: Path) -> None:
    # As time-machine does, which writes into what it takes for them.
    (tmp_path / "_time_machine.py").write_text(
        "import datetime, time\n"
        "natives = [type(each).__name__ for each in (time.time, time.sleep, datetime.datetime.now)]"
    )
    code = f"""
import sys, time
sys.path.insert(0, {str(tmp_path)!r})
from datetime import datetime
sys.stdin.readline()
import _time_machine
print(*_time_machine.natives, type(time.time).__name__, type(datetime.now).__name__, flush=True)
sys.stdin.readline()
"""
    with attached(code) as (receiver, process):
        assert process.stdin is not None
        assert process.stdout is not None
        receiver.wait_until_complete()
        receiver.ask("Clock.rate", clock=receiver.clocks()["python -c"], rate_n=2 * D)
        print(file=process.stdin, flush=True)

        natives = ["builtin_function_or_method"] * 3
        assert process.stdout.readline().split() == [*natives, "Replacement", "method"]


def test_that_wrong_sleeps_are_refused_as_ever() -> None:
    code = """
import time
for wrong in (-1, "1", None, float("nan"), 1e30):
    try:
        time.sleep(wrong)
    except (ValueError, TypeError, OverflowError) as error:
        print(type(error).__name__, flush=True)
time.sleep(0)
time.sleep(True * 0.001)
print("done", flush=True)
"""
    with attached(code) as (_, process):
        assert process.stdout is not None
        said = [process.stdout.readline().strip() for _ in range(6)]
        assert said == [
            "ValueError",
            "TypeError",
            "TypeError",
            "ValueError",
            "OverflowError",
            "done",
        ]


def test_that_an_interrupted_sleep_is_gone() -> None:
    code = """
import signal, time, os, threading
def wake(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGUSR2, wake)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR2)).start()
try:
    time.sleep(100)
except KeyboardInterrupt:
    print("woken", flush=True)
time.sleep(100)
"""
    with attached(code) as (receiver, process):
        assert process.stdout is not None
        assert process.stdout.readline() == "woken\n"
        receiver.wait_for(lambda: list(receiver.timer_names().values()).count("time.sleep") == 2)
        receiver.wait_for(lambda: len(receiver.timeline().timers) == 1)
