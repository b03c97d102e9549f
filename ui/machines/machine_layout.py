"""The layout of the states of a machine: on an oval, close to their targets.

On an oval no line between two states runs through a third, and the same machine always looks the
same. Swapping states improves their order as long as that makes the lines shorter.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from ..plotting.machines import MachineShape

#: Rounds of swaps; a machine with twenty states needs three or four.
_ROUNDS: Final = 12
#: Points of the outline from which positions are chosen.
_OUTLINE: Final = 720
#: 2 is an ellipse; more is closer to a rectangle and has more room.
_FULLNESS: Final = 2.6

Point = tuple[float, float]


def order_of(shape: MachineShape) -> tuple[str, ...]:
    """Return the states in their order around the oval, the first one first."""
    pairs = {
        (arrow.source, arrow.target)
        for arrow in shape.arrows
        if arrow.source in shape.states and arrow.target in shape.states
    }
    order = _walked(shape.states, pairs)
    best = _length(order, pairs)
    for _ in range(_ROUNDS):
        is_better = False
        for i in range(1, len(order)):
            for j in range(i + 1, len(order)):
                order[i], order[j] = order[j], order[i]
                length = _length(order, pairs)
                if length < best:
                    best, is_better = length, True
                else:
                    order[i], order[j] = order[j], order[i]
        if not is_better:
            break
    return tuple(order)


def _walked(states: Sequence[str], pairs: set[tuple[str, str]]) -> list[str]:
    """Return the states in the order of a walk along the lines: a ring stays a ring."""
    near: dict[str, list[str]] = {state: [] for state in states}
    for state in states:
        near[state] = [other for other in states if (state, other) in pairs]
    for state in states:
        near[state] += [other for other in states if (other, state) in pairs]
    found: dict[str, None] = {}
    waiting = list(reversed(states))
    while waiting:
        state = waiting.pop()
        if state not in found:
            found[state] = None
            waiting.extend(reversed(near[state]))
    return list(found)


def places_of(order: Sequence[str], size: Point, box: Point) -> dict[str, Point]:
    """Return the middles of states around an oval, ``size`` apart at most, ``box`` large each."""
    width = size[0]
    count = len(order)
    if count == 1:
        return {order[0]: (0.0, 0.0)}
    if count == 2:  # noqa: PLR2004 - side by side
        return {order[0]: (-width / 2, 0.0), order[1]: (width / 2, 0.0)}
    return dict(zip(order, _even_points(count, size, box), strict=True))


def _even_points(count: int, size: Point, box: Point) -> list[Point]:
    """Return equidistant points of an oval, counted in boxes."""
    outline = [_on_oval(2 * math.pi * step / _OUTLINE, size) for step in range(_OUTLINE + 1)]
    lengths = list(
        accumulate(
            (
                math.hypot((b[0] - a[0]) / box[0], (b[1] - a[1]) / box[1])
                for a, b in pairwise(outline)
            ),
            initial=0.0,
        )
    )
    return [
        outline[min(bisect_left(lengths, lengths[-1] * number / count), _OUTLINE)]
        for number in range(count)
    ]


def _on_oval(angle: float, size: Point) -> Point:
    """Return a point of an oval that starts at the left and runs through the top."""
    x, y = -math.cos(angle), -math.sin(angle)
    power = 2 / _FULLNESS
    return (
        math.copysign(abs(x) ** power, x) * size[0] / 2,
        math.copysign(abs(y) ** power, y) * size[1] / 2,
    )


def _length(order: Sequence[str], pairs: set[tuple[str, str]]) -> int:
    """Return the total length of all lines, counted in neighbours."""
    place = {state: number for number, state in enumerate(order)}
    count = len(order)
    total = 0
    for source, target in pairs:
        away = abs(place[source] - place[target])
        total += min(away, count - away) ** 2
    return total
