"""How a probe starts, listens and follows forks, with stand-ins for its link and the system."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import places
from inspector.probe import starting as module
from inspector.probe.program import Program
from tests.probe.receiver import TOKEN

ADDRESS = "tcp:127.0.0.1:7"


class Link:
    """A link that does nothing, and notes what it is asked for."""

    def __init__(self, made: Made, program: Program, *given: object, **more: object) -> None:
        self.program, self.given = program, (*given, more)
        self.asked: list[object] = []
        self.is_over = False
        self.problem = made.problem
        self.cannot_start = False
        made.links.append(self)

    def start(self) -> None:
        self.asked.append("start")
        if self.cannot_start:
            raise RuntimeError("can't start new thread")

    def stop(self) -> None:
        self.asked.append("stop")

    def wait_until_settled(self) -> None:
        self.asked.append("wait")

    def abandon(self) -> None:
        self.asked.append("abandon")

    def close(self, reason: str) -> None:
        self.asked.append(reason)


class Made:
    """A process in which a probe can start; the system is played."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.links: list[Link] = []
        self.problem = ""
        self.handed_on: list[tuple[str, str, str]] = []
        self.at_exit: list[tuple[Any, ...]] = []
        self.at_fork: list[dict[str, Any]] = []
        self.when_left: list[Callable[[], object]] = []
        self.used: list[object] = []
        self.watched: list[object] = []
        self.is_starting = False
        self.is_main = True
        self.listens: OSError | None = None
        for name, value in {
            "_program": None,
            "_link": None,
            "_restart": None,
            "_is_forkable": False,
            "_forking": 0,
            "Link": lambda *given, **more: Link(self, *given, **more),
            "hand_on": lambda *given: self.handed_on.append(given),
            "when_left": self.when_left.append,
            "use": lambda program, _frame: self.used.append(program),
            "watch_threads": self.watched.append,
            "is_starting": lambda: self.is_starting,
            "is_main_interpreter": lambda: self.is_main,
            "listening": self._listening,
            "atexit": SimpleNamespace(register=lambda *given: self.at_exit.append(given)),
        }.items():
            monkeypatch.setattr(module, name, value)
        monkeypatch.setattr(Program, "watch_imports", lambda of: self.watched.append(of))  # noqa: PLW0108 - a method
        monkeypatch.setattr(os, "register_at_fork", lambda **calls: self.at_fork.append(calls))

    def _listening(self, address: str) -> tuple[str, str]:
        if self.listens is not None:
            raise self.listens
        return "listener", f"{address}!"

    @property
    def link(self) -> Link:
        return self.links[-1]

    @property
    def program(self) -> Program:
        program: Program = self.link.program
        return program


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    return Made(monkeypatch)


