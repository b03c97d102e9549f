"""What the probe costs and needs in a program that nobody looks at."""

from __future__ import annotations

import subprocess
import sys

import pytest

from inspector.probe.adapters import ADAPTERS
from tests.interpreters import VERSIONS, interpreter
from tests.probe.receiver import LOADER, PROJECT

PROBE = PROJECT / "inspector" / "probe"

_EVERYTHING = (
    LOADER
    + """
import importlib, pathlib
for path in sorted(pathlib.Path(timeline_probe.__file__).parent.glob("*.py")):
    if path.stem != "__init__":
        importlib.import_module("timeline_probe." + path.stem)
import os
library = os.path.dirname(os.__file__)
for module in list(sys.modules.values()):
    file = getattr(module, "__file__", None)
    if file and not file.startswith((library, timeline_probe.__path__[0])):
        print(module)
"""
)

#: What takes as long to import as the whole probe.
_HEAVY = (
    *("ast", "asyncio", "base64", "dataclasses", "datetime", "decimal", "email", "fractions"),
    *("hashlib", "http", "inspect", "linecache", "logging", "multiprocessing", "pathlib", "pickle"),
    *("random", "sqlite3", "ssl", "subprocess", "tempfile", "traceback", "urllib", "uuid"),
)
#: From 3.13 on, ``-c`` imports linecache by itself.
_IMPORTED = f"""import sys
before = set(sys.modules)
{LOADER}
import timeline_probe.starting
print([name for name in {_HEAVY} if name in sys.modules and name not in before])
"""

#: Counts what is read of the program while hooks of asyncio run that nobody listens to.
_READS = (
    LOADER
    + """
import asyncio, collections
from timeline_probe.program import Program
from timeline_probe.adapters.asyncio import AsyncioAdapter

class Counting(Program):
    reads = None
    def __getattribute__(self, name):
        counts = Program.reads
        if counts is not None:
            counts[name] += 1
        return super().__getattribute__(name)

Program.reads = None
program = Counting("counted")
adapter = AsyncioAdapter(program)
adapter.installed(asyncio.base_events)
adapter.state = "active"
program.adapters["asyncio"] = adapter

def reads(call):
    Program.reads = counts = collections.Counter()
    try:
        call()
    finally:
        Program.reads = None
    return dict(counts)

async def main():
    loop = asyncio.get_running_loop()
    program.attach(lambda event: None, lambda events: None)
    followed = loop.call_later(1000, print)
    program.detach()
    native = asyncio.TimerHandle(0, print, (), loop)
    print(type(followed) is not type(native))
    print(reads(lambda: loop.call_later(1000, print)))
    print(reads(followed.cancel))
    print(reads(lambda: followed._run()))
    print(reads(lambda: loop._selector.select(0)))
    print(reads(loop.time))

asyncio.run(main())
"""
)

_TIME_READS = (
    LOADER
    + """
import time
from timeline_probe.program import Program
from timeline_probe.adapters.python_time import PythonTimeAdapter

natives = dict(vars(time))
adapter = PythonTimeAdapter(Program("counted"))
adapter.installed(time)
for name in ("monotonic", "time_ns", "perf_counter"):
    found = getattr(time, name)
    print(name, found is not natives[name], found.func is natives[name])
"""
)


def run(code: str, python: str = sys.executable) -> str:
    done = subprocess.run(
        [python, "-I", "-S", "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("version", VERSIONS)
def test_that_the_probe_needs_the_standard_library_only(version: str) -> None:
    assert run(_EVERYTHING, interpreter(version)) == ""


@pytest.mark.parametrize("version", VERSIONS)
def test_that_the_probe_imports_nothing_that_takes_long(version: str) -> None:
    assert run(_IMPORTED, interpreter(version)) == "[]\n"


def test_that_every_hook_of_asyncio_is_one_attribute_test_while_nobody_is_attached() -> None:
    is_followed, *reads = run(_READS).splitlines()

    assert is_followed == "True"
    assert reads[:4] == ["{'emit': 1}"] * 4
    # Time has been the clock's since the inspector was there.
    assert reads[4:] == ["{}"]


def test_that_every_reading_of_time_is_the_machines_own_while_nothing_has_changed() -> None:
    for line in run(_TIME_READS).splitlines():
        assert line.endswith(" True True"), line


def test_that_every_adapter_is_listed_once() -> None:
    files = {path.stem for path in (PROBE / "adapters").glob("*.py")} - {
        "__init__",
        "asyncio_cost",
        "asyncio_handles",
        "asyncio_names",
        "loop",
        "trio_uvloop_sleeps",
    }

    assert {entry.place.removeprefix(".") for entry in ADAPTERS} == files
    assert len({entry.name for entry in ADAPTERS}) == len(ADAPTERS)
