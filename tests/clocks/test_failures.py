"""What is shown of a callback that raised, and which interrupts are the user's."""

from __future__ import annotations

import pytest

from inspector.clocks import CallbackFailure, ClockTree
from inspector.clocks.failures import (
    SCENE_MODULE,
    RequestedInterrupt,
    UserInterruptError,
    as_shown,
    raise_interrupt,
)


def raised(error: BaseException) -> CallbackFailure:
    """Let a callback raise an error in another function, and return the failure."""
    tree, failures = ClockTree(), list[CallbackFailure]()
    tree.on_failure = failures.append

    def inner() -> None:
        raise error

    def outer() -> None:
        inner()

    tree.root.set_timeout_ns(1, outer)
    tree.run_to(1)
    (failure,) = failures
    return failure


def functions(failure: CallbackFailure) -> list[str]:
    lines = failure.traceback_text.splitlines()
    return [line.rpartition(" in ")[2] for line in lines if line.startswith("  File ")]


def test_that_a_traceback_begins_with_the_callback() -> None:
    failure = raised(ValueError("no"))

    assert functions(failure) == ["outer", "inner"]
    assert failure.traceback_text.startswith("Traceback (most recent call last):\n")
    assert failure.traceback_text.endswith("\nValueError: no\n")


def test_that_the_handler_that_interrupted_a_callback_is_not_in_its_traceback() -> None:
    assert functions(raised(UserInterruptError())) == ["outer"]


def test_that_an_error_without_frames_of_a_callback_is_shown_as_it_is() -> None:
    bare = CallbackFailure(1, 0, "x", ValueError("no"))
    with pytest.raises(ValueError, match="here") as caught:
        raise ValueError("here")

    assert bare.traceback_text == "ValueError: no\n"
    here = CallbackFailure(1, 0, "x", caught.value)
    assert functions(here) == ["test_that_an_error_without_frames_of_a_callback_is_shown_as_it_is"]


def test_that_a_very_long_traceback_loses_its_middle() -> None:
    text = "a" * 10_000 + "b" * 10_000

    assert as_shown(text) == text
    assert as_shown(f"{'a' * 10_000}{'x' * 1_234}{'b' * 10_000}") == (
        f"{'a' * 10_000}\n… 1,234 characters are left out here …\n{'b' * 10_000}"
    )


def test_that_names_of_generated_modules_and_of_ours_are_not_shown() -> None:
    text = f"{SCENE_MODULE}12.Boss: no\ninspector.clocks.failures.EndlessInstantError: too many\n"

    assert as_shown(text) == "Boss: no\nEndlessInstantError: too many\n"


def test_that_an_interrupt_is_the_users_unless_the_callback_raised_it() -> None:
    raise_interrupt(ValueError("no"))
    raise_interrupt(raised(KeyboardInterrupt()).error)
    for error in (KeyboardInterrupt(), RequestedInterrupt()):
        with pytest.raises(KeyboardInterrupt):
            raise_interrupt(error)
    with pytest.raises(RequestedInterrupt):
        raised(RequestedInterrupt())
