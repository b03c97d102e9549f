"""Settings kept from one start to the next: one frozen value, one JSON file.

Read before the window is first painted, so with the standard library's JSON:
loading msgspec would take half of what the first paint may cost over an empty
window (13 of 25 ms, measured).
"""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

#: Incremented when the meaning of a field changes; files of newer versions are kept aside.
SETTINGS_VERSION: Final = 1
#: Incremented when layouts are written differently; older ones are not restored.
LAYOUT_VERSION: Final = 6
MOST_RECENT_SCENES: Final = 10
_FOLDER_NAME: Final = "timeline-inspector"
#: Far more than any settings: they are a few kilobytes, mostly breakpoints.
_MOST_BYTES: Final = 10_000_000
#: From a nanosecond to eleven days: what can be drawn at any zoom.
_LEAST_BUDGET_MS: Final = 1e-6
_MOST_BUDGET_MS: Final = 1e9
_NOTHING: Final[dict[str, str]] = {}
_IS_LINUX: Final = sys.platform == "linux"
#: Characters that are shown of a value that makes no sense.
_MOST_SHOWN: Final = 80


class Settings(NamedTuple):
    # Not a data class: making one takes a twentieth of the first paint of a bare window.
    theme: Literal["system", "light", "dark"] = "system"  # What the user chose
    font: Literal["inter", "system"] = "inter"  # The bundled font, or that of the system
    # How large text is, in percent from 100 to 200; 0 for as large as the system's.
    text_size: Literal[0, 100, 125, 150, 175, 200] = 0
    recent_scenes: tuple[str, ...] = ()  # Paths of scene files, newest first
    # Programs that were opened, newest first: what was typed, by field.
    recent_programs: tuple[dict[str, str], ...] = ()
    # Number of frames of the long step, 1 or more; the window takes no more than a session does.
    step_frames: int = 10
    # Frame times to compare with, the most important first.
    # DEFAULT_BUDGETS_MS, whose module takes long to import before the first paint
    budgets_ms: tuple[float, ...] = (1000 / 60, 1000 / 120, 1000 / 30)
    # What follows when a callback raises.
    failure_policy: Literal["continue", "pause branch", "stop"] = "continue"
    # How hard the time source tries to be on time.
    precision: Literal["economical", "fine"] = "economical"
    time_source: str = "system"  # Name of the time source that scenes are opened on
    # The breakpoints of each scene, as in a file of breakpoints, by the path of the scene, the
    # newest last.
    scene_breakpoints: dict[str, str] = _NOTHING
    export_folder: str = ""  # Where a graph was last written, or empty
    # What was last chosen in the export dialog, by field.
    export_choices: dict[str, str] = _NOTHING
    # Choices that panels keep, by a key of the panel.
    panel_choices: dict[str, str] = _NOTHING
    menu_bar: bool = False  # Whether the menu bar is kept above the window
    geometry: str = ""  # Where the window is, as Qt writes it, in hexadecimal
    layout: str = ""  # Which panels are open, and how large
    layout_version: int = LAYOUT_VERSION  # The LAYOUT_VERSION that layout belongs to
    version: int = SETTINGS_VERSION  # The SETTINGS_VERSION that the file was written with

    def with_recent_scene(self, path: Path) -> Settings:
        text = str(path.absolute())
        others = [other for other in self.recent_scenes if other != text]
        return self._replace(recent_scenes=tuple([text, *others][:MOST_RECENT_SCENES]))

    def with_recent_program(self, typed: dict[str, str]) -> Settings:
        others = [each for each in self.recent_programs if each != typed]
        return self._replace(recent_programs=tuple([typed, *others][:MOST_RECENT_SCENES]))

    def without_recent_scene(self, path: str) -> Settings:
        return self._replace(recent_scenes=tuple(p for p in self.recent_scenes if p != path))


