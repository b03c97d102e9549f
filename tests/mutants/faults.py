"""Small faults that can be put into a file, one at a time."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

PROJECT: Final = Path(__file__).resolve().parents[2]
_MANY: Final = 10

_OPPOSITES: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One place that is changed.

    Attributes:
        path: The file, below the project.
        start: Where the replaced text begins, in the text of the file.
        end: Where it ends.
        before: The replaced text.
        after: What takes its place.
        lines: Numbers of the lines of its statement, without what is indented below.
        in_function: Whether it is executed by a call, rather than once by an import.
    """

    path: Path
    start: int
    end: int
    before: str
    after: str
    lines: range
    in_function: bool

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.path.as_posix()}:{self.lines[0]}: {before}  →  {after}"

    def put_into(self, text: str) -> str:
        """Return the changed text of the file; lines below keep their numbers."""
        lines = "\n" * (self.before.count("\n") - self.after.count("\n"))
        after = f"{self.after[:-1]}{lines})" if self.after.endswith(")") else self.after + lines
        return text[: self.start] + after + text[self.end :]


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Go through every fault that can be put into a file."""
    text = (PROJECT / path).read_text(encoding="utf-8")
    # Columns of the syntax tree count bytes.
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.decode()))

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1][:column].decode())

    tree = ast.parse(text)
    called = [
        range(node.body[0].lineno, (node.end_lineno or 0) + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    spans: dict[int, range] = {}
    for statement in ast.walk(tree):
        if isinstance(statement, ast.stmt):
            below = getattr(statement, "body", None)
            end_line = below[0].lineno if below else (statement.end_lineno or 0) + 1
            span = range(statement.lineno, max(end_line, statement.lineno + 1))
            spans |= dict.fromkeys(span, span)
    for node, changed in _changes(tree):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = place(node.lineno, node.col_offset)
        end = place(node.end_lineno, node.end_col_offset)
        in_function = any(node.lineno in lines for lines in called)
        yield Mutant(path, start, end, text[start:end], changed, spans[node.lineno], in_function)


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Go through nodes and the texts that may take their places."""
    if _is_without_effect(node):
        return
    if isinstance(node, ast.stmt):
        yield from ((node, changed) for changed in _statements(node))
        if isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Constant):
            yield node.test, f"(not ({ast.unparse(node.test)}))"
    elif isinstance(node, ast.expr):
        yield from ((node, f"({ast.unparse(changed)})") for changed in _expressions(node))
    dead = _branch_for_other_systems(node)
    for name, value in ast.iter_fields(node):
        if name == dead or name in {
            "annotation",
            "returns",
            "decorator_list",
            "type_params",
            "bases",
        }:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes(child)


def _is_without_effect(node: ast.AST) -> bool:  # noqa: PLR0911 - a row of cases
    """Whether nothing can notice a change: texts, and what is for readers and type checkers."""
    match node:
        case ast.JoinedStr() | ast.Assert() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Constant()) | ast.keyword(arg="strict" | "frozen"):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="logger" | "_logger")))):
            return True
        case ast.keyword(arg="copy", value=ast.Constant(value=False)):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__" | "TYPE_CHECKING")]):
            return True
        case ast.AnnAssign(value=None):
            return True
        case ast.ClassDef(bases=bases):
            return any(ast.unparse(base).startswith("Protocol") for base in bases)
        case ast.FunctionDef(decorator_list=decorators):
            return any(ast.unparse(each) in {"overload", "abstractmethod"} for each in decorators)
    return False


def _branch_for_other_systems(node: ast.AST) -> str | None:
    """Return which branch is executed on another system or Python only, if either."""
    if not isinstance(node, ast.If | ast.IfExp):
        return None
    asks = {each.id for each in ast.walk(node.test) if isinstance(each, ast.Name)} == {"sys"}
    about = {each.attr for each in ast.walk(node.test) if isinstance(each, ast.Attribute)}
    if not asks or not about <= {"platform", "startswith", "version_info"}:
        return None
    return "orelse" if eval(ast.unparse(node.test), {"sys": sys}) else "body"  # noqa: S307 - ours


def _statements(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield "pass"
        case ast.Break() | ast.Continue():
            yield "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "pass"


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                changed = deepcopy(node)
                changed.ops[i] = _opposite(op)
                yield changed
        case ast.BoolOp(op=op):
            changed_op = deepcopy(node)
            changed_op.op = _opposite(op)
            yield changed_op
        case ast.BinOp(op=op, left=left) if type(op) in _OPPOSITES:
            if not isinstance(left, ast.JoinedStr) and not _is_text(left):
                changed_bin = deepcopy(node)
                changed_bin.op = _opposite(op)
                yield changed_bin
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.IfExp(test=test):
            changed_if = deepcopy(node)
            changed_if.test = ast.UnaryOp(ast.Not(), test)
            yield changed_if
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            # One more of many makes no difference to anybody.
            yield ast.Constant(value + 1 if value < _MANY else 2 * value)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _opposite(op: ast.AST) -> Any:  # noqa: ANN401 - of the same kind
    return _OPPOSITES[type(op)]()


def drawn(subjects: list[str], count: int, seed: int) -> list[Mutant]:
    """Draw mutants; every place has the same chance."""
    found = []
    for subject in subjects:
        paths = sorted((PROJECT / subject).rglob("*.py")) or [PROJECT / subject]
        for path in paths:
            found += list(mutants_of(path.relative_to(PROJECT)))
    return Random(seed).sample(found, min(count, len(found)))
