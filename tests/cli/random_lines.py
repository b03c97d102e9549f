"""Command lines that no user would write: any options of any command, with any values."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.cli import main as cli

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

#: Waits for time to pass, which is not what is tried here.
_LEFT_OUT = frozenset({"--real-time", "--help", "--version"})
#: A large number is legal, and takes its time.
_LENGTHS = frozenset({"--frames", "--seconds", "--dt"})
_SENSIBLE_LENGTHS = ("5", "0.5", "1/60", "250ms", "00:01")

# Nobody can write to any of the folders and devices among them.
_ABSURD = (
    "",
    " ",
    "0",
    "-0",
    "-1",
    "-1e9",
    "+1",
    "nan",
    "-inf",
    "1e300",
    "1e-300",
    "1e999999999",
    "-1e-999999999",
    "1/0",
    "1/1e9",
    "1" * 5_000,
    "9223372036854775808",
    "0x10",
    "1_000",
    "1,5",
    "½",
    "٣",
    "é\u2028\x1b[31m",
    "\udcff",
    "'",
    '"',
    ":",
    "x",
    "720x",
    "x405",
    "1e9x1e9",
    "5:3",
    ":-1",
    "a=b=c",
    "=,repeat=1e9",
    "1,repeat=-1",
    "1ns",
    "frame 99999999999999999999",
    "+99999999999 timers",
    "pause",
    "pause root",
    "rate root 1e999999999",
    "scale x 1",
    "member:99999999999999999999",
    "../" * 50 + "proc",
    "~nobody/x",
    "/dev/zero",
    "/dev/null",
    "/proc",
    ".",
    "-",
    "--",
    "x" * 5_000,
    "file://x",
    "%s%n{0}{x.__class__}",
)
_SENSIBLE = (
    "1",
    "3",
    "0.5",
    "60",
    "root",
    "tick",
    "500ms",
    "1/3",
    "720x405",
    "good.csv",
    "good.tlrec",
    "good.json",
    "good.py",
    "good.csv:interval_ns",
    "out.svg",
    "out.csv",
    "out.json",
    "out.tlrec",
    "missing.csv",
    "folder",
    "all",
    "1:5",
    "variable:7",
)
#: Values for a scene or a file.
_PAST = ("4", "minimal", "good.py", "good.tlrec", "good.csv", "good.json")


def make_files(folder: Path) -> None:
    """Put what sensible values name into an empty folder, which is the current one."""
    (folder / "folder").mkdir()
    (folder / "good.py").write_text(
        "def build(stage):\n    stage.root.set_interval(0.25, lambda: None, name='tick')\n"
    )
    line = "run good.py --frames 20 --export good.csv --export good.json --record good.tlrec"
    assert cli.main([*line.split(), "--quiet"]) == 0


def random_line(random: Random) -> list[str]:
    """Return the arguments of a command line."""
    commands = _commands()
    if random.random() < 1 / 50:
        return [_value(random, "") for _ in range(random.randint(0, 3))]
    name = random.choice(sorted(commands))
    line = [name]
    actions = [each for each in commands[name]._actions if _may_be_tried(each)]
    for action in actions:
        if not action.option_strings and random.random() < 0.97:
            line += _values(random, action)
    if name == "run" and random.random() < 0.9:
        line += [random.choice(["--frames", "--seconds"]), random.choice(_SENSIBLE_LENGTHS)]
    options = [each for each in actions if each.option_strings]
    for action in random.sample(options, min(len(options), random.choice([0, 1, 1, 2, 2, 3, 5]))):
        line += [random.choice(action.option_strings), *_values(random, action)]
    return line


def _commands() -> dict[str, argparse.ArgumentParser]:
    (choice,) = (
        action
        for action in cli.build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return dict(choice.choices)


def _may_be_tried(action: argparse.Action) -> bool:
    return _LEFT_OUT.isdisjoint(action.option_strings)


def _values(random: Random, action: argparse.Action) -> Iterator[str]:
    if action.nargs == 0:
        return
    count = action.nargs if isinstance(action.nargs, int) else 1
    for _ in range(count):
        if action.choices is not None and random.random() < 0.9:
            yield str(random.choice(list(action.choices)))
        elif not action.option_strings and random.random() < 0.8:
            yield random.choice(_PAST)
        else:
            yield _value(random, action.option_strings[0] if action.option_strings else "")


def _value(random: Random, option: str) -> str:
    sensible: Sequence[str] = _SENSIBLE_LENGTHS if option in _LENGTHS else _SENSIBLE
    absurd = [each for each in _ABSURD if option != "--dt" or each != "1ns"]
    return random.choice(sensible if random.random() < 1 / 2 else absurd)
