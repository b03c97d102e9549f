"""Pages in a browser without a window, through its debugger."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import override

from inspector.commands.clocks import SetRate
from inspector.commands.transport import Hold, Run, StepFrames
from inspector.errors import AttachError, ProgramStartError
from inspector.sessions.attached.doors import browser
from inspector.sessions.attached.doors.browser import (
    Browser,
    OpenedBrowser,
    find_browser,
    page_url,
)
from inspector.sessions.attached.doors.cdp import CdpError, reported_targets
from inspector.sessions.attached.doors.listener import OpenedListener, PageListener
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.session import SessionPhase
from inspector.vocabulary import FRAME_BEGAN, FRAME_ENDED, TIMER_FIRED
from tests.javascript import chromium, npm_file
from tests.probe.receiver import PROJECT
from tests.sessions.attached.settling import attached, events, labels, pass_s, record, settle

_DRAWING = """\
<!doctype html><title>Drawing</title><script>
function draw() { requestAnimationFrame(draw); }
draw();
setInterval(function tick() {}, 100);
</script>
"""


class _Quiet(SimpleHTTPRequestHandler):
    @override
    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


_KILLED = """
import os, signal, sys
from inspector.sessions.attached.doors import browser
browser.find_browser = lambda: sys.argv[1]
print(browser._started(headless=True)[2], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_that_no_profile_is_left_of_an_inspector_that_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "browser"
    # Ends with the one who speaks to it.
    program.write_text('#!/bin/sh\necho > "${7#*=}/state"\nexec cat <&3\n')
    program.chmod(0o755)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", _KILLED, str(program)]
    done = subprocess.run(
        command, env=environment, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=False
    )
    profile = Path(done.stdout.strip())
    assert profile.parent == tmp_path
    end_s = time.monotonic() + 30
    while profile.exists():
        assert time.monotonic() < end_s
        time.sleep(0.005)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    chromium()
    path = tmp_path / "page.html"
    path.write_text(_DRAWING)
    return path


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttachedSession]:
    """Yield a session with a page in a browser of its own."""
    chromium()
    path = tmp_path_factory.mktemp("drawing") / "page.html"
    path.write_text(_DRAWING)
    with attached(Browser(str(path), headless=True)) as session:
        settle(session, session.own_clocks)
        yield session


def show(session: AttachedSession, url: str) -> None:
    """Show another page in the browser of a session."""
    opened = session._opened
    assert isinstance(opened, OpenedBrowser)
    assert opened.pages is not None
    former = {clock for _, clock in session.own_clocks()}
    opened.pages.navigate(url)
    settle(session, lambda: former.isdisjoint(clock for _, clock in session.own_clocks()))


def local_ms(session: AttachedSession, clock: int) -> float:
    return session.timeline.local_ns(clock) / 1e6


def test_that_a_page_is_seen_held_stepped_and_slowed(drawing: AttachedSession, page: Path) -> None:
    session, before = drawing, len(events(drawing, FRAME_ENDED))
    show(session, page.as_uri())
    settle(session, lambda: len(events(session, FRAME_ENDED)) > before + 10)
    settle(session, lambda: "tick" in labels(session) and events(session, TIMER_FIRED))
    (clock,) = [clock for _, clock in session.own_clocks()]

    session.submit(Hold())
    settle(session, lambda: session.status.phase is SessionPhase.HELD)
    pass_s(session, 0.2)
    held, held_ms = len(events(session, FRAME_ENDED)), local_ms(session, clock)
    pass_s(session, 0.3)
    assert len(events(session, FRAME_ENDED)) == held

    began_s = time.monotonic()
    session.submit(StepFrames(3))
    settle(session, lambda: len(events(session, FRAME_ENDED)) == held + 3)
    settle(session, lambda: session.status.phase is SessionPhase.HELD)
    stepped_ms = (time.monotonic() - began_s) * 1e3
    pass_s(session, 0.3)
    assert len(events(session, FRAME_ENDED)) == held + 3
    assert 45 < local_ms(session, clock) - held_ms < stepped_ms

    session.submit(SetRate(clock, Fraction(1, 4)))
    session.submit(Run())
    settle(session, lambda: len(events(session, FRAME_ENDED)) > held + 20)
    frames = events(session, FRAME_BEGAN)[-10:]
    passed_ns = frames[-1][0] - frames[0][0]
    assert sum(frame[4] for frame in frames[1:]) < passed_ns / 2


