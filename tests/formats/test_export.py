import errno
import json
import os
import re
import signal
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from inspector.errors import ExportError
from inspector.formats import file_formats
from inspector.formats.atomic_file import replacing
from inspector.formats.export import check_export, export_frames, exporter_for, exporters
from inspector.formats.file_formats import format_for
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions

MakeFrames = Callable[[Sequence[int]], FrameTimes]


def test_that_each_format_has_one_suffix() -> None:
    every = exporters()
    assert len({exporter.suffix for exporter in every}) == len(every)
    endings = {(exporter.key, Path(exporter.suffix).suffix) for exporter in every}
    assert len(endings) == len(every)
    for exporter in every:
        assert format_for(Path(f"run{exporter.suffix.upper()}"), every) is exporter


def test_that_a_chosen_exporter_writes_a_name_that_ends_like_its_own() -> None:
    trace = exporter_for(Path("a.trace.json"))

    assert exporter_for(Path("a.json")).format == "JSON"
    assert exporter_for(Path("a.json"), [trace]) is trace
    assert exporter_for(Path("a.svg"), [trace]).format == "SVG"


@pytest.mark.parametrize("name", ["run.gif", "run", "run.png.bak"])
def test_that_an_unknown_suffix_names_the_known_ones(name: str) -> None:
    first, second, *_, last = (re.escape(each.suffix) for each in exporters())
    with pytest.raises(ExportError, match=rf"Use {first}, {second}, .* or {last}\."):
        exporter_for(Path(name))


@pytest.mark.parametrize("suffix", [".svg", ".csv", ".json"])
def test_that_an_export_leaves_the_file_and_nothing_else(
    make_frames: MakeFrames, provenance: Provenance, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"run{suffix}"
    export_frames(make_frames([1, 2]), provenance, ExportOptions(), path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    first = path.read_bytes()
    export_frames(make_frames([1, 2]), provenance, ExportOptions(), path)
    assert path.read_bytes() == first


@pytest.mark.parametrize("suffix", [".png", ".pdf"])
def test_that_a_signal_waits_until_a_picture_is_drawn(
    make_frames: MakeFrames,
    provenance: Provenance,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
) -> None:
    drawn = []

    def draw(*_values: object, **_more: object) -> None:
        signal.raise_signal(signal.SIGINT)
        drawn.append(suffix)

    writer = SimpleNamespace(write_png=draw, write_pdf=draw)
    monkeypatch.setattr(file_formats, "load_ui", lambda _name: writer)

    with pytest.raises(KeyboardInterrupt):
        export_frames(make_frames([1, 2]), provenance, ExportOptions(), tmp_path / f"run{suffix}")

    assert drawn == [suffix]


def write_half(path: Path, problem: BaseException) -> None:
    with replacing(path) as stream:
        stream.write(b"half of")
        raise problem


def test_that_a_failing_export_leaves_the_former_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("former")
    with pytest.raises(RuntimeError):
        write_half(path, RuntimeError())
    assert path.read_text() == "former"
    assert list(tmp_path.iterdir()) == [path]


def test_that_an_interrupted_export_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_half(tmp_path / "run.csv", KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []


def test_that_a_full_disk_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    with pytest.raises(ExportError, match="disk is full"):
        write_half(path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_that_a_device_is_not_replaced_by_a_file() -> None:
    with pytest.raises(ExportError, match="not a regular file"), replacing(Path("/dev/full")):
        pass
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_that_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"missing does not exist\. Create it"):
        check_export(tmp_path / "missing" / "run.csv")


def test_that_a_folder_is_not_taken_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "run.csv").mkdir()
    with pytest.raises(ExportError, match="is a folder"):
        check_export(tmp_path / "run.csv")
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="is not a folder"):
        check_export(tmp_path / "file" / "run.csv")


def test_that_a_folder_without_permission_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Permissions do not stop the superuser, so the answer is put in here.
    monkeypatch.setattr(os, "access", lambda *_args: False)
    with pytest.raises(ExportError, match=r"is not writable\. Choose another folder"):
        check_export(tmp_path / "run.csv")


def test_that_a_new_file_has_the_usual_permissions_and_a_former_one_keeps_its_own(
    tmp_path: Path,
) -> None:
    former_mask = os.umask(0o022)
    try:
        with replacing(tmp_path / "new.csv") as stream:
            stream.write(b"new")
    finally:
        os.umask(former_mask)
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o644
    (tmp_path / "new.csv").chmod(0o600)
    with replacing(tmp_path / "new.csv") as stream:
        stream.write(b"newer")
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o600


def test_that_a_symbolic_link_goes_on_pointing_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("former")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    with replacing(tmp_path / "link.csv") as stream:
        stream.write(b"new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"


def test_that_a_very_long_name_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 240 + ".csv")
    with replacing(path) as stream:
        stream.write(b"new")
    assert path.read_text() == "new"


def test_that_the_json_of_an_export_is_read_by_others(
    make_frames: MakeFrames, provenance: Provenance, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    export_frames(make_frames([5]), provenance, ExportOptions(), path)
    assert json.loads(path.read_text("utf-8"))["columns"]["interval_ns"] == [5]
