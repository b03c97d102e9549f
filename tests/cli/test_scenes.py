"""``scenes``: listed, and copied to begin with."""

import json
from pathlib import Path

from inspector.exit_codes import ExitCode
from inspector.sessions.scene import built_in_scenes, find_scene
from tests.cli.answers import Run


def test_that_the_scenes_are_listed_with_their_paths(run: Run) -> None:
    code, out, _ = run("scenes")

    assert code == ExitCode.OK
    for scene in built_in_scenes():
        assert scene.title in out
        assert str(scene.path) in out
    listed = json.loads(run("scenes --json")[1])
    assert [Path(scene["path"]) for scene in listed] == [s.path for s in built_in_scenes()]


def test_that_a_scene_is_copied_but_never_over_another(run: Run, tmp_path: Path) -> None:
    assert run("scenes --copy minimal mine.py")[:2] == (ExitCode.OK, "mine.py\n")
    assert (tmp_path / "mine.py").read_bytes() == find_scene("4").read_bytes()

    code, _, err = run("scenes --copy 1 mine.py")

    assert code == ExitCode.FAILED
    assert err == "timeline-inspector: mine.py exists. Choose another name.\n"
    assert run("run mine.py --frames 10 --quiet") == (ExitCode.OK, "", "")
