"""Registries: what the inspector brings of a kind, and what installed packages add to it.

A package joins by an entry point in one of :data:`GROUPS`, which names a value of the kind of
that registry. An extension that cannot be loaded or that fails is skipped, named on the
logger of this module and in :attr:`Registry.extensions`; everything else works without it.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from inspector.display_text import one_line
from inspector.environment import threads_at_rest
from inspector.errors import InspectorError
from inspector.foreign.numbers import shown
from inspector.vocabulary import what_was_raised

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

logger = logging.getLogger(__name__)

#: Where each registry is, by the name of its group behind ``timeline_inspector.``; that of the
#: panels is in the window.
GROUPS: Final = {
    "panels": "",
    "importers": "inspector.sessions.frame_files:IMPORTERS",
    "exporters": "inspector.formats.export:EXPORTERS",
    "lint_rules": "inspector.analysis.lint.rules:RULES",
    "schedulers": "inspector.engines.cocos.dialects:DIALECTS",
    "component_dialects": "inspector.engines.creator.versions:COMPONENT_DIALECTS",
    "time_sources": "inspector.sessions.sources.time_sources:TIME_SOURCES",
    "commands": "inspector.cli.commands:COMMANDS",
}
_PREFIX: Final = "timeline_inspector."
_METADATA: Final = (".dist-info", ".egg-info")
#: In characters: of a name, of a problem in a sentence, of any other text, and of a traceback.
_LONGEST_NAME: Final = 60
_LONGEST_PROBLEM: Final = 200
_LONGEST_TEXT: Final = 10_000
_LONGEST_TRACEBACK: Final = 20_000

EntryT = TypeVar("EntryT")


class PanelArea(Enum):
    """Where a panel is."""

    LEFT = "left"
    TOP_RIGHT = "top right"
    RIGHT = "right"
    BOTTOM = "bottom"
    MIDDLE = "middle"


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel of the window; its widget is imported when it is first seen.

    Attributes:
        id: Its name for the program; what is open is saved by it.
        title: Its name for people.
        area: Where it is: the right and its top are the side column, the bottom and the left the
            tray; ``MIDDLE`` is below the frame times, which have none.
        widget: Its class as ``module:Class``, made with the session's bridge, the theme and
            the parent.
        summary: What it shows, in a few words.
        method: The method of a server by which programs ask for the same, empty for none.
    """

    id: str
    title: str
    area: PanelArea | None
    widget: str
    summary: str
    method: str = ""


class ExtensionError(InspectorError):
    """An extension failed; the message names it and says why."""

    def __init__(self, extension: Extension) -> None:
        super().__init__(str(extension))
        self._extension = extension

    @property
    def detail(self) -> str:
        """The traceback, which is for the author of the extension."""
        return self._extension.traceback


@dataclass(slots=True)
class Extension:
    """An entry point of an installed package.

    Attributes:
        noun: What it adds, such as "exporter".
        name: Name of the entry point.
        package: The package and its version.
        target: What the entry point names, as ``module:attribute``.
        problem: Why it was skipped, or how it failed; empty while it works.
        traceback: Where that happened, if it raised.
    """

    noun: str
    name: str
    package: str
    target: str
    problem: str = ""
    traceback: str = ""

    def __str__(self) -> str:
        what = f"The {self.noun} “{self.name}” of {self.package}"
        return f"{what} does not work: {self.reason}" if self.problem else f"{what} works."

    @property
    def reason(self) -> str:
        """The problem with its full stop."""
        return self.problem if self.problem.endswith("…") else f"{self.problem}."


