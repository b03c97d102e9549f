"""What completes the command line in shells."""

import shutil
import subprocess
from pathlib import Path

import pytest

from inspector.cli.commands import COMMANDS
from inspector.exit_codes import ExitCode
from tests.cli.answers import Run

#: Prints what bash offers for the words after its own name.
_ASK_BASH = """
source completion
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
call=$(complete -p timeline-inspector)
call=${call##*-F }
${call%% *}
echo "${COMPREPLY[*]}"
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_that_the_completion_of_each_shell_knows_every_command(run: Run, shell: str) -> None:
    code, out, err = run(f"completion {shell}")

    assert (code, err) == (ExitCode.OK, "")
    for entry in COMMANDS.own:
        assert entry.name in out
    assert "frame-times" in out


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("re",), "replay"),
        (("run", "--rec"), "--record"),
        (("run", "my_sc"), "my_scene.py"),
        (("run", "1", "--theme", "d"), "dark"),
        (("export", "run.csv", "--as", "ht"), "html"),
    ],
)
def test_that_bash_completes_commands_options_choices_and_files(
    run: Run, tmp_path: Path, words: tuple[str, ...], offered: str
) -> None:
    (tmp_path / "completion").write_text(run("completion bash")[1], encoding="utf-8")
    (tmp_path / "my_scene.py").touch()

    done = subprocess.run(
        [shutil.which("bash") or "", "-c", _ASK_BASH, "bash", "timeline-inspector", *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )

    assert done.stdout.split() == [offered]
