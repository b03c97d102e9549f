"""The methods of a reader of events, found by the names of the kinds.

A reader has a method for each kind of event that it handles, such as
``_on_timer_fired(at_ns, timer_id, lateness_ns, due_ns)``: the instant of an event and its three
numbers, which :mod:`inspector.events.schema` defines. It ignores other kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, TypeAlias

from inspector.vocabulary import EventKind

#: Takes the instant of an event and its three numbers.
Handler: TypeAlias = Callable[[int, int, int, int], object]

_PREFIX: Final = "_on_"


def handlers_of(reader: object) -> dict[int, Handler]:
    """Return a reader's methods by the kinds in their names.

    Raises:
        TypeError: A method is named after something that is no kind of event.
    """
    return {kind: getattr(reader, name) for kind, name in _names(type(reader))}  # type: ignore[arg-type]


def handled_kinds(reader: type) -> frozenset[int]:
    return frozenset(kind for kind, _ in _names(reader))


@cache
def _names(reader: type) -> tuple[tuple[int, str], ...]:
    kinds = {f"{_PREFIX}{kind.name.lower()}": int(kind) for kind in EventKind}
    methods = [name for name in dir(reader) if name.startswith(_PREFIX)]
    if unknown := sorted(set(methods) - kinds.keys()):
        raise TypeError(f"{reader.__name__} takes what is no kind of event: {', '.join(unknown)}")
    return tuple((kinds[name], name) for name in methods)


def merged(*readers: Mapping[int, Handler]) -> dict[int, tuple[Handler, ...]]:
    """Return, by kind, the methods of several readers, in the order of the readers."""
    kinds = {kind for handlers in readers for kind in handlers}
    return {
        kind: tuple(handlers[kind] for handlers in readers if kind in handlers) for kind in kinds
    }
