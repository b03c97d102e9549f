"""Scene files: finding them, and loading one in isolation.

A scene is a user's Python file that defines ``build(stage)``. It is imported under a name
that is used only once, so that loading it again finds nothing left of an earlier load. It
can import the modules beside it, which are unloaded with it.
"""

import ast
import builtins
import gc
import importlib
import inspect
import json
import linecache
import os
import re
import shlex
import sys
import tokenize
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from inspector.clocks.failures import CALLBACK_ERRORS, SCENE_MODULE, UserInterruptError, as_shown
from inspector.clocks.refusals import suggest_name
from inspector.display_text import in_quotes
from inspector.errors import InspectorError, SceneError, UnreadableFileError
from inspector.foreign.files import read_whole
from inspector.foreign.paths import expanded, is_file, is_folder
from inspector.resources import resource_path
from inspector.vocabulary import what_was_raised

if TYPE_CHECKING:
    from inspector.sessions.stage import Stage

_PACKAGE_FOLDER = str(Path(__file__).resolve().parent.parent)
#: The window's code beside this package: it is on the stack when it ends code that hangs.
_WINDOW_FOLDER = str(Path(_PACKAGE_FOLDER).parent / "ui") + os.sep
_EXCERPT_LINES = 3
#: Most characters shown of a line or a message.
_MOST_SHOWN = 400
#: The largest scene file in bytes; compiling it takes many times as much memory.
_LARGEST_BYTES = 64 << 20
_SCENE_NUMBERS = count()
#: Threshold of Python's garbage collector during ``build``; an unusual number, so that a threshold
#: that the scene sets can be told from it.
_BUILD_THRESHOLD: Final = 1_500_007

#: What programs that are opened as scenes raise: they run, end, or need libraries of their own.
_AS_OF_PROGRAMS: Final = (ModuleNotFoundError, SystemExit, UserInterruptError)
#: Suffixes of scene files; any other file was opened by mistake.
_PYTHON_SUFFIXES = frozenset({".py", ".pyw", ""})

#: Flags of functions that, when called, only return something that has yet to be run.
_DOES_NOTHING_WHEN_CALLED = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR

#: Tokens that may come before a docstring.
_NOT_CODE = frozenset({tokenize.COMMENT, tokenize.NL})

#: Modules whose functions the inspector needs, and that scenes have no reason to replace.
_NEEDED_MODULES: Final = (builtins, json, json.encoder, linecache, traceback)

#: Functions of these that programs may wrap, for example to print in colour, without harm.
_WRAPPED: Final = frozenset({"__import__", "breakpoint", "input", "open", "print"})
_FUNCTIONS: Final = (FunctionType, MethodType, BuiltinFunctionType)

#: Entries that scenes have added to the path, by the name of their module.
_entries_added: dict[str, list[str]] = {}
#: Folders of the scenes that are loaded, by the name of their module.
_folders: dict[str, str] = {}
#: Those of these folders that were not on the path before.
_folders_added: set[str] = set()


@contextmanager
def run_kept() -> Iterator[None]:
    """Have a scene that breaks Python while it runs end its run, but not the report about it.

    Raises:
        InspectorError: The run failed after the scene had replaced what the inspector needs.
    """
    replaced: list[str] = []
    try:
        with needed_functions_kept(replaced):
            yield
    except InspectorError:
        raise
    except Exception as error:
        if not replaced:
            raise
        message = f"The run has failed, as the scene has replaced {replaced[0]}, which runs need"
        raise InspectorError(f"{message}: {type(error).__name__}: {error}.") from error


@contextmanager
def needed_functions_kept(replaced: list[str] | None = None) -> Iterator[None]:
    """Restore what a scene replaces in modules that are needed to report about it.

    The names of what was replaced are added to ``replaced``. What the scene adds to modules stays;
    standard outputs that it closes are opened again.
    """
    needed = NeededFunctions()
    # All are asked first, as a copy takes the number of an output that is closed.
    outputs = [(number, os.dup(number)) for number in [*filter(_is_open, (1, 2))]]
    try:
        yield
    finally:
        changed = needed.put_back()
        if replaced is not None:
            replaced += changed
        for number, kept in outputs:
            if not _is_open(number):
                os.dup2(kept, number)
            os.close(kept)


