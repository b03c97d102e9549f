"""What people new to clocks are told when they take another library's names or orders."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.clocks import Clock, ClockTree, ManualTimeSource, Transport


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

    assert str(caught.value) == (
        f"'Clock' object has no attribute {name!r}; did you mean {meant!r}?"
    )
    assert (caught.value.name, caught.value.obj) == (name, clock)


def test_that_a_tree_points_to_its_root() -> None:
    tree: Any = ClockTree()

    with pytest.raises(AttributeError, match=r"; did you mean 'root\.set_timeout'\?$"):
        tree.setTimeout(blink, 500)


def test_that_nothing_is_guessed_for_a_name_that_is_like_none(clock: Clock) -> None:
    with pytest.raises(AttributeError, match=r"^'Clock' object has no attribute 'xylophone'$"):
        clock.xylophone  # type: ignore[attr-defined]  # noqa: B018


def test_that_a_missing_name_is_still_missing(clock: Clock) -> None:
    assert not hasattr(clock, "setTimeout")
    assert getattr(clock, "__wrapped__", None) is None


def test_that_a_property_that_raises_says_why_itself() -> None:
    class Broken(Clock):
        @property
        def mood(self) -> str:
            return None.name  # type: ignore[attr-defined, no-any-return]

    broken = Broken.__new__(Broken)

    with pytest.raises(AttributeError, match=r"^'NoneType' object has no attribute 'name'$"):
        broken.mood  # noqa: B018


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
