"""Reads the window as a screen reader does; run by the system's Python, which knows AT-SPI.

Writes a JSON object into the file that is named: ``parts``, all names with their roles,
``described``, what is said of some of these, and ``said``, what was announced after everything was
slowed to a quarter.
"""

# ruff: noqa: ANN401 - its library has no types

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gi  # type: ignore[import-not-found]

gi.require_version("Atspi", "2.0")
from gi.repository import (  # type: ignore[import-not-found]  # noqa: E402 - after the version
    Atspi,
    GLib,
)

WINDOW = "Timeline Inspector"
SLOWER = "Rate of everything: 0.25"
DESCRIBED = ("Overview of the session", "Ruler")
ROWS = ("enemies, clock, ", "boss arrives, timer, ")
PATIENCE_S = 60
MOST_CHILDREN = 200


def children(accessible: Any) -> list[Any]:
    count = min(accessible.get_child_count(), MOST_CHILDREN)
    found = (accessible.get_child_at_index(place) for place in range(count))
    return [each for each in found if each is not None]


def all_below(accessible: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield what is in the window with its role and name, but for what goes meanwhile."""
    try:
        role, name = accessible.get_role_name(), accessible.get_name()
        below = children(accessible)
    except GLib.GError:
        return
    yield role, name, accessible
    for child in below:
        yield from all_below(child)


def contents() -> list[tuple[str, str, Any]]:
    """Return what is in the window, once its lanes can be read.

    They come by and by, and a row that goes while it is read is not there.
    """
    deadline = time.monotonic() + PATIENCE_S
    found: list[tuple[str, str, Any]] = []
    while time.monotonic() < deadline:
        for application in children(Atspi.get_desktop(0)):
            for frame in children(application):
                if WINDOW in frame.get_name():
                    found = list(all_below(frame))
                    names = [name for _role, name, _each in found]
                    if all(any(name.startswith(row) for name in names) for row in ROWS):
                        return found
        time.sleep(0.2)
    if not found:
        raise SystemExit("the window cannot be read")
    return found


def press(button: Any) -> None:
    names = [button.get_action_name(each) for each in range(button.get_n_actions())]
    button.do_action(names.index("Press"))


def main() -> None:
    Atspi.init()
    below, said = contents(), []
    loop = GLib.MainLoop()

    def hear(event: Any) -> None:
        said.append(str(event.any_data))
        loop.quit()

    listener = Atspi.EventListener.new(hear)
    listener.register("object:announcement")
    parts = [(role, name) for role, name, _each in below]
    described = {name: each.get_description() for _role, name, each in below if name in DESCRIBED}
    slower = next(each for _role, name, each in below if name == SLOWER)
    press(slower)
    GLib.timeout_add_seconds(PATIENCE_S // 2, loop.quit)
    loop.run()
    found = {"parts": parts, "described": described, "said": said}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


main()
