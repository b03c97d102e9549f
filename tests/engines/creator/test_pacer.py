"""The frame-rate limiter, under displays of any rate."""

from __future__ import annotations

import pytest

from inspector.engines.creator.pacer import FramePacer


def _frames(target: float, display: int, seconds: int = 2) -> int:
    now = [0.0]
    pacer = FramePacer(lambda: None, lambda: now[0], target)
    pacer.start()
    for refresh in range(1, display * seconds + 1):
        now[0] = refresh * 1000 / display
        pacer.refresh()
    return pacer.frames


@pytest.mark.parametrize(
    ("target", "display", "frames"), [(30, 60, 60), (60, 240, 120), (45, 60, 90), (60, 30, 60)]
)
def test_that_it_limits_by_time_and_never_exceeds_the_display(
    target: float, display: int, frames: int
) -> None:
    assert abs(_frames(target, display) - frames) <= 2


def test_that_a_frame_can_stop_it() -> None:
    def on_frame() -> None:
        pacer.stop()

    pacer = FramePacer(on_frame, lambda: 1000.0, 60)
    pacer.start()

    assert pacer.refresh()
    assert not pacer.refresh()
    assert repr(pacer) == "<FramePacer 60 frames/s, 1 frames, stopped>"


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf")])
def test_that_a_rate_must_be_above_zero(rate: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        FramePacer(lambda: None, lambda: 0.0, rate)
