"""What is said of a program that is attached, and what may be asked of it."""

from __future__ import annotations

import os
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.commands.command import Capability
from inspector.probe.adapters import KEEPS_TIME
from inspector.sessions.attached import program as program_module
from inspector.sessions.attached.joined import JoinedPrograms
from inspector.sessions.attached.messages import (
    FIRST_PAGE_PID,
    AdapterMessage,
    BusyThreadMessage,
    ChangedMessage,
    ClockMessage,
    CostMessage,
    HelloMessage,
    KeyframeMessage,
    RuntimeMessage,
)
from inspector.sessions.attached.program import JoinedProgram
from inspector.sessions.attached.session_numbers import ABOVE_PROGRAM, NUMBER_BITS, ROOT_ID
from inspector.vocabulary import CLOCK_ADDED, CLOCK_ANCHORED, CLOCK_MOVED, TIMER_FIRED

ACTIVE = AdapterMessage("python_time", "", "3.12", "active")
FAILED = AdapterMessage("gevent", "gevent", "24.1", "failed", KEEPS_TIME)
BROKEN = AdapterMessage("qt", "", "", "failed", "It has changed.")
WAITING = AdapterMessage("celery_beat"), AdapterMessage("trio", "Trio")


class Program(JoinedProgram):
    """A program of the clocks 1 and 2, which are 101 and 102 in the session."""

    def __init__(
        self, host: str = "", peer_pid: int = 0, error_ns: int = 0, **said: object
    ) -> None:
        self.asked: list[tuple[Any, ...]] = []
        link: Any = SimpleNamespace(
            host=host,
            peer_pid=peer_pid,
            text="a socket",
            is_silent=False,
            request=lambda *request: self.asked.append(request),
        )
        hello = HelloMessage(**{"protocol": 1, "pid": 7, "name": "game", **said})  # type: ignore[arg-type]
        translation: Any = SimpleNamespace(
            clock_id=lambda number: 100 + number,
            shift_ns=1_000,
            unusable=SimpleNamespace(total=lambda: 0),
        )
        attached: Any = SimpleNamespace(hello=hello, link=link, error_ns=error_ns)
        super().__init__(1, attached, translation)


def test_that_its_adapters_are_said_to_see_or_not_to_see() -> None:
    program = Program(adapters=[ACTIVE, FAILED, BROKEN, *WAITING])
    facts = dict(program.facts)

    assert facts["python_time 3.12"] == "seen"
    assert facts["gevent 24.1"] == f"cannot be seen: {KEEPS_TIME}"
    assert facts["qt"] == "cannot be seen: It has changed."
    assert facts["Not loaded"] == "celery beat, Trio"
    assert facts["Not followed"].startswith("lock.acquire")
    assert program.brief == "game, gevent, qt not seen"
    assert [program.unseen, program.unheld, program.limited] == [
        [FAILED, BROKEN],
        [FAILED],
        [FAILED, BROKEN],
    ]


def test_that_nothing_is_said_of_what_is_not_known() -> None:
    program = Program()

    assert [title for title, _ in program.facts] == [
        "State",
        "Process",
        "Connection",
        "Permissions",
        "Clock",
        "Lost",
    ]
    assert program.brief == "game, nothing to see yet"
    assert Program(adapters=[ACTIVE]).brief == "game"
    assert (program.cost_text, program.loss_text, program.not_followed) == ("", "", "")
    assert dict(program.facts)["Lost"] == "no events"
    program.translation.unusable = Counter({TIMER_FIRED: 3})
    assert dict(program.facts)["Left out"] == "3 invalid events"


@pytest.mark.parametrize(
    ("said", "process"),
    [
        ({}, "process 7"),
        ({"host": "there"}, "process 7 on there"),
        ({"pid": 0}, "page"),
        ({"pid": 1}, "process 1"),
        ({"pid": FIRST_PAGE_PID - 1}, f"process {FIRST_PAGE_PID - 1}"),
        ({"pid": FIRST_PAGE_PID}, "page"),
        ({"peer_pid": os.getpid()}, "process 7"),
        # A container counts its processes by itself.
        ({"peer_pid": 9}, "process 9"),
        ({"peer_pid": 9, "host": "there"}, "process 7 on there"),
    ],
)
def test_that_its_process_is_named_as_its_host_counts(said: dict[str, Any], process: str) -> None:
    assert Program(**said).process_text == process


