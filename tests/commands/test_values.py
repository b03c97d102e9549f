"""Whatever is in a command: it is refused in a sentence, and the session lives on."""

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import pytest

from inspector.clocks import ManualTimeSource
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.command import COMMANDS, BadCommand, Command, command_in, usable
from inspector.commands.recording import SaveLast
from inspector.commands.scene import AddMark, SetFailurePolicy, SetFrameRate, Undo
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.commands.transport import StepBy, StepFrames, StepTo, StepToNextTimer
from inspector.commands.values import VALUE_KINDS, value_kinds
from inspector.sessions.hosted import HostedSession
from inspector.testing import held_session, scene_file

SCENE = """
    def build(stage):
        stage.root.set_timeout(3_600 * 24 * 30, lambda: None, name="in a month")
"""


class Unshowable:
    def __repr__(self) -> str:
        message = "no"
        raise RuntimeError(message)


HUGE = 10**5_000
BAD: list[Any] = [1.5, True, "1", None, HUGE, -HUGE, float("nan"), [1], Unshowable()]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[HostedSession]:
    session = held_session(scene_file(tmp_path, SCENE), ManualTimeSource())
    yield session
    session.close()


def refusal_of(session: HostedSession, command: object) -> str:
    before = len(session.timeline.commands)
    session.submit(command)  # type: ignore[arg-type]
    session.refresh()
    (record,) = session.timeline.commands[before:]
    assert record.text
    return record.refusal


@pytest.mark.parametrize("kind", [StepFrames, StepBy, StepTo, PauseClock, ClearTimer, Undo])
@pytest.mark.parametrize("value", BAD, ids=range(len(BAD)))
def test_that_what_is_no_whole_number_is_refused(
    session: HostedSession, kind: Callable[[object], Command], value: object
) -> None:
    assert "must be a whole number, not " in refusal_of(session, kind(value))

    assert session.session_ns == 0
    assert refusal_of(session, StepFrames(1)) == ""


@pytest.mark.parametrize(
    "value", [Fraction(HUGE), HUGE, True, "1/2", float("inf"), None], ids=range(6)
)
def test_that_what_is_no_number_is_refused(session: HostedSession, value: object) -> None:
    assert "must be a usable number" in refusal_of(session, SetFrameRate(cast("Fraction", value)))
    assert "must be a usable number" in refusal_of(session, SetRate(1, cast("Fraction", value)))
    assert refusal_of(session, StepFrames(1)) == ""


@pytest.mark.parametrize(
    "rate",
    [1e-300, 0.1, -(2**160 - 1), Fraction(1 - 2**160, 2**160 - 3), Fraction(1, 2**250)],
    ids=range(5),
)
def test_that_every_usable_number_can_be_read_from_a_journal(rate: float) -> None:
    command = usable(SetRate(1, cast("Fraction", rate)))

    if isinstance(command, SetRate):
        assert command_in(json.dumps(command.as_values())) == SetRate(1, Fraction(rate))
    else:
        assert isinstance(command, BadCommand)
        assert "must be a usable number" in command.refusal


@pytest.mark.parametrize(
    ("kind", "usable_values", "others"),
    [
        (int, [0, -(2**63), 2**63 - 1], [-(2**63) - 1, 2**63, True]),
        (bool, [False, True], [0, 1]),
        (str, ["", "x" * 10_000], ["x" * 10_001, b"x"]),
        (
            Fraction,
            [0, 0.5, 1 - 2**160, 2**160 - 1, Fraction(2**160 - 1, 2), Fraction(2, 2**160 - 1)],
            [2**160, -(2**160), Fraction(2**160, 3), Fraction(3, 2**160), float("nan"), True, "1"],
        ),
    ],
)
def test_that_values_are_usable_up_to_their_limits(
    kind: type, usable_values: list[object], others: list[object]
) -> None:
    is_usable = VALUE_KINDS[kind].is_usable

    assert [is_usable(value) for value in usable_values] == [True] * len(usable_values)
    assert [is_usable(value) for value in others] == [False] * len(others)


@pytest.mark.parametrize(
    ("command", "text", "refusal"),
    [
        (
            StepFrames(cast("Any", "1")),
            "step frames '1'",
            "“count” must be a whole number, not '1'.",
        ),
        (
            SaveLast(cast("Any", 3), 5),
            "save last 3, 5",
            "“path” must be a text of at most 10,000 characters, not 3.",
        ),
        (7, "unknown command (int)", "There is no such command: 7."),
        (
            AddMark("x" * 10_001),
            f"add mark '{'x' * 59}…",
            f"“text” must be a text of at most 10,000 characters, not '{'x' * 59}….",
        ),
        ("x" * 58, "unknown command (str)", f"There is no such command: '{'x' * 58}'."),
        (
            HUGE,
            "unknown command (int)",
            "There is no such command: a number of more than 4,300 digits.",
        ),
        (Unshowable(), "unknown command (unshowable)", "There is no such command: Unshowable."),
    ],
    ids=range(7),
)
def test_that_what_is_unusable_is_shown_as_briefly_as_can_be(
    command: object, text: str, refusal: str
) -> None:
    found = usable(command)

    assert isinstance(found, BadCommand)
    assert (found.text, found.refusal, found.problem()) == (text, refusal, "")


def test_that_a_frame_rate_beyond_every_float_is_refused(session: HostedSession) -> None:
    assert refusal_of(session, SetFrameRate(Fraction(10**70))) != ""
    assert refusal_of(session, SetRate(1, Fraction(10**70))) != ""


def test_that_other_values_of_another_kind_are_refused(session: HostedSession) -> None:
    bad: Any
    for bad in (None, 7, Unshowable()):
        assert "must be a text" in refusal_of(session, AddMark(bad))
        assert "must be a failure policy" in refusal_of(session, SetFailurePolicy(bad))
        assert "must be a breakpoint" in refusal_of(session, AddBreakpoint(bad))


@pytest.mark.parametrize("command", [None, "run", 7, Unshowable()], ids=range(4))
def test_that_what_is_no_command_is_refused(session: HostedSession, command: object) -> None:
    assert refusal_of(session, command).startswith("There is no such command: ")


def test_that_an_unused_number_is_not_noted_as_a_clock(session: HostedSession) -> None:
    assert refusal_of(session, PauseClock(2**62)) == f"There is no clock {2**62} any more."

    assert session.timeline.commands[-1].clock_id == 0


@pytest.mark.parametrize(
    "step", [StepBy(10**9 * 60 * 60 * 24), StepTo(10**9 * 60 * 60 * 24), StepToNextTimer()]
)
def test_that_a_step_of_more_than_a_million_frames_is_refused(
    session: HostedSession, step: Command
) -> None:
    refusal = refusal_of(session, step)

    assert refusal.startswith("That would take ")
    assert "at most 1,000,000 frames" in refusal
    assert session.session_ns == 0


def test_that_every_field_of_every_command_is_looked_at() -> None:
    for kind in COMMANDS.values():
        assert list(value_kinds(kind)) == list(kind.__struct_fields__)


def test_that_what_could_not_be_folded_is_folded_again(
    session: HostedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.submit(FireTimer(1))
    folded = session.timeline.events_folded

    def fail(_events: object) -> int:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(session.timeline, "apply_all", fail)
        with pytest.raises(MemoryError):
            session.refresh()
    session.refresh()

    assert session.timeline.events_folded > folded
