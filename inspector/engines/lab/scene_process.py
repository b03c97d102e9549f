"""A scene in the refresh-rate lab, run in a separate process.

The process can be ended whatever the scene does, even if loading it never returns, and shares
nothing with the scene that is open. It reads from standard input what to run, and writes its
progress and then the results to standard output; what the scene prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Generator, Iterable
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Any, BinaryIO, Final

from inspector.engines.lab.display import Display
from inspector.engines.lab.scene import SceneLabRun, run_scene_lab
from inspector.errors import InspectorError

#: How long a step waits for news of the process, in seconds.
_WAIT_S: Final = 0.003
#: The shortest time between two progress reports, in seconds.
_REPORT_EVERY_S: Final = 0.05
#: A folder on the path may contain another ``inspector``, so ours comes first for its import.
_BEGIN: Final = (
    "import pickle, sys; ours, path = pickle.load(sys.stdin.buffer); sys.path[:] = [ours, *path]; "
    "from inspector.engines.lab.scene_process import serve; sys.path[:] = path; serve()"
)
_OURS: Final = str(Path(__file__).resolve().parents[3])

#: Share that is done, the results, or a problem as a sentence; ``None`` at the end of the output.
_News = float | SceneLabRun | str | None


def begin_scene_process(
    path: Path, displays: Iterable[Display]
) -> Generator[float | None, None, SceneLabRun]:
    """Run a scene under displays in a separate process, in short steps.

    Yields the share that is done, from 0 to 1, or ``None`` while there is nothing new.
    Closing the generator ends the process.
    """
    process = _started((str(path.absolute()), tuple(displays)))
    news: SimpleQueue[_News] = SimpleQueue()
    assert process.stdout is not None
    reader = Thread(target=_read, args=(process.stdout, news), daemon=True)
    reader.start()
    try:
        while True:
            try:
                received = news.get(timeout=_WAIT_S)
            except Empty:
                yield None
                continue
            match received:
                case SceneLabRun():
                    return received
                case str():
                    raise InspectorError(received)
                case None:
                    code = process.wait()
                    message = f"{path.name} ended the process it ran in (exit code {code})."
                    raise InspectorError(message)
                case _:
                    yield received
    finally:
        with contextlib.suppress(OSError):
            process.kill()
            assert process.stdin is not None
            process.stdin.close()
        process.wait()
        reader.join()
        process.stdout.close()


def _started(what: object) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(  # noqa: S603 - this very Python
        [sys.executable, "-P", "-c", _BEGIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    # If it has ended already, the end of its output shows that.
    with contextlib.suppress(OSError):
        # With the same path, so that the scene imports the same modules as in this process.
        pickle.dump((_OURS, sys.path), process.stdin)
        pickle.dump(what, process.stdin)
        process.stdin.flush()
    return process


def _read(stream: BinaryIO, news: SimpleQueue[_News]) -> None:
    while True:
        try:
            news.put(pickle.load(stream))  # noqa: S301 - from the process that was begun here
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            news.put(None)
            return


def serve() -> None:
    """Run the request on standard input; called in the separate process."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    what: tuple[str, tuple[Display, ...]] = pickle.load(sys.stdin.buffer)  # noqa: S301
    Thread(target=_end_with_parent, daemon=True).start()
    reported_s = 0.0

    def send(news: _News) -> None:
        pickle.dump(news, answers)
        answers.flush()

    def progress(done: float) -> None:
        nonlocal reported_s
        if perf_counter() - reported_s >= _REPORT_EVERY_S:
            reported_s = perf_counter()
            send(done)

    path, displays = what
    try:
        answer: Any = run_scene_lab(Path(path), displays, progress)
    except InspectorError as error:
        answer = str(error)
    with contextlib.suppress(BrokenPipeError):
        send(answer)


def _end_with_parent() -> None:
    # Not through ``sys.stdin``, which holds a lock while it waits.
    os.read(0, 1)
    os._exit(0)