class SettingsFile:
    def __init__(self, path: Path | None = None) -> None:
        """Use ``path``, or the file in the user's folder for settings."""
        self.path = _default_path() if path is None else path
        self.problem = ""  # Why the last load or save failed, as a sentence; empty if it did not

    def load(self) -> Settings:
        """Return what was saved, or the defaults when nothing was.

        A file that cannot be understood is kept aside under another name, so that
        nothing in it is lost, and :attr:`problem` says so.
        """
        self.problem = ""
        try:
            with self.path.open("rb") as stream:
                data = stream.read(_MOST_BYTES + 1)
        except FileNotFoundError:
            return Settings()
        except OSError as error:
            self._report(f"The settings cannot be read ({error}), so the defaults are used.")
            return Settings()
        try:
            return settings_from_json(data)
        except ValueError as error:
            aside = self._keep_aside()
            self._report(f"The settings are not valid: {error}. {aside}")
            return Settings()

    def save(self, settings: Settings) -> bool:
        """Write the settings, whole or not at all; return whether it went well."""
        # Names of files need not be valid UTF-8; JSON escapes what is not.
        text = json.dumps(settings._asdict(), indent=2) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(".json", "settings-", self.path.parent)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as stream:
                    stream.write(text)
                Path(name).replace(self.path)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            self._report(f"The settings cannot be saved to {self.path}: {error}.")
            return False
        return True

    def _keep_aside(self) -> str:
        aside = self.path.with_name(f"{self.path.stem}.unreadable{self.path.suffix}")
        number = 2
        while aside.exists():
            aside = self.path.with_name(f"{self.path.stem}.unreadable-{number}{self.path.suffix}")
            number += 1
        try:
            self.path.rename(aside)
        except OSError as error:
            return f"The defaults are used; the file could not be set aside ({error})."
        return f"The defaults are used; the old file is kept as {aside}."

    def _report(self, problem: str) -> None:
        self.problem = problem
        logging.getLogger(__name__).warning("%s", problem)


def settings_from_json(data: bytes) -> Settings:
    """Return settings, by default where fields are missing; raises ValueError for misfits."""
    if len(data) > _MOST_BYTES:
        raise ValueError(f"more than {_MOST_BYTES:,} bytes")
    try:
        values = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(values, dict):
        raise ValueError("not an object")  # noqa: TRY004 - all mistakes in the file are one kind
    version = values.get("version", SETTINGS_VERSION)
    if not isinstance(version, int) or version > SETTINGS_VERSION:
        raise ValueError(f"written by a newer version ({_short(version)})")
    types = get_type_hints(Settings)
    known = {
        name: _checked(name, values[name], types[name])
        for name in Settings._fields
        if name in values
    }
    settings = Settings(**known)  # type: ignore[arg-type] # each was checked against its field
    if settings.step_frames < 1:
        raise ValueError(f"step_frames cannot be {_short(settings.step_frames)}")
    for budget_ms in settings.budgets_ms:
        if not _LEAST_BUDGET_MS <= budget_ms <= _MOST_BUDGET_MS:
            raise ValueError(f"a budget cannot be {budget_ms!r} ms")
    return settings


def _checked(name: str, value: object, kind: object) -> object:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        if value in arguments:
            return value
    elif origin is tuple and isinstance(value, list):
        return tuple(_checked(name, item, arguments[0]) for item in value)
    elif origin is dict and isinstance(value, dict):
        return {
            _checked(name, key, arguments[0]): _checked(name, item, arguments[1])
            for key, item in value.items()
        }
    elif kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        # An integer that no float can hold is refused like an infinite number.
        return float(value) if abs(value) <= sys.float_info.max else math.inf
    elif isinstance(kind, type) and type(value) is kind:
        return value
    raise ValueError(f"{name} cannot be {_short(value)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _default_path() -> Path:
    if _IS_LINUX:
        # What platformdirs would return; importing it takes a twentieth of the first paint.
        configured = Path(os.environ.get("XDG_CONFIG_HOME", ""))
        folder = configured if configured.is_absolute() else Path("~/.config").expanduser()
        return folder / _FOLDER_NAME / "settings.json"
    import platformdirs  # noqa: PLC0415 - see above

    return Path(platformdirs.user_config_dir(_FOLDER_NAME, appauthor=False)) / "settings.json"
