"""The parts of a TrueType font that exporters need: advance widths and a small subset.

Text must have the same width with and without Qt, and an SVG must look the same without the
installed font. Both come from the font file itself, so there is no table of widths to maintain.
Format: https://learn.microsoft.com/typography/opentype/spec/.
"""

import itertools
import struct
from array import array
from collections.abc import Iterable, Mapping
from typing import Final, Self

# Bits of a component in a composite glyph.
_ARGUMENTS_ARE_WORDS: Final = 0x0001
_HAS_SCALE: Final = 0x0008
_MORE_COMPONENTS: Final = 0x0020
_HAS_TWO_SCALES: Final = 0x0040
_HAS_MATRIX: Final = 0x0080
_HAS_INSTRUCTIONS: Final = 0x0100

_CHECKSUM_MAGIC: Final = 0xB1B0AFBA
_GROUPED_CHARACTERS: Final = 12
_LAST_BASIC_CHARACTER: Final = 0xFFFE


class TrueTypeFont:
    def __init__(self, data: bytes) -> None:
        self._tables = _tables(data)
        # Font units per font size
        self.units_per_em: int = struct.unpack_from(">H", self._tables["head"], 18)[0]
        glyph_count: int = struct.unpack_from(">H", self._tables["maxp"], 4)[0]
        metric_count: int = struct.unpack_from(">H", self._tables["hhea"], 34)[0]
        self._glyphs = _glyphs_by_codepoint(self._tables["cmap"])
        # Further glyphs have bearings only; they are as wide as the last of these.
        self._metric_count = metric_count
        is_long = struct.unpack_from(">h", self._tables["head"], 50)[0] == 1
        offsets = struct.unpack_from(
            f">{glyph_count + 1}{'L' if is_long else 'H'}", self._tables["loca"]
        )
        self._offsets = array("L", offsets if is_long else (2 * offset for offset in offsets))

    @classmethod
    def load(cls, path: str) -> Self:
        with open(path, "rb") as file:  # noqa: PTH123 - the path may come as a string
            return cls(file.read())

    def has(self, codepoint: int) -> bool:
        return codepoint in self._glyphs

    def advance(self, codepoint: int) -> int:
        """Return the advance width of a character in font units.

        A missing character counts as one em, which fits most of the missing scripts.
        """
        glyph = self._glyphs.get(codepoint)
        return self.units_per_em if glyph is None else self._metric(glyph)[0]

    def _metric(self, glyph: int) -> tuple[int, int]:
        """Return the advance width and the bearing of a glyph."""
        table, count = self._tables["hmtx"], self._metric_count
        advance, bearing = struct.unpack_from(">Hh", table, 4 * min(glyph, count - 1))
        if glyph >= count:
            (bearing,) = struct.unpack_from(">h", table, 4 * count + 2 * (glyph - count))
        return advance, bearing

    def subset(self, codepoints: Iterable[int], family: str) -> bytes:
        """Return a font file with only the characters ``codepoints`` that the font has.

        It has no hinting, kerning or ligatures, so positions are plain sums of advances in every
        program.
        """
        kept = {code: self._glyphs[code] for code in sorted(codepoints) if code in self._glyphs}
        order = self._with_components([0, *kept.values()])
        new_ids = {old: new for new, old in enumerate(order)}
        outlines = [_renumbered(self._outline(old), new_ids) for old in order]
        metrics = [self._metric(old) for old in order]
        mapping = {code: new_ids[old] for code, old in kept.items()}
        offsets = list(itertools.accumulate((len(outline) for outline in outlines), initial=0))
        head = bytearray(self._tables["head"])
        struct.pack_into(">L", head, 8, 0)  # checksum, set when the file is complete
        struct.pack_into(">h", head, 50, 1)  # long glyph offsets
        hhea = bytearray(self._tables["hhea"])
        struct.pack_into(">H", hhea, 34, len(order))
        return _font_file(
            {
                "OS/2": self._tables["OS/2"],
                "cmap": _character_map(mapping),
                "glyf": b"".join(outlines),
                "head": bytes(head),
                "hhea": bytes(hhea),
                "hmtx": b"".join(struct.pack(">Hh", *metric) for metric in metrics),
                "loca": struct.pack(f">{len(offsets)}L", *offsets),
                "maxp": self._limits(len(order)),
                "name": _names(family),
                "post": struct.pack(">LLhhLLLLL", 0x00030000, 0, -213, 143, 0, 0, 0, 0, 0),
            }
        )

    def _outline(self, glyph: int) -> bytes:
        return self._tables["glyf"][self._offsets[glyph] : self._offsets[glyph + 1]]

    def _with_components(self, glyphs: list[int]) -> list[int]:
        """Return ``glyphs`` without repetition, followed by their components."""
        order = dict.fromkeys(glyphs)
        waiting = list(order)
        while waiting:
            for offset in _component_offsets(self._outline(waiting.pop())):
                component = offset[1]
                if component not in order:
                    order[component] = None
                    waiting.append(component)
        return list(order)

    def _limits(self, glyph_count: int) -> bytes:
        """Return the table of limits for a font without instructions."""
        limits = bytearray(self._tables["maxp"])
        struct.pack_into(">H", limits, 4, glyph_count)
        # Zones 1, then no twilight points, storage, functions, instructions, stack.
        struct.pack_into(">7H", limits, 14, 1, 0, 0, 0, 0, 0, 0)
        return bytes(limits)


def _tables(data: bytes) -> dict[str, bytes]:
    (count,) = struct.unpack_from(">H", data, 4)
    records = struct.iter_unpack(">4sLLL", data[12 : 12 + 16 * count])
    return {tag.decode("ascii"): data[at : at + size] for tag, _checksum, at, size in records}


