"""Shares of the time before a frame, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from inspector.timebase import format_duration
from inspector.vocabulary import Share

UNKNOWN: Final = "unknown"
#: What delayed the wake-up of a thread, as the end of a sentence.
KEPT_BY: Final = {
    Share.CALLBACKS.text: "callbacks ran",
    Share.INSPECTOR.text: "the inspector kept the thread",
    Share.GARBAGE_COLLECTION.text: "Python collected garbage",
    Share.HOST_LATE.text: "the host was late",
    UNKNOWN: "it is not known what kept the thread",
}
#: Smaller shares of the interval are left out in sentences.
_ONE_IN: Final = 50


def named_shares(shares_ns: Sequence[int], interval_ns: int) -> dict[str, int]:
    """Return all shares of an interval by name, and the unknown rest; empty if not measured."""
    if not interval_ns or not any(shares_ns):
        return {}
    named = {share.text: shares_ns[share] for share in Share}
    return named | {UNKNOWN: max(interval_ns - sum(shares_ns), 0)}


def shares_text(named: Mapping[str, int], most: int = len(Share) + 1) -> str:
    """Return the larger shares, the largest first: ``inspector 3.10 ms, idle 1.20 ms``."""
    least_ns = sum(named.values()) / _ONE_IN
    large = sorted(named.items(), key=lambda each: -each[1])
    return ", ".join(
        f"{name} {format_duration(time_ns)}" for name, time_ns in large[:most] if time_ns > least_ns
    )


def largest_share(named: Mapping[str, int]) -> str:
    names = (name for name in named if name != Share.IDLE.text)
    return max(names, key=named.__getitem__, default=UNKNOWN)
