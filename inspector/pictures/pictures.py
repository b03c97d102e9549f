"""The pictures of a scene: what it draws, and those of its newest frames."""

from __future__ import annotations

import traceback
from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec

from inspector.clocks.callbacks import checked_callable
from inspector.foreign.numbers import shown
from inspector.pictures.shapes import Shape, Shapes, check, checked_color, flattened

if TYPE_CHECKING:
    from inspector.events.log import EventLog

_MIB: Final = 1024 * 1024
#: Memory for the pictures of former frames.
DEFAULT_BUDGET_BYTES: Final = 32 * _MIB

#: More shapes than this in one picture are refused.
MOST_SHAPES: Final = 10_000

#: Sides of a picture, in its own units.
_LONGEST_SIDE: Final = 100_000.0


class Drawing(msgspec.Struct, frozen=True):
    draw: Callable[[], Shapes]  # Returns the shapes, back to front
    width: float  # Width of the picture, in its own units
    height: float  # Height of the picture
    background: str  # Colour behind the shapes

    @classmethod
    def of(
        cls, draw: Callable[[], Shapes], width: float, height: float, background: str
    ) -> Drawing:
        """Check everything.

        Raises:
            TypeError: ``draw`` cannot be called, or is an async or generator function.
            ValueError: A side is not above 0, or the background is not a colour.
        """
        checked_callable(draw)
        sides: tuple[object, ...] = (width, height)
        for side in sides:
            if not isinstance(side, int | float) or not 0 < side <= _LONGEST_SIDE:
                message = f"a side of a picture is above 0 and at most 100,000, not {shown(side)}"
                raise ValueError(message)
        if not background:
            raise ValueError("a picture needs a background colour, such as #101418")
        return cls(draw, float(width), float(height), checked_color(background))


class Picture(msgspec.Struct, frozen=True, array_like=True):
    width: float  # Its width, in its own units
    height: float
    background: str  # Colour behind the shapes
    shapes: list[Shape]  # The shapes, back to front


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Picture)


