"""A mail server that nobody wrote for the inspector, ``python -m aiosmtpd``, under load."""

from __future__ import annotations

import os
import smtplib
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from inspector.events.recording import open_recording
from inspector.probe.kinds import RATE_DENOMINATOR, TIMER_ADDED, TIMER_CLEARED
from tests.probe.receiver import PATIENCE_S, PROJECT, TOKEN, Receiver, inlet
from tests.probe.test_asyncio import own_clock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    find_spec("aiosmtpd") is None, reason="aiosmtpd is not installed: pip install --group adapters"
)
D = RATE_DENOMINATOR
#: A connection that says nothing is closed by the server after five minutes.
TIMEOUT = "SMTP._timeout_cb"
CLIENTS = 20


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


class Load:
    """Clients that greet the server again and again, each on its own connection."""

    def __init__(self, port: int) -> None:
        self.answers = 0
        self._port = port
        self._is_over = False
        self._threads = [threading.Thread(target=self._talk) for _ in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def _talk(self) -> None:
        client = smtplib.SMTP("127.0.0.1", self._port, timeout=PATIENCE_S)
        client.ehlo("here")
        while not self._is_over:
            client.noop()
            self.answers += 1
            time.sleep(0.005)
        client.close()

    def end(self) -> None:
        self._is_over = True
        for thread in self._threads:
            thread.join()


def server_command(port: int) -> list[str]:
    command = [sys.executable, "-m", "aiosmtpd", "-n", "-c", "aiosmtpd.handlers.Sink"]
    return [*command, "-l", f"127.0.0.1:{port}"]


@contextmanager
def mail_server() -> Iterator[tuple[Receiver, Load]]:
    port = free_port()
    bootstrap = PROJECT / "inspector" / "probe" / "bootstrap"
    with inlet() as opened:
        environment = {
            **os.environ,
            "PYTHONPATH": str(bootstrap),
            "TIMELINE_PROBE_CONNECT": opened.address,
            "TIMELINE_PROBE_TOKEN": TOKEN,
        }
        with subprocess.Popen(server_command(port), env=environment) as server:
            receiver = opened.accepted()
            try:
                receiver.wait_for(lambda: is_open(port))
                load = Load(port)
                try:
                    yield receiver, load
                finally:
                    load.end()
            finally:
                receiver.close()
                server.kill()


def is_open(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def pending(receiver: Receiver) -> int:
    names = receiver.timer_names()
    return sum(names[number] == TIMEOUT for number in receiver.timeline().timers.ids())


def answered(receiver: Receiver, load: Load, seconds: float) -> int:
    before = load.answers
    receiver.listen(seconds)
    return load.answers - before


def test_that_its_timeouts_are_seen_held_while_it_answers_slowed_and_stepped() -> None:
    with mail_server() as (receiver, load):
        receiver.wait_for(lambda: pending(receiver) >= CLIENTS)
        assert receiver.hello["name"] == "aiosmtpd"
        top, loop = own_clock(receiver), receiver.clocks()["asyncio loop"]
        sites = {receiver.texts[a] for _, kind, _, a, _ in receiver.events if kind == 17}
        assert any("smtp.py" in site for site in sites)
        rearmed = [event for event in receiver.events if event[1] in (TIMER_ADDED, TIMER_CLEARED)]
        assert len(rearmed) > CLIENTS

        # Held: no timeout comes nearer, and every client is answered.
        receiver.ask("Clock.pause", clock=top, cause=1)
        receiver.listen(0.2)
        before_ns = receiver.timeline().local_ns(loop)
        assert answered(receiver, load, 0.5) > CLIENTS
        assert receiver.timeline().local_ns(loop) == before_ns

        # Stepped by a minute: the clock stands a minute later, all but at once.
        receiver.ask("Clock.rate", clock=loop, rate_n=1000 * D, cause=2)
        receiver.ask("Program.step", local_ns=60_000_000, cause=3)
        receiver.wait_until_held()
        receiver.listen(0.2)
        assert receiver.timeline().local_ns(loop) - before_ns == 60 * 10**9
        assert answered(receiver, load, 0.2) > 0

        # Slowed: a second is a quarter of one.
        receiver.ask("Clock.rate", clock=loop, rate_n=D // 4, cause=4)
        receiver.ask("Clock.resume", clock=top, cause=5)
        receiver.listen(0.3)
        timeline = receiver.timeline()
        assert timeline.effective_rate(loop) * 4 == 1
        assert answered(receiver, load, 0.3) > 0
        receiver.ask("Link.release")
        assert answered(receiver, load, 0.3) > 0


def test_that_silent_clients_are_put_off_when_time_is_quick() -> None:
    with mail_server() as (receiver, load):
        receiver.wait_for(lambda: pending(receiver) >= CLIENTS)
        load.end()
        with socket.create_connection(("127.0.0.1", load._port)) as silent:
            silent.recv(1000)
            receiver.ask("Clock.rate", clock=own_clock(receiver), rate_n=1000 * D)

            silent.settimeout(PATIENCE_S)
            assert silent.recv(1000) == b""
        receiver.wait_for(lambda: receiver.firings()[TIMEOUT] >= 1)


def test_that_it_is_recorded_from_the_command_line(tmp_path: Path) -> None:
    port, file = free_port(), tmp_path / "server.tlrec"
    watch = [sys.executable, "-m", "inspector", "attach", "--seconds", "4", "--quiet"]
    with subprocess.Popen(
        [*watch, "--record", str(file), "--", *server_command(port)], cwd=PROJECT
    ) as command:
        until = time.monotonic() + PATIENCE_S
        while not is_open(port) and time.monotonic() < until:
            time.sleep(0.05)
        load = Load(port)
        time.sleep(0.5)
        load.end()
        assert command.wait(PATIENCE_S) == 0

    recording = open_recording(file)
    timeline = recording.state_before(recording.end)
    names = {clock.name for clock in timeline.clocks.values()}
    events = recording.events(0, recording.end)
    labels = {recording.strings[b] for _, kind, _, _, b in events if kind == TIMER_ADDED}
    recording.close()
    assert {"aiosmtpd", "asyncio loop"} <= names
    assert TIMEOUT in labels
    assert load.answers > CLIENTS
