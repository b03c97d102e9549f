"""The pause of targets: an object that knows what it paused, and undoes that only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from inspector.frames.scheduler.targets import TargetRecord


class Pause:
    """What one call has paused, and nothing else; resuming it undoes that call.

    Also a context: ``with scheduler.pause_all(): ...``.

    Attributes:
        is_active: ``False`` once it was resumed.
    """

    __slots__ = ("_records", "is_active")

    def __init__(self, records: list[TargetRecord]) -> None:
        """Pause these targets."""
        self._records = records
        self.is_active = True
        for record in records:
            record.wait_for(self)

    def __repr__(self) -> str:
        """Show how many targets still wait for it."""
        state = "" if self.is_active else ", resumed"
        return f"<Pause of {len(self.targets)} targets{state}>"

    def __enter__(self) -> Self:
        """Return the pause itself; it is there already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Resume."""
        self.resume()

    @property
    def targets(self) -> list[object]:
        """The targets that wait because of this pause and still exist."""
        found = [record.target for record in self._records if self in record.pauses]
        return [target for target in found if target is not None]

    def resume(self) -> bool:
        """Undo this pause; what is paused by another one goes on waiting for that."""
        if not self.is_active:
            return False
        self.is_active = False
        for record in self._records:
            record.wait_no_longer_for(self)
        return True
