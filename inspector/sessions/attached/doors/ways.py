"""The ways into programs that options name, both on the command line and in remote requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from inspector.errors import AttachError
from inspector.sessions.attached.doors.browser import Browser
from inspector.sessions.attached.doors.door import Door
from inspector.sessions.attached.doors.hosts.host import OnHost, hosts_named, on_hosts
from inspector.sessions.attached.doors.launch import Grant, Launch
from inspector.sessions.attached.doors.listener import PageListener
from inspector.sessions.attached.doors.listening import Dial, Listen
from inspector.sessions.attached.doors.programs import door_of_process


@dataclass(frozen=True, slots=True)
class Way:
    """One way, or none; the help of the command ``attach`` explains the options."""

    launch: Launch  # What to launch, here or on each host; without words, nothing
    pid: int = 0
    ssh: tuple[str, ...] = ()
    exec: tuple[str, ...] = ()
    dial: str = ""
    token: str = ""  # The token that a listening program demands
    listen: Literal["", "unix", "tcp"] = ""
    browser: str = ""
    headless: bool = False
    listen_websocket: int | None = None
    origin: tuple[str, ...] = ()
    hold: bool = False  # Whether a page is held before its first frame
    grant: Grant = "full"

    @property
    def count(self) -> int:
        """How many ways are named; hosts are not counted, as they only say where."""
        ways = (self.launch.argv, self.pid, self.dial, self.listen, self.browser)
        return sum(map(bool, ways)) + (self.listen_websocket is not None)

    def door(
        self, on_note: Callable[[str], object], on_listening: Callable[[str, str], None]
    ) -> Door | None:
        """Return the door, ``None`` if no way is named."""
        if self.dial:
            return Dial(self.dial, self.token)
        if self.listen:
            return Listen(on_listening, is_tcp=self.listen == "tcp")
        if self.browser:
            return Browser(self.browser, self.hold, self.grant, headless=self.headless)
        if self.listen_websocket is not None:
            return PageListener(self.listen_websocket, self.origin)
        return self._door_of_program(on_note)

    def _door_of_program(self, on_note: Callable[[str], object]) -> Door | None:
        hosts = hosts_named(self.ssh, self.exec)
        if len(hosts) > 1 and not self.launch.argv:
            message = "Name one host, or a program to be launched on each."
            raise AttachError(message)
        if self.pid and hosts:
            return OnHost(hosts[0], pid=self.pid, grant=self.grant, on_note=on_note)
        if self.pid:
            return door_of_process(self.pid, self.grant)
        if not self.launch.argv:
            return None
        launch = replace(self.launch, on_note=on_note)
        elsewhere = on_hosts(self.ssh, self.exec, launch, on_note)
        if elsewhere is None:
            # Raises here if there is no such program, before a window opens.
            launch.program()
        return elsewhere or launch