def test_that_the_parent_of_a_program_in_a_container_is_that_of_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(program_module, "parent_of", lambda pid: 10 * pid)
    assert Program(peer_pid=9, parent_pid=1).parent_pid == 90
    # The parent of a thread is its process.
    assert Program(peer_pid=9, parent_pid=7).parent_pid == 9
    assert Program(parent_pid=1).parent_pid == 1


def test_that_it_is_named_with_its_host_and_its_namesakes_are_numbered() -> None:
    program = Program(host="there")
    assert program.name == "game on there"
    assert program.name_for_namesake("other") == ""
    assert program.name_for_namesake("game") == "game on there, child 1"
    assert program.name_for_namesake("child of multiprocessing") == "game on there, child 2"
    assert Program(name="").name == "process 7"


def test_that_a_program_is_attached_silent_or_no_longer_attached() -> None:
    program = Program()
    states = [(program.state, program.brief)]
    about = [program.is_described, program.is_stepping, program.has_step_begun, program.is_silent]
    assert about == [False] * 4
    program.link.is_silent = True
    states.append((program.state, program.brief))
    program.ended = "It has ended."
    states.append((program.state, program.brief))

    assert states == [
        ("attached", "game, nothing to see yet"),
        ("silent", "game does not answer"),
        ("no longer attached", "game, nothing to see yet"),
    ]


def test_that_its_costs_and_losses_add_up() -> None:
    program = Program(adapters=[ACTIVE])
    for cpu_ns in (5, 20):
        program.add_cost(CostMessage(cpu_ns, 1_000))
    assert program.count_lost({str(TIMER_FIRED): 2, "9999": 1}) == 3
    assert program.count_lost({str(TIMER_FIRED): 3}) == 3

    assert (program.cost_cpu_ns, program.cost_interval_ns) == (25, 2_000)
    # What it costs now.
    assert program.cost_text == "2.0 % of a processor"
    assert program.loss_text == "6 events were lost: 5 timer_fired, 1 unknown"
    assert program.brief == "game, probe 2.0 %, 6 events lost"
    program.add_cost(CostMessage(5, 0))
    assert program.cost_text == ""
    assert program.brief == "game, 6 events lost"


@pytest.mark.parametrize(
    ("error_ns", "shifts_ns", "text"),
    [
        (0, [], "shared with the inspector"),
        (2_000, [], "compared with the inspector's, ± 2.00 µs"),
        (2_000, [4_000, 6_000], "compared with the inspector's, ± 2.00 µs, corrected by 5.00 µs"),
        (2_000, [-2_000], "compared with the inspector's, ± 2.00 µs, corrected by 3.00 µs"),
    ],
)
def test_that_it_is_said_how_its_clock_is_known(
    error_ns: int, shifts_ns: list[int], text: str
) -> None:
    program = Program(error_ns=error_ns)
    for shift_ns in shifts_ns:
        program.follow_clock(shift_ns, error_ns)

    assert program.clock_text == text
    assert program.translation.shift_ns == [1_000, *shifts_ns][-1]


def test_that_a_thread_that_is_busy_is_known_by_name_and_since_when() -> None:
    program = Program()
    program.note_busy(KeyframeMessage("partial", [1, 2], [BusyThreadMessage(2, 500, "loader")]))
    assert program.waits_for == {101: ("", None), 102: ("loader", 1_500)}
    program.note_busy(KeyframeMessage("complete"))
    assert program.waits_for == {}


