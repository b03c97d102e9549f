"""Texts that are sent once and then by number: names, and places in the code of the program."""

from __future__ import annotations

import os
import sys
import threading
from functools import partial
from threading import Lock

from .wire import cut_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any, Optional

#: Most different names, call sites and marks of a program; further ones all become one text.
MOST_TEXTS = 200_000
#: Most bytes of a name or call site.
LONGEST_NAME = 512
#: What paths of installed packages contain; what those of Python and console scripts begin with.
_INSTALLED = ("site-packages", "dist-packages")
_PYTHON = (os.path.dirname(os.__file__) + os.sep, "<frozen", os.path.join(sys.prefix, "bin", ""))
_THREADING = threading.__file__
#: What the command line of a child of ``multiprocessing`` imports.
_SPAWNING = frozenset({"multiprocessing.spawn", "multiprocessing.forkserver"})
#: Words for code that is not called but resumed, by its flags (CO_COROUTINE or CO_ASYNC_GENERATOR,
#: CO_GENERATOR).
_RESUMED = ((0x80 | 0x200, "async"), (0x20, "generator"))


class Texts:
    def __init__(self) -> None:
        self.texts = [""]  # Every text so far; its place is its number
        self._numbers = {"": 0}
        self._text_lock = Lock()
        #: By code and line, or by code and the negated place of an instruction; by the negated
        #: code for texts with a word before code that is resumed.
        self._sites: dict[tuple[int, int], int] = {}
        # Keeps the identity of code objects in the keys of _sites.
        self._codes: dict[int, CodeType] = {}
        self._is_hidden: dict[str, bool] = {}
        self._is_library: dict[str, bool] = {}
        self._is_hidden_module: dict[str, bool] = {}
        self._hidden = [__package__.partition(".")[0], "importlib"]

    def text(self, text: str, longest: int = LONGEST_NAME) -> int:
        """Return the number of a text, of which ``longest`` bytes are kept."""
        number = self._numbers.get(text)
        if number is not None:
            return number
        kept = cut_text(text, longest)
        with self._text_lock:
            if len(self.texts) >= MOST_TEXTS:
                kept = "(more than 200,000 different texts)"
            number = self._numbers.get(kept)
            if number is None:
                number = len(self.texts)
                self.texts.append(kept)
                self._numbers[kept] = number
        return number

    def hide(self, *packages: str) -> None:
        """Skip the frames of these packages when a call site is looked for."""
        self._hidden += packages
        self._is_hidden.clear()
        self._is_hidden_module.clear()

    def call_site(self, level: int = 1) -> int:
        """Return the number of the place in the program that called, as a text."""
        return self.site_from(sys._getframe(level + 1))

    def site_from(self, frame: Optional[FrameType]) -> int:
        """Return the number of the place from which a frame was called.

        It is the innermost place in the program's own code, or without any, in packages; 0 if only
        a thread begins there.
        """
        is_hidden, is_library, package = self._is_hidden, self._is_library, None
        while frame is not None:
            file = frame.f_code.co_filename
            hidden = is_hidden.get(file)
            if hidden is None:
                hidden = self._hides(frame)
            if not hidden:
                library = is_library.get(file)
                if library is None:
                    library = self.is_library(frame.f_code)
                # Children of multiprocessing are started by ``python -c``.
                is_spawning = file == "<string>" and not _SPAWNING.isdisjoint(frame.f_code.co_names)
                if not library and not is_spawning:
                    break
                is_start = file == _THREADING or frame.f_code.co_name == "_bootstrap"
                package = package or (None if is_start or is_spawning else frame)
            frame = frame.f_back
        frame = frame or package
        if frame is None:
            return 0
        # Working out the line takes longer than everything else, so it is done once per place.
        code = frame.f_code
        key = (id(code), -1 - frame.f_lasti)
        number = self._sites.get(key)
        if number is None:
            number = self.code_site(code, frame.f_lineno)
            if number:
                self._sites[key] = number
        return number

    def code_site(self, code: CodeType, line: int) -> int:
        """Return the number of a place in code, as a text."""
        key = (id(code), line)
        number = self._sites.get(key)
        return self._new_site(key, code) if number is None else number

    def function_site(self, function: Any) -> int:
        """Return the number of the place where a function begins, as a text; 0 if unknown."""
        while isinstance(function, partial):
            function = function.func
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        return 0 if code is None else self.code_site(code, code.co_firstlineno)

    def resumed_site(self, code: CodeType, line: int) -> int:
        """Return a place like :meth:`code_site`, with a word before coroutines and generators."""
        word = next((each for flag, each in _RESUMED if code.co_flags & flag), "")
        if not word:
            return self.code_site(code, line)
        key = (-id(code), line)
        number = self._sites.get(key)
        if number is None:
            file, found, name = self.texts[self.code_site(code, line)].rpartition(" in ")
            number = self.text(f"{file} in {word} {name}") if found else 0
            if number:
                self._sites[key] = number
        return number

    def is_library(self, code: CodeType) -> bool:
        """Return whether code belongs to Python or an installed package, not to the program."""
        path = code.co_filename
        known = self._is_library.get(path)
        if known is None:
            known = self._is_library[path] = path.startswith(_PYTHON) or any(
                each in path for each in _INSTALLED
            )
        return known

    def is_hidden(self, frame: FrameType) -> bool:
        hidden = self._is_hidden.get(frame.f_code.co_filename)
        return self._hides(frame) if hidden is None else hidden

    def _hides(self, frame: FrameType) -> bool:
        module = str(frame.f_globals.get("__name__", ""))
        hidden = self._is_hidden_module.get(module)
        if hidden is None:
            hidden = any(module == name or module.startswith(name + ".") for name in self._hidden)
            self._is_hidden_module[module] = hidden
        name = frame.f_code.co_filename
        if name[:1] != "<":
            # Code that was made by code, of any module, has no file.
            self._is_hidden[name] = hidden
        return hidden

    def _new_site(self, key: tuple[int, int], code: CodeType) -> int:
        if len(self._sites) >= MOST_TEXTS:
            return 0
        self._codes[key[0]] = code
        name = getattr(code, "co_qualname", code.co_name)
        number = self.text(f"{code.co_filename}:{key[1]} in {name}")
        self._sites[key] = number
        return number
