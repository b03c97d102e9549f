"""A scene in the refresh-rate lab, run in a separate process.

So it can be ended whatever it does, also when it never comes to an end while it is loaded,
and shares nothing with the scene that is open. The process is told on its standard input
what to run, and says on its standard output how far it is, and in the end what came of it;
what the scene itself prints goes to the standard error output.
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
#: A folder on the path may have another ``inspector``, so ours comes first here.
_BEGIN: Final = (
    "import pickle, sys; ours, path = pickle.load(sys.stdin.buffer); sys.path[:] = [ours, *path]; "
    "from inspector.engines.lab.scene_process import serve; sys.path[:] = path; serve()"
)
_OURS: Final = str(Path(__file__).resolve().parents[3])

#: Share that is done, what came of it, or a problem as a sentence; ``None`` at the end.
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
    # One that is gone already says so on its output, which ends.
    with contextlib.suppress(OSError):
        # With the same folders as here, so that the scene finds what it finds here.
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

    def tell(news: _News) -> None:
        pickle.dump(news, answers)
        answers.flush()

    def progress(done: float) -> None:
        nonlocal reported_s
        if perf_counter() - reported_s >= _REPORT_EVERY_S:
            reported_s = perf_counter()
            tell(done)

    path, displays = what
    try:
        answer: Any = run_scene_lab(Path(path), displays, progress)
    except InspectorError as error:
        answer = str(error)
    with contextlib.suppress(BrokenPipeError):
        tell(answer)


def _end_with_parent() -> None:
    # Not by way of a buffered reader, which is locked while it waits.
    os.read(0, 1)
    os._exit(0)