class NeededFunctions:
    """The functions that the inspector needs and that code of a scene can replace."""

    def __init__(self) -> None:
        self._before = [(each.__name__, vars(each), dict(vars(each))) for each in _NEEDED_MODULES]

    def put_back(self) -> list[str]:
        """Restore what was replaced and return the names; what was added stays."""
        replaced = []
        # This calls no built-in function, as any of them may have been replaced.
        for module, now, names in self._before:
            for name in names:
                there = now.get(name)
                if there is names[name] or (name in _WRAPPED and there.__class__ in _FUNCTIONS):
                    continue
                now[name] = names[name]
                replaced += [f"{module}.{name}"]
        return replaced


@contextmanager
def _garbage_collected_seldom() -> Iterator[None]:
    """Raise the first threshold of Python's collector, unless the code inside sets its own.

    Most of what a scene builds is kept. With a million timers, searching them for garbage takes
    more than a quarter of the time in ``build``.
    """
    # Kept here, as a scene may replace the functions.
    get, put = gc.get_threshold, gc.set_threshold
    before, *rest = get()
    # A threshold of 0 turns the collector off and stays.
    raised = before and max(before, _BUILD_THRESHOLD)
    put(raised, *rest)
    try:
        yield
    finally:
        now, *rest = get()
        if now == raised:
            put(before, *rest)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


class SceneFile(Struct, frozen=True):
    path: Path
    title: str  # The first line of its docstring, without the full stop
    summary: str  # The next paragraph, on what it shows
    tries: tuple[str, ...] = ()  # Suggestions, from the list below “Try:”

    @property
    def picture_path(self) -> Path:
        return self.path.parent / "pictures" / f"{self.path.stem}.png"


class SceneProblem(SceneError):  # noqa: N818 - it is shown as the sentence it carries
    """A scene that could not be loaded or built, with the place in its source."""

    def __init__(
        self,
        message: str,
        path: Path,
        *,
        line: int | None = None,
        excerpt: str = "",
        traceback_text: str = "",
    ) -> None:
        super().__init__(message)
        self.path = path  # The file in which it went wrong: the scene or a module beside it
        self.line = line  # The line in it, counted from 1, or None if unknown
        self.excerpt = excerpt  # The numbered lines around it, with > before the line itself
        self.traceback_text = traceback_text  # Python's traceback, with only the user's own frames

    @property
    def detail(self) -> str:
        """Place, excerpt and traceback in one text, or an empty one."""
        place = f"{self.path}, line {self.line}" if self.line else ""
        return "\n\n".join(part for part in (place, self.excerpt, self.traceback_text) if part)


class LoadedScene(Struct, frozen=True):
    path: Path
    module: ModuleType
    known_before: frozenset[str]  # Names of the modules that were loaded before it

    def build(self, stage: "Stage") -> None:
        build: Callable[[Stage], object] = self.module.build
        with _importable(self):
            try:
                with needed_functions_kept(), _garbage_collected_seldom():
                    build(stage)
            except KeyboardInterrupt:
                raise
            except CALLBACK_ERRORS as error:
                raise _problem(self.path, "build", error) from error
        self.keep_neighbours()

    def keep_neighbours(self) -> None:
        """Let callbacks import modules beside the scene, until it is unloaded."""
        folder = str(_folder_of(self.path))
        _folders[self.module.__name__] = folder
        # At the end of the path, the folder cannot shadow what the inspector itself
        # imports.
        if folder not in sys.path:
            sys.path.append(folder)
            _folders_added.add(folder)

    def set_aside(self) -> dict[str, ModuleType]:
        """Unload the scene, and return what :meth:`put_back` needs to restore it."""
        before = dict(sys.modules)
        self.unload()
        return {name: each for name, each in before.items() if name not in sys.modules}

    def put_back(self, modules: dict[str, ModuleType]) -> None:
        """Restore the modules that the scene had imported, and imports from beside it."""
        sys.modules.update(modules)
        self.keep_neighbours()

    def unload(self) -> None:
        """Unload the scene and the modules beside it that it imported; later calls do nothing."""
        folder = _folder_of(self.path)
        if sys.modules.pop(self.module.__name__, None) is None:
            # It was unloaded before, so modules loaded since belong to another scene.
            return
        _folders.pop(self.module.__name__, None)
        files = {str(self.path)}
        for name in [name for name in sys.modules if name not in self.known_before]:
            if _is_neighbour(name, folder):
                files.add(str(getattr(sys.modules.pop(name), "__file__", "")))
        # Another scene in the folder may still be loaded, as in the lab, and folders on the
        # user's own path stay.
        if str(folder) in _folders_added and str(folder) not in _folders.values():
            _folders_added.remove(str(folder))
            if str(folder) in sys.path:
                sys.path.remove(str(folder))
        for entry in _entries_added.pop(self.module.__name__, ()):
            if entry in sys.path:
                sys.path.remove(entry)
        # Only these files, as checkcache() reads the state of each.
        for file in files:
            linecache.checkcache(file)


