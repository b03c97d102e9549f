"""The reports of a test, which workers of pytest-xdist send in one message.

They are six messages otherwise, written and read by xdist in Python: a third of a millisecond for
each of the tests.
"""

from __future__ import annotations

import marshal
from typing import Any, Final

import pytest

_KEPT: Final = ("logstart", "testreport", "logfinish")
_LAST: Final = "runtest_protocol_complete"


def pack_reports(config: pytest.Config) -> None:
    """Have a worker send what it tells of a test once the test is over."""
    plugins: set[Any] = config.pluginmanager.get_plugins()
    worker = next(each for each in plugins if hasattr(each, "sendevent"))
    send, kept = worker.sendevent, []

    def keep(name: str, **values: object) -> None:
        if name in _KEPT:
            kept.append((name, values))
        elif name == _LAST:
            worker.channel.send(marshal.dumps([*kept, (name, values)]))
            kept.clear()
        else:
            send(name, **values)

    worker.sendevent = keep


def unpack_reports(node: Any) -> None:  # noqa: ANN401 - a class of xdist, which has no types
    """Have the process that prints the reports of a worker read such messages."""
    process = node.process_from_remote

    def unpack(told: object) -> None:
        for each in marshal.loads(told) if isinstance(told, bytes) else [told]:  # noqa: S302
            process(each)

    node.process_from_remote = unpack
