"""What completes the command line in shells."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from inspector.cli.commands import COMMANDS
from inspector.exit_codes import ExitCode
from tests.cli.answers import Run

#: What a shell reads when it starts in a terminal, and what it does first.
_SHELLS: Final = {
    "bash": (".bashrc", ""),
    "zsh": (".zshrc", "autoload -U compinit; compinit -u"),
}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_that_the_completion_of_each_shell_knows_every_command(run: Run, shell: str) -> None:
    code, out, err = run(f"completion {shell}")

    assert (code, err) == (ExitCode.OK, "")
    for entry in COMMANDS.own:
        assert entry.name in out
    assert "frame-times" in out


#: The last of the words is completed to the only one that is offered.
_OFFERS: Final = [
    (("re",), "replay"),
    (("my_sc",), "my_scene.py"),
    (("run", "--rec"), "--record"),
    (("run", "my_sc"), "my_scene.py"),
    (("run", "1", "--theme", "d"), "dark"),
    (("export", "run.csv", "--as", "ht"), "html"),
    (("compare", "run.csv", "my_sc"), "my_scene.py"),
    (("attach", "--rate", "1/4", "python3", "my_sc"), "my_scene.py"),
    (("attach", "--", "a-prog"), "a-program"),
]


@pytest.fixture(params=["bash", "zsh", "fish"])
def shell(request: pytest.FixtureRequest, run: Run, tmp_path: Path) -> str:
    """A shell, whose completion is in the folder, beside a scene and a program on the path."""
    if not shutil.which(request.param):
        pytest.skip(f"needs {request.param}")
    (tmp_path / "completion").write_text(run(f"completion {request.param}")[1], encoding="utf-8")
    (tmp_path / "my_scene.py").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "a-program").touch(mode=0o755)
    return str(request.param)


def test_that_shells_complete_commands_options_choices_programs_and_files(
    shell: str, tmp_path: Path
) -> None:
    environ = {
        **os.environ,
        "HOME": str(tmp_path),
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }
    typed = [f"timeline-inspector {' '.join(words)}" for words, _ in _OFFERS]
    ask = _ask_fish if shell == "fish" else _ask_in_terminal
    completed = [[*words[:-1], offered] for words, offered in _OFFERS]
    assert ask(shell, typed, tmp_path, environ) == completed


def _ask_fish(
    shell: str, lines: list[str], folder: Path, environ: dict[str, str]
) -> list[list[str]]:
    ask = "source completion; for line in $argv; echo asked; complete -C $line; end"
    done = subprocess.run(
        [shell, "-c", ask, *lines],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env=environ,
    )
    offers = [
        [line.split("\t")[0] for line in each.splitlines()]
        for each in done.stdout.split("asked\n")[1:]
    ]
    return [[*typed.split()[1:-1], *offered] for typed, offered in zip(lines, offers, strict=True)]


def _ask_in_terminal(
    shell: str, lines: list[str], folder: Path, environ: dict[str, str]
) -> list[list[str]]:
    """Type lines, each with Tab and Enter, and return what the command is given."""
    import pty  # noqa: PLC0415 - not on every system

    start, settings = _SHELLS[shell]
    (folder / start).write_text(
        f"{settings}\nsource ./completion\nPS1=\n"
        'timeline-inspector() { printf "given:%s\\n" "$*"; }\n',
        encoding="utf-8",
    )
    try:
        terminal, inside = pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminals here: {error}")
    process = subprocess.Popen(
        [shell, "-i"],
        stdin=inside,
        stdout=inside,
        stderr=inside,
        cwd=folder,
        env={**environ, "TERM": "dumb"},
        start_new_session=True,
    )
    os.close(inside)
    given = []
    try:
        for typed in lines:
            os.write(terminal, f"{typed}\t\r".encode())
            shown = b""
            while b"\n" not in shown.partition(b"given:")[2]:
                shown += os.read(terminal, 4096)
            given.append(shown.decode().split("given:")[1].splitlines()[0].split())
    finally:
        os.close(terminal)
        process.wait()
    return given
