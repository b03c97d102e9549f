"""What the core paths of the clocks execute: bytecodes and machine instructions.

Neither varies from run to run or with the load of the machine. Bytecodes need no tool but do not
see what an attribute access or a call costs; instructions do, and need valgrind or perf.

Run as a script, it takes the package beside ``--root``, which may be an older commit, so it uses
only what all commits have.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.clocks import Clock, ManualTimeSource

_FRAME_NS = 16_666_667

#: Bytecodes to run for a count of instructions; a counted run is some 50 times slower.
_BYTECODES = 100_000

#: Operations that are not counted: caches fill, and Python specialises its bytecodes.
_FIRST = 100


class Sink:
    """Takes events and forgets them."""

    def append(self, event: tuple[int, ...]) -> None:
        """Do nothing."""

    def intern(self, text: str) -> int:  # noqa: ARG002 - the interface
        """Number no text."""
        return 0


def _nothing() -> None: ...


def _ground(sink: Sink | None = None, depth: int = 1) -> tuple[ManualTimeSource, Clock]:
    from inspector.clocks import ClockTree, ManualTimeSource, Transport

    tree, source = ClockTree(sink), ManualTimeSource()
    Transport(tree, source, max_delta_ns=10**18).run()
    clock = tree.root
    for level in range(depth):
        clock = clock.child(f"level {level}")
    return source, clock


def _set_timeout() -> Callable[[], object]:
    _, clock = _ground()
    return lambda: clock.set_timeout(1.5, _nothing)


def _set_and_clear() -> Callable[[], object]:
    _, clock = _ground()
    for delay_ns in range(_FIRST):
        clock.set_timeout_ns(10**9 + delay_ns, _nothing)
    return lambda: clock.clear(clock.set_timeout_ns(10**9, _nothing))


def _fire(sink: Sink | None = None) -> Callable[[], object]:
    """Set a hundred one-shots, then call them all in one frame."""
    source, clock = _ground(sink)

    def work() -> None:
        for delay_ns in range(100):
            clock.set_timeout_ns(delay_ns + 1, _nothing)
        source.advance_ns(_FRAME_NS)

    return work


def _repeat() -> Callable[[], object]:
    """Call a hundred repeating timers in one frame."""
    source, clock = _ground()
    for _ in range(100):
        clock.set_interval_ns(_FRAME_NS, _nothing)
    return partial(source.advance_ns, _FRAME_NS)


def _repeat_within_a_frame() -> Callable[[], object]:
    source, clock = _ground()
    clock.set_interval_ns(1_000_000, _nothing)
    return partial(source.advance_ns, 10_000_000)


def _call_once_in_a_frame() -> Callable[[], object]:
    source, clock = _ground(depth=3)
    clock.set_interval_ns(_FRAME_NS, _nothing)
    return partial(source.advance_ns, _FRAME_NS)


def _idle_frame() -> Callable[[], object]:
    source, clock = _ground(depth=3)
    clock.set_timeout_ns(10**17, _nothing)
    return partial(source.advance_ns, _FRAME_NS)


def _read_again() -> Callable[[], object]:
    _, clock = _ground(depth=3)
    return lambda: clock.time_ns


def _read_after_a_frame() -> Callable[[], object]:
    source, clock = _ground(depth=3)

    def work() -> None:
        source.advance_ns(_FRAME_NS)
        clock.time_ns  # noqa: B018 - reading it is what is counted

    return work


def _pause_and_resume() -> Callable[[], object]:
    _, clock = _ground(depth=2)
    clock.set_timeout_ns(10**17, _nothing)

    def work() -> None:
        clock.pause()
        clock.resume()

    return work


#: Prepare a path; what they return is one operation.
PATHS: dict[str, Callable[[], Callable[[], object]]] = {
    "set_timeout": _set_timeout,
    "set and clear": _set_and_clear,
    "set and fire 100": _fire,
    "set and fire 100, recorded": lambda: _fire(Sink()),
    "repeat 100": _repeat,
    "repeat 10 within a frame": _repeat_within_a_frame,
    "call once in a frame": _call_once_in_a_frame,
    "idle frame": _idle_frame,
    "read again": _read_again,
    "read after a frame": _read_after_a_frame,
    "pause and resume": _pause_and_resume,
}


def count_bytecodes(name: str) -> int:
    """Return how many bytecodes of the inspector one operation of a path executes."""
    work = PATHS[name]()
    for _ in range(_FIRST):
        work()
    # From 3.12 on, a trace function is not told of the bytecodes of calls that have begun.
    return _monitored(work) if sys.version_info >= (3, 12) else _traced(work)


def _is_ours(code: CodeType) -> bool:
    return f"{os.sep}inspector{os.sep}" in code.co_filename


def _traced(work: Callable[[], object]) -> int:
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:  # noqa: ANN401 - the interface
        nonlocal count
        if event == "call":
            if not _is_ours(frame.f_code):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def _monitored(work: Callable[[], object]) -> int:
    monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 - unknown to 3.11's type checker
    count, tool, event = 0, monitoring.PROFILER_ID, monitoring.events.INSTRUCTION

    def executed(code: CodeType, _: int) -> None:
        nonlocal count
        count += _is_ours(code)

    monitoring.use_tool_id(tool, __name__)
    try:
        monitoring.register_callback(tool, event, executed)
        monitoring.set_events(tool, event)
        work()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    return count


def instruction_counter() -> list[str] | None:
    """Return the command that counts the instructions of a program, ``None`` without any."""
    if shutil.which("valgrind"):
        return ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    if shutil.which("perf"):
        return ["perf", "stat", "-x,", "-e", "instructions:u"]
    return None


def count_instructions(name: str, root: Path) -> int | None:
    """Return the machine instructions of one operation; ``None`` if ``root`` lacks the path.

    Start and imports cancel out: it is the difference of two runs.

    Raises:
        RuntimeError: There is neither valgrind nor perf.
    """
    counter = instruction_counter()
    if counter is None:
        raise RuntimeError("counting instructions needs valgrind or perf (Linux)")
    # Without the counter: compiled files are written once.
    if _ran(name, root, 1, []).returncode:
        return None
    operations = max(10, _BYTECODES // count_bytecodes(name))
    few, many = (
        instructions_in(_ran(name, root, times * operations, counter).stderr) for times in (1, 3)
    )
    return round((many - few) / (2 * operations))


def _ran(
    name: str, root: Path, operations: int, counter: list[str]
) -> subprocess.CompletedProcess[str]:
    command = [*counter, sys.executable, "-s", "-P", __file__, name]
    command += ["--root", str(root), "--operations", str(operations)]
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    return subprocess.run(
        command, env=environment, cwd=root, capture_output=True, text=True, check=False
    )


def instructions_in(report: str) -> int:
    """Return the number of instructions that valgrind or perf has reported."""
    found = re.search(r"Collected : (\d+)", report) or re.search(r"^(\d+),", report, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"no number of instructions in: {report.strip()[-500:]}")
    return int(found[1])


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", choices=PATHS)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--operations", type=int, default=1)
    options = parser.parse_args()
    sys.path.insert(0, str(options.root))
    if options.path is None:
        for name in PATHS:
            print(f"{name}: {count_bytecodes(name)}")
        return
    work = PATHS[options.path]()
    for _ in range(options.operations):
        work()


if __name__ == "__main__":
    _main()