class Pictures:
    """Draws the picture of a scene after each frame while it is watched, and keeps the newest.

    Pictures are not events: they differ in nothing that a replay has to repeat, and nothing is
    drawn while the picture is not shown. A picture that fails is reported here and not in the log.
    """

    def __init__(self, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> None:
        self.budget_bytes = budget_bytes  # Memory limit of the kept pictures
        # is_watched: Whether pictures are drawn, because they are looked at
        # is_recorded: Whether pictures are drawn, because they are recorded
        self.is_watched = self.is_recorded = False
        # Called with each frame and its packed picture, until frames run again; None while they are
        # kept in memory only
        self.keep: Callable[[int, bytes], None] | None = None
        self.is_described = True  # Whether the scene describes a picture, as far as is known
        self.failure = ""  # Why the last picture could not be drawn, empty if it could
        self.drawn = 0  # Number of pictures drawn so far
        self._frames: list[int] = []
        self._packed: list[bytes] = []
        self.kept_bytes = 0
        self.newest: Picture | None = None
        self._is_given_up = False

    @property
    def is_wanted(self) -> bool:
        """Whether pictures are drawn: because they are looked at, or recorded."""
        return self.is_watched or self.is_recorded

    def since(self, frame: int) -> list[tuple[int, bytes]]:
        """Return the frames from one on, and the packed pictures that are kept of them."""
        place = bisect_right(self._frames, frame - 1)
        return list(zip(self._frames[place:], self._packed[place:], strict=True))

    @property
    def brief(self) -> str:
        """What the kept ones take, empty without any."""
        size, most = self.kept_bytes / _MIB, self.budget_bytes / _MIB
        return f"{size:.0f} of {most:.0f} MiB in memory" if self._frames else ""

    @property
    def newest_frame(self) -> int | None:
        """The frame of :attr:`newest`; -1 before the first."""
        return self._frames[-1] if self._frames else None

    def clear(self) -> None:
        """Forget everything, as after a reload."""
        self._frames, self._packed, self.kept_bytes, self.newest = [], [], 0, None
        self.keep = None
        self.failure, self._is_given_up = "", False

    def forget_from(self, frame: int) -> None:
        """Forget the pictures of a frame and of all later ones, which will run again."""
        self._cut(frame)
        self.newest = _DECODER.decode(self._packed[-1]) if self._packed else None
        self.failure, self._is_given_up = "", False
        self.keep = None

    def _cut(self, frame: int) -> None:
        place = bisect_right(self._frames, frame - 1)
        self.kept_bytes -= sum(map(len, self._packed[place:]))
        del self._frames[place:], self._packed[place:]

    def draw(self, drawing: Drawing | None, frame: int, log: EventLog) -> None:
        """Draw the picture of a frame, -1 before the first, unless it cannot be drawn.

        The log would show that drawing has changed something.
        """
        self.is_described = drawing is not None
        if drawing is None or self._is_given_up:
            return
        before = log.end
        try:
            picture = drawn(drawing)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a callback may raise anything
            self._fail(error)
        else:
            self.failure = ""
            self._keep(frame, picture)
        self.drawn += 1
        if log.end != before:
            self._is_given_up = True
            self.failure = (
                "Drawing the picture has changed clocks, timers or machines, so a replay would "
                "differ. A picture may only read; change what draws it, and reload the scene."
            )

    def at(self, frame: int) -> Picture | None:
        """Return the picture of a frame, or of the last one before it that was drawn."""
        place = bisect_right(self._frames, frame) - 1
        if place < 0:
            return None
        if place == len(self._frames) - 1:
            return self.newest
        return _DECODER.decode(self._packed[place])

    def _fail(self, error: BaseException) -> None:
        # Python's own formatting copes with errors whose ``str`` raises.
        told = "".join(traceback.format_exception_only(error)).strip()
        places = traceback.extract_tb(error.__traceback__)
        where = f" (line {places[-1].lineno} of {places[-1].filename})" if places else ""
        self.failure = f"The picture could not be drawn: {told}{where}"

    def _keep(self, frame: int, picture: Picture) -> None:
        packed = _ENCODER.encode(picture)
        if self._frames and self._frames[-1] >= frame:
            self._cut(frame)
        self._frames.append(frame)
        self._packed.append(packed)
        self.kept_bytes += len(packed)
        self.newest = picture
        if self.keep is not None:
            self.keep(frame, packed)
        if self.kept_bytes > self.budget_bytes:
            self._drop()

    def _drop(self) -> None:
        """Forget the oldest pictures, an eighth of the budget at once."""
        least, place = self.budget_bytes - self.budget_bytes // 8, 0
        while self.kept_bytes > least and place < len(self._packed) - 1:
            self.kept_bytes -= len(self._packed[place])
            place += 1
        del self._frames[:place], self._packed[:place]


def unpacked(packed: bytes) -> Picture:
    """Return a picture of a recording; a ``ValueError`` if it is damaged."""
    try:
        picture = _DECODER.decode(packed)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error
    Drawing.of(list, picture.width, picture.height, picture.background)
    if len(picture.shapes) > MOST_SHAPES:
        raise ValueError(f"it has {len(picture.shapes):,} shapes")
    for shape in picture.shapes:
        check(shape)
    return picture


def drawn(drawing: Drawing) -> Picture:
    """Draw a picture now.

    Raises:
        TypeError: Something that was returned is not a shape.
        ValueError: There are too many shapes.
    """
    shapes = flattened(drawing.draw())
    if len(shapes) > MOST_SHAPES:
        raise ValueError(f"a picture has at most {MOST_SHAPES:,} shapes, not {len(shapes):,}")
    return Picture(drawing.width, drawing.height, drawing.background, shapes)