def load_scene(path: Path) -> LoadedScene:
    """Import a scene file; a :class:`SceneProblem` if that fails, or if it lacks ``build``."""
    path = path.absolute()
    code = _compiled(path)
    module = ModuleType(f"{SCENE_MODULE}{next(_SCENE_NUMBERS)}")
    module.__file__ = str(path)
    scene = LoadedScene(path, module, frozenset(sys.modules))
    # Dataclasses and pickle look the module up by its name.
    sys.modules[module.__name__] = module
    try:
        with _importable(scene), needed_functions_kept():
            exec(code, module.__dict__)  # noqa: S102 - running the user's file is the point
    except KeyboardInterrupt:
        scene.unload()
        raise
    except CALLBACK_ERRORS as error:
        scene.unload()
        raise _problem(path, "import", error) from error
    if not callable(getattr(module, "build", None)):
        scene.unload()
        raise SceneProblem(
            f"{path.name} has no function build(stage). "
            f"Define one that sets up clocks and timers on stage.root. {program_hint(path)}",
            path,
        )
    if problem := _signature_problem(path, module.build):
        scene.unload()
        raise problem
    return scene


def docstring_title(module: ModuleType) -> str:
    """Return the first line of a docstring without its full stop, or nothing."""
    docstring = module.__doc__
    text = docstring.strip() if isinstance(docstring, str) else ""
    return text.partition("\n")[0].rstrip(".")


def built_in_scenes() -> list[SceneFile]:
    return [_described(path) for path in sorted(resource_path("scenes").glob("*.py"))]


def built_in_scene(path: Path) -> SceneFile | None:
    """Return the built-in scene that a file is, ``None`` if it is none."""
    is_one = path.parent == resource_path("scenes") and path.suffix == ".py" and is_file(path)
    return _described(path) if is_one else None


def find_scene(text: str) -> Path:
    """Return the scene file that a user named.

    That is a path, or the name or number of a built-in scene: ``1``, ``small_game``,
    ``01_small_game``.
    """
    if not text.strip():
        raise SceneError("The name of the scene is empty. “timeline-inspector scenes” lists some.")
    path = expanded(text)
    if is_file(path):
        return path
    if is_folder(path):
        raise SceneError(f"{text} is a folder. Name the scene file in it.")
    wanted = text.lower().replace("-", "_").replace(" ", "_").removesuffix(".py")
    names: dict[str, Path] = {}
    for found in sorted(resource_path("scenes").glob("*.py")):
        number, _, name = found.stem.partition("_")
        for key in (found.stem, name, number, number.lstrip("0")):
            names.setdefault(key, found)
    if wanted in names:
        return names[wanted]
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    close = get_close_matches(wanted, [name for name in names if not name.isdigit()], 1)
    hint = f"Did you mean {close[0]}?" if close else "“timeline-inspector scenes” lists them."
    raise SceneError(f"There is no file and no built-in scene {in_quotes(text)}. {hint}")


def user_traceback(error: BaseException) -> str:
    """Return the traceback of ``error`` without the inspector's own frames."""
    linecache.checkcache()
    if isinstance(error, SyntaxError) and not _is_pythons_own(error):
        return ""
    report = traceback.TracebackException.from_exception(error, compact=True)
    _keep_user_frames(report)
    return as_shown("".join(report.format()).rstrip())


def _is_pythons_own(error: SyntaxError) -> bool:
    """Return whether its attributes have Python's types; a scene may have set others."""
    texts, numbers = (error.filename, error.text), (error.lineno, error.offset)
    return all(each is None or isinstance(each, str) for each in texts) and all(
        each is None or type(each) is int for each in (*numbers, error.end_lineno, error.end_offset)
    )


def _described(path: Path) -> SceneFile:
    docstring = _docstring(path) or path.stem
    title, _, rest = docstring.partition("\n")
    summary = " ".join(rest.strip().partition("\n\n")[0].split())
    items = rest.partition("\nTry:\n")[2].partition("\n\n\n")[0].split("\n* ")[1:]
    tries = tuple(" ".join(item.split()) for item in items)
    return SceneFile(path, title.strip().rstrip("."), summary, tries)


