"""The bytes of a capture file: as they are, from gzip or from the only file in a zip archive.

Files are read in pieces, and expanded within limits: a small file that expands without end is
refused.
"""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

from inspector.display_text import one_line
from inspector.errors import CaptureError
from inspector.foreign.files import open_binary, path_text

#: Enough to recognise a format and the columns of a table.
HEAD_BYTES: Final = 65_536
#: Small enough to stay in the caches of a processor.
PIECE_BYTES: Final = 1 << 20
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
#: Captures compress to a tenth or a thirtieth, and to a hundredth if all rows are alike; a file
#: made to fill the memory compresses to a thousandth.
_LARGEST_RATIO: Final = 300
_RATIO_FROM_BYTES: Final = 1 << 26
_MOST_IN_ZIP: Final = 10_000
#: Formats that cannot be read at all, by their first bytes.
_FOREIGN: Final = (
    (b"\x28\xb5\x2f\xfd", "compressed with zstd. Expand it, and open the capture in it"),
    (b"\xfd7zXZ\x00", "compressed with xz. Expand it, and open the capture in it"),
    (b"BZh", "compressed with bzip2. Expand it, and open the capture in it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive. Extract the capture, and open that"),
    (b"tracy\x00", "a trace of Tracy. Run tracy-csvexport -u on it, and open what that writes"),
    (b"tlZ\x04", "a trace of Tracy. Run tracy-csvexport -u on it, and open what that writes"),
    (b"tZst", "a trace of Tracy. Run tracy-csvexport -u on it, and open what that writes"),
    (b"\x89PNG", "a picture. Choose a capture"),
    (b"\xff\xd8\xff", "a picture. Choose a capture"),
    (b"%PDF-", "a PDF document. Choose a capture"),
    (b"\x7fELF", "a program. Choose a capture"),
    (b"MZ\x90", "a program. Choose a capture"),
)
_DAMAGED: Final = (zlib.error, EOFError, OSError, zipfile.BadZipFile, lzma.LZMAError)


class CaptureSource:
    """The bytes of a capture file, in pieces."""

    def __init__(self, path: Path) -> None:
        """Read the beginning of a file."""
        self.path = path  # The file
        self.done = 0.0  # The share of the file that was read, from 0 to 1
        self.notes: list[str] = []  # Sentences on what is in an archive, or cut off
        found = bytearray()
        with closing(self.pieces(HEAD_BYTES)) as pieces:
            for piece in pieces:
                found += piece
                if len(found) >= HEAD_BYTES:
                    break
        self.head = bytes(found[:HEAD_BYTES])  # The first bytes, expanded
        with open_binary(path) as file:
            self.is_compressed = file.read(4).startswith((_GZIP, _ZIP))  # Whether they are expanded
        self.notes.clear()
        for start, what in _FOREIGN:
            if self.head.startswith(start):
                message = f"{path_text(path)} is {what}."
                raise CaptureError(message)

    def pieces(self, size: int = 0) -> Generator[bytes, None, None]:
        """Yield all bytes in pieces, of :data:`PIECE_BYTES` unless a size is given."""
        size = size or PIECE_BYTES
        with open_binary(self.path) as file:
            start = file.read(4)
            file.seek(0, 2)
            total = file.tell()
            file.seek(0)
            if start == _ZIP:
                yield from self._unzipped(file, total, size)
            elif start.startswith(_GZIP):
                yield from self._bounded(_gunzipped(file, size), file, total)
            else:
                while piece := file.read(size):
                    self.done = min(1.0, file.tell() / max(total, 1))
                    yield piece

    def _unzipped(self, file: BinaryIO, total: int, size: int) -> Iterator[bytes]:
        name = path_text(self.path)
        try:
            with zipfile.ZipFile(file) as archive:
                infos = [each for each in archive.infolist()[:_MOST_IN_ZIP] if not each.is_dir()]
                if not infos:
                    message = f"{name} is an empty archive. Choose a capture."
                    raise CaptureError(message)
                chosen = max(infos, key=lambda each: each.file_size)
                if len(infos) > 1:
                    told = one_line(chosen.filename[:_LONGEST_FILE_NAME])
                    self.notes.append(f"Read “{told}”, the largest of {len(infos):,} files in it.")
                with archive.open(chosen) as inner:
                    unpacked = cast("BinaryIO", inner)
                    yield from self._bounded(_read(unpacked, size), file, total)
        except (*_DAMAGED, NotImplementedError, RuntimeError) as error:
            message = (
                f"{name} is an archive that cannot be read ({one_line(str(error))}). "
                "Extract the capture and open that."
            )
            raise CaptureError(message) from None

    def _bounded(self, pieces: Iterator[bytes], file: BinaryIO, total: int) -> Iterator[bytes]:
        """Yield expanded pieces; refuse a file that expands too far for its size."""
        expanded = 0
        with _as_far_as_it_goes(self.notes):
            for piece in pieces:
                expanded += len(piece)
                read = max(file.tell(), 1)
                if expanded > max(_RATIO_FROM_BYTES, _LARGEST_RATIO * read):
                    message = (
                        f"{path_text(self.path)} expands to more than {_LARGEST_RATIO} times its "
                        "size, which no capture does. Choose another file."
                    )
                    raise CaptureError(message)
                self.done = min(1.0, read / max(total, 1))
                yield piece


_LONGEST_FILE_NAME: Final = 80
CUT_OFF: Final = "The compressed file is cut off or damaged; it was read up to there."


@contextmanager
def _as_far_as_it_goes(notes: list[str]) -> Iterator[None]:
    """End the reading of a compressed file where it is cut off or damaged, with a note."""
    try:
        yield
    except _DAMAGED:
        notes.append(CUT_OFF)


def _read(file: BinaryIO, size: int) -> Iterator[bytes]:
    while piece := file.read(size):
        yield piece


def _gunzipped(file: BinaryIO, size: int) -> Iterator[bytes]:
    expander = zlib.decompressobj(wbits=31)
    rest = b""
    while True:
        rest = rest or file.read(1 << 16)
        if not rest:
            if not expander.eof:
                raise EOFError
            return
        if expander.eof:
            # Another gzip member follows, or zeros that fill up a block.
            rest = rest.lstrip(b"\0")
            if not rest:
                continue
            expander = zlib.decompressobj(wbits=31)
        piece = expander.decompress(rest, size)
        rest = expander.unused_data if expander.eof else expander.unconsumed_tail
        if piece:
            yield piece
