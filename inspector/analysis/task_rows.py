"""The tasks of attached programs as a tree of rows, each with what it waits for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from inspector.analysis.lateness.attribution import own_places
from inspector.analysis.lateness.samples import samples_around
from inspector.display_text import counted
from inspector.events.history import History
from inspector.events.tasks import TaskState, task_tree
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import TaskWait

#: A loop counts as blocked by the function in its last sample for this long afterwards.
_SEEN_NS: Final = 300 * NS_PER_MS
_PLAIN: Final = {TaskWait.UNKNOWN: "not known", TaskWait.READY: "its loop"}


class TaskRow(Struct, frozen=True):
    """A task at an instant; its texts are computed when they are read."""

    task: TaskState
    depth: int  # Its depth in the tree: the length of the chain of tasks that wait for it
    _of: _Told

    @property
    def name(self) -> str:
        return self._of.strings[self.task.name]

    @property
    def waits_for(self) -> str:
        task, of = self.task, self._of
        wait, blocked = TaskWait(task.wait), of.blocked.get(task.clock_id)
        if wait is TaskWait.TASK and (below := of.below.get(task.id)):
            return counted(below, "task")
        if wait is TaskWait.RUNNING:
            return f"runs {blocked}" if blocked else "runs"
        if wait is TaskWait.READY and blocked:
            return f"blocked by {blocked}"
        if wait in _PLAIN:
            return _PLAIN[wait]
        what = of.strings[task.what]
        return f"{wait.text}: {what}" if what else wait.text

    @property
    def waited_ns(self) -> int:
        """How long it had waited when the tasks were last recorded, or the least that is known."""
        return max(self._of.told_ns - self.task.since_ns, 0)

    @property
    def waited_text(self) -> str:
        if self.task.is_since_exact:
            return format_duration(self.waited_ns)
        return f"≥ {format_duration(self.waited_ns)}" if self.waited_ns else "not known yet"

    @property
    def line(self) -> str:
        """Where in the program it waits, as ``file:line in function``; empty if not known."""
        return self._of.strings[self.task.line]

    @property
    def created(self) -> str:
        """Where it was created; empty if that was before the tasks were asked for."""
        return self._of.strings[self.task.created]

    @property
    def defined(self) -> str:
        return self._of.strings[self.task.defined]

    @property
    def values(self) -> dict[str, object]:
        task = self.task
        return {
            "id": task.id,
            "depth": self.depth,
            "name": self.name,
            "waits_for": self.waits_for,
            "waited_ns": self.waited_ns,
            "is_exact": task.is_since_exact,
            "line": self.line,
            "created": self.created,
            "defined": self.defined,
            "clock_id": task.clock_id,
        }


class _Told(Struct, frozen=True, eq=False):
    strings: Sequence[str]
    blocked: dict[int, str]  # The function that blocks the loop of each clock
    below: Counter[int]  # How many others each task waits for
    told_ns: int  # When the tasks were last recorded; they may have continued since


def task_rows(history: History, timeline: Timeline) -> list[TaskRow]:
    """Return the tasks of a state, each below the one that waits for it; siblings by name."""
    tasks, strings = timeline.tasks, timeline.strings
    is_busy = {TaskWait.RUNNING, TaskWait.READY}
    busy = {task.clock_id for task in tasks.by_id.values() if task.wait in is_busy}
    found = {clock_id: blocked_by(history, clock_id, timeline.at_ns) for clock_id in busy}
    of = _Told(
        strings,
        {clock_id: by for clock_id, by in found.items() if by},
        Counter(task.awaiter for task in tasks.by_id.values()),
        max(tasks.told_ns.values(), default=timeline.at_ns),
    )
    ordered = sorted(tasks.by_id.values(), key=lambda task: (strings[task.name], task.id))
    return [TaskRow(task, depth, of) for task, depth in task_tree(ordered)]


def blocked_by(history: History, clock_id: int, at_ns: int) -> str:
    """Return the function in which a loop was when it was last sampled; empty if it is free."""
    samples = samples_around(history, at_ns - _SEEN_NS, at_ns).by_clock.get(clock_id, ())
    seen = [each for each in samples if at_ns - _SEEN_NS <= each.at_ns <= at_ns]
    if not seen or seen[-1].is_end or seen[-1].is_between_turns:
        return ""
    looked = [each for each in seen if each.is_look and each.stack]
    places = own_places(looked[-1].stack) if looked else []
    return places[-1].call if places else ""
