"""What the stack of a thread tells, from stand-ins for frames and instructions."""

# ruff: noqa: ANN401 - stand-ins are no frames

from __future__ import annotations

import dis
import opcode
import queue
import threading
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import stacks as module
from inspector.probe.stacks import Runner

OF_COROUTINE = 0x80


def frame(
    name: str, file: str = "/game/app.py", place: int = 20, flags: int = 0, **values: object
) -> Any:
    code = SimpleNamespace(co_name=name, co_filename=file, co_flags=flags)
    return SimpleNamespace(f_code=code, f_lasti=place, f_lineno=place + 1, f_locals=values)


def read(
    monkeypatch: pytest.MonkeyPatch, *frames: Any, is_after: bool = False
) -> tuple[list[str], Runner]:
    """Read a stack, outermost first; returns the names of its functions, and what is called."""
    outer = None
    for each in frames:
        each.f_back, outer = outer, each
    current = {} if outer is None else {7: outer}
    monkeypatch.setattr(module, "sys", SimpleNamespace(_current_frames=lambda: current))
    stack, runner = module.stack_of(7, is_after=is_after)
    assert [line for _, line in stack] == [
        each.f_lineno for each in frames if each.f_code in [code for code, _ in stack]
    ]
    return [code.co_name for code, _ in stack], runner


PROBE = module.__file__


def test_that_a_stack_is_read_outermost_first(monkeypatch: pytest.MonkeyPatch) -> None:
    main, play = frame("main"), frame("play", place=31)
    names, runner = read(monkeypatch, main, play)

    assert names == ["main", "play"]
    assert runner.place == (play.f_code, 31)
    assert (runner.name, runner.is_task, runner.probe_call) == ("", False, "")
    assert read(monkeypatch)[0] == []


def test_that_what_the_probe_does_is_not_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    hook, inner = frame("sleep", PROBE), frame("sleep_until", PROBE)
    waiting = frame("wait", threading.__file__)
    names, runner = read(monkeypatch, frame("play"), hook, inner, waiting)
    assert names == ["play"]
    assert runner.probe_call == "sleep"

    # A hook that calls the program.
    names, runner = read(monkeypatch, frame("play"), hook, frame("called"))
    assert names == ["play", "called"]
    assert runner.probe_call == ""


def test_that_after_a_gap_functions_that_are_just_entered_do_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames = frame("play"), frame("entered", place=7), frame("inner", place=7)
    names, runner = read(monkeypatch, *frames, is_after=True)
    assert (names, runner.place) == (["play"], None)
    names, runner = read(monkeypatch, *frames)
    assert names == ["play", "entered", "inner"]
    names, runner = read(monkeypatch, frame("play", place=7), frame("long", place=8), is_after=True)
    assert names == ["play", "long"]
    assert runner.place is not None


def test_that_deep_stacks_lose_their_outermost_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    names, _ = read(monkeypatch, *(frame(str(number)) for number in range(130)))

    assert names == [str(number) for number in range(10, 130)]


def called() -> None: ...


class Loop:
    def tick(self) -> None: ...


async def play() -> None: ...


ASYNCIO, PYGLET = "/usr/lib/asyncio/events.py", "/x/pyglet/clock.py"


def test_that_what_a_loop_calls_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    coroutine = play()
    coroutine.close()
    task: Any = SimpleNamespace(get_coro=lambda: coroutine)
    step: Any = SimpleNamespace(__self__=task)
    for values, file, name, is_task in (
        ({"self": SimpleNamespace(_callback=called)}, ASYNCIO, "called", False),
        ({"self": SimpleNamespace(func=Loop().tick)}, ASYNCIO, "Loop.tick", False),
        ({"self": SimpleNamespace(_callback=step)}, ASYNCIO, "play", True),
        ({"self": SimpleNamespace(_callback=None)}, ASYNCIO, "", False),
        ({"self": SimpleNamespace(_callback=called)}, "/game/asynchronous.py", "", False),
    ):
        runs = frame("_run", file)
        runs.f_locals = values
        _, runner = read(monkeypatch, frame("main"), runs, frame("called"))
        assert (runner.name, runner.is_task) == (name, is_task)
        if name:
            assert runner.identity == id(values["self"])
    # The innermost is what runs.
    inner = frame("call_scheduled_functions", PYGLET, item=SimpleNamespace(func=called))
    outer = frame("_run", ASYNCIO, self=SimpleNamespace(_callback=Loop().tick))
    assert read(monkeypatch, outer, inner, frame("called"))[1].name == "called"


def test_that_a_coroutine_that_trio_calls_is_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = frame("unrolled_run", "/x/trio/_run.py")
    task, plain = frame("play", flags=OF_COROUTINE), frame("send")
    inner = frame("load")
    _, runner = read(monkeypatch, runs, task, inner)
    assert (runner.name, runner.is_task, runner.identity) == ("play", True, id(task))
    _, runner = read(monkeypatch, runs, plain, inner)
    assert (runner.name, runner.is_task, runner.identity) == ("", False, id(plain))
    assert read(monkeypatch, runs)[1].name == ""
    # The innermost may be the task itself.
    assert read(monkeypatch, runs, task)[1].name == "play"
    # What it calls has called what is known better.
    known = frame("_run", ASYNCIO, self=SimpleNamespace(_callback=called))
    assert read(monkeypatch, runs, task, known)[1].name == "called"


