"""Design tokens: colours, sizes and type of window, pictures and pages, as one file says them.

The first paint of the window waits for this module, so it imports little.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from inspector.resources import resource_path

ThemeName = Literal["light", "dark"]
THEMES: Final[tuple[ThemeName, ...]] = ("light", "dark")


class TypeStyle(NamedTuple):
    """A size of type, in px at 100 % text, and its weight as in CSS."""

    px: int
    weight: int


_DATA: Final[Mapping[str, Any]] = json.loads(resource_path("tokens.json").read_bytes())

#: By theme and name of the token: ``"#rrggbb"``.
COLORS: Final[Mapping[ThemeName, Mapping[str, str]]] = {
    theme: {name: shades[theme] for name, shades in _DATA["colors"].items()} for theme in THEMES
}
#: The token that another one looks like where the system asks for high contrast.
HIGH_CONTRAST: Final[Mapping[str, str]] = _DATA["high_contrast"]
#: Of curves in one chart: the token, and the lengths of dashes and gaps in points.
CURVES: Final[tuple[tuple[str, tuple[float, ...]], ...]] = tuple(
    (name, tuple(dashes)) for name, dashes in _DATA["curves"]
)
#: By name of the phase, the same in both themes. Any two differ by a CIEDE2000 of over 20 for
#: normal vision and each kind of dichromacy; none is orange or red, which mean that something is
#: wrong.
PHASE_COLORS: Final[Mapping[str, str]] = _DATA["phases"]
#: Of the states of a machine: those of the phases, in an order in which neighbours differ in
#: lightness.
STATE_COLORS: Final[tuple[str, ...]] = tuple(PHASE_COLORS[name] for name in _DATA["states"])
#: In px at 100 % text.
SIZES: Final[Mapping[str, int]] = _DATA["sizes"]
TYPE: Final[Mapping[str, TypeStyle]] = {
    name: TypeStyle(**style) for name, style in _DATA["type"].items()
}


@lru_cache(maxsize=64)
def size_by_width(name: str, width: float) -> int:
    """Return a size of a window as wide as this, both in px divided by the text scale."""
    return _step(_DATA["by_width"][name], width)


@lru_cache(maxsize=64)
def size_by_height(name: str, height: float) -> int:
    """Return a size of a window as high as this, both in px divided by the text scale."""
    return _step(_DATA["by_height"][name], height)


def _step(steps: list[tuple[float, int]], length: float) -> int:
    return [size for least, size in steps if length >= least][-1]
