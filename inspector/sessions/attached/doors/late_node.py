"""Attach to a running Node program through its debugger.

A Node program that gets SIGUSR1 opens its debugger on a port of this machine, which every local
user can reach. So it is closed again after some milliseconds, as soon as the probe is in.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Final

from inspector.errors import AttachError
from inspector.sessions.attached.doors.cdp import (
    Cdp,
    CdpError,
    Params,
    WebSocketTransport,
    reported_targets,
    socket_path,
)
from inspector.sessions.attached.doors.door import ProbeAcceptor
from inspector.sessions.attached.doors.launch import PROBE_JS, Grant
from inspector.sessions.attached.doors.processes import Process, attachable, title_of

_DEBUGGER_S: Final = 3.0
_CLOSED_S: Final = 1.0
_SILENT_S: Final = 5.0
_LAUNCH: Final = "launch it by “timeline-inspector attach -- PROGRAM ARGS…”."
_PROBE: Final = "globalThis[Symbol.for('timeline.probe')]"
#: Most timers whose place in the program is looked up, as each costs a message.
_MOST_PLACES: Final = 256
_TIMERS: Final = """Object.getPrototypeOf((() => {
  const timer = setTimeout(() => {}, 0);
  clearTimeout(timer);
  return timer;
})())"""
_STOP: Final = "setTimeout(() => { debugger; }, 0).unref(), 0"
#: Closes the debugger in a later call: Node's close() waits until no client is connected.
_CLOSE: Final = f"""(((later, {{ close }}) => {{ later(() => close()); }})(
  {_PROBE} ? (call) => {_PROBE}.later(call) : (call) => setTimeout(call, 0),
  require('inspector'),
))"""


@dataclass(frozen=True, slots=True)
class LateNode:
    """A Node program that is already running."""

    pid: int
    grant: Grant = "full"

    @property
    def title(self) -> str:
        return title_of(self.pid)

    def open(self, acceptor: ProbeAcceptor) -> AttachedNode:
        """Put the probe into the program, and close its debugger again."""
        target = attachable(self.pid, why_not_node, f"Instead, {_LAUNCH}")
        before = listening_ports(self.pid)
        os.kill(self.pid, signal.SIGUSR1)
        port, path = _debugger(target)
        options = {"token": acceptor.token, "grant": self.grant}
        # A debugger that was open before is not closed.
        _AtDebugger(port, path, is_ours=port not in before).enter(acceptor.address, options)
        until_s = monotonic() + _CLOSED_S
        while (is_open := port in listening_ports(self.pid)) and monotonic() < until_s:
            sleep(0.005)
        return AttachedNode(target, port, is_closed=not is_open)


class AttachedNode:
    def __init__(self, target: Process, port: int, *, is_closed: bool) -> None:
        self.title = f"{target.title} ({target.pid})"
        self.pid = target.pid
        self._target = target
        self._begun_s = monotonic()
        # A sentence that says that its debugger was or is open
        self.note = (
            f"The debugger of {self.title} was open on 127.0.0.1:{port} for a moment, and is "
            "closed again."
            if is_closed
            else f"The debugger of {self.title} is open on 127.0.0.1:{port}, where every user of "
            "this machine can run code in it."
        )

    def poll(self) -> int | None:
        return None

    def problem(self) -> str:
        if not self._target.state():
            return f"{self.title} has ended."
        if monotonic() - self._begun_s > _SILENT_S:
            return f"{self.title} has the probe inside, but its event loop does not turn."
        return ""

    def may_bring_more(self) -> bool:
        return False

    def end(self) -> None:
        """Leave it alone."""


class _AtDebugger:
    """A short connection with a program's debugger."""

    def __init__(self, port: int, path: str, *, is_ours: bool) -> None:
        self._is_ours = is_ours
        self._is_paused = Event()
        self._scripts: dict[str, str] = {}
        self._cdp = Cdp(WebSocketTransport(port, path), self._note)

    def _note(self, method: str, params: Params, _session: str) -> None:
        if method == "Debugger.scriptParsed":
            self._scripts[str(params.get("scriptId"))] = str(params.get("url", ""))
        elif method == "Debugger.paused":
            self._is_paused.set()

    def enter(self, address: str, options: Mapping[str, object]) -> None:
        """Put the probe in, give it the timers that were set before, and close the debugger."""
        try:
            self._wait_for_loop()
            self._evaluate(PROBE_JS.read_text(encoding="utf-8"))
            arguments = f"{json.dumps(address)}, {json.dumps(options)}"
            self._evaluate(f"{_PROBE}.enter(require, {arguments}), 0")
            with suppress(CdpError):
                # If the timers that were set before cannot be handed over, everything else works.
                self._hand_over_timers()
        finally:
            if self._is_ours:
                with suppress(CdpError):
                    self._evaluate(_CLOSE)
            # The paused program continues when its debugger is disconnected.
            self._cdp.close()

    def _wait_for_loop(self) -> None:
        """Stop the program between two turns of its event loop.

        A request may come while Node is busy itself, for example loading a module of its own; the
        probe must not replace functions then.
        """
        self._cdp.call("Debugger.enable")
        self._evaluate(_STOP)
        if not self._is_paused.wait(_DEBUGGER_S):
            message = "The program cannot be attached: its event loop does not turn."
            raise CdpError(message)

    def _evaluate(self, expression: str, **more: object) -> Params:
        params = {"expression": expression, "includeCommandLineAPI": True, **more}
        answer = self._cdp.call("Runtime.evaluate", params)
        failure = answer.get("exceptionDetails")
        if isinstance(failure, dict):
            told = failure.get("exception", {}).get("description") or failure.get("text")
            message = f"The program could not load the probe: {str(told)[:500]}"
            raise CdpError(message)
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    def _hand_over_timers(self) -> None:
        call = self._cdp.call
        prototype = self._evaluate(_TIMERS).get("objectId")
        found = call("Runtime.queryObjects", {"prototypeObjectId": prototype})["objects"]
        places = self._places(found["objectId"])
        function = f"function (places) {{ {_PROBE}.adopt(this, places); }}"
        call(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "objectId": found["objectId"],
                "arguments": [{"value": places}],
            },
        )

    def _places(self, timers: str) -> list[str]:
        first = f"this.slice(0, {_MOST_PLACES})"
        pick = f"function () {{ return {first}.map((each) => each._onTimeout); }}"
        asked = {"functionDeclaration": pick, "objectId": timers}
        callbacks = self._cdp.call("Runtime.callFunctionOn", asked)["result"]["objectId"]
        items = self._properties(callbacks).get("result", [])
        places = []
        for item in items:
            if not item.get("name", "").isdigit():
                continue
            number = item.get("value", {}).get("objectId")
            places.append(self._place(number) if number else "")
        return places

    def _properties(self, number: str) -> Params:
        return self._cdp.call("Runtime.getProperties", {"objectId": number, "ownProperties": True})

    def _place(self, function: str) -> str:
        found = self._properties(function).get("internalProperties", [])
        inner = {each.get("name"): each.get("value", {}) for each in found}
        if "[[TargetFunction]]" in inner:
            # A function made by bind() has the place of its target.
            return self._place(inner["[[TargetFunction]]"]["objectId"])
        if "[[FunctionLocation]]" not in inner:
            return ""
        value = inner["[[FunctionLocation]]"]["value"]
        url = self._scripts.get(str(value["scriptId"]), "")
        return f"{url.removeprefix('file://')}:{value['lineNumber'] + 1}" if url else ""


