"""Pages in a browser, reached through its debugger."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from inspector.errors import AttachError, ProgramStartError
from inspector.exit_codes import ExitCode
from inspector.sessions.attached.doors.browser_pages import BrowserPages
from inspector.sessions.attached.doors.cdp import (
    CdpTransport,
    PipeTransport,
    WebSocketTransport,
    reported_targets,
    socket_path,
)
from inspector.sessions.attached.doors.door import ProbeAcceptor
from inspector.sessions.attached.doors.launch import Grant

#: Names of Chromium, in the order in which they are looked for.
_BROWSERS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
_MAC: Final = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
#: Without some of these, timers of pages in the background would be throttled.
_OPTIONS: Final = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--remote-debugging-pipe",
)
#: Runs a browser, which reads from descriptor 3, writes to 4 and ends when the other ends are
#: closed; then removes its profile, even if the inspector was killed.
_RUN: Final = """
import os, shutil, sys, time
profile, given, taken, *command = sys.argv[1:]
pipes = [(os.POSIX_SPAWN_DUP2, int(given), 3), (os.POSIX_SPAWN_DUP2, int(taken), 4)]
os.posix_spawn(command[0], command, os.environ, file_actions=pipes)
os.close(int(given))
os.close(int(taken))
code = os.waitstatus_to_exitcode(os.wait()[1])
until_s = time.monotonic() + 5
while os.path.exists(profile) and time.monotonic() < until_s:
    # Its helpers may still write there.
    shutil.rmtree(profile, ignore_errors=True)
    time.sleep(0.02)
sys.exit(code if code >= 0 else 128 - code)
"""
_SCHEMES: Final = frozenset({"http", "https", "file", "about", "data"})
_PORT: Final = re.compile(r"(?:(?:http://)?(127\.0\.0\.1|localhost|\[::1\]):)?(\d{1,5})/?$")
_END_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Browser:
    # A URL or file to show in a new browser; or the debugging port of a running browser, such as
    # 9222 or 127.0.0.1:9222.
    target: str
    hold: bool = False  # Whether pages are held before their first frame
    grant: Grant = "full"
    headless: bool = False

    @property
    def title(self) -> str:
        if _PORT.match(self.target):
            return f"browser on port {_PORT.match(self.target)[2]}"  # type: ignore[index] # matched
        return urlsplit(self.target).netloc or Path(self.target).name or self.target

    def open(self, acceptor: ProbeAcceptor) -> OpenedBrowser:
        """Start a browser with the page, or attach to the pages of a running browser."""
        port = _PORT.match(self.target)
        if port is not None:
            return self._attached(acceptor, int(port[2]))
        url = page_url(self.target)
        process, transport, profile = _started(headless=self.headless)
        opened = OpenedBrowser(self.title, process, profile)
        try:
            opened.follow(transport, acceptor, self._options()).navigate(url)
        except AttachError:
            opened.end()
            raise
        return opened

    def _attached(self, acceptor: ProbeAcceptor, port: int) -> OpenedBrowser:
        transport = WebSocketTransport(
            port, socket_path(reported_targets(port, "/json/version"), port)
        )
        opened = OpenedBrowser(self.title, None, None)
        opened.follow(transport, acceptor, self._options() | {"isLate": True})
        return opened

    def _options(self) -> dict[str, Any]:
        return {"hold": self.hold, "grant": self.grant}


class OpenedBrowser:
    note = ""

    def __init__(
        self, title: str, process: subprocess.Popen[bytes] | None, profile: Path | None
    ) -> None:
        self.title = title
        self.pid = process.pid if process is not None else None
        self._process = process
        self._profile = profile
        self.pages: BrowserPages | None = None
        self._reason = ""
        if process is not None:
            # Nothing else uses this browser: its profile is ours, and only our pipes reach it.
            atexit.register(self.end)

    def follow(
        self, transport: CdpTransport, acceptor: ProbeAcceptor, options: dict[str, Any]
    ) -> BrowserPages:
        """Put the probe into every page from now on; returns the pages."""
        self.pages = BrowserPages(transport, acceptor, options, self._ended)
        self.pages.begin()
        return self.pages

    def _ended(self, reason: str) -> None:
        self._reason = reason

    def poll(self) -> int | None:
        return self._process.poll() if self._process is not None else None

    def problem(self) -> str:
        if self.pages is not None and self.pages.has_adopted:
            return ""
        if self.pages is not None and self.pages.refusal:
            return self.pages.refusal
        return f"{self.title} has ended: {self._reason}." if self._reason else ""

    def may_bring_more(self) -> bool:
        return not self._reason

    def end(self) -> None:
        atexit.unregister(self.end)
        if self.pages is not None:
            self.pages.close()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        if self._profile is not None:
            shutil.rmtree(self._profile, ignore_errors=True)


def page_url(target: str) -> str:
    """Return the URL of a page that is given as a URL or a file."""
    scheme = urlsplit(target).scheme
    if scheme in _SCHEMES:
        return target
    path = Path(target)
    if path.is_file():
        return path.resolve().as_uri()
    message = (
        f"“{target}” is neither the URL of a page, such as http://localhost:8080, nor a file, "
        "nor a debugging port such as 9222."
    )
    raise AttachError(message)


def find_browser() -> str:
    found = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    found = found or next((path for path in _MAC if Path(path).exists()), None)
    if found is None:
        message = (
            "There is no Chromium or Chrome on the path. Install one (on Debian: apt install "
            "chromium), or start a browser with --remote-debugging-port=9222 and its own "
            "--user-data-dir, and attach to 9222."
        )
        raise ProgramStartError(message, ExitCode.NOT_FOUND)
    return found


def _started(*, headless: bool) -> tuple[subprocess.Popen[bytes], CdpTransport, Path]:
    """Start a browser with a profile of its own, which only this user can reach."""
    if sys.platform == "win32":
        message = (
            "On Windows, start the browser with --remote-debugging-port and attach to the port."
        )
        raise AttachError(message)
    displays = "DISPLAY", "WAYLAND_DISPLAY"
    if sys.platform == "linux" and not headless and not any(map(os.environ.get, displays)):
        message = (
            "The browser cannot open a window, because neither DISPLAY nor WAYLAND_DISPLAY is set. "
            "Set one, or add --headless."
        )
        raise ProgramStartError(message, ExitCode.NO_DISPLAY)
    path = find_browser()
    profile = Path(tempfile.mkdtemp(prefix="timeline-inspector-"))
    command = [path, *_OPTIONS, f"--user-data-dir={profile}"]
    if headless:
        command.append("--headless=new")
    if os.geteuid() == 0:
        # Without this, Chromium does not start for root.
        command.append("--no-sandbox")
    its_input, our_output = os.pipe()
    our_input, its_output = os.pipe()
    arguments = [str(profile), str(its_input), str(its_output)]
    try:
        process = subprocess.Popen(  # noqa: S603 - a browser, with options written above
            [sys.executable, "-ISc", _RUN, *arguments, *command, "about:blank"],
            pass_fds=(its_input, its_output),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        os.close(our_input)
        os.close(our_output)
        shutil.rmtree(profile, ignore_errors=True)
        message = f"{path} could not be started: {error.strerror}."
        raise ProgramStartError(message, ExitCode.NOT_EXECUTABLE) from None
    finally:
        os.close(its_input)
        os.close(its_output)
    return process, PipeTransport(our_input, our_output), profile