def test_that_a_page_that_is_loaded_again_is_followed_again(
    drawing: AttachedSession, page: Path
) -> None:
    session, before = drawing, len(drawing.programs)
    again = "<script>setTimeout(() => { location.href = '?again'; }, 500);</script>"
    page.write_text(_DRAWING + again)
    show(session, page.as_uri())
    settle(session, lambda: len(session.programs) == before + 3)
    settle(session, lambda: session.status.phase is SessionPhase.RUNNING)
    assert len(session.own_clocks()) == 1


def test_that_frames_of_a_page_and_its_workers_are_programs_of_their_own(
    drawing: AttachedSession, tmp_path: Path
) -> None:
    session, before = drawing, set(drawing.programs)
    (tmp_path / "worker.js").write_text("setInterval(function inWorker() {}, 50);")
    (tmp_path / "inner.html").write_text("<script>setInterval(function inFrame() {}, 50);</script>")
    with served(tmp_path) as ours, served(tmp_path) as other:
        (tmp_path / "page.html").write_text(
            "<script>new Worker('worker.js'); setInterval(function outer() {}, 50);</script>"
            f"<iframe src=inner.html></iframe><iframe src={other.replace('127.0.0.1', 'localhost')}"
            "/inner.html></iframe>"
        )
        show(session, f"{ours}/page.html")
        settle(session, lambda: len(session.own_clocks()) == 4)
        settle(session, lambda: {"outer", "inFrame", "inWorker"} <= labels(session))
        assert session.source_label.count("(page, debugger of the browser)") == 4
        programs = [each for key, each in session.programs.items() if key not in before]
        (top,) = [each for each in programs if each.parent_pid == 0]
        assert {each.parent_pid for each in programs if each is not top} == {top.pid}
        # Tests that follow do without what these pages cost.
        show(session, "about:blank")


