"""The tasks of attached programs as people read them: a tree, each with what it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from inspector.analysis.lateness.attribution import own_places
from inspector.analysis.lateness.samples import samples_around
from inspector.display_text import counted
from inspector.events.tasks import TaskState, task_tree
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import TaskWait

if TYPE_CHECKING:
    from inspector.events.history import History
    from inspector.events.timeline import Timeline

#: A loop is blocked by what its last sample saw, for so long after it.
_SEEN_NS: Final = 300 * NS_PER_MS
_PLAIN: Final = {
    TaskWait.UNKNOWN: "not known",
    TaskWait.READY: "its loop",
}


class TaskRow(Struct, frozen=True):
    """A task at an instant.

    Attributes:
        id: Its number.
        depth: How many tasks wait for it, one for the other, up to one that nothing waits for.
        name: What it does.
        waits_for: What it waits for.
        waited_ns: For how long it had when the tasks were told last.
        is_exact: Whether it had for no longer, rather than having been seen to wait for so long.
        line: Where in the program it waits, as ``file:line in function``; empty if not known.
        created: Where it was created; empty if that was before the tasks were asked for.
        defined: Where its function is.
        clock_id: The clock of its loop.
    """

    id: int
    depth: int
    name: str
    waits_for: str
    waited_ns: int
    is_exact: bool
    line: str
    created: str
    defined: str
    clock_id: int

    @property
    def waited_text(self) -> str:
        if self.is_exact:
            return format_duration(self.waited_ns)
        return f"≥ {format_duration(self.waited_ns)}" if self.waited_ns else "not known yet"


def task_rows(history: History, timeline: Timeline) -> list[TaskRow]:
    """Return the tasks of a state, each below the one that waits for it.

    Args:
        history: The past, for what blocks a loop.
    """
    tasks = timeline.tasks
    blocked: dict[int, str] = {}
    busy = {
        t.clock_id for t in tasks.by_id.values() if t.wait in {TaskWait.RUNNING, TaskWait.READY}
    }
    for clock_id in busy:
        if by := blocked_by(history, clock_id, timeline.at_ns):
            blocked[clock_id] = by
    below: dict[int, int] = {}
    for task in tasks.by_id.values():
        if task.awaiter:
            below[task.awaiter] = below.get(task.awaiter, 0) + 1
    strings = timeline.strings
    # It may have gone on since.
    told_ns = max(tasks.told_ns.values(), default=timeline.at_ns)
    return [
        TaskRow(
            task.id,
            depth,
            strings[task.name],
            _waits_for(task, strings[task.what], below.get(task.id, 0), blocked.get(task.clock_id)),
            max(told_ns - task.since_ns, 0),
            task.is_since_exact,
            strings[task.line],
            strings[task.created],
            strings[task.defined],
            task.clock_id,
        )
        for task, depth in task_tree(
            sorted(tasks.by_id.values(), key=lambda task: (strings[task.name], task.id))
        )
    ]


def _waits_for(task: TaskState, what: str, below: int, blocked: str | None) -> str:
    wait = TaskWait(task.wait)
    if wait is TaskWait.TASK and below:
        return counted(below, "task")
    if wait is TaskWait.RUNNING:
        return f"runs {blocked}" if blocked else "runs"
    if wait is TaskWait.READY and blocked:
        return f"blocked by {blocked}"
    if wait in _PLAIN:
        return _PLAIN[wait]
    return f"{wait.text}: {what}" if what else wait.text


def blocked_by(history: History, clock_id: int, at_ns: int) -> str:
    """Return the function that a loop was in when it was last sampled, empty if it is free."""
    samples = samples_around(history, at_ns - _SEEN_NS, at_ns).by_clock.get(clock_id, ())
    seen = [each for each in samples if at_ns - _SEEN_NS <= each.at_ns <= at_ns]
    if not seen or seen[-1].is_end or seen[-1].is_between_turns:
        return ""
    looked = [each for each in seen if each.is_look and each.stack]
    places = own_places(looked[-1].stack) if looked else []
    return places[-1].short.partition(" (")[0] if places else ""
