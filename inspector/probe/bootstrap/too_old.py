"""Tells the inspector of a Python on which the probe cannot run; in the syntax of Python 2.7."""

import json
import os
import socket
import struct
import sys


def report_unable():  # type: () -> None  # noqa: ANN201 - the syntax of then
    """Say what this process is, and that it goes on without a probe."""
    scheme, _, path = os.environ["TIMELINE_PROBE_CONNECT"].partition(":")
    host, _, port = path.rpartition(":")
    is_unix = scheme == "unix"
    sock = socket.socket(socket.AF_UNIX if is_unix else socket.AF_INET)
    version = ".".join(map(str, sys.version_info[:2]))
    params = {
        "protocol": 1,
        "role": "probe",
        "token": os.environ.get("TIMELINE_PROBE_TOKEN", ""),
        "pid": os.getpid(),
        "parent_pid": os.getppid(),
        "name": os.path.basename(sys.executable),
        "unable": "it runs on Python " + version + ", and the probe needs 3.9 or newer",
    }
    message = json.dumps({"id": 0, "method": "Link.hello", "params": params}).encode("ascii")
    try:
        sock.settimeout(2.0)
        sock.connect(path if is_unix else (host, int(port)))
        sock.sendall(struct.pack("<IB", len(message) + 1, ord("J")) + message)
        sock.recv(1)
    finally:
        sock.close()
