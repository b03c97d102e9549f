"""The running programs of this user, and why some of them cannot be attached."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from inspector.errors import AttachError
from inspector.sessions.attached.doors import late_python
from inspector.sessions.attached.doors.door import Door
from inspector.sessions.attached.doors.late_node import LateNode, why_not_node
from inspector.sessions.attached.doors.launch import SUPERVISOR, Grant
from inspector.sessions.attached.doors.listening import forget_ended, listening_door
from inspector.sessions.attached.doors.processes import Process, process_of, processes


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """A program of this user in a language that has a probe."""

    process: Process
    runtime: str
    is_listening: bool  # Whether it has called timeline_probe.serve
    reason: str  # Why it cannot be attached, as part of a sentence; empty if it can


def running_programs() -> Iterator[RunningProgram]:
    """Yield this user's programs in Python and Node, by process number."""
    forget_ended()
    for each in processes():
        if each.user_id != os.geteuid() or each.pid == os.getpid():
            continue
        if str(SUPERVISOR) in each.argv:
            continue
        runtime = each.runtime()
        if runtime is None:
            continue
        is_listening = _is_listening(each.pid)
        if is_listening:
            reason = ""
        elif "TIMELINE_PROBE_CONNECT" in each.environment():
            reason = "it was launched by an inspector"
        else:
            reason = (why_not_node if _is_node(each) else late_python.why_not)(each)
        yield RunningProgram(each, runtime.text, is_listening, reason)


def described(program: RunningProgram) -> dict[str, Any]:
    return {
        "pid": program.process.pid,
        "program": program.process.title,
        "command": list(program.process.argv),
        "runtime": program.runtime,
        "is_listening": program.is_listening,
        "reason": program.reason,
    }


def door_of_process(pid: int, grant: Grant = "full") -> Door:
    found = process_of(pid)
    if (listening := listening_door(pid)) is not None:
        return listening
    return LateNode(pid, grant) if _is_node(found) else late_python.LatePython(pid, grant)


def _is_node(each: Process) -> bool:
    runtime = each.runtime()
    return runtime is not None and runtime.language == "node"


def _is_listening(pid: int) -> bool:
    try:
        return listening_door(pid) is not None
    except AttachError:
        return False
