"""The command ``serve``: its socket or pipes, its clients, and how long a slow one may take."""

from __future__ import annotations

import os
import socket
import stat
import struct
import threading
from argparse import Namespace
from contextlib import closing, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TextIO

from inspector.cli.terminal import write_json, write_notes
from inspector.errors import ArgumentError
from inspector.exit_codes import ExitCode
from inspector.remote.methods import schema
from inspector.remote.request_handler import RequestHandler, lines_of

#: Importing these modules declares the methods.
for _module in ("questions", "changes"):
    import_module(f"inspector.remote.{_module}")


def serve(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Answer requests until the input ends, or until Ctrl+C."""
    if options.schema:
        write_json(out, schema())
        return ExitCode.OK
    with closing(RequestHandler(options.grant, tuple(options.program))) as handler:
        if options.unix is not None:
            _serve_unix(handler, options.unix, err)
        else:
            _serve_stdio(handler)
    return ExitCode.OK


def own_streams() -> tuple[int, int]:
    """Return the standard input and output, after replacing them for all other code.

    Other reads get no data, and other output goes to standard error.
    """
    read, write = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return read, write


def _serve_stdio(handler: RequestHandler) -> None:
    read, write = own_streams()

    def send(line: bytes) -> None:
        while line:
            line = line[os.write(write, line) :]

    client = handler.connect(send)
    for line in lines_of(partial(os.read, read)):
        handler.handle(client, line)
    handler.leave(client)


def _serve_unix(handler: RequestHandler, path: Path, err: TextIO) -> None:
    if not hasattr(socket, "AF_UNIX"):
        raise ArgumentError("This system has no Unix sockets. Use --stdio.")
    _remove_left_over(path)
    listener = socket.socket(socket.AF_UNIX)
    former = os.umask(0o177)
    try:
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        raise ArgumentError(f"Argument --unix: {path}: {error.strerror or error}.") from None
    finally:
        os.umask(former)
    try:
        with closing(listener):
            listener.listen()
            write_notes(err, f"Listening at {path}; Ctrl+C ends it.")
            err.flush()
            while True:
                connected, _ = listener.accept()
                name = "remote: client"
                threading.Thread(
                    target=_talk, args=(handler, connected), name=name, daemon=True
                ).start()
    finally:
        path.unlink(missing_ok=True)


def _remove_left_over(path: Path) -> None:
    """Remove a socket at which nothing listens."""
    with suppress(OSError):
        if stat.S_ISSOCK(path.lstat().st_mode) and not _listens(path):
            path.unlink()


def _listens(path: Path) -> bool:
    with closing(socket.socket(socket.AF_UNIX)) as trial:
        return trial.connect_ex(str(path)) == 0


def _talk(handler: RequestHandler, connected: socket.socket) -> None:
    # Sending has a time limit, so that a client that does not read cannot block the others.
    connected.settimeout(None)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _FIVE_SECONDS)
    client = handler.connect(connected.sendall)
    with closing(connected):
        with suppress(OSError):
            for line in lines_of(connected.recv):
                handler.handle(client, line)
        handler.leave(client)


#: A struct timeval: seconds and microseconds.
_FIVE_SECONDS = struct.pack("ll", 5, 0)