def test_that_pages_of_a_running_browser_are_entered_late(page: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    with subprocess.Popen(
        [
            chromium(),
            "--headless=new",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            page.as_uri(),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as browser:
        try:
            port = _port(profile / "DevToolsActivePort", "Drawing")
            with attached(Browser(f"127.0.0.1:{port}")) as session:
                settle(session, lambda: len(events(session, FRAME_ENDED)) > 5)
                (program,) = [each for each in session.programs.values() if each.name == "Drawing"]
                assert "attached late" in program.adapters[0].message
                # What was set before cannot be seen, and it says so.
                assert "tick" not in labels(session)
            # Another inspector finds the probe there.
            with attached(Browser(str(port))) as session:
                settle(session, lambda: len(events(session, FRAME_ENDED)) > 5)
            assert browser.poll() is None
        finally:
            browser.terminate()
            browser.wait(10)


def _port(path: Path, title: str) -> int:
    """Wait for a page; return the debugging port of its browser."""
    end_s = time.monotonic() + 30
    while time.monotonic() < end_s:
        if path.exists() and (lines := path.read_text().splitlines()):
            with suppress(CdpError):
                if title in str(reported_targets(port := int(lines[0]), "/json/list")):
                    return port
        time.sleep(0.02)
    pytest.fail("the browser opens no debugging port")


def test_that_a_page_may_dial_by_itself(page: Path, tmp_path: Path) -> None:
    with attached(PageListener()) as session:
        settle(session, lambda: session._opened is not None)
        opened = session._opened
        assert isinstance(opened, OpenedListener)
        script = opened.note.partition(": ")[2]
        page.write_text(script + _DRAWING)
        with (
            served(tmp_path) as url,
            subprocess.Popen(
                [
                    chromium(),
                    "--headless=new",
                    *(["--no-sandbox"] if os.geteuid() == 0 else []),
                    f"--user-data-dir={tmp_path / 'profile'}",
                    f"{url}/page.html",
                ],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as browser,
        ):
            settle(session, lambda: len(events(session, FRAME_ENDED)) > 5)
            assert "tick" in labels(session)
            browser.terminate()
            browser.wait(10)
        opened.end()


# ------------------------------------------------------------------------- engines

_ENGINES = """\
<!doctype html><title>Engines</title>
<script src="phaser.js"></script><script src="pixi.js"></script><script src="gsap.js"></script>
<div id="box">box</div><script>
const passed = { Phaser: 0, PixiJS: 0, GSAP: 0 };
class Level extends Phaser.Scene {
  create() {
    this.ball = this.add.circle(20, 0, 20, 0xff8800);
    this.tweens.add({ targets: this.ball, y: 30, duration: 2000, repeat: -1, yoyo: true });
    const tell = () => { passed.Phaser = this.time.now; };
    this.time.addEvent({ delay: 20, loop: true, callback: tell });
  }
}
const audio = { noAudio: true };
new Phaser.Game({ type: Phaser.CANVAS, width: 40, height: 30, scene: Level, audio });

const ticker = new PIXI.Ticker();
ticker.add(() => { passed.PixiJS += ticker.deltaMS; });
ticker.start();

const began = Date.now();
gsap.ticker.add(() => { passed.GSAP = Date.now() - began; });
gsap.to("#box", { x: 100, duration: 0.3, repeat: -1, yoyo: true, onRepeat() {} });
(function beat() { gsap.delayedCall(0.2, beat); })();

setInterval(() => { document.title = Object.values(passed).map(Math.round).join(" "); }, 20);
</script>
"""


@pytest.mark.slow
def test_that_engines_follow_the_clock_of_their_page(tmp_path: Path) -> None:
    chromium()
    for package, path in (("phaser", "phaser.js"), ("pixi.js", "pixi.js"), ("gsap", "gsap.js")):
        shutil.copy(npm_file(package, f"dist/{path}"), tmp_path)
    page = tmp_path / "game.html"
    page.write_text(_ENGINES)

    with attached(Browser(str(page), headless=True)) as session:
        settle(session, lambda: len(events(session, FRAME_ENDED)) > 10)
        (program,) = session.programs.values()
        found = {"Chrome", "Phaser", "PixiJS", "GSAP"}
        settle(session, lambda: {each.library for each in program.adapters} == found)
        (clock,) = [clock for _, clock in session.own_clocks()]
        settle(session, lambda: {"default.tell", "#box.onRepeat", "beat"} <= labels(session))

        def games_ms() -> list[int]:
            """Return the times of Phaser, PixiJS and GSAP."""
            times = [int(each) for each in program.clocks[clock].title.split() if each.isdecimal()]
            return times if len(times) == 3 else [0, 0, 0]

        settle(session, lambda: all(games_ms()))

        def told_ms() -> tuple[list[int], float]:
            """Return the times of the games and of their clock when they are told the next time."""
            before_ms = games_ms()
            settle(session, lambda: all(map(int.__ne__, games_ms(), before_ms)))
            return games_ms(), local_ms(session, clock)

        session.submit(SetRate(clock, Fraction(1, 4)))
        told_ms()
        before_ms, began_ms = told_ms()
        settle(session, lambda: local_ms(session, clock) > began_ms + 400)
        after_ms, ended_ms = told_ms()
        passed_ms = [after - before for after, before in zip(after_ms, before_ms, strict=True)]
        assert passed_ms == pytest.approx([ended_ms - began_ms] * 3, rel=0.3)

        session.submit(Hold())
        settle(session, lambda: session.status.phase is SessionPhase.HELD)
        # The browser tells titles late.
        pass_s(session, 1)
        held_ms, held = games_ms(), len(events(session, FRAME_ENDED))
        pass_s(session, 0.5)
        assert games_ms() == held_ms
        assert len(events(session, FRAME_ENDED)) == held
        session.submit(StepFrames(2))
        settle(session, lambda: len(events(session, FRAME_ENDED)) == held + 2)
        record(session, tmp_path / "game.tlrec")


# ------------------------------------------------------------------------ refusals


def test_that_a_missing_browser_is_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("inspector.sessions.attached.doors.browser._MAC", ())
    with pytest.raises(ProgramStartError, match="apt install chromium"):
        find_browser()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is a display")
def test_that_a_missing_display_is_said_with_what_to_do(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    door: Any = Browser(str(page))
    with pytest.raises(ProgramStartError, match="Set one, or add --headless"):
        door.open(None)


def test_that_only_pages_are_opened(tmp_path: Path) -> None:
    assert page_url("http://localhost:8080/") == "http://localhost:8080/"
    (tmp_path / "a b.html").write_text("")
    assert page_url(str(tmp_path / "a b.html")) == f"file://{tmp_path}/a%20b.html"
    for target in ("game.py", "javascript:alert(1)", "--remote-debugging-port=1", ""):
        with pytest.raises(AttachError, match="neither the URL of a page"):
            page_url(target)


def test_that_a_port_where_no_debugger_listens_is_said(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        port = url.rpartition(":")[2]
        with pytest.raises(AttachError, match="--remote-debugging-port"):
            Browser(port).open(None)  # type: ignore[arg-type] # not asked for
    with pytest.raises(AttachError, match="--remote-debugging-port"):
        Browser(f"localhost:{port}").open(None)  # type: ignore[arg-type] # not asked for


@pytest.mark.parametrize(
    ("target", "title"),
    [
        ("9222", "browser on port 9222"),
        ("http://127.0.0.1:9222", "browser on port 9222"),
        ("http://localhost:8080/game/", "localhost:8080"),
        ("/home/me/game.html", "game.html"),
    ],
)
def test_that_a_door_is_called_as_its_page(target: str, title: str) -> None:
    assert Browser(target).title == title


# ------------------------------------------------------------------- with stand-ins


class _Process:
    pid = 4_711

    def __init__(self, *, ends: bool) -> None:
        self.asked: list[object] = []
        self._ends = ends

    def wait(self, timeout: float | None = None) -> None:
        self.asked.append(timeout)
        if timeout is not None and not self._ends:
            raise subprocess.TimeoutExpired("it", timeout)

    def poll(self) -> int | None:
        return 3 if self._ends else None


@pytest.mark.parametrize("ends", [True, False])
def test_that_a_browser_that_does_not_end_is_killed_with_its_children(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, ends: bool
) -> None:
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "killpg", lambda *given: killed.append(given))
    profile = tmp_path / "profile"
    profile.mkdir()
    process: Any = _Process(ends=ends)
    opened = OpenedBrowser("page", process, profile)
    closed: list[bool] = []
    opened.pages = SimpleNamespace(close=lambda: closed.append(True))  # type: ignore[assignment]
    opened.end()
    assert (opened.pid, opened.poll(), closed) == (4_711, 3 if ends else None, [True])
    assert killed == ([] if ends else [(4_711, signal.SIGKILL)])
    assert process.asked == ([browser._END_S] if ends else [browser._END_S, None])
    assert not profile.exists()


def test_that_a_browser_says_why_no_page_has_joined() -> None:
    opened = OpenedBrowser("page", None, None)
    assert (opened.pid, opened.poll(), opened.problem()) == (None, None, "")
    pages = SimpleNamespace(has_adopted=False, refusal="", close=lambda: None)
    opened.pages = pages  # type: ignore[assignment]
    assert (opened.problem(), opened.may_bring_more()) == ("", True)
    opened._ended("it crashed")
    assert (opened.problem(), opened.may_bring_more()) == ("page has ended: it crashed.", False)
    pages.refusal = "It is refused."
    assert opened.problem() == "It is refused."
    pages.has_adopted = True
    assert opened.problem() == ""
    opened.end()


def test_that_a_browser_that_cannot_be_started_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[int] = []
    pipe = os.pipe

    def pipes() -> tuple[int, int]:
        found = pipe()
        made.extend(found)
        return found

    def start(*_: object, **_more: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(browser, "find_browser", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(os, "pipe", pipes)
    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(ProgramStartError, match="could not be started: Permission denied"):
        browser._started(headless=True)
    assert list(tmp_path.iterdir()) == []
    assert len(made) == 4
    for each in made:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(each)


def test_that_a_browser_that_does_not_show_the_page_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.touch()
    ended: list[bool] = []

    def follow(*_: object) -> None:
        message = "It has no pages."
        raise AttachError(message)

    monkeypatch.setattr(browser, "_started", lambda *, headless: (None, None, headless or None))
    monkeypatch.setattr(OpenedBrowser, "follow", follow)
    monkeypatch.setattr(OpenedBrowser, "end", lambda _self: ended.append(True))
    acceptor: Any = None
    with pytest.raises(AttachError, match="no pages"):
        Browser(str(page)).open(acceptor)
    assert ended == [True]


def test_that_a_browser_is_started_with_a_profile_and_pipes_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def start(command: list[str], **how: object) -> object:
        started.append((command, how))
        return "a process"

    started: list[tuple[list[str], dict[str, object]]] = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(browser, "find_browser", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    for headless, user in ((True, 0), (False, 1_000)):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        process: Any
        process, transport, profile = browser._started(headless=headless)
        command, how = started.pop()
        given, taken = map(int, command[4:6])
        assert command[:4] == [sys.executable, "-ISc", browser._RUN, str(profile)]
        assert command[6:] == [
            "/usr/bin/chromium",
            *browser._OPTIONS,
            f"--user-data-dir={profile}",
            *(["--headless=new", "--no-sandbox"] if headless else []),
            "about:blank",
        ]
        assert (process, profile.parent, how["pass_fds"]) == ("a process", tmp_path, (given, taken))
        assert how["start_new_session"]
        for descriptor in (given, taken):
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(descriptor)
        transport.close()
        # Nothing of it is at the other end any more.
        with pytest.raises(CdpError, match="has ended"):
            transport.receive()
        os.close(transport._reader)  # type: ignore[attr-defined]


def test_that_a_page_is_shown_in_a_new_browser_and_those_of_another_are_entered_late(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def follow(opened: OpenedBrowser, *given: object) -> object:
        did.append((opened.title, opened.pid, *given))
        return SimpleNamespace(navigate=did.append)

    def started(*, headless: bool) -> tuple[Any, Any, Any]:
        did.append(headless)
        return None, "pipes", None

    did: list[object] = []
    monkeypatch.setattr(browser, "_started", started)
    monkeypatch.setattr(browser, "reported_targets", lambda *given: given)
    monkeypatch.setattr(browser, "socket_path", lambda *given: given)
    monkeypatch.setattr(browser, "WebSocketTransport", lambda *given: given)
    monkeypatch.setattr(OpenedBrowser, "follow", follow)
    acceptor: Any = "acceptor"
    page = tmp_path / "page.html"
    page.touch()
    Browser(str(page), hold=True, grant="step", headless=True).open(acceptor)
    how = {"hold": True, "grant": "step"}
    assert did == [True, ("page.html", None, "pipes", acceptor, how), page.as_uri()]
    did.clear()
    Browser(str(page)).open(acceptor)
    assert did[0] is False
    did.clear()
    Browser("[::1]:9222").open(acceptor)
    listed = (9_222, "/json/version")
    how = {"hold": False, "grant": "full", "isLate": True}
    assert did == [("browser on port 9222", None, (9_222, (listed, 9_222)), acceptor, how)]


def test_that_the_first_browser_on_the_path_is_taken_or_one_that_macos_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = {"google-chrome": "/b/chrome", "chromium-browser": "/b/chromium"}
    monkeypatch.setattr(shutil, "which", found.get)
    assert find_browser() == "/b/chromium"
    found.clear()
    monkeypatch.setattr(browser, "_MAC", (str(tmp_path / "none"), str(tmp_path)))
    assert find_browser() == str(tmp_path)


def test_that_a_browser_of_ours_ends_with_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[object] = []
    played = SimpleNamespace(register=kept.append, unregister=kept.remove)
    monkeypatch.setattr(browser, "atexit", played)
    process: Any = _Process(ends=True)
    opened = OpenedBrowser("page", process, None)
    assert kept == [opened.end]
    opened.end()
    assert kept == []
    monkeypatch.setattr(played, "unregister", lambda _end: None)
    OpenedBrowser("page", None, None).end()
    assert kept == []


def test_that_the_pages_of_a_browser_are_followed_and_its_end_is_noted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun: list[object] = []

    class Pages:
        def __init__(self, *given: object) -> None:
            self.given: Any = given

        def begin(self) -> None:
            begun.append(self)

        def close(self) -> None:
            self.given[-1]("it was closed")

    monkeypatch.setattr(browser, "BrowserPages", Pages)
    # Somebody has removed its profile.
    opened = OpenedBrowser("page", None, tmp_path / "none")
    transport: Any = "pipes"
    acceptor: Any = "acceptor"
    pages: Any = opened.follow(transport, acceptor, {"hold": True})
    assert begun == [pages] == [opened.pages]
    assert pages.given[:3] == ("pipes", "acceptor", {"hold": True})
    assert opened.may_bring_more()
    opened.end()
    assert not opened.may_bring_more()
