"""The far end of a line in this process: its streams are in memory, its relay is a socket."""

from __future__ import annotations

import json
import socket
import sys
import threading
import zipfile
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.sessions.attached.doors.hosts import end_of_line
from inspector.sessions.attached.doors.hosts.end_of_line import MARK

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no Unix sockets")


class _Out(BytesIO):
    """A stream that remembers what was flushed."""

    flushed = b""

    def flush(self) -> None:
        self.flushed = self.getvalue()


@pytest.fixture
def out() -> _Out:
    return _Out()


def _play(
    monkeypatch: pytest.MonkeyPatch,
    out: _Out,
    said: bytes = b"",
    version: tuple[int, ...] = (3, 12, 1, 4),
) -> BytesIO:
    given = BytesIO(said)
    streams = [SimpleNamespace(buffer=each) for each in (given, out)]
    played = SimpleNamespace(
        stdin=streams[0], stdout=streams[1], version_info=version, executable="python"
    )
    monkeypatch.setattr(end_of_line, "sys", played)
    return given


def _told(out: _Out) -> tuple[dict[str, Any], bytes]:
    assert out.flushed == out.getvalue()
    begin, mark, rest = out.flushed.partition(MARK)
    assert (begin, mark) == (b"", MARK)
    line, _, more = rest.partition(b"\n")
    return json.loads(line), more


@pytest.mark.parametrize(("version", "is_old"), [((3, 8, 20), True), ((3, 9), False)])
def test_that_a_python_that_is_too_old_says_so(
    monkeypatch: pytest.MonkeyPatch, out: _Out, version: tuple[int, ...], *, is_old: bool
) -> None:
    _play(monkeypatch, out, b'{"folder": "/nowhere"}\n', version)
    end_of_line.serve_line()
    about, _ = _told(out)
    expected = f"python3 is {'.'.join(map(str, version))} there, and 3.9 or newer is needed"
    assert (about["error"] == expected) is is_old


@pytest.mark.parametrize("is_first", [True, False])
def test_that_it_copies_between_its_streams_and_the_relay(
    monkeypatch: pytest.MonkeyPatch, out: _Out, *, is_first: bool
) -> None:
    about: dict[str, object] = {"folder": "" if is_first else "/f"}
    if is_first:
        about |= {"settings": {"argv": []}, "bytes": 9}
    _play(monkeypatch, out, json.dumps(about).encode() + b"\nto the relay")
    ours, theirs = socket.socketpair()
    asked: list[object] = []

    def started(settings: object, length: int) -> str:
        asked.append((settings, length))
        return "/f"

    def connected(folder: str, patience_s: float) -> socket.socket:
        asked.append((folder, patience_s))
        return ours

    monkeypatch.setattr(end_of_line, "_started", started)
    monkeypatch.setattr(end_of_line, "_connected", connected)
    with ours, theirs:
        theirs.sendall(b"from the relay")
        serving = threading.Thread(target=end_of_line.serve_line)
        serving.start()
        heard = b""
        while data := theirs.recv(100):
            heard += data
        serving.join(30)
        assert not serving.is_alive()
    told, more = _told(out)
    assert told == {"folder": "/f", "python": "3.12.1", "host": socket.gethostname()}
    assert (more, heard) == (b"from the relay", b"to the relay")
    assert asked == ([({"argv": []}, 9)] if is_first else []) + [("/f", 10.0 if is_first else 0)]


def test_that_the_reason_of_the_relay_is_told_and_its_folder_removed(
    monkeypatch: pytest.MonkeyPatch, out: _Out, tmp_path: Path
) -> None:
    folder = tmp_path / "relay"
    folder.mkdir()
    (folder / "problem").write_bytes(b"Traceback\n\nOSError: \xffit is full\n")
    for _ in range(2):
        _play(monkeypatch, out, json.dumps({"folder": str(folder)}).encode() + b"\n")
        end_of_line.serve_line()
    first, rest = _told(out)
    assert first == {"error": "OSError: �it is full"}
    assert b"No such file" in rest
    assert not folder.exists()