def why_not_node(target: Process) -> str:
    """Return why a Node program cannot be attached now, as part of a sentence; empty if it can."""
    runtime = target.runtime()
    if target.barrier:
        return target.barrier
    if runtime is None or runtime.language != "node":
        return "it is not a Node program"
    options = [*target.argv, *target.environment().get("NODE_OPTIONS", "").split()]
    if "--disable-sigusr1" in options:
        return "its debugger is turned off (--disable-sigusr1)"
    if sys.platform != "linux":
        return ""
    status = _status(target.pid)
    caught = int(status.get("SigCgt", "0"), 16)
    if not caught & 1 << signal.SIGUSR1 - 1:
        # Without a handler, the signal would end the program.
        return "it has no debugger that a signal opens"
    return ""


def _status(pid: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in lines)
    return {name: value.strip() for name, _, value in pairs}


def listening_ports(pid: int) -> set[int]:
    inodes = set()
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                link = str(entry.readlink())
                if link.startswith("socket:["):
                    inodes.add(link[len("socket:[") : -1])
    ports = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                words = line.split()
                # State 0A is listening; the port is in hexadecimal digits.
                if words[3] == "0A" and words[9] in inodes:
                    ports.add(int(words[1].rpartition(":")[2], 16))
    return ports


def _debugger(target: Process) -> tuple[int, str]:
    until_s = monotonic() + _DEBUGGER_S
    while monotonic() < until_s:
        # Only ports of this process are tried, where they can be listed.
        ports = listening_ports(target.pid) if sys.platform == "linux" else {_usual_port(target)}
        for port in sorted(ports, key=lambda port: port != _usual_port(target)):
            with suppress(CdpError):
                targets = reported_targets(port, "/json/list")
                if isinstance(targets, list) and targets:
                    return port, socket_path(targets[0], port)
        sleep(0.005)
    message = (
        f"The debugger of {target.title} ({target.pid}) does not open: its event loop does not "
        f"turn, or another program has the port {_usual_port(target)}. Otherwise, {_LAUNCH}"
    )
    raise AttachError(message)


def _usual_port(target: Process) -> int:
    for option in target.argv:
        name, _, value = option.partition("=")
        port = value.rpartition(":")[2]
        if name in {"--inspect-port", "--inspect", "--debug-port"} and port.isdecimal():
            return int(port)
    return 9229
