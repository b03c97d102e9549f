"""The source of simulated time: it passes when it is told to."""

from __future__ import annotations

import pytest

from inspector.clocks.sources.virtual_source import VirtualTimeSource


def test_that_a_busy_host_wakes_what_is_due_and_nothing_before() -> None:
    source = VirtualTimeSource()
    woken: list[int] = []
    source.attach(lambda: woken.append(source.now_ns()))

    source.wake_if_due()
    source.set_wake(10)
    source.jump_ns(9)
    source.wake_if_due()
    assert woken == []

    source.jump_ns(1)
    source.wake_if_due()
    assert woken == [10]


def test_that_virtual_time_stops_at_every_instant_that_is_asked_for() -> None:
    source = VirtualTimeSource()
    woken: list[int] = []

    def wake() -> None:
        woken.append(source.now_ns())
        if len(woken) < 3:
            source.set_wake(source.now_ns() + 4)
        source.jump_ns(1)

    source.attach(wake)
    source.set_wake(10)
    source.pass_ns(9)
    assert (woken, source.now_ns()) == ([], 9)
    source.pass_ns(6)
    assert (woken, source.now_ns()) == ([10, 14], 15)
    source.pass_ns(2)
    assert (woken, source.now_ns()) == ([10, 14], 17)
    source.pass_ns(1)

    # The call took longer than what was to pass.
    assert (woken, source.now_ns()) == ([10, 14, 18], 19)
    assert repr(source) == "VirtualTimeSource(now_ns=19)"
    source.pass_ns(0)
    source.wake_if_due()
    assert woken == [10, 14, 18]


def test_that_a_wake_up_that_is_late_is_not_made_earlier() -> None:
    source = VirtualTimeSource()
    woken: list[int] = []
    source.jump_ns(20)
    source.attach(lambda: woken.append(source.now_ns()))
    source.set_wake(5)

    source.pass_ns(0)

    assert (woken, source.now_ns()) == ([20], 20)


def test_that_virtual_time_wakes_nothing_once_it_is_closed() -> None:
    source = VirtualTimeSource()
    woken: list[int] = []
    source.set_wake(1)
    source.wake_if_due()
    source.pass_ns(1)
    source.attach(lambda: woken.append(source.now_ns()))
    source.set_wake(2)
    source.close()

    source.pass_ns(5)
    source.set_wake(6)
    source.pass_ns(5)

    assert (woken, source.now_ns()) == ([], 11)


@pytest.mark.parametrize("name", ["pass_ns", "jump_ns"])
def test_that_virtual_time_does_not_run_backwards(name: str) -> None:
    source = VirtualTimeSource()

    with pytest.raises(ValueError, match="time does not run backwards: -1 ns"):
        getattr(source, name)(-1)

    assert source.now_ns() == 0