@pytest.mark.parametrize(
    ("grant", "capability", "reason"),
    [
        ("full", Capability.PAUSE, ""),
        ("full", Capability.RATE, "its speed is its own"),
        ("full", Capability.STEP, "“game” does not support it"),
        ("full", Capability.TIMERS, "“game” does not support it"),
        ("step", Capability.PAUSE, ""),
        ("step", Capability.STEP_TIME, ""),
        ("step", Capability.RATE, "“game” allows pausing and stepping only"),
        ("step", Capability.TIMERS, "“game” allows pausing and stepping only"),
        ("read-only", Capability.PAUSE, "“game” allows reading only"),
    ],
)
def test_that_it_is_said_why_something_cannot_be_asked(
    grant: str, capability: Capability, reason: str
) -> None:
    program = Program()
    able: dict[str, bool | str] = {
        "rate": "its speed is its own.",
        "step_frame": False,
        "clear_timer": "",
    }
    clocks = [ClockMessage(1, capabilities=able)]
    program.apply_change(ChangedMessage(clocks=clocks, grant=grant))  # type: ignore[arg-type]
    # What is not named stays.
    program.apply_change(ChangedMessage())
    assert program.why_not(capability, 101) == reason
    assert (capability.value.capitalize(), f"not possible: {reason}") in program.limits(101) or (
        reason == ""
    )
    if grant == "full":
        assert program.why_not(capability, 102) == ""
        assert program.limits(102) == []
    program.ended = "It has ended."
    assert program.why_not(capability, 102) == "“game” is no longer attached"


@pytest.mark.parametrize(
    ("adapter", "implementation", "waits"),
    [
        ("asyncio", "cpython", True),
        ("pygame", "cpython", False),
        ("javascript", "Node.js", True),
        ("javascript", "Firefox", False),
        (None, "cpython", False),
    ],
)
def test_that_some_loops_wait_for_events_between_their_turns(
    adapter: str | None, implementation: str, *, waits: bool
) -> None:
    program = Program(runtime=RuntimeMessage(implementation=implementation))
    program.apply_change(ChangedMessage(clocks=[ClockMessage(1, adapter=adapter)]))

    assert program.waits(101) is waits
    assert not program.waits(102)


def test_that_a_program_is_asked_only_for_what_is_new() -> None:
    program = Program()
    for number in (0, 5, 5, 0):
        program.watch_tasks(number)
        program.hold_after_turn(number, 3)
    tasks = [more["every_ns"] for method, more in program.asked if method == "Program.tasks"]
    turns = [more["turn_ns"] for method, more in program.asked if method == "Program.hold_after"]

    assert tasks == turns == [5, 0]


def test_that_the_clock_of_a_program_on_another_host_is_named_with_the_host() -> None:
    sorter: Any = None
    programs = JoinedPrograms(sorter)
    assert (programs.file_stem, programs.wants_hold, programs.is_running) == (
        "attached",
        False,
        False,
    )
    for index, host in enumerate(("pi", "")):
        translation = SimpleNamespace(name="game")
        joined: Any = SimpleNamespace(
            host=host, name="game/on pi", parent_pid=0, index=index, translation=translation
        )
        programs.join(joined, 0)
        assert translation.name == ("game/on pi" if host else "game")
        assert programs.by_number[index] is joined
    assert programs.file_stem == "game on pi"
    first = programs.by_number[0]
    for name, stem in (("a-b_c.d 1", "a-b_c.d 1"), ("/é:", "é"), ("//", "attached")):
        first.name = name
        assert programs.file_stem == stem


# ------------------------------------------------------------------ joined to others


class _Joined:
    """A program as those that have joined see it."""

    def __init__(self, index: int, *, clock: int = 0, **has: object) -> None:
        self.index, self.host, self.pid, self.parent_pid = index, "", 100 + index, 0
        self.name = self.own_name = "game"
        self.is_attached = True
        self.translation = SimpleNamespace(
            name="", above=ROOT_ID, top_clock_id=clock, family_id=1_000 + index, last_ns=5
        )
        vars(self).update(has)

    def name_for_namesake(self, name: str) -> str:
        return f"child of {self.name}" if name == self.own_name else ""