class Registry(Sequence[EntryT], Generic[EntryT]):
    """The entries of one kind: our own first, then those of installed packages.

    Packages are searched on the first access beyond :attr:`own`.
    """

    def __init__(
        self,
        group: str,
        kind: type[EntryT],
        own: Iterable[EntryT],
        *,
        names: Callable[[EntryT], Iterable[str]],
        check: Callable[[EntryT], str] = lambda _entry: "",
    ) -> None:
        """Describe a registry; nothing is loaded.

        Args:
            group: A key of :data:`GROUPS`.
            kind: What its entries are: a dataclass, whose fields are checked.
            own: The entries that come with the inspector.
            names: Returns what no two entries may share.
            check: Returns a further problem of an entry of a package, or nothing.
        """
        self.group = group
        self.own: tuple[EntryT, ...] = tuple(own)
        self._kind = kind
        self._names = names
        self._check = check
        self._extensions: list[Extension] = []
        self._joined: list[tuple[EntryT, Extension]] | None = None

    @overload
    def __getitem__(self, index: int) -> EntryT: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[EntryT, ...]: ...
    def __getitem__(self, index: int | slice) -> EntryT | tuple[EntryT, ...]:
        """Return entries by place, our own first."""
        return self._all()[index]

    def __len__(self) -> int:
        """Return the number of entries that can be used."""
        return len(self._all())

    @property
    def noun(self) -> str:
        """What an entry is called in a sentence, such as "exporter"."""
        return self.plural.removesuffix("s")

    @property
    def plural(self) -> str:
        """What entries are called in a sentence, such as "lint rules"."""
        return self.group.replace("_", " ")

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """The entry points of installed packages, including those that fail."""
        self._all()
        return tuple(self._extensions)

    @contextmanager
    def guarding(self, entry: EntryT) -> Iterator[None]:
        """Use an entry: what an extension raises becomes a sentence that names it.

        Raises:
            ExtensionError: An entry of a package raised anything but an
                :class:`~inspector.errors.InspectorError`, which passes as it is.
        """
        try:
            yield
        except (InspectorError, BrokenPipeError):
            raise
        except Exception as error:
            extension = self.extension_of(entry)
            if extension is None:
                raise
            raise self.blame(extension, error) from error

    def extension_of(self, entry: EntryT) -> Extension | None:
        """Return the entry point that an entry comes from, ``None`` for one of our own."""
        joined = self._joined or ()
        return next((extension for each, extension in joined if each is entry), None)

    def culprit(self, error: BaseException) -> Extension | None:
        """Return the extension in whose module an error came up, else in whose package."""
        modules = modules_of(error)
        packages = {module.partition(".")[0] for module in modules}
        named = [(each, each.target.partition(":")[0]) for each in self.extensions]
        exact = (each for each, module in named if module in modules)
        near = (each for each, module in named if module.partition(".")[0] in packages)
        return next(exact, None) or next(near, None)

    def blame(self, extension: Extension, error: BaseException) -> ExtensionError:
        """Note what an extension raised, and return it as what can be shown or reported."""
        text = "".join(traceback.format_exception(error))
        extension.traceback = text[-_LONGEST_TRACEBACK:]
        alone = "".join(traceback.format_exception_only(error))
        extension.problem = _shortened(what_was_raised(alone))
        return ExtensionError(extension)

    def _all(self) -> tuple[EntryT, ...]:
        if self._joined is None:
            # First, because a loaded module may list the extensions.
            self._joined = []
            for package, point in _entry_points(f"{_PREFIX}{self.group}"):
                self._join(package, point, self._joined)
        return (*self.own, *(entry for entry, _extension in self._joined))

    def _join(
        self, package: str, point: EntryPoint, joined: list[tuple[EntryT, Extension]]
    ) -> None:
        extension = Extension(self.noun, _name(point.name), package, _name(point.value))
        self._extensions.append(extension)
        try:
            entry = point.load()
            misfit = misfit_of(entry, self._kind) or self._name_problem(entry) or self._check(entry)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - code of other people
            report(self.blame(extension, error))
            return
        extension.problem = _shortened(misfit)
        if misfit:
            report(ExtensionError(extension))
        else:
            joined.append((entry, extension))

    def _name_problem(self, entry: EntryT) -> str:
        taken = {name.casefold() for each in self for name in self._names(each)}
        for name in self._names(entry):
            if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
                return f"{shown(name)} is not a name of 1 to {_LONGEST_NAME} characters"
            if name.casefold() in taken:
                return f"the name “{name}” is taken"
        return ""


def modules_of(error: BaseException) -> set[str]:
    """Return the modules that an error has passed through."""
    frames = traceback.walk_tb(error.__traceback__)
    return {str(frame.f_globals.get("__name__")) for frame, _line in frames}


