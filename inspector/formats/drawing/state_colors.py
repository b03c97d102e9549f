"""Text on the colours of a machine's states, the same in the window and in pictures."""

from typing import Final

#: Share of the colour, the rest is background, when colours are used again for further states.
FAINTER_STATE: Final = 0.55
_DARK_BELOW: Final = 140


def text_on(red: int, green: int, blue: int) -> str:
    """Return near-black or white, whichever can be read on a colour; its parts are 0 to 255."""
    gray = 0.299 * red + 0.587 * green + 0.114 * blue
    return "#ffffff" if gray < _DARK_BELOW else "#14171a"