def _programs() -> tuple[Any, list[tuple[int, ...]], Any]:
    told: list[tuple[int, ...]] = []
    timeline = SimpleNamespace(clocks={}, structure_version=1)
    sorter: Any = SimpleNamespace(
        timeline=timeline,
        add=lambda *events: told.extend(events),
        log=SimpleNamespace(intern=lambda text: 70 if text == "game with children" else 0),
    )
    return JoinedPrograms(sorter), told, timeline


def test_that_clocks_of_attached_programs_are_found_once_for_each_structure() -> None:
    programs, _, timeline = _programs()
    first, second = (1 << NUMBER_BITS) + ROOT_ID + 3, (2 << NUMBER_BITS) + ROOT_ID + 4
    family = (1 << NUMBER_BITS) + ROOT_ID + ABOVE_PROGRAM
    programs.by_number = {1: _Joined(1), 2: _Joined(2)}
    assert programs.own_clocks() == []
    children = {ROOT_ID: [family, second], family: [first, first + 1], first: [first + 2]}
    for each in (ROOT_ID, family, first, first + 1, second):
        timeline.clocks[each] = SimpleNamespace(children=children.get(each, []))
    assert programs.own_clocks() == []
    timeline.structure_version = 2
    found = programs.own_clocks()
    one, two = programs.by_number.values()
    assert found == [(one, first), (one, first + 1), (two, second)]
    assert programs.own_clocks() is found
    assert programs.family(family) == found[:2]
    assert [programs.of_clock(each) for each in (second, family, 0)] == [two, None, None]
    two.is_attached = False
    programs.detach(two, "It has ended.")
    assert programs.own_clocks() == found[:2]
    assert two.ended == "It has ended."


def test_that_a_child_is_put_beside_its_parent_below_a_clock_for_both() -> None:
    programs, told, _ = _programs()
    parent, child = _Joined(1), _Joined(2, parent_pid=101, clock=22)
    programs.join(parent, 50)
    programs.join(child, 50)
    # The parent's clock is not known yet.
    assert (child.name, child.translation.above, told) == ("child of game", ROOT_ID, [])
    assert child.translation.name == "child of game"
    parent.translation.top_clock_id = 11
    strangers = [_Joined(3, parent_pid=101, host="there"), _Joined(4, parent_pid=102)]
    for each in strangers:
        programs.by_number[each.index] = each
    programs.put_children_below(parent, 60)
    assert [event[:3] for event in told[:-2]] == [
        (60, CLOCK_ADDED, 1_001),
        (60, CLOCK_ANCHORED, 1_001),
    ]
    assert told[0][3:] == (ROOT_ID, 70)
    assert told[-2:] == [(60, CLOCK_MOVED, 11, 1_001, 0), (60, CLOCK_MOVED, 22, 1_001, 0)]
    above = [each.translation.above for each in (parent, child, *strangers)]
    assert above == [1_001, 1_001, ROOT_ID, ROOT_ID]
    assert (parent.translation.last_ns, child.translation.last_ns) == (5, 60)
    told.clear()
    programs.put_children_below(parent, 70)
    assert told == []
    # A later one is below it from the beginning.
    later = _Joined(5, parent_pid=101, own_name="tool", name="tool")
    later.translation.last_ns = 90
    programs.join(later, 80)
    assert (later.translation.above, later.translation.last_ns, told) == (1_001, 90, [])
    assert (later.name, later.translation.name) == ("tool", "")


def test_that_a_child_that_dials_again_has_its_former_name_and_a_thread_none() -> None:
    programs, _, _ = _programs()
    programs.join(_Joined(1, pid=7), 0)
    gone = _Joined(2, pid=8, parent_pid=7, is_attached=False)
    thread = _Joined(3, pid=7, parent_pid=7)
    programs.by_number |= {2: gone, 3: thread}
    gone.name, thread.name = "game, child 1", "game, thread 1"
    for has, name in (
        ({"pid": 8}, "game, child 1"),
        ({"pid": 8, "own_name": "tool"}, "game"),
        ({"pid": 9}, "child of game"),
        ({"pid": 7}, "child of game"),
    ):
        again = _Joined(4, parent_pid=7, **has)
        programs.join(again, 0)
        assert again.name == name, has