def _docstring(path: Path) -> str:
    """Return the docstring of a file without reading further, as parsing all of it takes 3 ms."""
    with tokenize.open(path) as file:
        tokens = tokenize.generate_tokens(file.readline)
        first = next(token for token in tokens if token.type not in _NOT_CODE)
    return inspect.cleandoc(ast.literal_eval(first.string)) if first.type == tokenize.STRING else ""


def _compiled(path: Path) -> CodeType:
    if path.suffix.lower() not in _PYTHON_SUFFIXES:
        raise SceneProblem(
            f"{path.name} is not a Python file. Name the scene's .py file; frame times of a "
            "capture go to “run SCENE --frame-times FILE” or to “export FILE”.",
            path,
        )
    try:
        source = read_whole(path, _LARGEST_BYTES, "a scene")
    except UnreadableFileError as error:
        raise SceneProblem(str(error), path) from None
    if b"\0" in source:
        raise SceneProblem(
            f"{path.name} is not a Python file: it contains bytes that are not text. Name the "
            "scene's .py file; it must be saved as UTF-8.",
            path,
        )
    try:
        code: CodeType = compile(source, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise _problem(path, "import", error) from error
    except (RecursionError, MemoryError):
        message = (
            f"{path.name} could not be imported: an expression in it is too long or too deeply "
            "nested for Python. Split it, or read it from a file."
        )
        raise SceneProblem(message, path) from None
    return code


def _problem(path: Path, step: str, error: BaseException) -> SceneProblem:
    suggest_name(error)
    place, line = _place(path, error)
    if isinstance(error, SystemExit):
        what = f"it called exit ({_short(repr(error.code))}); a scene sets things up and returns"
    elif isinstance(error, UserInterruptError):
        what = f"it was {error}; a scene sets things up and returns, and what is to happen again "
        what += "and again is a callback of stage.every_frame"
    elif isinstance(error, SyntaxError):
        what = f"{type(error).__name__}: {_short(str(error.msg))}"
    else:
        # Not by str(error), which may raise an error itself.
        alone = traceback.format_exception_only(type(error), error)
        what = as_shown(what_was_raised("".join(alone)))
    end = "" if what.endswith(("?", "!")) else "."
    verb = "could not be imported" if step == "import" else "failed in build(stage)"
    hint = _namesake_hint(path, error)
    if step == "import" and isinstance(error, _AS_OF_PROGRAMS):
        hint = hint or f" {program_hint(path)}"
    where = ""
    if line is not None:
        where = f" (line {line})" if place == path else f" ({place.name}, line {line})"
    return SceneProblem(
        f"{path.name} {verb}{where}: {what.rstrip('.')}{end}{hint}",
        place,
        line=line,
        excerpt=_excerpt(place, line),
        traceback_text=user_traceback(error),
    )


def program_hint(path: Path) -> str:
    """Return what to write for a program that was opened as a scene."""
    program = shlex.quote(path.name)
    return f"If it is a program, not a scene: “timeline-inspector attach python3 {program}”."


def _namesake_hint(path: Path, error: BaseException) -> str:
    """Return a hint if a scene tries to import its own module named like this package."""
    if isinstance(error, AttributeError):
        asked = getattr(error.obj, "__name__", None)
    else:
        asked = error.name if isinstance(error, ImportError) else None
    ours = __name__.partition(".")[0]
    if not isinstance(asked, str) or asked.partition(".")[0] != ours:
        return ""
    beside = (path.with_name(f"{ours}.py"), path.with_name(ours))
    namesake = next((each for each in beside if each.exists()), None)
    if namesake is None:
        return ""
    return (
        f" “{ours}” is the Timeline Inspector here, so {namesake.name} beside the scene cannot be "
        "imported. Give it another name."
    )


def _signature_problem(path: Path, build: Callable[..., object]) -> SceneProblem | None:
    try:
        signature = inspect.signature(build)
    except Exception:  # noqa: BLE001 - what an object of the scene raises when it is asked
        # Not every callable has a signature; calling build will show whether it works.
        return None
    code = getattr(build, "__code__", None)
    line = code.co_firstlineno if isinstance(code, CodeType) else None
    where = "" if line is None else f" (line {line})"
    message = ""
    try:
        signature.bind(None)
    except TypeError:
        message = (
            f"{path.name}: build{signature} does not accept the stage as its only argument{where}. "
            "Define it as build(stage)."
        )
    if isinstance(code, CodeType) and code.co_flags & _DOES_NOTHING_WHEN_CALLED:
        message = (
            f"{path.name}: calling build(stage) would do nothing{where}: it is async or has a "
            "yield. Define it as a plain function."
        )
    return SceneProblem(message, path, line=line, excerpt=_excerpt(path, line)) if message else None


def user_place(traceback_text: str) -> str:
    """Return the last line of the user's own code in a traceback, as ``file, line n``."""
    places = re.findall(r'^[ |]*File "(.+)", line (\d+)', traceback_text, re.MULTILINE)
    own = [(file, line) for file, line in places if _is_user_frame(file)]
    return f"{Path(own[-1][0]).name}, line {own[-1][1]}" if own else ""


def is_in_scene(path: Path, error: BaseException) -> bool:
    """Return whether the traceback has code of the scene or of a module beside it."""
    return _place(path, error)[1] is not None


def _place(path: Path, error: BaseException) -> tuple[Path, int | None]:
    """Return where it happened: the deepest line in the scene's own folder."""
    if isinstance(error, SyntaxError):
        named, number = error.filename, error.lineno
        # A scene may raise a SyntaxError itself, with any attributes.
        if isinstance(named, str) and type(number) is int and number > 0 and is_file(Path(named)):
            return Path(named), number
    place: tuple[Path, int | None] = (path, None)
    folder = _folder_of(path)
    for frame in traceback.extract_tb(error.__traceback__):
        file = Path(frame.filename)
        if file == path or (
            folder in file.parents
            and "site-packages" not in file.parts
            and _is_user_frame(frame.filename)
        ):
            place = (file, frame.lineno)
    return place


def _excerpt(path: Path, line: int | None) -> str:
    if line is None:
        return ""
    lines = [each.rstrip() for each in linecache.getlines(str(path))]
    first = max(1, line - _EXCERPT_LINES)
    last = min(len(lines), line + _EXCERPT_LINES)
    width = len(str(last))
    return "\n".join(
        f"{'>' if number == line else ' '} {number:>{width}} │ {_short(lines[number - 1])}".rstrip()
        for number in range(first, last + 1)
    )


def _short(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _keep_user_frames(report: traceback.TracebackException) -> None:
    report.stack = traceback.StackSummary.from_list(
        [frame for frame in report.stack if _is_user_frame(frame.filename)]
    )
    for other in (report.__cause__, report.__context__):
        if other is not None:
            _keep_user_frames(other)


def _is_user_frame(filename: str) -> bool:
    if filename.startswith("<frozen importlib"):
        return False
    # Installed from a wheel, the built-in scenes lie inside the package.
    scenes = str(resource_path("scenes"))
    if filename.startswith(scenes):
        return True
    return not filename.startswith((_PACKAGE_FOLDER, _WINDOW_FOLDER))


def _is_neighbour(name: str, folder: Path) -> bool:
    top = sys.modules.get(name.partition(".")[0])
    if top is None or top.__name__ == __name__.partition(".")[0]:
        return False
    filename = getattr(top, "__file__", None)
    if filename is None:
        paths = getattr(top, "__path__", ())
        return any(Path(path).parent == folder for path in paths)
    place = Path(filename).parent
    return folder == (place.parent if hasattr(top, "__path__") else place)


def _folder_of(path: Path) -> Path:
    """Return the folder of a scene's neighbours; for a link, that of the file it leads to."""
    return path.resolve().parent if path.is_symlink() else path.parent


@contextmanager
def _importable(scene: LoadedScene) -> Iterator[None]:
    """Let the scene import the modules beside it, as Python does for a script.

    Entries that it adds to the path stay until it is unloaded, but are moved to the end. Entries
    that it removes are restored, as the inspector still needs to import.
    """
    writes_bytecode = sys.dont_write_bytecode
    # A neighbour that is edited twice within a second would be loaded from a stale cache.
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    path, entries, folder = sys.path, list(sys.path), str(_folder_of(scene.path))
    path.insert(0, folder)
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes_bytecode
        now: object = sys.path
        now = now if isinstance(now, list) else []
        added = [entry for entry in now if entry not in entries and entry != folder]
        _entries_added.setdefault(scene.module.__name__, []).extend(added)
        path[:] = [*entries, *added]
        sys.path = path