def _glyphs_by_codepoint(cmap: bytes) -> dict[int, int]:
    """Return the glyph of every character, from the format 12 sub-table."""
    (count,) = struct.unpack_from(">H", cmap, 2)
    for _platform, _encoding, at in struct.iter_unpack(">HHL", cmap[4 : 4 + 8 * count]):
        if struct.unpack_from(">H", cmap, at)[0] == _GROUPED_CHARACTERS:
            (group_count,) = struct.unpack_from(">L", cmap, at + 12)
            groups = struct.iter_unpack(">LLL", cmap[at + 16 : at + 16 + 12 * group_count])
            return {
                code: glyph + code - first
                for first, last, glyph in groups
                for code in range(first, last + 1)
            }
    raise ValueError("the font has no format 12 character map")


def _component_offsets(outline: bytes) -> list[tuple[int, int, int]]:
    if not outline or struct.unpack_from(">h", outline)[0] >= 0:
        return []
    components = []
    at = 10
    flags = _MORE_COMPONENTS
    while flags & _MORE_COMPONENTS:
        flags, glyph = struct.unpack_from(">HH", outline, at)
        end = at + (8 if flags & _ARGUMENTS_ARE_WORDS else 6)
        if flags & _HAS_SCALE:
            end += 2
        elif flags & _HAS_TWO_SCALES:
            end += 4
        elif flags & _HAS_MATRIX:
            end += 8
        components.append((at, glyph, end))
        at = end
    return components


def _renumbered(outline: bytes, new_ids: Mapping[int, int]) -> bytes:
    """Return the outline with new component numbers and no instructions.

    It is not padded again: a font's own padding may already be three bytes, and browsers warn
    about more.
    """
    if not outline:
        return b""
    contours = struct.unpack_from(">h", outline)[0]
    if contours < 0:
        components = _component_offsets(outline)
        result = bytearray(outline[: components[-1][2]])
        for at, glyph, _end in components:
            (flags,) = struct.unpack_from(">H", result, at)
            struct.pack_into(">HH", result, at, flags & ~_HAS_INSTRUCTIONS, new_ids[glyph])
    else:
        ends = 10 + 2 * contours
        (instruction_size,) = struct.unpack_from(">H", outline, ends)
        result = bytearray(outline[:ends] + b"\0\0" + outline[ends + 2 + instruction_size :])
    return bytes(result)


def _character_map(glyphs: Mapping[int, int]) -> bytes:
    """Return a character map in format 4 (every program) and 12 (beyond U+FFFF)."""
    basic = [(code, glyph) for code, glyph in glyphs.items() if code <= _LAST_BASIC_CHARACTER]
    segments = [
        *((code, code, (glyph - code) & 0xFFFF) for code, glyph in basic),
        (0xFFFF,) * 2 + (1,),
    ]
    count = len(segments)
    power = 1 << (count.bit_length() - 1)
    columns = [
        *(segment[1] for segment in segments),
        0,
        *(segment[0] for segment in segments),
        *(segment[2] for segment in segments),
        *([0] * count),
    ]
    body = struct.pack(
        ">4H", 2 * count, 2 * power, power.bit_length() - 1, 2 * (count - power)
    ) + struct.pack(f">{len(columns)}H", *columns)
    narrow = struct.pack(">HHH", 4, len(body) + 6, 0) + body
    groups = b"".join(struct.pack(">LLL", code, code, glyph) for code, glyph in glyphs.items())
    wide = struct.pack(">HHLLL", 12, 0, 16 + len(groups), 0, len(glyphs)) + groups
    start = 4 + 2 * 8
    header = struct.pack(">HH", 0, 2)
    records = struct.pack(">HHLHHL", 3, 1, start, 3, 10, start + len(narrow))
    return header + records + narrow + wide


def _names(family: str) -> bytes:
    """Return the naming table: family, style, full name, PostScript name."""
    texts = {
        1: family,
        2: "Regular",
        3: f"{family} subset",
        4: family,
        5: "Version 4.0",
        6: family.replace(" ", ""),
    }
    records = b""
    storage = b""
    for name_id, text in texts.items():
        encoded = text.encode("utf-16-be")
        records += struct.pack(">6H", 3, 1, 0x0409, name_id, len(encoded), len(storage))
        storage += encoded
    return struct.pack(">HHH", 0, len(texts), 6 + len(records)) + records + storage


def _font_file(tables: Mapping[str, bytes]) -> bytes:
    count = len(tables)
    power = 1 << (count.bit_length() - 1)
    header = struct.pack(
        ">LHHHH", 0x00010000, count, 16 * power, power.bit_length() - 1, 16 * (count - power)
    )
    directory = b""
    body = b""
    start = len(header) + 16 * count
    head_at = 0
    for tag, table in tables.items():
        if tag == "head":
            head_at = start + len(body)
        directory += struct.pack(
            ">4sLLL", tag.encode("ascii"), _checksum(table), start + len(body), len(table)
        )
        body += table + b"\0" * (-len(table) % 4)
    file = bytearray(header + directory + body)
    struct.pack_into(">L", file, head_at + 8, (_CHECKSUM_MAGIC - _checksum(file)) & 0xFFFFFFFF)
    return bytes(file)


def _checksum(data: bytes | bytearray) -> int:
    padded = bytes(data) + b"\0" * (-len(data) % 4)
    words: tuple[int, ...] = struct.unpack(f">{len(padded) // 4}L", padded)
    return sum(words) & 0xFFFFFFFF
