"""Scores of how well a text matches entries of the palette."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .palette_entries import PaletteEntry

_WORD_START_BONUS: Final = 12
_ADJACENT_BONUS: Final = 8
_PREFIX_BONUS: Final = 10
_CATEGORY_PENALTY: Final = 60
_SELECTION_BONUS: Final = 40
#: How well an entry is found if the text is its whole title or name.
_WHOLE: Final = 4


def match_score(pattern: str, text: str) -> int | None:
    """Return how well ``pattern`` is found in ``text``, ``None`` if it is not.

    The letters must come in this order, with anything in between; blanks in the
    pattern do not count. Starts of words and unbroken runs count more. Of all ways
    to find the letters the best one counts.
    """
    letters = pattern.lower().replace(" ", "")
    if not letters:
        return 0
    lowered = text.lower()
    # The best score with the letters so far, by the place of the last letter.
    best = {
        place: _place_bonus(text, place) - place // 4
        for place, found in enumerate(lowered)
        if found == letters[0]
    }
    for letter in letters[1:]:
        if not best:
            return None
        best = _continued(best, letter, lowered, text)
    return max(best.values()) * 4 - len(text) if best else None


def _continued(best: dict[int, int], letter: str, lowered: str, text: str) -> dict[int, int]:
    """Return the best scores with one letter more."""
    following: dict[int, int] = {}
    best_before: int | None = None
    for place, found in enumerate(lowered):
        if found == letter and best_before is not None:
            bonus = _place_bonus(text, place)
            score = best_before + bonus
            if place - 1 in best:
                score = max(score, best[place - 1] + max(bonus, _ADJACENT_BONUS))
            following[place] = score
        if place in best:
            value = best[place]
            best_before = value if best_before is None else max(best_before, value)
    return following


def _place_bonus(text: str, place: int) -> int:
    if place == 0:
        return _WORD_START_BONUS + _PREFIX_BONUS
    return _WORD_START_BONUS if not text[place - 1].isalnum() else 1


def _words_found(pattern: str, entry: PaletteEntry) -> int:
    """Return how well the pattern is found as it was typed.

    :data:`_WHOLE` if it is the whole title or name, 3 at the beginning of one of them, 2 at a word
    of the title, 1 at a word of the category, 0 nowhere.
    """
    typed = pattern.strip().lower()
    if typed in (entry.title.lower(), entry.name.lower()):
        return _WHOLE
    is_begin = any(text.lower().startswith(typed) for text in (entry.title, entry.name))
    if is_begin:
        return 3
    wanted = f" {typed}"
    for found, text in ((2, entry.title), (1, entry.category)):
        if wanted in f" {text.lower()}":
            return found
    return 0


def matching_entries(pattern: str, entries: Iterable[PaletteEntry]) -> list[PaletteEntry]:
    """Return the entries that ``pattern`` finds, the best first.

    Without a pattern all are returned in their order, except that entries that cannot be chosen
    now come last. With a pattern, they are sorted by whether they can be chosen, then by where the
    pattern occurs as typed, then by :class:`EntryKind`, then by score, in which entries about the
    selection get a bonus.
    """
    if not pattern.strip():
        return sorted(entries, key=lambda entry: bool(entry.reason))
    scored: list[tuple[tuple[bool, int, int, int], PaletteEntry]] = []
    for entry in entries:
        score = match_score(pattern, entry.title)
        whole = f"{entry.category} {entry.title}"
        # Only if all words occur: in a text this long, scattered letters match almost anything.
        if score is None and all(word in whole.lower() for word in pattern.lower().split()):
            found = match_score(pattern, whole)
            score = None if found is None else found - _CATEGORY_PENALTY
        if score is not None:
            if entry.concerns_selection:
                score += _SELECTION_BONUS
            words = _words_found(pattern, entry)
            rank = (not entry.reason, words, -entry.kind if words else 0, score)
            scored.append((rank, entry))
    scored.sort(key=lambda item: item[0], reverse=True)
    return [entry for _rank, entry in scored]


def is_named(pattern: str, entry: PaletteEntry) -> bool:
    """Return whether a text is the whole title or name of an entry."""
    return _words_found(pattern, entry) == _WHOLE


def has_words(pattern: str, entry: PaletteEntry) -> bool:
    """Return whether a text is found in an entry as it was typed, not only its letters."""
    return _words_found(pattern, entry) > 0
