"""What tkinter programs do with timers and loops that programs of other libraries do not."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise

import pytest

from inspector.probe.kinds import (
    FRAME_ENDED,
    MARK,
    NEVER,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.libraries import python_with
from tests.probe.receiver import TOKEN, Receiver, attached, inlet, program

#: An interpreter of Tcl has timers and needs no display.
HEAD = """
import tkinter
root = tkinter.Tcl()
def run():
    timeline_probe.mark("begun")
    while True:
        root.dooneevent()
say = timeline_probe.mark
"""
#: Reads what is to be done from the standard input.
TOLD = """
import sys
root.createfilehandler(sys.stdin, tkinter.READABLE, lambda *_: exec(sys.stdin.readline()))
"""


@pytest.fixture
def python() -> str:
    return python_with("_tkinter")


@pytest.fixture
def windows(display_number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a display for the programs of the test."""
    monkeypatch.setenv("DISPLAY", display_number)


def marks(receiver: Receiver) -> list[str]:
    return [receiver.texts[a] for _, kind, _, a, _ in receiver.events if kind == MARK]


def wait_for_mark(receiver: Receiver, mark: str, times: int = 1) -> None:
    receiver.wait_for(lambda: marks(receiver).count(mark) >= times)


def top(receiver: Receiver) -> int:
    return next(number for number, parent in receiver.parents().items() if parent == 0)


def events(receiver: Receiver, kind: int) -> list[tuple[int, ...]]:
    return [event for event in receiver.events if event[1] == kind]


_SET_THEMSELVES_AGAIN = """
from functools import partial
def function(): root.after(20, function)
def in_lambda(word="x"): root.after(20, lambda: in_lambda("y"))
def with_word(word="x"): root.after(20, with_word, "y")
class Ball:
    def method(self): root.after(20, self.method)
def in_partial(number): root.after(20, partial(in_partial, number + 1))
for tick in (function, in_lambda, with_word, Ball().method, partial(in_partial, 1)):
    root.after(20, tick)
run()
"""


def test_that_a_call_that_sets_itself_again_is_one_interval(python: str) -> None:
    def fired(receiver: Receiver, timer: int) -> list[int]:
        return [b for _, _, subject, _, b in events(receiver, TIMER_FIRED) if subject == timer]

    with attached(HEAD + _SET_THEMSELVES_AGAIN, python=python) as (receiver, _):
        receiver.wait_for(
            lambda: sum(len(fired(receiver, timer)) > 3 for timer in receiver.timer_names()) == 5
        )
        timers = receiver.timeline().timers
        numbers = [*timers.ids()]
        names = [timers.row(number).label for number in numbers]

        assert sorted(names) == [
            "Ball.method",
            "function",
            "in_lambda.<locals>.<lambda>",
            "in_partial",
            "with_word",
        ]
        assert len(receiver.timer_names()) <= 3 * len(numbers)
        for name, number in zip(names, numbers, strict=True):
            assert timers.interval[timers.index(number)] == 20_000_000, name
            assert timers.row(number).call_site.startswith("<string>:"), name
            instants = fired(receiver, number)
            assert NEVER not in instants, name
            assert all(15e6 < after - at < 200e6 for at, after in pairwise(instants)), name


@pytest.mark.usefixtures("windows")
def test_that_what_turtle_sets_is_set_by_the_program(python: str) -> None:
    code = "import turtle\nturtle.ontimer(say, 100_000)\nturtle.mainloop()"
    with attached(HEAD + code, python=python) as (receiver, _):
        receiver.wait_for(lambda: "mark" in receiver.timer_names().values())
        names = receiver.timer_names()
        origins = events(receiver, TIMER_ORIGIN)
        (site,) = (a for _, _, number, a, _ in origins if names[number] == "mark")
        # That of the program, though functions of turtle have no file either.
        assert receiver.texts[site].endswith(" in <module>")


def test_that_an_interval_that_ends_is_no_longer_pending(python: str) -> None:
    code = """
count = 0
def tick():
    global count
    count += 1
    if count < 4:
        root.after(10, tick)
    else:
        say("over")
root.after(10, tick)
run()
"""
    with attached(HEAD + code, python=python) as (receiver, _):
        wait_for_mark(receiver, "over")
        receiver.wait_for(lambda: events(receiver, TIMER_CLEARED))
        assert [*receiver.timeline().timers.ids()] == []


def test_that_what_was_moved_is_cancelled_by_its_first_name(python: str) -> None:
    code = (
        TOLD
        + """
timer = root.after(300, say, "called")
other = root.after(400, say, "other")
run()
"""
    )
    with attached(HEAD + code, python=python) as (receiver, process):
        wait_for_mark(receiver, "begun")
        receiver.ask("Clock.pause", clock=top(receiver))
        receiver.listen(0.1)
        assert process.stdin is not None
        print("root.after_cancel(timer); say('cancelled')", file=process.stdin, flush=True)
        wait_for_mark(receiver, "cancelled")
        assert [*receiver.timer_names().values()] == ["mark", "mark"]
        assert len([*receiver.timeline().timers.ids()]) == 1
        receiver.ask("Clock.resume", clock=top(receiver))
        wait_for_mark(receiver, "other")
        assert "called" not in marks(receiver)


