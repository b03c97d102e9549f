"""Budgets: how long a frame may take."""

from typing import Final

from inspector.timebase import NS_PER_MS, NS_PER_SECOND, format_duration

_WHOLE_FROM: Final = 100
_NEARLY_WHOLE: Final = 0.05


def budget_ns_of(budget_ms: float) -> int:
    """Return a budget in whole nanoseconds."""
    return round(budget_ms * NS_PER_MS)


def budget_text(budget_ns: int) -> str:
    """Return a budget as time and rate: ``16.7 ms · 60 fps``."""
    return f"{format_duration(budget_ns)} · {rate_text(budget_ns)} fps"


def rate_text(budget_ns: int) -> str:
    """Return the frame rate whose frames take ``budget_ns``."""
    rate = NS_PER_SECOND / budget_ns
    is_whole = rate >= _WHOLE_FROM or abs(rate - round(rate)) < _NEARLY_WHOLE
    return f"{rate:.0f}" if is_whole else f"{rate:.1f}"
