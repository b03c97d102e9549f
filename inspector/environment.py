"""Checks whether a window can be opened: a display, Qt's system libraries, a working Qt.

Qt itself would end the process. So the checks come first, and a failure becomes a sentence that
says what to do. ``python -m inspector.environment`` prints the missing Debian packages, a line
each.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import sleep
from typing import NamedTuple

from inspector.errors import InspectorError
from inspector.exit_codes import ExitCode

_THREAD_TIMEOUT = "OPENBLAS_THREAD_TIMEOUT"


@contextmanager
def threads_at_rest() -> Iterator[None]:
    """Have numpy imported at less cost.

    OpenBLAS, which it loads, starts a thread for each further processor, which spins before it
    sleeps, by default for 2 to the power of 26 ticks. It reads the environment while it is
    loaded; programs started later do not inherit the change.
    """
    is_ours = _THREAD_TIMEOUT not in os.environ
    if is_ours:
        os.environ[_THREAD_TIMEOUT] = "20"
    try:
        yield
    finally:
        if is_ours:
            del os.environ[_THREAD_TIMEOUT]


class EnvironmentProblemError(InspectorError):
    """No window can be opened; the message says why and what to do."""

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.BAD_ENVIRONMENT) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class SystemLibrary(NamedTuple):
    """A shared library that Qt needs from the system, and its Debian package."""

    file: str
    package: str


# What QtCore, QtGui, QtWidgets and QtSvg of PySide6 6.8 to 6.12 link to, beyond the C library.
QT_LIBRARIES = (
    SystemLibrary("libEGL.so.1", "libegl1"),
    SystemLibrary("libGL.so.1", "libgl1"),
    SystemLibrary("libX11.so.6", "libx11-6"),
    SystemLibrary("libdbus-1.so.3", "libdbus-1-3"),
    SystemLibrary("libfontconfig.so.1", "libfontconfig1"),
    SystemLibrary("libfreetype.so.6", "libfreetype6"),
    SystemLibrary("libglib-2.0.so.0", "libglib2.0-0"),
    SystemLibrary("libgthread-2.0.so.0", "libglib2.0-0"),
    SystemLibrary("libxkbcommon.so.0", "libxkbcommon0"),
)
X11_LIBRARIES = (
    SystemLibrary("libX11-xcb.so.1", "libx11-xcb1"),
    SystemLibrary("libxcb-cursor.so.0", "libxcb-cursor0"),
    SystemLibrary("libxcb-icccm.so.4", "libxcb-icccm4"),
    SystemLibrary("libxcb-image.so.0", "libxcb-image0"),
    SystemLibrary("libxcb-keysyms.so.1", "libxcb-keysyms1"),
    SystemLibrary("libxcb-randr.so.0", "libxcb-randr0"),
    SystemLibrary("libxcb-render-util.so.0", "libxcb-render-util0"),
    SystemLibrary("libxcb-render.so.0", "libxcb-render0"),
    SystemLibrary("libxcb-shape.so.0", "libxcb-shape0"),
    SystemLibrary("libxcb-shm.so.0", "libxcb-shm0"),
    SystemLibrary("libxcb-sync.so.1", "libxcb-sync1"),
    SystemLibrary("libxcb-util.so.1", "libxcb-util1"),
    SystemLibrary("libxcb-xfixes.so.0", "libxcb-xfixes0"),
    SystemLibrary("libxcb-xkb.so.1", "libxcb-xkb1"),
    SystemLibrary("libxcb.so.1", "libxcb1"),
    SystemLibrary("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
)
# Additionally for the Wayland plugin; without it, Qt uses X11 there too.
WAYLAND_LIBRARIES = (
    SystemLibrary("libwayland-client.so.0", "libwayland-client0"),
    SystemLibrary("libwayland-cursor.so.0", "libwayland-cursor0"),
)

#: How often an X server is asked before it counts as not there, and how far apart.
_CONNECTION_TRIES = 5
_BETWEEN_TRIES_S = 0.2
_APT_GET = Path("/usr/bin/apt-get")
_NO_DISPLAY = (
    "No window can be opened, because {reason}; "
    "`timeline-inspector run`, `export`, `attach --seconds`, `replay`, `annotate`, `lab`, "
    "`explain`, `lint` and `scenes` need none."
)


def check_display(environment: Mapping[str, str]) -> None:
    """Check that Qt can show a window with environment variables; true on Windows and macOS.

    An ``EnvironmentProblemError`` says that there is no display, that it does not answer, or which
    libraries are missing.
    """
    if sys.platform != "linux":
        return
    asked = [name.partition(":")[0] for name in environment.get("QT_QPA_PLATFORM", "").split(";")]
    asked = [name for name in asked if name]
    _check_platforms(asked, environment)
    if any(name != "xcb" and not name.startswith("wayland") for name in asked):
        return
    if asked != ["xcb"] and _wayland_answers(environment):
        return
    if not environment.get("DISPLAY"):
        raise EnvironmentProblemError(
            _NO_DISPLAY.format(reason="neither DISPLAY nor WAYLAND_DISPLAY names a display"),
            ExitCode.NO_DISPLAY,
        )
    if missing_libraries(X11_LIBRARIES):
        missing = missing_libraries(QT_LIBRARIES + X11_LIBRARIES)
        raise EnvironmentProblemError(_libraries_sentence(missing))
    if not _x11_answers():
        raise EnvironmentProblemError(
            _NO_DISPLAY.format(reason=f"the display {environment['DISPLAY']} does not answer"),
            ExitCode.NO_DISPLAY,
        )


def _check_platforms(asked: list[str], environment: Mapping[str, str]) -> None:
    if not asked or environment.get("QT_QPA_PLATFORM_PLUGIN_PATH"):
        return
    known = qt_platforms()
    if not known or any(name.lower().partition("-")[0] in known for name in asked):
        return
    raise EnvironmentProblemError(
        f"No window can be opened, because Qt has no platform “{';'.join(asked)}”, which "
        f"QT_QPA_PLATFORM requests; there are {', '.join(sorted(known))}. Unset it, or name one.",
        ExitCode.NO_DISPLAY,
    )


def qt_platforms() -> set[str]:
    """Return the platforms for which the installed Qt has plugins, on Linux."""
    try:
        found = find_spec("PySide6")
    except ValueError:
        return set()
    folders = found.submodule_search_locations if found is not None else None
    return {
        file.name.removeprefix("libq").removesuffix(".so")
        for folder in folders or ()
        for file in Path(folder, "Qt", "plugins", "platforms").glob("libq*.so")
    }


def installed_version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - 30 ms

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def check_qt(pyside_version: str, python_version: tuple[int, int]) -> None:
    version = tuple(int(part) for part in pyside_version.split(".")[:3] if part.isdigit())
    python = f"{python_version[0]}.{python_version[1]}"
    if version >= (6, 12) and python_version < (3, 12):
        raise EnvironmentProblemError(
            f"PySide6 {pyside_version} makes Python {python} abort after a few thousand calls; "
            "use Python 3.12 or newer, or run: "
            f"{sys.executable} -m pip install 'PySide6-Essentials>=6.8,!=6.9.1,<6.12'"
        )
    if version == (6, 9, 1):
        raise EnvironmentProblemError(
            f"PySide6 {pyside_version} does not work with pyqtgraph; run: "
            f"{sys.executable} -m pip install 'PySide6-Essentials>=6.8,!=6.9.1'"
        )


def qt_import_problem(error: ImportError) -> EnvironmentProblemError | None:
    """Return the problem if importing the window failed because of the environment.

    ``None`` if the error is a fault in the program.
    """
    if isinstance(error, ModuleNotFoundError):
        missing = (error.name or "").partition(".")[0]
        if missing not in {"PySide6", "shiboken6", "pyqtgraph", "numpy", "msgspec", "platformdirs"}:
            return None
        return EnvironmentProblemError(
            f"The window needs {missing}, which is not installed; run: "
            f"{sys.executable} -m pip install timeline-inspector"
        )
    if "cannot open shared object file" not in str(error):
        return None
    libraries = missing_libraries(QT_LIBRARIES)
    if not libraries:
        return EnvironmentProblemError(f"Qt needs a system library that is missing: {error}.")
    return EnvironmentProblemError(_libraries_sentence(libraries))


def missing_libraries(libraries: Iterable[SystemLibrary]) -> list[SystemLibrary]:
    """Return the libraries that cannot be loaded; on Linux only."""
    if sys.platform != "linux":
        return []
    return [library for library in libraries if not _loads(library.file)]


def install_command(libraries: Iterable[SystemLibrary]) -> str:
    """Return the command that installs ``libraries`` on Debian and Ubuntu."""
    packages = " ".join(sorted({library.package for library in libraries}))
    return f"sudo apt-get install --no-install-recommends {packages}"


def _libraries_sentence(libraries: list[SystemLibrary]) -> str:
    names = ", ".join(library.file for library in libraries)
    if _APT_GET.exists():
        return f"Qt needs system libraries that are missing ({names}); run: " + install_command(
            libraries
        )
    return f"Qt needs system libraries that are missing; please install {names}."


def _loads(file: str) -> bool:
    import ctypes  # noqa: PLC0415 - 3 ms, which the first paint on Wayland does not need

    # A bundled application brings libraries along, in a folder that the loader does not search.
    bundled = Path(getattr(sys, "_MEIPASS", ""), file)
    try:
        ctypes.CDLL(str(bundled) if bundled.is_absolute() and bundled.exists() else file)
    except OSError:
        return False
    return True


def _wayland_answers(environment: Mapping[str, str]) -> bool:
    name = environment.get("WAYLAND_DISPLAY")
    if not name:
        return False
    return (Path(environment.get("XDG_RUNTIME_DIR", "")) / name).is_socket()


def _x11_answers() -> bool:
    """Try to connect: Qt would abort the process on failure.

    An X server whose last client has left resets itself, and refuses clients for that moment.
    """
    for _ in range(_CONNECTION_TRIES - 1):
        if _x11_connects():
            return True
        sleep(_BETWEEN_TRIES_S)
    return _x11_connects()


def _x11_connects() -> bool:
    import ctypes  # noqa: PLC0415 - as above

    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
    has_error = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not has_error


def _print_missing_packages() -> int:
    required = missing_libraries(QT_LIBRARIES)
    missing = [*required, *missing_libraries(X11_LIBRARIES + WAYLAND_LIBRARIES)]
    for package in sorted({library.package for library in missing}):
        sys.stdout.write(package + os.linesep)
    return 1 if required else 0


if __name__ == "__main__":
    sys.exit(_print_missing_packages())
