"""What people new to clocks are told when they take another library's names or orders."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inspector.clocks import Clock, ClockTree, ManualTimeSource, Transport
from inspector.clocks.failures import CallbackFailure
from inspector.clocks.rate import checked_frame_rate
from inspector.clocks.refusals import suggest_name
from inspector.events.log import EventLog
from inspector.frames.director import Director
from inspector.frames.scheduler.scheduler import Scheduler


@pytest.fixture
def clock() -> Any:  # noqa: ANN401 - so that names that do not exist can be tried
    return ClockTree().root


def blink() -> None:
    """Be called."""


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("setTimeout", "set_timeout"),
        ("setInterval", "set_interval"),
        ("clearTimeout", "clear"),
        ("unschedule", "clear"),
        ("schedule_once", "set_timeout"),
        ("schedule_interval", "set_interval"),
        ("call_later", "set_timeout"),
        ("after", "set_timeout"),
        ("singleShot", "set_timeout"),
        ("moveTo", "move_to"),
        ("isPaused", "is_paused"),
        ("timeScale", "rate"),
        ("set_timout", "set_timeout"),
        ("now", "time"),
        ("unpause", "resume"),
    ],
)
def test_that_a_name_of_another_library_is_answered_with_ours(
    clock: Any,  # noqa: ANN401
    name: str,
    meant: str,
) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(clock, name)
    suggest_name(caught.value)

    assert str(caught.value) == (
        f"'Clock' object has no attribute {name!r}; did you mean {meant!r}?"
    )


@pytest.mark.parametrize("kind", [Clock, ClockTree, Director, Scheduler])
def test_that_no_hook_slows_the_access_to_attributes(kind: type) -> None:
    assert not hasattr(kind, "__getattr__")
    assert "__getattribute__" not in {name for base in kind.__mro__[:-1] for name in vars(base)}


def test_that_a_failure_of_a_callback_suggests_a_name_once() -> None:
    tree = ClockTree(EventLog())
    failures: list[CallbackFailure] = []
    tree.on_failure = failures.append
    tree.root.set_timeout(0, lambda: tree.root.setTimeout(1, blink))  # type: ignore[attr-defined]

    tree.run_to(1)
    suggest_name(failures[0].error)

    assert failures[0].traceback_text.count("did you mean") == 1


def test_that_a_tree_points_to_its_root() -> None:
    tree: Any = ClockTree()

    with pytest.raises(AttributeError) as caught:
        tree.setTimeout(blink, 500)
    suggest_name(caught.value)

    assert str(caught.value).endswith("; did you mean 'root.set_timeout'?")


def test_that_nothing_is_guessed_for_a_name_that_is_like_none(clock: Clock) -> None:
    with pytest.raises(AttributeError) as caught:
        clock.xylophone  # type: ignore[attr-defined]  # noqa: B018
    suggest_name(caught.value)

    assert str(caught.value) == "'Clock' object has no attribute 'xylophone'"


def test_that_a_missing_name_is_still_missing(clock: Clock) -> None:
    assert not hasattr(clock, "setTimeout")
    assert getattr(clock, "__wrapped__", None) is None


def test_that_a_property_that_raises_says_why_itself() -> None:
    class Broken(Clock):
        @property
        def mood(self) -> str:
            return None.name  # type: ignore[attr-defined, no-any-return]

    broken = Broken.__new__(Broken)

    with pytest.raises(AttributeError) as caught:
        broken.mood  # noqa: B018
    suggest_name(caught.value)

    assert str(caught.value) == "'NoneType' object has no attribute 'name'"


@pytest.mark.parametrize(
    ("name", "order"),
    [("set_timeout", "delay, callback"), ("set_interval", "interval, callback")],
)
def test_that_swapped_arguments_are_named_with_the_right_order(
    clock: Any,  # noqa: ANN401
    name: str,
    order: str,
) -> None:
    with pytest.raises(TypeError) as caught:
        getattr(clock, name)(blink, 0.5)

    assert str(caught.value) == (
        f"{name}({order}): the arguments are swapped; write {name}(0.5, blink)"
    )


def test_that_a_lambda_in_the_wrong_place_is_named_as_the_callback(clock: Any) -> None:  # noqa: ANN401
    with pytest.raises(TypeError, match=r"write set_timeout\(0\.5, callback\)$"):
        clock.set_timeout(lambda: None, 0.5)


def test_that_a_call_in_the_place_of_a_function_is_noticed(clock: Any) -> None:  # noqa: ANN401
    with pytest.raises(TypeError, match=r"^not callable: None; pass the function itself, with"):
        clock.set_timeout(0.5, None)


def test_that_a_time_that_is_none_is_named_with_its_argument(clock: Any) -> None:  # noqa: ANN401
    with pytest.raises(ValueError, match=r"^set_timeout\(delay, callback\): the delay is not a "):
        clock.set_timeout("soon", blink)
    with pytest.raises(ValueError, match=r"^set_interval\(interval, callback\): the interval is "):
        clock.set_interval(None, blink)


def test_that_what_is_right_is_not_touched(clock: Clock) -> None:
    source = ManualTimeSource()
    Transport(clock.tree, source).run()
    called: list[float] = []
    clock.set_timeout(0.5, lambda: called.append(clock.time))

    source.advance(1)

    assert called == [0.5]


#: What people give for a number, and none of it is one.
NO_NUMBERS = [
    float("nan"),
    float("inf"),
    "1",
    "soon",
    None,
    True,
    False,
    [1],
    b"1",
    1j,
    np.float64("nan"),
    np.True_,
    np.array([1.0]),
    Decimal("nan"),
    pytest.param(10**5_000, id="5000 digits"),
    pytest.param("x" * 10**6, id="long text"),
    object,
]
#: Left out may mean something, and a rate may be a text.
_NO_VALUES = [each for each in NO_NUMBERS if each is not None and each is not NO_NUMBERS[2]]


def check_refused(call: Callable[[], object], *words: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        call()

    assert any(each in str(caught.value) for each in words)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("value", [each for each in NO_NUMBERS if each is not object])
@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda clock, value: clock.set_timeout(value, blink), "set_timeout(delay, callback): "),
        (lambda clock, value: clock.set_interval(value, blink), "the interval is "),
    ],
)
def test_that_what_is_no_number_of_seconds_is_refused_by_name(
    clock: Any,  # noqa: ANN401
    call: Any,  # noqa: ANN401
    argument: str,
    value: object,
) -> None:
    check_refused(lambda: call(clock, value), argument)


@pytest.mark.parametrize("value", _NO_VALUES)
@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda clock, value: clock.set_interval(1, blink, delay=value), "the delay is "),
        (lambda clock, value: clock.child("x", epoch=value), "the epoch is "),
        (lambda clock, value: clock.child("x", rate=value), "rate"),
        (lambda clock, value: setattr(clock, "rate", value), "rate"),
        (
            lambda clock, value: clock.set_timeout_ns(value, blink),
            "whole number of nanoseconds|beyond 292 years of the time of clock 'root'",
        ),
        (lambda clock, value: clock.set_interval_ns(value, blink), "whole number of nanoseconds"),
        (
            lambda clock, value: clock.set_interval(1, blink, missed=value),
            "missed must be one of burst",
        ),
        (lambda clock, value: clock.clear(value), "clear(timer): not a timer of set_timeout"),
        (
            lambda clock, value: clock.child("x").move_to(value),
            "move_to(parent): needs a clock",
        ),
    ],
)
def test_that_what_is_none_of_what_is_needed_is_refused_by_name(
    clock: Any,  # noqa: ANN401
    call: Any,  # noqa: ANN401
    argument: str,
    value: object,
) -> None:
    check_refused(lambda: call(clock, value), *argument.split("|"))


@pytest.mark.parametrize("name", [5, b"boss", ["boss"], np.array([1.0, 2.0])[0]])
@pytest.mark.parametrize(
    "call",
    [
        lambda clock, name: clock.child(name),
        lambda clock, name: clock.set_timeout(1, blink, name=name),
        lambda clock, name: clock.set_interval(1, blink, name=name),
    ],
)
def test_that_a_name_is_a_text(clock: Any, call: Any, name: object) -> None:  # noqa: ANN401
    with pytest.raises(TypeError, match=r"\(.*name.*\): the name is not a text: "):
        call(clock, name)


@pytest.mark.parametrize("number", [1, 1.5, np.float64(1.5), np.int8(1), Decimal("1.5")])
def test_that_numbers_of_every_kind_are_numbers(clock: Any, number: Any) -> None:  # noqa: ANN401
    clock.set_timeout(number, blink)
    clock.set_interval(number, blink)

    assert clock.child("x", rate=number).rate == number


def test_that_frame_rates_are_from_one_a_minute_to_ten_thousand_a_second() -> None:
    for rate in (Fraction(1, 60), 0.5, 10_000):
        assert checked_frame_rate(rate) == rate
    for rate in (Fraction(1, 61), 0, -60, 10_001):
        with pytest.raises(ValueError, match=r"lies between 1/60 and 10,000"):
            checked_frame_rate(rate)