def test_that_timers_keep_what_is_left_of_them_when_the_inspector_goes(python: str) -> None:
    code = (
        TOLD
        + """
import time
began = time.monotonic()
def called():
    print(time.monotonic() - began, flush=True)
root.after(600, called)
timer = root.after(500, print, "not this")
run()
"""
    )
    with attached(HEAD + code, python=python) as (receiver, process):
        wait_for_mark(receiver, "begun")
        receiver.ask("Clock.pause", clock=top(receiver))
        receiver.listen(1.0)
        receiver.close()
        assert process.stdin is not None
        assert process.stdout is not None
        print("root.after_cancel(timer)", file=process.stdin, flush=True)
        assert float(process.stdout.readline()) > 0.5


def test_that_idle_calls_answer_while_the_program_is_held(python: str) -> None:
    code = (
        TOLD
        + """
turns = 0
def spin():
    global turns
    turns += 1
    if turns == 10:
        say("spins")
    elif turns < 10:
        root.after_idle(spin)
run()
"""
    )
    with attached(HEAD + code, python=python) as (receiver, process):
        wait_for_mark(receiver, "begun")
        receiver.ask("Clock.pause", clock=top(receiver))
        assert process.stdin is not None
        idle = "root.after_idle(say, 'idle'); root.after_idle(spin)"
        print(f"root.after(0, say, 'now'); {idle}", file=process.stdin, flush=True)
        wait_for_mark(receiver, "idle")
        receiver.listen(0.3)
        print("say(f'{turns} turns')", file=process.stdin, flush=True)
        # What sets itself again waits, or the processor would not rest.
        wait_for_mark(receiver, "1 turns")
        assert "now" not in marks(receiver)
        receiver.ask("Clock.resume", clock=top(receiver))
        wait_for_mark(receiver, "now")
        wait_for_mark(receiver, "spins")


def test_that_an_idle_call_is_made_though_the_clock_stops_before_it(python: str) -> None:
    code = (
        TOLD
        + """
import os
def set_and_wait():
    root.after_idle(say, "idle")
    say("set")
    os.read(0, 1)
    # Tcl is told that the clock has stopped before it is idle.
    root.dooneevent(tkinter._tkinter.FILE_EVENTS)
run()
"""
    )
    with attached(HEAD + code, python=python) as (receiver, process):
        wait_for_mark(receiver, "begun")
        assert process.stdin is not None
        print("set_and_wait()", file=process.stdin, flush=True)
        wait_for_mark(receiver, "set")
        receiver.ask("Clock.pause", clock=top(receiver))
        print("x", end="", file=process.stdin, flush=True)
        wait_for_mark(receiver, "idle")


def test_that_a_sleep_follows_the_clock(python: str) -> None:
    code = """
while True:
    root.after(50)
    say("slept")
"""
    with attached(HEAD + code, python=python) as (receiver, _):
        wait_for_mark(receiver, "slept", 2)
        receiver.ask("Clock.pause", clock=top(receiver))
        receiver.listen(0.1)
        before = len(marks(receiver))
        receiver.listen(0.3)
        assert len(marks(receiver)) == before
        assert set(receiver.timer_names().values()) == {"after"}
        receiver.ask("Clock.rate", clock=top(receiver), rate_n=4 * D)
        receiver.ask("Clock.resume", clock=top(receiver))
        wait_for_mark(receiver, "slept", before + 4)


def test_that_a_wrong_call_fails_as_it_does_without_a_probe(python: str) -> None:
    code = """
for wrong in (lambda: root.after("soon", say), lambda: root.after("soon"),
              lambda: root.after_cancel(""), lambda: root.after(1.5, say)):
    try:
        wrong()
    except (tkinter.TclError, ValueError) as error:
        say(type(error).__name__)
root.after_cancel("after#4711")
root.after("30", say, "text")
run()
"""
    with attached(HEAD + code, python=python) as (receiver, _):
        wait_for_mark(receiver, "text")
        assert marks(receiver)[:4] == ["TclError", "TclError", "ValueError", "TclError"]
        adapters = receiver.said("Program.changed")[-1]["adapters"]
        assert [each["state"] for each in adapters if each["name"] == "tkinter"] == ["active"]


def test_that_timers_of_before_are_told_until_they_set_themselves_again(python: str) -> None:
    code = """
def tick():
    root.after(200, tick)
root.after(200, tick)
root.after(600_000, print)
root.after(50, start)
while True:
    root.dooneevent()
"""
    with inlet() as opened:
        start = f"def start(): timeline_probe.start({opened.address!r}, {TOKEN!r})\n"
        head = "import tkinter\nroot = tkinter.Tcl()\n"
        with (
            program(start + head + code, python=python) as process,
            closing(opened.accepted()) as receiver,
        ):
            receiver.wait_until_complete()
            assert process.poll() is None

            def told() -> str:
                (changed,) = receiver.said("Program.changed")[-1:]
                said = {each["name"]: each["message"] for each in changed["adapters"]}
                return str(said["tkinter"])

            receiver.wait_for(lambda: "once they are set again" in told())
            receiver.wait_for(lambda: "tick" in receiver.timer_names().values())


