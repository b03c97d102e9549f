"""A page in Chromium, through its debugging protocol."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Any

from inspector.sessions.attached.doors.browser import _started
from inspector.sessions.attached.doors.cdp import Cdp
from tests.javascript import chromium

_AT_REST = "globalThis.page !== undefined && !page.waiting && page.reading === undefined"


class Tab:
    """A page in a browser."""

    def __init__(self, connection: Cdp) -> None:
        target = connection.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = {"targetId": target, "flatten": True}
        self._connection = connection
        self._session = connection.call("Target.attachToTarget", attached)["sessionId"]

    def open(self, path: Path) -> None:
        # What tests of other pages have asked for.
        self.call("Emulation.clearDeviceMetricsOverride")
        self.call("Emulation.setEmulatedMedia", features=[])
        self.call("Page.navigate", url=path.as_uri())
        self.rest()

    def call(self, method: str, **values: object) -> Any:  # noqa: ANN401 - any value of JSON
        return self._connection.call(method, values, self._session)

    def rest(self) -> None:
        """Wait until everything is drawn and written."""
        self.wait(_AT_REST)

    def run(self, script: str) -> Any:  # noqa: ANN401 - any value of JSON
        told = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait(self, condition: str) -> None:
        until_s = time.monotonic() + 30
        while not self.run(condition):
            assert time.monotonic() < until_s, condition
            # Asking without a pause keeps the page from drawing.
            time.sleep(0.005)

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, text=key if len(key) == 1 else ""
            )
        self.rest()

    def nodes(self) -> list[tuple[str, str, dict[str, object]]]:
        """Return role, name and properties of what a screen reader is told of."""
        found = []
        for node in self.call("Accessibility.getFullAXTree")["nodes"]:
            if not node["ignored"]:
                said = {each["name"]: each["value"].get("value") for each in node["properties"]}
                said["value"] = node.get("value", {}).get("value")
                found.append((node["role"]["value"], node.get("name", {}).get("value", ""), said))
        return found

    def printed(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])


@contextmanager
def started() -> Iterator[Tab]:
    """Start Chromium with a tab, in which tests open their pages, or skip the test."""
    chromium()
    process, transport, profile = _started(headless=True)
    connection = Cdp(transport, lambda *_: None, lambda _: None)
    try:
        with closing(connection):
            yield Tab(connection)
    finally:
        process.kill()
        process.wait()
        rmtree(profile, ignore_errors=True)
