"""The core paths execute no more than they did."""

from __future__ import annotations

import sys
from typing import Final

import pytest

from tests.benchmarks.core_paths import PATHS, count_bytecodes, instructions_in

#: Bytecodes of one operation in Python 3.11, 3.12 and 3.13, as printed by
#: ``python tests/benchmarks/core_paths.py``. Lower them when a path becomes shorter.
KEPT: Final[dict[str, tuple[int, int, int]]] = {
    "set_timeout": (132, 122, 122),
    "set and clear": (136, 128, 129),
    "set and fire 100": (14198, 13823, 13714),
    "set and fire 100, recorded": (41901, 39226, 38517),
    "repeat 100": (7156, 7106, 7097),
    "repeat 10 within a frame": (3337, 3217, 3217),
    "call once in a frame": (1629, 1557, 1550),
    "idle frame": (113, 106, 108),
    "read again": (15, 15, 15),
    "read after a frame": (315, 305, 296),
    "pause and resume": (744, 685, 683),
}
_VERSIONS: Final = ((3, 11), (3, 12), (3, 13))
_GROWTH: Final = 1.05


@pytest.mark.parametrize("name", PATHS)
def test_that_a_core_path_executes_no_more_bytecodes_than_kept(name: str) -> None:
    version = sys.version_info[:2]
    if version not in _VERSIONS:
        pytest.skip(f"no numbers are kept for Python {version[0]}.{version[1]}: bytecodes differ")

    count = count_bytecodes(name)

    kept = KEPT[name][_VERSIONS.index(version)]
    assert count <= kept * _GROWTH, f"{name}: {count} bytecodes, {kept} kept ({count / kept:.0%})"


def test_that_the_instructions_that_valgrind_and_perf_report_are_read() -> None:
    assert instructions_in("==7== Collected : 201108876\n==7==\n") == 201_108_876
    assert instructions_in("4123,,instructions:u,100,100.00,,\n") == 4_123
    with pytest.raises(RuntimeError, match="no number of instructions in: Killed"):
        instructions_in("Killed")