def test_that_what_has_no_name_is_known_by_its_outermost_frames(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second, third = frame("first"), frame("second"), frame("third")

    assert read(monkeypatch, first, second, third)[1].identity == id(second)
    assert read(monkeypatch, first)[1].identity == 0


# ------------------------------------------------------------------------------------- what waits


@pytest.mark.parametrize(
    ("file", "probe_call", "names", "called_names", "enters", "found"),
    [
        (queue.__file__, "", (), (), False, (True, "")),
        ("/game/task_queue.py", "", (), (), False, (False, "")),
        ("/game/queue.py", "", (), (), False, (False, "")),
        ("/game/app.py", "sleep", (), (), False, (True, "time.sleep")),
        ("/game/app.py", "select", (), (), False, (True, "select")),
        ("/game/app.py", "run_until", (), (), False, (False, "run_until")),
        ("/game/app.py", "", ("sleep", "play"), ("sleep",), False, (True, "sleep")),
        ("/game/app.py", "", ("sleep", "play"), ("play",), False, (False, "")),
        ("/game/app.py", "", ("play",), ("play",), False, (False, "")),
        ("/game/app.py", "", ("get", "recv"), ("get", "recv"), False, (True, "")),
        ("/game/app.py", "", ("lock", "x"), ("lock",), True, (True, "lock.__enter__")),
        ("/game/app.py", "", ("lock", "x"), (), True, (True, "")),
    ],
)
def test_that_a_thread_waits_that_calls_what_waits(  # noqa: PLR0913, PLR0917 - a table
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    probe_call: str,
    names: tuple[str, ...],
    called_names: tuple[str, ...],
    found: tuple[bool, str],
    *,
    enters: bool,
) -> None:
    code: Any = SimpleNamespace(co_filename=file, co_names=names)
    monkeypatch.setattr(module, "_enters", lambda *_: enters)
    monkeypatch.setattr(module, "called_names", lambda *_: frozenset(called_names))
    runner = Runner()
    assert module.wait_of(runner) == (False, "")
    runner.place, runner.probe_call = (code, 4), probe_call

    assert module.wait_of(runner) == found


def test_that_the_entry_of_a_lock_is_told_by_its_instruction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, number in (("LOAD_SPECIAL", 201), ("SETUP_WITH", 202), ("BEFORE_WITH", 203)):
        monkeypatch.setitem(opcode.opmap, name, number)
    code: Any = SimpleNamespace(co_code=bytes([201, 0, 5, 0, 202, 0, 203, 0, 6, 0]))

    assert [module._enters(code, place) for place in range(0, 10, 2)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    # The last instruction is not before the first.
    code.co_code = bytes([5, 0, 201, 0])
    assert not module._enters(code, 0)


def instruction(
    opname: str,
    argval: object = None,
    columns: tuple[int, int] | None = None,
    *,
    starts_line: bool = False,
    line: int = 1,
) -> Any:
    known = columns is not None
    begin, end = columns or (None, None)
    positions = SimpleNamespace(lineno=line, end_lineno=line, col_offset=begin, end_col_offset=end)
    return SimpleNamespace(
        opname=opname,
        argval=argval,
        positions=positions if known else None,
        starts_line=1 if starts_line else None,
    )


def names_at(monkeypatch: pytest.MonkeyPatch, place: int, *instructions: Any) -> set[str]:
    for number, each in enumerate(instructions):
        each.offset = 2 * number
    monkeypatch.setattr(dis, "get_instructions", lambda _code: instructions)
    return set(module.called_names.__wrapped__(None, place))


#: ``queue.get(file.read())``, with columns.
NESTED = (
    partial(instruction, "LOAD_NAME", "queue", (0, 5), starts_line=True),
    partial(instruction, "LOAD_METHOD", "get", (0, 9)),
    partial(instruction, "LOAD_NAME", "file", (10, 14)),
    partial(instruction, "LOAD_METHOD", "read", (10, 19)),
    partial(instruction, "CALL", 0, (10, 21)),
    partial(instruction, "CALL", 1, (0, 22)),
)


@pytest.mark.parametrize(
    ("place", "names"),
    [(8, {"read"}), (10, {"get"}), (2, {"queue"}), (0, set()), (12, set())],
)
def test_that_the_call_of_an_instruction_is_told_by_its_columns(
    monkeypatch: pytest.MonkeyPatch, place: int, names: set[str]
) -> None:
    assert names_at(monkeypatch, place, *(each() for each in NESTED)) == names


def test_that_all_names_of_a_statement_may_be_meant_where_columns_are_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instructions = (
        instruction("LOAD_NAME", "before", starts_line=True),
        instruction("CALL"),
        instruction("LOAD_NAME", "queue", starts_line=True),
        instruction("LOAD_CONST", 5),
        instruction("LOAD_METHOD", "get"),
        instruction("STORE_NAME", "x"),
        instruction("CALL"),
    )

    assert names_at(monkeypatch, 12, *instructions) == {"queue", "get"}
    assert names_at(monkeypatch, 2, *instructions) == {"before"}


def test_that_what_is_entered_is_what_was_loaded_just_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lock = instruction("LOAD_NAME", "lock", (5, 9))
    enters = instruction("BEFORE_WITH", None, (0, 20))

    assert names_at(monkeypatch, 2, lock, enters) == {"lock"}
    assert names_at(monkeypatch, 4, lock, instruction("CALL", 0, (5, 11)), enters) == set()


def test_that_the_programs_own_files_are_neither_pythons_nor_packages() -> None:
    files = (f"{module._LIBRARY}/queue.py", "<string>", "/x/site-packages/y.py", "/game/app.py")

    assert [module.is_own(file) for file in files] == [False, False, False, True]
