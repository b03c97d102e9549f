"""The colours of a machine's states, the same in the window and in pictures."""

from typing import Final

#: Of the states of a machine: those of the phases, in an order in which neighbours differ in
#: lightness. Further states have them again, mixed with the background.
STATE_COLORS: Final = (
    *("#1e69e1", "#d2e12d", "#5a3c5a", "#87d2b4"),
    *("#87871e", "#ffa5ff", "#2d4b1e"),
)
FAINTER_STATE: Final = 0.55
_DARK_BELOW: Final = 140


def text_on(red: int, green: int, blue: int) -> str:
    """Return near-black or white, whichever can be read on a colour; its parts are 0 to 255."""
    gray = 0.299 * red + 0.587 * green + 0.114 * blue
    return "#ffffff" if gray < _DARK_BELOW else "#14171a"
