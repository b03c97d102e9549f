"""Conditions on events: a small language of comparisons.

``kind == "timer_fired" and timer contains "boss" and lateness > 5ms``

A condition is made of comparisons (``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``,
``contains``) of fields, texts in quotes, numbers and durations (``16ms``, ``1/60 s``,
``0.25s``, ``3us``), joined by ``and``, ``or``, ``not`` and parentheses. Durations and
numbers can be added, subtracted, multiplied and divided. It is read once; what does not
make sense is refused then, with the place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from operator import add, eq, ge, gt, le, lt, mul, ne, sub, truediv
from typing import Final, TypeAlias

from msgspec import Struct

from inspector.display_text import in_quotes
from inspector.errors import InspectorError
from inspector.events.conditions.event_fields import FIELDS_BY_NAME, EventReader, FieldType, Value
from inspector.foreign.numbers import number_in
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, NS_PER_US

#: A longer text is a mistake and no condition; the limit also bounds the nesting.
MAX_LENGTH: Final = 2_000
_MAX_DEPTH: Final = 50
#: Calculations nest, and all of them are evaluated for every event.
_MAX_CALCULATIONS: Final = 100

_UNITS: Final = {
    "ns": 1,
    "us": NS_PER_US,
    "µs": NS_PER_US,
    "ms": NS_PER_MS,
    "s": NS_PER_SECOND,
    "min": 60 * NS_PER_SECOND,
}
_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<number>\d+(?:\.\d+)?)\s*(?P<unit>ns|us|µs|ms|min|s)?(?![\w.])
      | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|“[^”]*”)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign><=|>=|==|!=|<|>|=|\+|-|\*|/|\(|\))
    )""",
    re.VERBOSE,
)
_COMPARISONS: Final = {"==": eq, "=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_SUMS: Final = {"+": add, "-": sub}
_PRODUCTS: Final = {"*": mul, "/": truediv}

_Test: TypeAlias = "Callable[[EventReader], bool]"
_Read: TypeAlias = "Callable[[EventReader], Value]"


class ConditionError(InspectorError):
    """A condition makes no sense; the message says where and why."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place  # Index of the character in the condition, from 0


class Condition(Struct, frozen=True):
    text: str
    holds: _Test  # Returns whether it is true of the reader's present event


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@lru_cache(maxsize=512)  # All are parsed again with each change of the breakpoints of a session.
def parsed_condition(text: str) -> Condition:
    """Read a condition; a :class:`ConditionError` says where it makes no sense, and why."""
    if len(text) > MAX_LENGTH:
        message = f"A condition has at most {MAX_LENGTH:,} characters, not {len(text):,}."
        raise ConditionError(message, MAX_LENGTH)
    reader = _Parser(text)
    test = reader.either(0)
    if (token := reader.token) is not None:
        raise _error(f"{in_quotes(token.text)} is not expected here", token.place)
    return Condition(text.strip(), test)


class _Token(Struct, frozen=True):
    text: str
    kind: str
    place: int
    unit: str = ""


class _Operand(Struct, frozen=True):
    read: _Read
    type: FieldType
    place: int
    unit_ns: int = 0  # Unit of a duration literal, 0 for everything else
    text: str | None = None  # Value of a text literal, None for everything else
    choices: frozenset[str] = frozenset()  # The possible texts of a field, if they are known


class _Parser:
    """Reads from left to right, one method per strength of binding."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = 0
        self._calculations = 0

    @property
    def token(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _accept(self, *texts: str) -> _Token | None:
        token = self.token
        if token is None or token.kind == "text" or token.text.lower() not in texts:
            return None
        self._next += 1
        return token

    @property
    def _place(self) -> int:
        return len(self._text) if self.token is None else self.token.place

    def either(self, depth: int) -> _Test:
        tests = [self._both(depth)]
        while self._accept("or"):
            tests.append(self._both(depth))
        if len(tests) == 1:
            return tests[0]
        return lambda reader: any(test(reader) for test in tests)

    def _both(self, depth: int) -> _Test:
        tests = [self._negated(depth)]
        while self._accept("and"):
            tests.append(self._negated(depth))
        if len(tests) == 1:
            return tests[0]
        return lambda reader: all(test(reader) for test in tests)

    def _negated(self, depth: int) -> _Test:
        if depth > _MAX_DEPTH:
            raise _error(f"this is nested more than {_MAX_DEPTH} deep", self._place)
        if self._accept("not"):
            test = self._negated(depth + 1)
            return lambda reader: not test(reader)
        begin = self._next
        if self._accept("("):
            # The bracket opens a condition or a calculation; the condition is tried first.
            try:
                inner = self.either(depth + 1)
                self._closed()
            except ConditionError as error:
                self._next = begin
                try:
                    return self._comparison(depth)
                except ConditionError as other:
                    raise max(error, other, key=lambda found: found.place) from None
            return inner
        return self._comparison(depth)

    def _closed(self) -> None:
        if not self._accept(")"):
            raise _error("a closing bracket is missing", self._place)

    def _comparison(self, depth: int) -> _Test:
        left = self._sum(depth)
        token = self._accept(*_COMPARISONS, "contains")
        if token is None:
            raise _error("a comparison is missing here, such as > 5ms", self._place)
        right = self._sum(depth)
        if token.text.lower() == "contains":
            return _contains(left, right, token)
        _check_comparable(left, right, token)
        compare = _COMPARISONS[token.text]
        read_left, read_right = left.read, right.read

        def test(reader: EventReader) -> bool:
            a, b = read_left(reader), read_right(reader)
            return a is not None and b is not None and bool(compare(a, b))

        return test

    def _sum(self, depth: int) -> _Operand:
        operand = self._product(depth)
        while token := self._accept(*_SUMS):
            operand = self._calculated(token, operand, self._product(depth))
        return operand

    def _product(self, depth: int) -> _Operand:
        operand = self._operand(depth)
        while token := self._accept(*_PRODUCTS):
            operand = self._calculated(token, operand, self._operand(depth))
        return operand

    def _calculated(self, token: _Token, left: _Operand, right: _Operand) -> _Operand:
        self._calculations += 1
        if self._calculations > _MAX_CALCULATIONS:
            raise _error(f"there are more than {_MAX_CALCULATIONS} calculations", token.place)
        return _calculated(token, left, right)

    def _operand(self, depth: int) -> _Operand:
        if depth > _MAX_DEPTH:
            raise _error(f"this is nested more than {_MAX_DEPTH} deep", self._place)
        if self._accept("("):
            operand = self._sum(depth + 1)
            self._closed()
            return operand
        if (minus := self._accept("-")) is not None:
            zero = _Operand(lambda _: 0, FieldType.NUMBER, minus.place)
            operand = self._operand(depth + 1)
            zero = _Operand(zero.read, operand.type, zero.place)
            return _calculated(minus, zero, operand)
        token = self.token
        if token is None:
            raise _error("something to compare with is missing", len(self._text))
        self._next += 1
        return _value_of(token)


def _tokens(text: str) -> list[_Token]:
    tokens = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            begin = place + len(text[place:]) - len(text[place:].lstrip())
            if text[begin] in "\"'“":
                raise _error("this text has no closing quote", begin)
            raise _error(f"{in_quotes(text[begin : begin + 10])} cannot be read", begin)
        kind = str(match.lastgroup)
        if match["number"] is not None:
            kind = "number"
        tokens.append(_Token(match[kind], kind, match.start(kind), match["unit"] or ""))
        place = match.end()
    return tokens


def _number(token: _Token) -> Fraction:
    try:
        return number_in(token.text)
    except ValueError as error:
        raise _error(str(error), token.place) from None


def _value_of(token: _Token) -> _Operand:
    if token.kind == "text":
        text = re.sub(r"\\(.)", r"\1", token.text[1:-1])
        return _Operand(lambda _: text, FieldType.TEXT, token.place, text=text)
    if token.kind == "number":
        number = _number(token)
        if token.unit:
            unit_ns = _UNITS[token.unit]
            duration = number * unit_ns
            return _Operand(lambda _: duration, FieldType.DURATION, token.place, unit_ns)
        return _Operand(lambda _: number, FieldType.NUMBER, token.place)
    if token.kind == "word":
        field = FIELDS_BY_NAME.get(token.text.lower())
        if field is None:
            known = ", ".join(FIELDS_BY_NAME)
            hint = f"there are {known}"
            if any(token.text.lower() in each.choices for each in FIELDS_BY_NAME.values()):
                hint = f"a text stands in quotes: {quoted(token.text)}"
            raise _error(f"there is no field {in_quotes(token.text)} ({hint})", token.place)
        return _Operand(field.read, field.type, token.place, choices=field.choices)
    raise _error(f"{in_quotes(token.text)} is not expected here", token.place)


def _contains(whole: _Operand, part: _Operand, token: _Token) -> _Test:
    if whole.type is not FieldType.TEXT or part.type is not FieldType.TEXT:
        raise _error("“contains” looks for a text in a text", token.place)
    read_whole, read_part = whole.read, part.read

    def test(reader: EventReader) -> bool:
        text, wanted = read_whole(reader), read_part(reader)
        if text is None or wanted is None:
            return False
        return str(wanted).casefold() in str(text).casefold()

    return test


def _check_comparable(left: _Operand, right: _Operand, token: _Token) -> None:
    if left.type is right.type:
        if left.type is FieldType.TEXT and token.text not in {"==", "=", "!="}:
            raise _error("texts can be equal, different, or contain one another", token.place)
        _check_choice(left, right)
        _check_choice(right, left)
        return
    types = {left.type, right.type}
    if types == {FieldType.DURATION, FieldType.NUMBER}:
        number = left if left.type is FieldType.NUMBER else right
        raise _error("a duration needs a unit, such as 5ms or 0.25s", number.place)
    other = (types - {FieldType.TEXT}).pop().value
    raise _error(f"a {other} cannot be compared with a text", token.place)


def _check_choice(field: _Operand, other: _Operand) -> None:
    if not field.choices or other.text is None or other.text in field.choices:
        return
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    close = get_close_matches(other.text, sorted(field.choices), 3, 0.5)
    known = ", ".join(close or sorted(field.choices))
    raise _error(f"it is never {in_quotes(other.text)} (but {known})", other.place)


def _calculated(token: _Token, left: _Operand, right: _Operand) -> _Operand:
    if token.text == "/" and left.type is FieldType.NUMBER and right.unit_ns:
        # 1/60 s is a sixtieth of a second: the unit belongs to the quotient.
        unit_ns = right.unit_ns
        unit = _Operand(lambda _: unit_ns, FieldType.DURATION, token.place)
        quotient = _calculated(token, left, _calculated(token, right, unit))
        return _calculated(_Token("*", "sign", token.place), quotient, unit)
    result = _result_type(token.text, left.type, right.type)
    if result is None:
        text = f"a {left.type.value} {token.text} a {right.type.value} makes no sense"
        raise _error(text, token.place)
    calculate = {**_SUMS, **_PRODUCTS}[token.text]
    read_left, read_right = left.read, right.read

    def read(reader: EventReader) -> Value:
        a, b = read_left(reader), read_right(reader)
        if a is None or b is None or isinstance(a, str) or isinstance(b, str):
            return None
        if token.text == "/" and b == 0:
            return None
        return Fraction(calculate(Fraction(a), Fraction(b)))

    return _Operand(read, result, left.place)


def _result_type(sign: str, left: FieldType, right: FieldType) -> FieldType | None:
    if FieldType.TEXT in {left, right}:
        return None
    if sign in _SUMS:
        return left if left is right else None
    if sign == "*":
        both = (left, right)
        if both == (FieldType.DURATION, FieldType.DURATION):
            return None
        return FieldType.DURATION if FieldType.DURATION in both else FieldType.NUMBER
    if left is right:
        return FieldType.NUMBER
    return FieldType.DURATION if left is FieldType.DURATION else None


def _error(reason: str, place: int) -> ConditionError:
    return ConditionError(f"At character {place + 1}: {reason}.", place)