def report(error: ExtensionError) -> None:
    """Say that an extension does not work where nothing else fails because of it."""
    logger.warning("%s", error)


def registry_of(group: str) -> Registry[Any]:
    """Return the registry of a group that is not the window's."""
    return cast("Registry[Any]", object_at(GROUPS[group]))


def object_at(place: str, package: str | None = None) -> Any:  # noqa: ANN401 - of whatever is there
    """Import what ``module:name`` names; behind a dot, the module is one of ``package``."""
    module, _, name = place.partition(":")
    with threads_at_rest():
        return getattr(import_module(module, package), name)


def are_installed() -> bool:
    """Return whether any installed package joins a registry; loads nothing."""
    return next(_metadata_folders(), None) is not None


def extensions_text(registries: Iterable[Registry[Any]]) -> str:
    """Return a list of all extensions for people: what they add, and what is wrong with them."""
    lines = []
    for registry in registries:
        found = registry.extensions
        lines.append(f"{registry.plural}: {len(registry.own)} built in, {len(found)} installed")
        for each in found:
            lines.append(f"  {'✖' if each.problem else '✔'} {each.name}, {each.package}")
            lines += [f"      {each.reason}"] if each.problem else []
            lines += [f"      {line}" for line in each.traceback.splitlines()]
    return "\n".join(lines) + "\n"


def _metadata_folders() -> Iterator[str]:
    """Yield the metadata of each installed package that names one of our groups.

    Reading their files takes half a millisecond; importing ``importlib.metadata`` takes 30 ms
    and 6 MB, which users without extensions need not pay.
    """
    seen = set()
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208 - what is in sys.path is text
        except OSError:
            continue
        for name in sorted(each for each in names if each.endswith(_METADATA)):
            package = name.partition("-")[0].casefold()
            if package in seen:
                continue
            seen.add(package)
            path = os.path.join(folder, name)  # noqa: PTH118 - likewise
            try:
                with open(os.path.join(path, "entry_points.txt"), "rb") as file:  # noqa: PTH118, PTH123
                    if _PREFIX.encode() in file.read():
                        yield path
            except OSError:
                continue


def _entry_points(group: str) -> Iterator[tuple[str, EntryPoint]]:
    for path in _metadata_folders():
        from importlib.metadata import Distribution  # noqa: PLC0415 - 30 ms, seldom needed

        package = Path(path).name
        try:
            distribution = Distribution.at(path)
            package = f"{distribution.metadata['Name']} {distribution.version}"
            points = sorted(distribution.entry_points.select(group=group))
        except Exception as error:  # noqa: BLE001 - files of other people
            logger.warning("The entry points of %s cannot be read: %s.", _name(package), error)
            continue
        for point in points:
            yield _name(package), point


def _name(text: str) -> str:
    return one_line(text[:_LONGEST_NAME])


def _shortened(problem: str) -> str:
    """Return a problem as it stands in a sentence, without the full stop."""
    cut = one_line(problem[:_LONGEST_PROBLEM])
    return cut.rstrip(".…") if len(problem) <= _LONGEST_PROBLEM else f"{cut}…"


def misfit_of(value: object, kind: type) -> str:
    """Return why a value is no entry of a kind, or nothing."""
    if not isinstance(value, kind):
        return f"{shown(value)} is not of the type {kind.__name__}"
    for name, hint in get_type_hints(kind).items():
        found = getattr(value, name)
        if not _fits(found, hint):
            return f"its {name} cannot be {shown(found)}"
        if isinstance(found, str) and len(found) > _LONGEST_TEXT:
            return f"its {name} is too long"
        if isinstance(found, str) and not found.replace("\n", "").isprintable():
            return f"its {name} holds characters that are not text"
    return ""


def _fits(value: object, hint: object) -> bool:
    """Return whether a value is what the type of a field says, as far as that can be seen."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, each) for each in inner)
    if origin is Callable or hint is Callable:
        return callable(value)
    if origin is tuple and isinstance(value, tuple):
        return all(_fits(each, inner[0]) for each in value)
    kind = origin or hint
    if kind is int and isinstance(value, (bool, Enum)):
        return False
    return isinstance(value, kind) if isinstance(kind, type) else True
