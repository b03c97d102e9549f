"""The colours of the tokens: told apart with any vision, and readable."""

from __future__ import annotations

from itertools import combinations
from math import atan2, cbrt, cos, degrees, exp, hypot, radians, sin, sqrt
from operator import mul

import pytest

from inspector.tokens import (
    COLORS,
    HIGH_CONTRAST,
    PHASE_COLORS,
    STATE_COLORS,
    THEMES,
    TYPE,
    ThemeName,
    size_by_height,
    size_by_width,
)

#: Linear RGB as dichromats see it: Machado, Oliveira & Fernandes 2009, severity 1.0.
SEEN: dict[str, list[list[float]]] = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
_XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]
_WHITE = (0.95047, 1.0, 1.08883)
Lab = tuple[float, float, float]


def linear(color: str) -> list[float]:
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def product(matrix: list[list[float]], vector: list[float]) -> list[float]:
    return [sum(map(mul, row, vector)) for row in matrix]


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours as WCAG 2.2 defines it: 1 to 21."""
    weights = [[0.2126, 0.7152, 0.0722]]
    darker, lighter = sorted(product(weights, linear(color))[0] for color in (first, second))
    return (lighter + 0.05) / (darker + 0.05)


def lab_seen(color: str, vision: str) -> Lab:
    """Return a colour in CIELAB (D65) as people with a kind of vision see it."""
    seen = [min(max(c, 0.0), 1.0) for c in product(SEEN[vision], linear(color))]
    x, y, z = (
        cbrt(c / white) if c / white > 216 / 24389 else (24389 / 27 * c / white + 16) / 116
        for c, white in zip(product(_XYZ, seen), _WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one: Lab, other: Lab) -> float:
    """Return the difference of two colours: Sharma, Wu & Dalal 2005, all weights 1."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_c = (hypot(a1, b1) + hypot(a2, b2)) / 2
    g = 1 + 0.5 * (1 - sqrt(mean_c**7 / (mean_c**7 + 25**7)))
    c1, c2 = hypot(g * a1, b1), hypot(g * a2, b2)
    h1, h2 = (degrees(atan2(b, g * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    dh = 2 * sqrt(c1 * c2) * sin(radians(turn / 2))
    mean_l, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = h1 + turn / 2 if c1 * c2 else h1 + h2
    t = 1 - 0.17 * cos(radians(h - 30)) + 0.24 * cos(radians(2 * h))
    t += 0.32 * cos(radians(3 * h + 6)) - 0.2 * cos(radians(4 * h - 63))
    turned = 60 * exp(-((((h % 360) - 275) / 25) ** 2))
    rotation = -2 * sqrt(c**7 / (c**7 + 25**7)) * sin(radians(turned))
    parts = (
        (l2 - l1) / (1 + 0.015 * (mean_l - 50) ** 2 / sqrt(20 + (mean_l - 50) ** 2)),
        (c2 - c1) / (1 + 0.045 * c),
        dh / (1 + 0.015 * c * t),
    )
    return sqrt(sum(part**2 for part in parts) + rotation * parts[1] * parts[2])


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.4900, -0.0010), (50, -2.4900, 0.0009), 7.1792),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_that_colours_are_compared_as_in_the_data_of_sharma(
    one: Lab, other: Lab, expected: float
) -> None:
    assert ciede2000(one, other) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("token", "behind", "dark", "light"),
    [
        ("line", "bg", 1.4, 1.3),
        ("text", "bg", 15.2, 16.6),
        ("text", "clock", 9.4, 11.5),
        ("muted", "bg", 7.3, 6.2),
        ("muted", "panel", 6.7, 5.7),
        ("muted", "raised", 5.8, 5.2),
        ("bar", "bg", 4.1, 3.9),
        ("clock", "bg", 1.6, 1.4),
        ("edge", "bg", 4.6, 3.8),
        ("tick", "bg", 11.3, 7.9),
        ("ghost", "bg", 5.7, 4.5),
        ("hatch", "bg", 4.6, 3.9),
        ("blue", "bg", 7.2, 5.6),
        ("orange", "bg", 11.1, 3.6),
        ("red", "bg", 4.9, 7.2),
        ("series_b", "bg", 11.4, 8.5),
    ],
)
def test_that_each_token_stands_out_as_designed(
    token: str, behind: str, dark: float, light: float
) -> None:
    found = [contrast(COLORS[theme][token], COLORS[theme][behind]) for theme in ("dark", "light")]

    assert found == pytest.approx([dark, light], abs=0.1)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", ["normal", "deuteranopia", "protanopia"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bar", "orange"),
        ("bar", "red"),
        ("orange", "red"),
        ("tick", "orange"),
        ("tick", "red"),
        ("blue", "tick"),
        ("blue", "edge"),
        ("blue", "orange"),
        ("blue", "red"),
        ("bar", "series_b"),
        ("series_b", "blue"),
        ("series_b", "orange"),
    ],
)
def test_that_tokens_with_different_meanings_can_be_told_apart(
    theme: ThemeName, vision: str, one: str, other: str
) -> None:
    colors = COLORS[theme]
    difference = ciede2000(lab_seen(colors[one], vision), lab_seen(colors[other], vision))

    assert round(difference) >= 17


@pytest.mark.parametrize("vision", SEEN)
def test_that_any_two_phases_and_states_are_apart_with_any_vision(vision: str) -> None:
    for colors in (PHASE_COLORS.values(), STATE_COLORS):
        for one, other in combinations(colors, 2):
            difference = ciede2000(lab_seen(one, vision), lab_seen(other, vision))
            assert difference > 20, (one, other)


@pytest.mark.parametrize("color", PHASE_COLORS.values())
def test_that_orange_and_red_mean_that_something_is_wrong(color: str) -> None:
    _, a, b = lab_seen(color, "normal")

    assert 95 < degrees(atan2(b, a)) % 360 < 340


@pytest.mark.parametrize("theme", THEMES)
def test_that_lines_can_be_seen_where_high_contrast_is_asked_for(theme: ThemeName) -> None:
    colors = COLORS[theme]

    assert contrast(colors[HIGH_CONTRAST["line"]], colors["panel"]) >= 3


@pytest.mark.parametrize(
    ("width", "height", "sizes"),
    [
        (853, 480, (200, 264, 28, 20, 104, 208)),
        (1280, 720, (224, 264, 28, 20, 128, 208)),
        (1600, 1000, (248, 304, 32, 24, 160, 248)),
        (2560, 1440, (280, 360, 36, 28, 160, 320)),
    ],
)
def test_that_sizes_follow_from_those_of_the_window(
    width: int, height: int, sizes: tuple[int, ...]
) -> None:
    by_width = [size_by_width(name, width) for name in ("lane_headers", "side_column")]
    names = ("clock_lane", "timer_lane", "least_frames", "tray")

    assert (*by_width, *(size_by_height(name, height) for name in names)) == sizes


def test_that_no_type_is_smaller_than_11_px() -> None:
    assert {style.px for style in TYPE.values()} == {22, 16, 13, 11}
