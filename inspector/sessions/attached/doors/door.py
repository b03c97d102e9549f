"""The interface of doors: values, shared by window and command line, for ways into a program."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from inspector.sessions.attached.connections import ProbeConnection


class ProbeAcceptor(Protocol):
    """The session's end of the connections, as doors see it."""

    @property
    def address(self) -> str:
        """The address that a probe dials, such as ``unix:/run/user/1000/…/socket``."""

    @property
    def tcp_address(self) -> str:
        """An address on loopback TCP, for programs that reach no Unix socket."""

    @property
    def token(self) -> str:
        """The token that a probe has to send first, in hexadecimal digits."""

    def processes(self) -> Collection[int]: ...

    def dial(self, address: str, token: str) -> None:
        """Connect to a program that listens; an :class:`AttachError` if that fails."""

    def adopt(self, connection: ProbeConnection, *, dials: bool, token: str = "") -> None:
        """Take over an open connection; with ``dials``, this side speaks first, with a token.

        Raises:
            AttachError: There is no probe at the other end, or it is refused.
        """


class Opened(Protocol):
    """A program that was started or attached to; its probe may not have dialled yet."""

    @property
    def title(self) -> str: ...

    @property
    def pid(self) -> int | None:
        """Its process, ``None`` if unknown."""

    def poll(self) -> int | None:
        """Return the exit code, as in shells, of a launched program that has ended."""

    def problem(self) -> str:
        """Return a sentence that says why no probe has dialled; empty while one still may."""

    def may_bring_more(self) -> bool:
        """Return whether programs may dial after the last one has ended, as reloaded pages do."""

    @property
    def note(self) -> str:
        """A sentence that people should know; empty for none."""

    def end(self) -> None:
        """End a launched program with all that it has started; leave any other program alone."""


class Door(Protocol):
    """A way into a program; implementations are frozen values."""

    @property
    def title(self) -> str:
        """What it leads to, for titles and the list of recent programs."""

    def open(self, acceptor: ProbeAcceptor) -> Opened:
        """Start the program or attach to it; may take seconds.

        Raises:
            AttachError: It is not possible; the message says why, and what to do.
        """
