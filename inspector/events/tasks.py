"""The tasks of attached programs: which waits for which, and for what; part of the timeline.

A program reports its tasks only while the inspector asks for them: at intervals, what has changed.
A task without newer events is as it was at the last report.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from msgspec import Struct, structs

from inspector.vocabulary import TaskWait


class TaskState(Struct, frozen=True, array_like=True):
    """A task; texts are numbers of the string table, 0 for what is not known."""

    id: int
    clock_id: int  # The clock of its loop
    name: int  # What it does, with the name it was given
    created: int = 0  # The line that created it
    defined: int = 0  # The line of its function
    wait: int = TaskWait.UNKNOWN  # What it waits for
    since_ns: int = 0
    is_since_exact: bool = False  # Whether the wait began at since_ns, or was first seen then
    line: int = 0  # Where in the program it waits
    what: int = 0  # What it waits for, in words, such as the name of a function
    awaiter: int = 0  # A task that waits for it, 0 for none
    awaiters: int = 0  # Number of tasks that wait for it


class TaskTable:
    __slots__ = ("by_id", "told_ns", "version")

    def __init__(self) -> None:
        self.by_id: dict[int, TaskState] = {}
        # By the clock of a program: when its tasks were last reported
        self.told_ns: dict[int, int] = {}
        self.version = 0

    def copy(self) -> TaskTable:
        twin = TaskTable()
        twin.by_id, twin.told_ns = dict(self.by_id), dict(self.told_ns)
        twin.version = self.version
        return twin

    def forget(self, clocks: Collection[int]) -> None:
        """Forget the tasks of loops, and the times of the last reports of programs."""
        for number in [each.id for each in self.by_id.values() if each.clock_id in clocks]:
            del self.by_id[number]
        for clock_id in self.told_ns.keys() & set(clocks):
            del self.told_ns[clock_id]
        self.version += 1

    def _on_task_added(self, at_ns: int, subject: int, a: int, b: int) -> None:
        self.by_id[subject] = TaskState(subject, a, b, since_ns=at_ns)
        self.version += 1

    def _on_task_origin(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        self._set(subject, created=a, defined=b)

    def _on_task_waits(self, at_ns: int, subject: int, a: int, b: int) -> None:
        self._set(subject, wait=a, since_ns=at_ns - b, is_since_exact=bool(b))

    def _on_task_at(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        self._set(subject, line=a, what=b)

    def _on_task_awaited(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        self._set(subject, awaiter=a, awaiters=b)

    def _on_task_ended(self, _at_ns: int, subject: int, _a: int, _b: int) -> None:
        del self.by_id[subject]
        self.version += 1

    def _set(self, number: int, **values: int) -> None:
        self.by_id[number] = structs.replace(self.by_id[number], **values)
        self.version += 1


def task_tree(tasks: Iterable[TaskState]) -> list[tuple[TaskState, int]]:
    """Return tasks with their depths: each below the one that waits for it.

    Those that nothing waits for come first; of tasks that wait for one another in a circle, the
    one that was reported first is at the top.
    """
    known = {task.id: task for task in tasks}
    below: defaultdict[int, list[TaskState]] = defaultdict(list)
    for task in known.values():
        below[task.awaiter if task.awaiter in known else 0].append(task)
    found: list[tuple[TaskState, int]] = []
    seen: set[int] = set()
    for first in [*below[0], *known.values()]:
        waiting = [(first, 0)]
        while waiting:
            task, depth = waiting.pop()
            if task.id not in seen:
                seen.add(task.id)
                found.append((task, depth))
                waiting += [(each, depth + 1) for each in reversed(below[task.id])]
    return found
