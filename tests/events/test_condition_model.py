"""Conditions mean what the same words mean in Python, with nothing known of what is missing."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from inspector.events.conditions.conditions import ConditionError, parsed_condition
from inspector.events.conditions.event_fields import EventReader
from inspector.vocabulary import EventKind
from tests.fuzz import rounds

UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}

#: A text, its value in plain Python, and whether it is a duration.
Part = tuple[str, Fraction | None, bool]


def reader() -> EventReader:
    """Return a reader of a timer that fires 6 ms late at 20 ms, for the first time."""
    reader = EventReader(["", "boss", "game"])
    for event in (
        (0, EventKind.CLOCK_ADDED, 1, 0, 2),
        (0, EventKind.TIMER_ADDED, 5, 1, 1),
        (20_000_000, EventKind.TIMER_FIRED, 5, 6_000_000, 40_000_000),
    ):
        reader.fold(event)
    return reader


#: What the fields are for that event; it has no others.
NUMBERS: list[Part] = [("fired", Fraction(1), False), ("missed", None, False)]
DURATIONS: list[Part] = [
    ("lateness", Fraction(6_000_000), True),
    ("at", Fraction(20_000_000), True),
    ("busy", None, True),
]
TEXTS = {
    "timer": "boss",
    "clock": "game",
    "member": None,
    "'Boss'": "Boss",
    '"o"': "o",
    "“x y”": "x y",
}


def value(random: Random, depth: int, *, is_duration: bool) -> Part:
    """Return a number or a duration, calculated from others or not."""
    if depth and random.random() < 0.6:
        return calculated(random, depth - 1, is_duration=is_duration)
    if random.random() < 0.4:
        return random.choice(DURATIONS if is_duration else NUMBERS)
    number = random.choice(["0", "1", "2", "3.5", "0.25", "12", "6"])
    if not is_duration:
        return number, Fraction(number), False
    unit = random.choice([*UNITS])
    space = random.choice(["", " "])
    return f"{number}{space}{unit}", Fraction(number) * UNITS[unit], True


def calculated(random: Random, depth: int, *, is_duration: bool) -> Part:
    signs = ["+", "-", "*", "/", "minus"]
    sign = random.choice(signs)
    if sign == "minus":
        text, a, _ = value(random, depth, is_duration=is_duration)
        return f"-({text})", None if a is None else -a, is_duration
    if sign in "+-":
        types = (is_duration, is_duration)
    elif is_duration:
        types = random.choice([(True, False), (False, True)]) if sign == "*" else (True, False)
    else:
        types = (False, False) if sign == "*" else random.choice([(False, False), (True, True)])
    (left, a, _), (right, b, _) = (value(random, depth, is_duration=each) for each in types)
    text = f"({left}) {sign} ({right})"
    if a is None or b is None or (sign == "/" and b == 0):
        return text, None, is_duration
    found = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else None}[sign]
    return text, found, is_duration


def comparison(random: Random) -> tuple[str, bool]:
    if random.random() < 0.3:
        (left, a), (right, b) = random.choice([*TEXTS.items()]), random.choice([*TEXTS.items()])
        sign = random.choice(["==", "=", "!=", "contains", "CONTAINS"])
        known = a is not None and b is not None
        if sign.lower() == "contains":
            holds = a is not None and b is not None and b.lower() in a.lower()
        else:
            holds = known and ((a != b) if sign == "!=" else (a == b))
        return f"{left} {sign} {right}", holds
    is_duration = random.random() < 0.5
    left, x, _ = value(random, 2, is_duration=is_duration)
    right, y, _ = value(random, 2, is_duration=is_duration)
    if random.random() < 0.2:
        right, y = left, x
    sign = random.choice(["==", "=", "!=", "<", "<=", ">", ">="])
    if x is None or y is None:
        return f"{left} {sign} {right}", False
    holds = {
        **dict.fromkeys(("==", "="), x == y),
        "!=": x != y,
        "<": x < y,
        "<=": x <= y,
        ">": x > y,
        ">=": x >= y,
    }[sign]
    return f"{left} {sign} {right}", holds


def condition(random: Random, depth: int) -> tuple[str, bool]:
    if not depth or random.random() < 0.3:
        return comparison(random)
    joined = random.choice(["and", "or", "not", "AND", "brackets"])
    text, holds = condition(random, depth - 1)
    if joined == "not":
        return f"not ({text})", not holds
    if joined == "brackets":
        return f"({text})", holds
    parts = [(text, holds), *(condition(random, depth - 1) for _ in range(random.randint(1, 2)))]
    decide = all if joined.lower() == "and" else any
    return f" {joined} ".join(f"({each})" for each, _ in parts), decide(each for _, each in parts)


def test_that_a_condition_means_what_it_says() -> None:
    known = reader()
    held = 0
    for seed in rounds(1_000):
        text, holds = condition(Random(seed), 3)
        assert parsed_condition(text).holds(known) == holds, text
        held += holds
    assert 0.2 < held / len(rounds(1_000)) < 0.8


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("fired == 1 or fired == 2 and fired == 3", True),
        ("not fired == 2 and fired == 1", True),
        ("not fired == 1 or fired == 1", True),
        ("1 + 2 * 3 == 7", True),
        ("8 - 2 - 1 == 5", True),
        ("8 / 2 / 2 == 2", True),
        ("-2 + 3 == 1", True),
        ("1/60 s + 1/60 s == 1/30 s", True),
        ("1 s / 1 ms == 1000", True),
        ("2 * 1/2 s == 1 s", True),
        ("(1 + 1) * 2 == 4", True),
        ("((1 + 1) * 2) == 4", True),
        ("(fired) == 1", True),
        ("(fired == 1)", True),
    ],
)
def test_that_signs_bind_as_in_arithmetic(text: str, *, holds: bool) -> None:
    assert parsed_condition(text).holds(reader()) == holds


@pytest.mark.parametrize(
    ("what", "most"),
    [
        (lambda count: "(" * count + "fired == 1" + ")" * count, 50),
        (lambda count: "(" * count + "fired" + ")" * count + " == 1", 50),
        (lambda count: "not " * count + "fired == 1", 50),
        (lambda count: "-" * count + "fired < 9", 50),
        (lambda count: "1" + "+1" * count + " > 0", 100),
        (lambda count: "fired == 1" + " " * (count - 10), 2_000),
    ],
)
def test_that_a_condition_may_be_as_long_and_as_deep_as_said(what: object, most: int) -> None:
    assert callable(what)
    parsed_condition(what(most))
    with pytest.raises(ConditionError, match=f"more than {most} |at most {most:,} "):
        parsed_condition(what(most + 1))