def test_that_a_start_dials_and_waits_for_the_answer(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    module.start(ADDRESS, TOKEN, grant="step")

    assert made.link.given == (TOKEN, "step", {"address": ADDRESS})
    assert made.link.asked == ["start", "wait"]
    assert made.handed_on == [(ADDRESS, TOKEN, "step")]
    assert not made.program.own_clock.is_held
    # All that happens once in a program.
    program = made.program
    assert made.used == [program]
    assert made.watched == [program, program]
    assert made.at_exit == [(module._close, "the program has ended")]
    assert len(made.at_fork) == len(made.when_left) == 1
    assert capsys.readouterr().err == ""
    made.link.is_over = True
    module.start(ADDRESS, TOKEN, hold=True)

    assert made.links[0].asked[-1] == ""
    assert made.program is program
    assert made.link.asked == ["start", "wait"]
    assert program.own_clock.is_held
    assert len(made.watched) == 2
    assert len(made.used) == len(made.at_exit) == len(made.at_fork) == len(made.when_left) == 1


def test_that_a_program_with_an_inspector_is_not_started_again(made: Made) -> None:
    module.start(ADDRESS, TOKEN)
    with pytest.raises(RuntimeError, match="is attached to it already"):
        module.start(ADDRESS, TOKEN)

    assert len(made.links) == 1


def test_that_a_program_goes_on_whose_inspector_is_not_there(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    made.problem = "nobody there"
    module.start(ADDRESS, TOKEN, hold=True)

    assert not made.program.own_clock.is_held
    assert capsys.readouterr().err == "timeline probe: not attached: nobody there\n"


def test_that_only_children_may_dial(made: Made) -> None:
    module.start(ADDRESS, TOKEN, hold=True, only_children=True)

    program = module._program
    assert program is not None
    assert made.links == []
    assert made.handed_on == [(ADDRESS, TOKEN, "full")]
    assert not program.own_clock.is_held
    module._in_child()
    assert made.link.given == (TOKEN, "full", {"address": ADDRESS})


# ----------------------------------------------------------------------------------------- serving


def test_that_a_program_listens_where_it_is_asked_to(made: Made) -> None:
    server = module.serve(ADDRESS, token=TOKEN, grant="read-only")

    assert (server.address, server.token) == (f"{ADDRESS}!", TOKEN)
    assert made.link.given == (TOKEN, "read-only", {"listener": "listener"})
    assert made.link.asked == ["start"]
    assert len(made.at_fork) == 1
    server.close()
    server.close()
    assert made.link.asked == ["start", "the program has stopped listening"]


def test_that_a_token_is_made_up_unless_it_is_given(made: Made) -> None:
    first = module.serve(ADDRESS).token
    module._link = None
    second = module.serve(ADDRESS).token

    assert len(bytes.fromhex(first)) == len(bytes.fromhex(second)) == 16
    assert first != second
    assert made.link.given[1] == "full"


def test_that_a_grant_that_is_none_is_refused(made: Made) -> None:
    with pytest.raises(ValueError, match="no grant, read-only, step, full: 'all'"):
        module.serve(ADDRESS, grant="all")
    assert made.links == []


@pytest.mark.parametrize("why", ["launched", "served", "within"])
def test_that_nothing_is_opened_where_an_inspector_has_its_own_way_in(made: Made, why: str) -> None:
    if why == "launched":
        module.start(ADDRESS, TOKEN, only_children=True)
    elif why == "served":
        module.serve(ADDRESS)
    made.is_main = why != "within"
    before = len(made.links)
    server = module.serve(ADDRESS)

    assert (server.address, server.token) == ("", "")
    assert len(made.links) == before
    # It has nothing to close.
    server.close()
    assert not any("the program has stopped listening" in link.asked for link in made.links)


def test_that_an_address_that_was_given_has_to_be_free(
    made: Made, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made.listens = OSError("taken")
    with pytest.raises(OSError, match="taken"):
        module.serve(ADDRESS)
    removed: list[str] = []
    tokens: list[str] = []
    place = SimpleNamespace(
        remove=lambda: removed.append("removed"), write_token=tokens.append, address="unix:/x"
    )
    monkeypatch.setattr(places, "ListeningPlace", SimpleNamespace(made=lambda: place))
    server = module.serve(token=TOKEN)

    assert server.address == ""
    assert made.links == []
    assert capsys.readouterr().err == "timeline probe: no inspector can attach: taken\n"
    made.listens = None
    assert module.serve(token=TOKEN).address == "unix:/x!"
    assert tokens == [TOKEN] * 2
    assert made.at_exit[0] == (place.remove,)


# ------------------------------------------------------------------------------------------- forks


def test_that_the_probes_thread_ends_before_a_fork_and_goes_on_after_the_last(made: Made) -> None:
    module._before_fork()
    module._after_fork()
    module.start(ADDRESS, TOKEN)
    (calls,) = made.at_fork
    made.link.asked.clear()
    calls["before"]()
    calls["before"]()
    calls["after_in_parent"]()
    assert made.link.asked == ["stop", "stop"]
    calls["after_in_parent"]()
    assert made.link.asked == ["stop", "stop", "start"]


def test_that_nothing_is_reported_where_no_thread_can_be_started_any_more(made: Made) -> None:
    module.start(ADDRESS, TOKEN)
    program = made.program
    program.attach(lambda _event: None, lambda _events: None)
    made.link.cannot_start = True
    module._before_fork()
    module._after_fork()

    assert program.emit is None


def test_that_a_child_dials_by_itself_and_lets_go_of_its_parents_link(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    module.start(ADDRESS, TOKEN)
    program, parents = made.program, made.link
    program.attach(lambda _event: None, lambda _events: None)
    module._before_fork()
    renumbered: list[bool] = []
    thread = SimpleNamespace(_set_native_id=lambda: renumbered.append(True))
    monkeypatch.setattr(threading, "current_thread", lambda: thread)
    lock = module._forking_lock
    made.at_fork[0]["after_in_child"]()

    assert parents.asked[-1] == "abandon"
    assert made.link is not parents
    assert (made.link.program, made.link.asked) == (program, ["start", "wait"])
    assert program.emit is None
    assert renumbered == [True]
    assert (module._forking, module._forking_lock is lock) == (0, False)
    # A Python that gives threads no numbers of the system.
    del thread._set_native_id
    made.is_starting = True
    before = len(made.links)
    module._in_child()
    assert len(made.links) == before
    assert module._link is None


def test_that_a_child_of_a_program_that_listens_is_left_alone(made: Made) -> None:
    module._in_child()
    assert made.links == []
    module.serve(ADDRESS)
    module._in_child()

    assert len(made.links) == 1
    assert made.link.asked[-1] == "abandon"


def test_that_a_program_that_leaves_says_so(made: Made) -> None:
    module.start(ADDRESS, TOKEN)
    made.when_left[0]()
    made.when_left[0]()

    assert made.link.asked == ["start", "wait", "the program has ended"]


def test_that_systems_that_cannot_fork_need_not_be_told(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "register_at_fork")
    module.start(ADDRESS, TOKEN)

    assert made.when_left == []


def test_that_a_thread_that_is_gone_may_have_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    program: Any = SimpleNamespace(emit=None, failed=lambda name, *_: told.append(name))
    monkeypatch.setattr(threading, "excepthook", lambda _args: told.append("reported"))
    module.watch_threads(program)
    args: Any = SimpleNamespace(
        thread=None, exc_type=KeyError, exc_value=KeyError(), exc_traceback=None
    )
    threading.excepthook(args)
    program.emit = print
    threading.excepthook(args)

    assert told == ["reported", "a thread", "reported"]
    assert sys.exc_info() == (None, None, None)
