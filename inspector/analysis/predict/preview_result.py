"""A preview as a value and a sentence: when each timer fires now, and when it would then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np
from msgspec import Struct
from typing_extensions import override

from inspector.calls.call import CallId
from inspector.display_text import counted
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import NEVER

if TYPE_CHECKING:
    from numpy.typing import NDArray


class DuePreview(Struct, frozen=True):
    call: CallId
    old_ns: int | None  # Session instant without the change, None for never
    new_ns: int | None  # Session instant after the change, None for never

    def values(self) -> dict[str, int | None]:
        kind = "member_id" if self.call.is_member else "timer_id"
        return {kind: self.call.number, "old_ns": self.old_ns, "new_ns": self.new_ns}


@dataclass(frozen=True, slots=True, eq=False)
class Preview(Sequence[DuePreview]):
    """The effect of a change on every timer of a branch, sorted by the present instants."""

    text: str
    numbers: NDArray[np.int64]  # The timers; int64, shape (timers,)
    is_member: NDArray[np.bool_]  # Whether a number is from timeline.members: a frame timer, a loop
    old_ns: NDArray[np.int64]  # When they fire without the change; NEVER for never
    new_ns: NDArray[np.int64]  # When they fire after the change; NEVER for never

    @override
    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> DuePreview: ...
    @overload
    def __getitem__(self, index: slice) -> list[DuePreview]: ...
    @override
    def __getitem__(self, index: int | slice) -> DuePreview | list[DuePreview]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        old_ns, new_ns = int(self.old_ns[index]), int(self.new_ns[index])
        return DuePreview(
            CallId(int(self.numbers[index]), bool(self.is_member[index])),
            None if old_ns == NEVER else old_ns,
            None if new_ns == NEVER else new_ns,
        )

    @property
    def changed(self) -> int:
        return int(np.count_nonzero(self.old_ns != self.new_ns))

    @property
    def sentence(self) -> str:
        count = len(self)
        if not count:
            return f"{self.text}: no timer is pending there."
        moved = self.changed
        if not moved:
            there = counted(count, "timer")
            return f"{self.text}: {there} there, none would fire at a different instant."
        stopped = int(np.count_nonzero((self.new_ns == NEVER) & (self.old_ns != NEVER)))
        started = int(np.count_nonzero((self.new_ns != NEVER) & (self.old_ns == NEVER)))
        parts = []
        if stopped:
            parts.append(f"{counted(stopped, 'timer')} would wait until that is undone")
        if started:
            first_ns = int(self.new_ns[self.old_ns == NEVER].min())
            parts.append(
                f"{counted(started, 'timer')} would resume, the first at {format_instant(first_ns)}"
            )
        shifted = (self.new_ns != NEVER) & (self.old_ns != NEVER) & (self.new_ns != self.old_ns)
        if shifted.any():
            parts.append(_shift_text((self.new_ns - self.old_ns)[shifted]))
        return f"{self.text}: {'; '.join(parts)}."


def _shift_text(shift_ns: NDArray[np.int64]) -> str:
    least, most = int(shift_ns.min()), int(shift_ns.max())
    count = counted(len(shift_ns), "timer")
    if least < 0 < most:
        return (
            f"{count} would fire at different instants, up to {format_duration(-least)} earlier "
            f"and up to {format_duration(most)} later"
        )
    word = "later" if most > 0 else "earlier"
    low, high = sorted((abs(least), abs(most)))
    span = (
        format_duration(high)
        if low == high
        else f"{format_duration(low)} to {format_duration(high)}"
    )
    return f"{count} would fire {span} {word}"
