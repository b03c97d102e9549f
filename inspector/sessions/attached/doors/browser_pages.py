"""The pages of a browser, reached through its debugger, each with a probe inside."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from inspector.errors import AttachError
from inspector.probe.wire import JSON, notification, packed_json
from inspector.sessions.attached.connections import ConnectionClosedError, QueuedConnection
from inspector.sessions.attached.doors.cdp import Cdp, CdpError, CdpTransport, Params
from inspector.sessions.attached.doors.door import ProbeAcceptor
from inspector.sessions.attached.doors.launch import PROBE_JS
from inspector.sessions.attached.messages import FIRST_PAGE_PID

_FOLLOWED: Final = frozenset({"page", "iframe", "worker"})
_PAGE_S: Final = 5.0
_PROBE: Final = "globalThis[Symbol.for('timeline.probe')]"
_RECEIVE: Final = f"function (text) {{ {_PROBE}.receive(text); }}"
_Place: TypeAlias = tuple[str, int]
_FIRST_LINE: Final = {"instrumentation": "beforeScriptExecution"}
_FOLLOW: Final = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}


class BrowserPages:
    """The pages of a browser, each with a probe inside from its first line on.

    Every document, frame and worker is a program of its own. Those that belong to a page have the
    page's number as that of their parent.
    """

    def __init__(
        self,
        transport: CdpTransport,
        acceptor: ProbeAcceptor,
        options: dict[str, Any],
        ended: Callable[[str], None],
    ) -> None:
        self._acceptor = acceptor
        self._ended = ended
        self._binding = f"timeline{os.urandom(8).hex()}"
        self._probe = PROBE_JS.read_text(encoding="utf-8")
        self._options = {**options, "token": acceptor.token}
        self._script = self._script_for(self._options)
        self._connections: dict[_Place, QueuedConnection] = {}
        self._targets: dict[str, _Target] = {}
        self._last_pid = FIRST_PAGE_PID
        self.refusal = ""
        self.has_adopted = False
        self.first_page = threading.Event()
        self._handlers: Final[dict[str, Callable[[Params, str], None]]] = {
            "Target.attachedToTarget": self._attached,
            "Target.detachedFromTarget": self._detached,
            "Inspector.targetCrashed": self._crashed,
            "Runtime.executionContextCreated": self._context_created,
            "Runtime.executionContextDestroyed": self._context_destroyed,
            "Runtime.executionContextsCleared": self._contexts_cleared,
            "Debugger.paused": self._paused,
            "Runtime.bindingCalled": self._on_binding,
        }
        self._cdp = Cdp(transport, self._on_event, self._finish)

    def _script_for(self, options: dict[str, Any]) -> str:
        name, start = json.dumps(self._binding), json.dumps(options)
        return (
            # The empty document before the first page needs no probe.
            f"if (typeof globalThis[{name}] === 'function' && location.href !== 'about:blank') {{\n"
            f"{self._probe}\n{_PROBE}.bind({name}, {start});\n}}"
        )

    def begin(self) -> None:
        self._cdp.call("Target.setAutoAttach", _FOLLOW)

    def navigate(self, url: str) -> None:
        """Show a page in the first tab."""
        self.first_page.wait(_PAGE_S)
        session = next((key for key, target in self._targets.items() if target.kind == "page"), "")
        if not session:
            message = "the browser shows no page"
            raise CdpError(message)
        # When the tab answers this, it has also received the script for new documents.
        self._cdp.call("Page.enable", None, session)
        answer = self._cdp.call("Page.navigate", {"url": url}, session)
        if answer.get("errorText"):
            message = f"{url} could not be loaded: {answer['errorText']}"
            raise CdpError(message)

    def close(self) -> None:
        bye = packed_json(notification("Link.bye", {"reason": "detached"}))
        for connection in list(self._connections.values()):
            with suppress(ConnectionClosedError):
                connection.send(JSON, bye)
            connection.end("the inspector detached")
        self._cdp.close()

    # ------------------------------------------------------- in the thread that reads

    def _on_event(self, method: str, params: Params, session: str) -> None:
        handle = self._handlers.get(method)
        if handle is not None:
            with suppress(CdpError):
                handle(params, session)

    def _attached(self, params: Params, parent: str) -> None:
        session, info = params.get("sessionId"), params.get("targetInfo")
        if not isinstance(session, str) or not isinstance(info, dict):
            return
        kind, post = str(info.get("type", "")), self._cdp.post
        is_new = params.get("waitingForDebugger") is True
        if kind in _FOLLOWED:
            target = _Target(kind, str(info.get("targetId", "")), is_new, parent, self._pid())
            self._targets[session] = target
            post("Runtime.enable", None, session)
            post("Runtime.addBinding", {"name": self._binding}, session)
            if kind == "worker" and is_new:
                # A new worker has no timers yet, so it is stopped at its first line for the probe.
                post("Debugger.enable", None, session)
                post("Debugger.setInstrumentationBreakpoint", _FIRST_LINE, session)
            elif kind == "worker":
                self._inject(session, None, self._script)
            else:
                post("Page.enable", None, session)
                post("Page.addScriptToEvaluateOnNewDocument", {"source": self._script}, session)
                post("Target.setAutoAttach", _FOLLOW, session)
        if is_new:
            post("Runtime.runIfWaitingForDebugger", None, session)
        if kind == "page":
            self.first_page.set()

    def _paused(self, _params: Params, session: str) -> None:
        self._inject(session, None, self._script)
        self._cdp.post("Debugger.disable", None, session)

    def _pid(self) -> int:
        self._last_pid += 1
        return self._last_pid

    def _inject(self, session: str, context: int | None, script: str) -> None:
        params: dict[str, Any] = {"expression": script, "silent": True}
        if context is not None:
            params["contextId"] = context
        self._cdp.post("Runtime.evaluate", params, session)

    def _context_created(self, params: Params, session: str) -> None:
        context = params.get("context")
        target = self._targets.get(session)
        if target is None or not isinstance(context, dict):
            return
        number, about = context.get("id"), context.get("auxData")
        if not isinstance(number, int) or not isinstance(about, dict):
            return
        if about.get("isDefault") is True:
            target.frames[number] = str(about.get("frameId", ""))
            if not target.is_new and target.kind != "worker":
                # It ran before the inspector attached. If a new document reports its context too,
                # the second injection does nothing.
                self._inject(session, number, self._script)

    def _context_destroyed(self, params: Params, session: str) -> None:
        number = params.get("executionContextId")
        if isinstance(number, int):
            self._forget((session, number), "the page was left")

    def _contexts_cleared(self, _params: Params, session: str) -> None:
        self._forget_session(session, "the page was left")

    def _detached(self, params: Params, _session: str) -> None:
        session = params.get("sessionId")
        if isinstance(session, str):
            self._forget_session(session, "the page was closed")
            self._targets.pop(session, None)

    def _crashed(self, _params: Params, session: str) -> None:
        self._forget_session(session, "the page has crashed")

    def _forget_session(self, session: str, reason: str) -> None:
        for place in [place for place in self._connections if place[0] == session]:
            self._forget(place, reason)

    def _forget(self, place: _Place, reason: str) -> None:
        connection = self._connections.pop(place, None)
        if connection is not None:
            connection.end(reason)

    def _on_binding(self, params: Params, session: str) -> None:
        number, payload = params.get("executionContextId"), params.get("payload")
        if (
            params.get("name") != self._binding
            or not isinstance(number, int)
            or not isinstance(payload, str)
        ):
            return
        place = (session, number)
        connection = self._connections.get(place)
        if connection is None:
            if not payload.startswith("J"):
                return
            connection = self._connections[place] = self._connection(place)
            payload = self._with_pid(payload, place)
            threading.Thread(
                target=self._adopt, args=(connection,), name="attach: page", daemon=True
            ).start()
        elif payload == "J":
            self._forget(place, "the page detached")
            return
        connection.put_text(payload)

    def _connection(self, place: _Place) -> QueuedConnection:
        session, context = place

        def send(kind: int, payload: bytes) -> None:
            if kind == JSON:
                params = {
                    "functionDeclaration": _RECEIVE,
                    "executionContextId": context,
                    "arguments": [{"value": payload.decode(errors="replace")}],
                    "silent": True,
                }
                with suppress(CdpError):
                    self._cdp.post("Runtime.callFunctionOn", params, session)

        return QueuedConnection("debugger of the browser", send, lambda: None)

    def _with_pid(self, payload: str, place: _Place) -> str:
        """Give a program a number, and the number of its page as its parent's."""
        session, context = place
        target = self._targets.get(session)
        try:
            message = json.loads(payload[1:])
            params = message["params"]
            if target is None or target.kind == "worker" or target.is_main(context):
                params["pid"] = target.pid if target is not None else self._pid()
                params["parent_pid"] = self._page_pid(target.parent) if target is not None else 0
            else:
                params["pid"], params["parent_pid"] = self._pid(), self._page_pid(session)
        except (ValueError, KeyError, TypeError, RecursionError):
            return payload
        return "J" + json.dumps(message)

    def _page_pid(self, session: str) -> int:
        """Return the number of the page to which a target belongs, 0 for none."""
        target = self._targets.get(session)
        while target is not None and target.kind != "page":
            target = self._targets.get(target.parent)
        return 0 if target is None else target.pid

    def _adopt(self, connection: QueuedConnection) -> None:
        try:
            self._acceptor.adopt(connection, dials=False)
            self.has_adopted = True
        except AttachError as error:
            self.refusal = str(error)

    def _finish(self, reason: str) -> None:
        for place in list(self._connections):
            self._forget(place, reason)
        self._ended(reason)


@dataclass(slots=True)
class _Target:
    """A page, a frame in a process of its own, or a worker."""

    kind: str
    number: str  # The browser's number for it; for a page, also that of its main frame
    is_new: bool  # Whether it waited for the inspector before its first line
    parent: str
    pid: int
    frames: dict[int, str] = field(default_factory=dict)  # Frame of each execution context

    def is_main(self, context: int) -> bool:
        return self.frames.get(context) == self.number
