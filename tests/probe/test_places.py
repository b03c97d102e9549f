"""The folders of programs that can be attached."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from inspector.probe import places
from inspector.probe.places import ListeningPlace


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_that_the_folder_is_that_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/temporary")
    monkeypatch.setattr(os, "getuid", lambda: 7)
    found = []
    for runtime in (str(tmp_path), str(tmp_path / "none"), ""):
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        found.append(places.folder())
    monkeypatch.delattr(os, "getuid")
    monkeypatch.setenv("USERNAME", "me")
    found.append(places.folder())
    monkeypatch.delenv("USERNAME")
    found.append(places.folder())

    assert found == [
        tmp_path / "timeline-inspector",
        Path("/temporary/timeline-inspector-7"),
        Path("/temporary/timeline-inspector-7"),
        Path("/temporary/timeline-inspector-me"),
        Path("/temporary/timeline-inspector-user"),
    ]


@pytest.mark.parametrize("rights", [0o710, 0o701, 0o704, 0o740])
def test_that_a_folder_is_no_users_own_that_others_may_do_anything_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rights: int
) -> None:
    own = places.own_folder(tmp_path / "own")
    assert own == tmp_path / "own"
    assert mode(own) == 0o700
    # It may be there.
    places.own_folder(own)
    own.chmod(rights)
    with pytest.raises(PermissionError, match="this user only"):
        places.own_folder(own)
    own.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: own.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="this user only"):
        places.own_folder(own)
    # A system without such users.
    monkeypatch.delattr(os, "getuid")
    own.chmod(rights)
    places.own_folder(own)


def test_that_a_place_is_made_anew_and_removed_by_who_has_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = tmp_path / "timeline-inspector" / str(os.getpid())
    place = ListeningPlace.made()
    assert place.address == f"unix:{folder / 'socket'}"
    place.write_token("secret")
    assert (folder / "token").read_text() == "secret"
    assert mode(folder / "token") == 0o600
    (folder / "socket").touch()
    # What an earlier program with this number has left.
    again = ListeningPlace.made()
    assert list(folder.iterdir()) == []
    again.write_token("other")
    own = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: own + 1)
    again.remove()
    assert (folder / "token").exists()
    monkeypatch.setattr(os, "getpid", lambda: own)
    (folder / "more").touch()
    again.remove()
    assert [each.name for each in folder.iterdir()] == ["more"]
    (folder / "more").unlink()
    again.remove()
    assert not folder.exists()
