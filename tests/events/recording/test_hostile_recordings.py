"""Recordings that are damaged at random or made to do harm: a sentence, never a traceback."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import pytest

from inspector.cli import main as cli
from inspector.events.recording import RecordingError, open_recording
from tests.events.recording.damaged_recordings import damage, whole_recording
from tests.fuzz import rounds

NUMBERS = rounds(12)
#: No command takes longer for a file of 300 kB, in seconds of processor time.
LIMIT_S = 20
LIMIT_KB = 400_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")


@pytest.fixture(scope="module")
def whole(folder: Path) -> bytes:
    return whole_recording(folder).read_bytes()


class _EndlessError(BaseException):
    """Something never ends."""


@contextmanager
def limited() -> Iterator[None]:
    """Fail what takes too long, of the processor's time, or too much memory."""

    resource = pytest.importorskip("resource")

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise _EndlessError

    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    former = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    assert grown_kb < LIMIT_KB


def clear(folder: Path, *kept: str) -> None:
    """Remove what a check has left: an export of absurd numbers may be gigabytes."""
    for file in folder.iterdir():
        if not file.name.startswith(("scene.py", "whole.tlrec", *kept)):
            file.unlink()


def command_lines(path: Path, number: int) -> list[list[str]]:
    """Return what is asked of a recording: all of one kind, and some more that take turns."""
    folder, file = path.parent, str(path)
    scene = ["--scene", str(folder / "scene.py")]
    takes_turns = [
        ["explain", file, "swings", "--at", "1", "--json"],
        ["explain", file, "--preview", "pause 1", "--at", "1"],
        ["lint", file, "--json"],
        ["export", file, "-o", str(folder / "frames.csv")],
        ["export", file, "-o", str(folder / "frames.json")],
        ["export", file, "-o", str(folder / "frames.timeline.svg")],
        ["annotate", file, "--json"],
        ["annotate", file, "--remove", "1"],
    ]
    return [
        ["replay", file, *scene, "--verify"],
        ["explain", file, "never"],
        ["lint", file],
        ["export", file, "-o", str(folder / "frames.svg")],
        ["export", file, *scene, "--as", "pytest", "-o", str(folder / "test_it.py")],
        ["annotate", file],
        takes_turns[number % len(takes_turns)],
        ["annotate", file, "--at", "1", "--name", "here"],
    ]


def test_that_no_command_stumbles_over_a_damaged_recording(
    whole: bytes, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "damaged.tlrec"
    for number in NUMBERS:
        what = damage(whole, path, number)
        for line in command_lines(path, number):
            try:
                with limited():
                    code = cli.main(line)
            except BaseException as error:
                message = f"{line[0]} of recording {number} ({what})"
                raise AssertionError(message) from error
            said = capsys.readouterr()
            assert code in {0, 1, 2, 6, 8, 9}, (number, what, line)
            assert "Traceback" not in said.err, (number, what, line)
            assert len(said.err) < 10_000, (number, what, line)
            clear(folder, path.name)
        clear(folder)


def test_that_every_state_of_a_damaged_recording_can_be_asked_for(
    whole: bytes, folder: Path
) -> None:
    path = folder / "damaged.tlrec"
    for number in NUMBERS:
        what = damage(whole, path, number)
        try:
            with limited():
                _go_through(path)
        except BaseException as error:
            message = f"recording {number} ({what})"
            raise AssertionError(message) from error
        clear(folder)


def _go_through(path: Path) -> None:
    try:
        past = open_recording(path)
    except RecordingError as error:
        assert str(error).endswith(".")  # noqa: PT017 - it need not be raised
        return
    try:
        for at_ns in (0, past.last_ns // 3, past.last_ns):
            state = past.state_at(at_ns)
            state.resolve_dues()
            for clock in state.clocks:
                state.local_ns(clock)
                assert clock in state.branch(clock)
            for timer in list(state.timers.ids()):
                state.timers.row(timer)
                state.session_due_ns(timer)
            for member in state.members.by_id:
                assert state.members.path(member)
        for frame in (-1, 0, 60, past.pictures.frames[1], 2**62):
            with suppress(ValueError):
                past.pictures.at(frame)
        assert all(event[0] >= 0 for event in past.events(past.first, past.end))
        assert all(isinstance(note, str) for note in past.notes)
    finally:
        past.close()
