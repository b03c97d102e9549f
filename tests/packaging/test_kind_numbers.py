"""The number of an event kind is known to few files: readers ask the schema, or name a method."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from inspector.vocabulary import EventKind

ROOT = Path(__file__).parents[2]
#: The vocabulary, the schema, what reports it for scenes and for programs, and two readers.
MOST_FILES = 6
#: Runs inside other programs and imports nothing of ours, so it has a list of its own.
OF_ITS_OWN = ROOT / "inspector" / "probe"


def kinds_known_to(path: Path) -> set[str]:
    """Return the kinds of events whose numbers a file defines, imports or takes from the enum."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    enums = {"EventKind", "vocabulary", "kinds"}
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=int())):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int())):
                names.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=others)], value=ast.Tuple(elts=values)):
                pairs = zip(map(ast.unparse, others), map(ast.unparse, values), strict=True)
                enums |= {other for other, value in pairs if value in enums}
    for part in ast.walk(tree):
        if isinstance(part, ast.ImportFrom) and (part.module or "").split(".")[-1] in enums:
            names |= {alias.name for alias in part.names}
        elif isinstance(part, ast.Attribute) and ast.unparse(part.value) in enums:
            names.add(part.attr)
    return names & EventKind.__members__.keys()


def test_that_the_number_of_a_kind_is_known_to_few_files() -> None:
    files = defaultdict(list)
    for folder in ("inspector", "ui"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for kind in kinds_known_to(path) if OF_ITS_OWN not in path.parents else ():
                files[kind].append(str(path.relative_to(ROOT)))
    assert set(files) == set(EventKind.__members__)
    assert {kind: found for kind, found in files.items() if len(found) > MOST_FILES} == {}
    assert "inspector/events/schema.py" in files["TIMER_FIRED"]
    assert "inspector/clocks/tree.py" in files["TIMER_FIRED"]
