"""What is said of attached programs."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.sessions.attached import sentences


def _program(name: str = "game", **has: object) -> Any:  # noqa: ANN401 - a program
    about: dict[str, object] = {
        "is_silent": False,
        "is_stepping": False,
        "is_described": True,
        "is_attached": True,
        "unheld": [],
        "limited": [],
        "loss_text": "",
        "waits_for": {},
        "clocks": {},
        "error_ns": 0,
        "clock_text": "wrong",
        "translation": SimpleNamespace(unusable=Counter[int]()),
    }
    return SimpleNamespace(name=name, **{**about, **has})


@pytest.mark.parametrize(
    ("programs", "broken_by", "is_running", "told"),
    [
        ([_program()], "", True, "“game” is running."),
        ([_program(), _program("b")], "", True, "“game”, “b” are running."),
        ([_program()], "", False, "“game” is held."),
        ([_program()], "it is late", False, "“game” is held because it is late."),
        (
            [_program(), _program("b", is_stepping=True)],
            "",
            False,
            "“game”, “b” are being stepped.",
        ),
        (
            [_program(is_silent=True), _program("b")],
            "",
            True,
            "“game” does not answer: busy, or stopped from outside.",
        ),
        (
            [_program(is_silent=True), _program("b", is_silent=True)],
            "",
            True,
            "“game”, “b” do not answer: busy, or stopped from outside.",
        ),
        (
            [_program(unheld=[SimpleNamespace(library=each) for each in ("x", "y", "x")])],
            "",
            False,
            "“game” is held, but what x and y calls runs on.",
        ),
    ],
)
def test_that_a_sentence_says_what_programs_do(
    programs: list[Any], broken_by: str, told: str, *, is_running: bool
) -> None:
    assert sentences.what_they_do(programs, broken_by, is_running=is_running) == told


_UNKNOWN = "Timers of “loop” in “game” are not known yet: "
_CLOCKS = {5: SimpleNamespace(title="loop")}


@pytest.mark.parametrize(
    ("has", "told"),
    [
        ({}, []),
        ({"is_described": False}, ["The state of “game” is still being read."]),
        ({"loss_text": "5 events lost"}, ["“game”: 5 events lost."]),
        (
            {"limited": [SimpleNamespace(library="", name="kivy", message="It is old.")]},
            ["kivy: It is old."],
        ),
        (
            {"waits_for": {5: ("", None), 6: ("t", None)}, "clocks": _CLOCKS},
            [_UNKNOWN + "its thread is busy."],
        ),
        (
            {"waits_for": {5: ("t", -1)}, "clocks": _CLOCKS, "is_described": False},
            [_UNKNOWN + "its thread “t” has been busy since before it was attached."],
        ),
        (
            {"waits_for": {5: ("t", 0)}, "clocks": _CLOCKS},
            [_UNKNOWN + "its thread “t” has been busy since 0:00.000."],
        ),
        ({"waits_for": {5: ("t", 0)}, "clocks": _CLOCKS, "is_attached": False}, []),
    ],
)
def test_that_sentences_say_what_is_not_known_of_a_program(
    has: dict[str, Any], told: list[str]
) -> None:
    assert list(sentences.more_about([_program(**has)], is_reachable=True)) == told
    (last,) = list(sentences.more_about([_program(**has)], is_reachable=False))[len(told) :]
    assert "no further program can connect" in last


def test_that_sentences_say_what_is_missing() -> None:
    unusable = SimpleNamespace(unusable=Counter({5: 2, 6: 1}))
    program = _program(loss_text="5 events lost", translation=unusable, error_ns=1)
    sorter: Any = SimpleNamespace(misfits=Counter({7: 2}), late=2, late_ns=3_000_000)
    assert list(sentences.what_is_missing([program, _program("b")], sorter)) == [
        "game: 5 events lost.",
        "game: 3 invalid events left out.",
        "game: its clock was wrong.",
        "Left out 2 events that did not fit the state.",
        "2 events came late and are shown up to 3.00 ms too late.",
    ]
    sorter = SimpleNamespace(misfits=Counter(), late=0, late_ns=0)
    assert list(sentences.what_is_missing([_program()], sorter)) == []


@pytest.mark.parametrize(
    ("exit_code", "is_orderly", "reason", "goes_on", "told"),
    [
        (0, True, "x", False, "it has ended with exit code 0"),
        (128, False, "", False, "it has ended with exit code 128"),
        (129, False, "", False, "it was ended by SIGHUP"),
        (137, False, "", False, "it was ended by SIGKILL"),
        (-15, False, "", False, "it was ended by SIGTERM"),
        (250, False, "", False, "it has ended with exit code 250"),
        (None, True, "", True, "it has ended"),
        (None, True, "goodbye", True, "goodbye"),
        (None, False, "", True, "the connection was lost, and it goes on by itself"),
        (None, False, "it broke", True, "it broke, and it goes on by itself"),
        (None, False, "", False, "it has ended, or was killed"),
        (None, False, "it broke", False, "it broke"),
    ],
)
def test_that_a_sentence_says_how_a_program_ended(
    exit_code: int | None, reason: str, told: str, *, is_orderly: bool, goes_on: bool
) -> None:
    news: Any = SimpleNamespace(is_orderly=is_orderly, reason=reason)
    assert sentences.how_it_ended(exit_code, news, goes_on=goes_on) == told