def test_that_what_is_no_archive_is_told(monkeypatch: pytest.MonkeyPatch, out: _Out) -> None:
    about = {"folder": "", "settings": {}, "bytes": 4}
    _play(monkeypatch, out, json.dumps(about).encode() + b"\nnone")
    end_of_line.serve_line()
    assert "zip" in _told(out)[0]["error"]


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_that_the_relay_is_started_in_a_folder_with_a_short_path(
    monkeypatch: pytest.MonkeyPatch, out: _Out, tmp_path: Path, more: int
) -> None:
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("inspector/relay.py", "it")
    data = archive.getvalue()
    given = _play(monkeypatch, out, data + b"later")
    usual, short = tmp_path / "usual", tmp_path / "short"
    monkeypatch.setattr(end_of_line, "_MOST_OF_FOLDER", len(str(usual)) - more)

    def mkdtemp(*, prefix: str, dir: str = "") -> str:  # noqa: A002 - of tempfile
        assert prefix == "timeline-inspector-"
        assert dir in {"", "/tmp"}  # noqa: S108 - as the far end does
        folder = short if dir else usual
        folder.mkdir()
        return str(folder)

    begun: list[tuple[list[str], dict[str, Any]]] = []
    settings = _Out()

    class Pipe(BytesIO):
        def close(self) -> None:
            settings.write(self.getvalue())
            super().close()

    def start(command: list[str], **options: Any) -> SimpleNamespace:  # noqa: ANN401 - of Popen
        begun.append((command, options))
        options["stderr"].write(b"words")
        return SimpleNamespace(stdin=Pipe())

    monkeypatch.setattr(end_of_line, "tempfile", SimpleNamespace(mkdtemp=mkdtemp))
    monkeypatch.setattr(end_of_line, "subprocess", SimpleNamespace(Popen=start, PIPE=-1))
    found = Path(end_of_line._started({"argv": ["x"]}, len(data)))
    assert found == (short if more > 0 else usual)
    assert usual.exists() is (more <= 0)
    assert (found / "inspector/relay.py").read_text() == "it"
    assert (found / "problem").read_text() == "words"
    assert settings.getvalue() == b'{"argv": ["x"]}'
    ((command, options),) = begun
    assert command == ["python", "-I", "-S", "-c", end_of_line._RELAY, str(found)]
    assert options["start_new_session"]
    assert given.read() == b"later"


@pytest.mark.parametrize(
    ("patience_s", "tries", "is_there"), [(0.0, 1, False), (0.03, 4, False), (0.03, 3, True)]
)
def test_that_a_relay_that_begins_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, patience_s: float, tries: int, *, is_there: bool
) -> None:
    slept: list[float] = []
    made: list[Any] = []

    class Relay:
        is_closed = False

        def __init__(self, family: int) -> None:
            assert family == socket.AF_UNIX
            made.append(self)

        def connect(self, path: str) -> None:
            assert path == "/f/line"
            if not (is_there and len(made) == tries):
                raise FileNotFoundError

        def close(self) -> None:
            self.is_closed = True

    played = SimpleNamespace(socket=Relay, AF_UNIX=socket.AF_UNIX)
    monkeypatch.setattr(end_of_line, "socket", played)
    monkeypatch.setattr(end_of_line, "sleep", slept.append)
    monkeypatch.setattr(end_of_line, "monotonic", lambda: round(5 + sum(slept), 3))
    if is_there:
        assert end_of_line._connected("/f", patience_s) is made[-1]
    else:
        with pytest.raises(FileNotFoundError):
            end_of_line._connected("/f", patience_s)
    assert [each.is_closed for each in made] == [True] * (tries - is_there) + [False] * is_there
    assert slept == [0.01] * (tries - 1)
