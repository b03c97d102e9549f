"""The source of simulated time: it passes when it is told to."""

from __future__ import annotations

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
