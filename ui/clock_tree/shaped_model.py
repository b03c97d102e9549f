"""A tree model over a shape: which rows are below which, changed by as few signals as possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex
from typing_extensions import override

from ..kit.guards import guarded

#: Stands above the topmost clocks; no clock has this number.
TOP: Final = 0


class ClockShape(Struct):
    """Which clocks are shown below which; 0 stands above the topmost."""

    children: dict[int, list[int]] = field(default_factory=lambda: {TOP: []})
    parent: dict[int, int] = field(default_factory=dict)
    row: dict[int, int] = field(default_factory=dict)

    def add(self, parent: int, clock_ids: Iterable[int]) -> None:
        listed = self.children.setdefault(parent, [])
        for clock_id in clock_ids:
            self.row[clock_id] = len(listed)
            self.parent[clock_id] = parent
            self.children[clock_id] = []
            listed.append(clock_id)

    def insert_branch(self, parent: int, at: int, clock_ids: list[int], whole: ClockShape) -> None:
        self.children[parent][at:at] = clock_ids
        self.renumber(parent, at)
        pending = [(parent, clock_ids)]
        while pending:
            above, listed = pending.pop()
            for row, clock_id in enumerate(listed):
                self.parent[clock_id] = above
                if above != parent:
                    self.row[clock_id] = row
                below = list(whole.children[clock_id])
                self.children[clock_id] = below
                if below:
                    pending.append((clock_id, below))

    def remove_branches(self, parent: int, start: int, stop: int) -> None:
        pending = self.children[parent][start:stop]
        del self.children[parent][start:stop]
        self.renumber(parent, start)
        while pending:
            clock_id = pending.pop()
            pending += self.children.pop(clock_id)
            del self.parent[clock_id], self.row[clock_id]

    def renumber(self, parent: int, start: int) -> None:
        listed = self.children[parent]
        for row in range(start, len(listed)):
            self.row[listed[row]] = row


#: More changed runs of rows than this in one turn, and a reset is cheaper.
_MAX_RUNS: Final = 48


@guarded
class ShapedModel(QAbstractItemModel):
    """Rows are numbered nodes; a subclass says what is in their cells."""

    def __init__(self, column_count: int) -> None:
        super().__init__()
        self._column_count = column_count
        self._shape = ClockShape()

    # ------------------------------------------------------------------ rows

    def index_of(self, node: int, column: int = 0) -> QModelIndex:
        """Return where a node is shown, an invalid index when it is not."""
        row = self._shape.row.get(node)
        return QModelIndex() if row is None else self.createIndex(row, column, node)

    @staticmethod
    def node(index: QModelIndex | QPersistentModelIndex) -> int:
        """Return the node of an index, 0 for an invalid one."""
        return index.internalId() if index.isValid() else TOP

    def shown_below(self, node: int) -> list[int]:
        """Return the nodes that are shown directly below one; 0 for the topmost."""
        return self._shape.children.get(node, [])

    def shown_branch(self, node: int) -> list[int]:
        """Return all nodes shown in a branch, its own first; 0 for the whole tree."""
        branch = [node] if node else []
        pending = list(reversed(self.shown_below(node)))
        while pending:
            branch.append(pending.pop())
            pending += reversed(self._shape.children[branch[-1]])
        return branch

    def depth(self, node: int) -> int:
        """Return how many levels deep a node is shown, 1 for the topmost."""
        steps = 0
        while node != TOP:
            node = self._shape.parent.get(node, TOP)
            steps += 1
        return steps

    # ------------------------------------------------------------------ Qt

    @override
    def index(
        self,
        row: int,
        column: int,
        parent: QModelIndex | QPersistentModelIndex = QModelIndex(),
    ) -> QModelIndex:
        if parent.isValid() and parent.column() != 0:
            return QModelIndex()
        below = self._shape.children.get(self.node(parent), [])
        if not (0 <= row < len(below) and 0 <= column < self._column_count):
            return QModelIndex()
        return self.createIndex(row, column, below[row])

    @override
    def parent(  # type: ignore[override]  # also names QObject.parent()
        self, index: QModelIndex | QPersistentModelIndex = QModelIndex()
    ) -> QModelIndex:
        shape = self._shape
        parent_node = shape.parent.get(self.node(index), TOP)
        if parent_node == TOP:
            return QModelIndex()
        return self.createIndex(shape.row[parent_node], 0, parent_node)

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        if parent.column() > 0:
            return 0
        return len(self._shape.children.get(self.node(parent), ()))

    @override
    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return self._column_count

    # ------------------------------------------------------------------ changes

    def show_anew(self, wanted: ClockShape) -> None:
        self.beginResetModel()
        self._shape = wanted
        self.endResetModel()

    def show_shape(self, wanted: ClockShape) -> None:
        """Change the rows to ``wanted``, by a few signals or by one reset."""
        changed = [
            parent
            for parent, below in self._shape.children.items()
            if parent in wanted.children and below != wanted.children[parent]
        ]
        if not changed:
            return
        removals = [(each, _gone_runs(self._shape, wanted, each)) for each in changed]
        additions = sum(
            len(set(wanted.children[each]).difference(self._shape.children[each]))
            for each in changed
        )
        if sum(len(runs) for _, runs in removals) + additions > _MAX_RUNS or any(
            _is_reordered(self._shape.children[each], wanted.children[each]) for each in changed
        ):
            self.show_anew(wanted)
            return
        for parent, runs in removals:
            self._remove_runs(parent, runs)
        for parent in self._topmost_first(changed):
            self._insert_missing(parent, wanted)

    def _remove_runs(self, parent: int, runs: list[tuple[int, int]]) -> None:
        if parent != TOP and parent not in self._shape.parent:
            return  # went with a branch above it
        for start, stop in reversed(runs):
            self.beginRemoveRows(self.index_of(parent), start, stop - 1)
            self._shape.remove_branches(parent, start, stop)
            self.endRemoveRows()

    def _insert_missing(self, parent: int, wanted: ClockShape) -> None:
        goal = wanted.children[parent]
        row = 0
        while row < len(goal):
            shown = self._shape.children[parent]
            if row < len(shown) and shown[row] == goal[row]:
                row += 1
                continue
            following = shown[row] if row < len(shown) else None
            stop = goal.index(following, row) if following is not None else len(goal)
            self.beginInsertRows(self.index_of(parent), row, stop - 1)
            self._shape.insert_branch(parent, row, goal[row:stop], wanted)
            self.endInsertRows()
            row = stop

    def _topmost_first(self, nodes: list[int]) -> list[int]:
        """Return those still shown, each before what is below it."""
        shown = [each for each in nodes if each == TOP or each in self._shape.parent]
        return sorted(shown, key=self.depth)


def _gone_runs(shape: ClockShape, wanted: ClockShape, parent: int) -> list[tuple[int, int]]:
    """Return the runs of rows below ``parent`` that are not wanted there."""
    kept = set(wanted.children[parent])
    runs: list[tuple[int, int]] = []
    for row, clock_id in enumerate(shape.children[parent]):
        if clock_id in kept:
            continue
        if runs and runs[-1][1] == row:
            runs[-1] = (runs[-1][0], row + 1)
        else:
            runs.append((row, row + 1))
    return runs


def _is_reordered(shown: list[int], goal: list[int]) -> bool:
    shown_set, goal_set = set(shown), set(goal)
    stays = [each for each in shown if each in goal_set]
    return stays != [each for each in goal if each in shown_set]