@pytest.mark.usefixtures("windows")
def test_that_the_timers_of_a_widget_go_with_it(python: str) -> None:
    code = """
root = tkinter.Tk()
label = tkinter.Label(root)
label.after(600_000, print)
root.after(600_000, say, "kept")
root.after(100, label.destroy)
root.after(150, say, "destroyed")
root.mainloop()
"""
    with attached(HEAD + code, python=python) as (receiver, _):
        wait_for_mark(receiver, "destroyed")
        timeline = receiver.timeline()
        assert [timeline.timers.row(each).label for each in timeline.timers.ids()] == ["mark"]


@pytest.mark.usefixtures("windows")
def test_that_a_program_ends_as_it_wants_to(python: str) -> None:
    code = """
import sys
root = tkinter.Tk()
frame = tkinter.Frame(root)
root.after(20, root.quit)
root.mainloop()
say("quit")
root.after(20, frame.quit)
tkinter.mainloop()
say("again")
root.after(20, sys.exit, 7)
root.mainloop()
"""
    with attached(HEAD + code, python=python) as (receiver, process):
        wait_for_mark(receiver, "again")
        assert process.wait(30) == 7


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize("turn", ["root.update()", "root.dooneevent(tkinter._tkinter.DONT_WAIT)"])
def test_that_a_loop_of_the_program_s_own_is_held_and_stepped(turn: str, python: str) -> None:
    code = f"""
import time
root = tkinter.Tk()
while True:
    {turn}
    time.sleep(0.01)
"""
    with attached(HEAD + code, python=python) as (receiver, _):
        receiver.wait_for(lambda: len(events(receiver, FRAME_ENDED)) > 3)
        receiver.ask("Clock.pause", clock=top(receiver))
        receiver.listen(0.2)
        before = len(events(receiver, FRAME_ENDED))
        receiver.listen(0.3)
        assert len(events(receiver, FRAME_ENDED)) == before
        for frames in (1, 3):
            told, before = len(receiver.said("Program.held")), len(events(receiver, FRAME_ENDED))
            receiver.ask("Program.step", frames=frames)
            receiver.wait_until_held(told)
            receiver.listen(0.1)
            assert len(events(receiver, FRAME_ENDED)) == before + frames


CLOSING = """
root = tkinter.Tk()
is_open = True
def close():
    global is_open
    is_open = False
root.protocol("WM_DELETE_WINDOW", close)
close_by_hand = root.tk.call("wm", "protocol", ".", "WM_DELETE_WINDOW")
"""
CLOSED = {
    "loop": CLOSING
    + TOLD
    + """
while is_open:
    root.update()
say("closed")
""",
    "destroyed": TOLD
    + """
root = tkinter.Tk()
close_by_hand = root.tk.call("wm", "protocol", ".", "WM_DELETE_WINDOW")
root.mainloop()
say("closed")
""",
}


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize("code", CLOSED.values(), ids=CLOSED.keys())
def test_that_the_window_of_a_held_program_can_be_closed(code: str, python: str) -> None:
    with attached(HEAD + code, python=python) as (receiver, process):
        receiver.wait_for(lambda: "tkinter 2" in receiver.clocks())
        receiver.ask("Clock.pause", clock=top(receiver))
        receiver.listen(0.2)
        assert "closed" not in marks(receiver)
        assert process.stdin is not None
        # As Tk does when the window manager asks for it.
        print("root.tk.call(close_by_hand)", file=process.stdin, flush=True)
        wait_for_mark(receiver, "closed")


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("tick", "loop"),
    [
        ("root.after(20, tick)", "root.mainloop()"),
        ("root.after(20, tick); root.wait_variable(variable)", "root.mainloop()"),
        ("root.after(20, tick)", "root.update(); root.tk.mainloop()"),
    ],
)
def test_that_calls_of_any_loop_are_frames(tick: str, loop: str, python: str) -> None:
    code = f"""
root = tkinter.Tk()
variable = tkinter.IntVar()
def tick():
    {tick}
root.after(20, tick)
{loop}
"""
    with attached(HEAD + code, python=python) as (receiver, _):
        receiver.wait_for(lambda: len(events(receiver, FRAME_ENDED)) > 5)
        # The first may be of the loop before.
        ended = events(receiver, FRAME_ENDED)[1:]
        assert sum(event[4] for event in ended) < sum(event[3] for event in ended) / 2


def test_that_a_clock_may_be_asked_about_before_its_interpreter_is_known(python: str) -> None:
    code = """
adapter = timeline_probe.starting._program.adapters["tkinter"]
new = timeline_probe.starting._program.clock("new", adapter=adapter)
for call in (adapter.capabilities, adapter.changed, lambda clock: list(adapter.keyframe(clock))):
    timeline_probe.starting._program.guarded(adapter, call, new)
say(adapter.state)
run()
"""
    with attached(HEAD + code, python=python) as (receiver, _):
        wait_for_mark(receiver, "begun")
        assert marks(receiver) == ["active", "begun"]
