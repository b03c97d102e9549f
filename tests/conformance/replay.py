"""Reading recorded traces and comparing them, whatever the system."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: What an operation or an event looks like: its name, then its arguments.
Event = list[Any]

#: A difference is shown with this many events before and after it.
_NEIGHBOURS = 4


@dataclass(frozen=True, slots=True)
class GoldenLine:
    """One recorded sequence: operations in, observed events out.

    Attributes:
        system: Which original was recorded.
        id: Name of the sequence.
        data: The whole line.
    """

    system: str
    id: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class System:
    """A system that can be replayed here.

    Attributes:
        name: As in the recordings' file names.
        variant: Variant of the recorded trace, ``None`` for the common one.
        replay: Runs the operations of a line and returns the events that came out.
        kept_differences: Lines on which we differ on purpose, each with the reason.
        recorded_as: The field of a line that holds what came out; events by name, or a list.
        is_recorded_where_it_differs: Whether a variant without a trace of its own does what
            the common trace says; else it was not recorded.
    """

    name: str
    variant: str | None
    replay: Callable[[GoldenLine], list[Event]]
    kept_differences: dict[str, str]
    is_recorded_where_it_differs: bool = False
    recorded_as: str = "trace"

    def expected(self, line: GoldenLine) -> list[Event] | None:
        """Return the recorded events of a line; ``None`` if there are none of the variant."""
        recorded: Any = line.data.get(self.recorded_as)
        is_by_name = isinstance(recorded, dict)
        common: list[Event] | None = [*map(list, recorded.items())] if is_by_name else recorded
        if self.variant is None:
            return common
        otherwise = common if self.is_recorded_where_it_differs else None
        found: list[Event] | None = line.data.get("traces", {}).get(self.variant, otherwise)
        return found

    @property
    def title(self) -> str:
        """Name and variant."""
        return self.name if self.variant is None else f"{self.name} ({self.variant})"


def golden_files(folder: Path) -> list[Path]:
    """Return the recordings in a folder, compressed or not."""
    return sorted({*folder.glob("*.jsonl.gz"), *folder.glob("*.jsonl")})


def read_lines(path: Path) -> Iterator[GoldenLine]:
    """Go through the sequences of one recording; its name matters if they do not say theirs."""
    raw = path.read_bytes()
    stem = path.name.partition(".")[0]
    for line in (gzip.decompress(raw) if path.suffix == ".gz" else raw).split(b"\n"):
        if line.strip():
            data = msgspec.json.decode(line)
            yield GoldenLine(data.get("sys", stem), data["id"], data)


def first_difference(expected: list[Event], actual: list[Event]) -> str | None:
    """Return the first event that differs, with its neighbours; ``None`` if none does."""
    if expected == actual:
        return None
    at = next(
        (i for i, pair in enumerate(zip(expected, actual, strict=False)) if pair[0] != pair[1]),
        min(len(expected), len(actual)),
    )
    rows = [f"first difference at event {at} of {len(expected)} recorded, {len(actual)} here:"]
    for i in range(max(0, at - _NEIGHBOURS), at + _NEIGHBOURS + 1):
        recorded = json.dumps(expected[i]) if i < len(expected) else "(ended)"
        ours = json.dumps(actual[i]) if i < len(actual) else "(ended)"
        if i >= max(len(expected), len(actual)):
            break
        # Of values, not of texts: 1 is 1.0.
        mark = "=" if expected[i : i + 1] == actual[i : i + 1] else "≠"
        rows.append(f"  {i:5d} {mark} recorded {recorded:<34} here {ours}")
    return "\n".join(rows)


class Hooks:
    """The operations that a sequence performs inside callbacks.

    The n-th call of a callback named K performs the operations under ``K#n``.
    """

    def __init__(self, line: GoldenLine, perform: Callable[[list[Any]], None]) -> None:
        """Take the hooks of a line and what performs one operation."""
        self._hooks: dict[str, list[list[Any]]] = line.data.get("hooks", {})
        self._perform = perform
        #: Of what has hooks, which most of what is called has not.
        self._calls = {name.rpartition("#")[0]: 0 for name in self._hooks}

    def called(self, key: str) -> None:
        """Perform what belongs to this call of a callback; its event was noted before."""
        if key not in self._calls:
            return
        number = self._calls[key]
        self._calls[key] = number + 1
        for operation in self._hooks.get(f"{key}#{number}", ()):
            self._perform(operation)
