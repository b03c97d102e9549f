"""Actions and scenes in the palette."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from PySide6.QtGui import QIcon

from inspector.sessions.scene import built_in_scenes

from ...actions.actions import ActionSet
from ...actions.descriptions import ActionDescription
from ...actions.menus import MenuId
from ..settings import Settings

#: Actions that would only open what is open already.
_LEFT_OUT = frozenset({"palette", "palette-commands"})


def _nothing() -> None:
    pass


class EntryKind(IntEnum):
    """What an entry is; of those that match as well, the first kind comes first."""

    OBJECT = 0
    TIME = 1
    COMMAND = 2
    PANEL = 3
    SETTING = 4
    SCENE = 5


class PaletteEntry(Struct, frozen=True):
    id: str  # What is reported when it is chosen
    title: str
    category: str = ""  # The menu it is in; for an object or a time, what it is
    shortcut: str = ""  # Its keys, or empty
    reason: str = ""  # Why it cannot be chosen now, or empty
    icon: QIcon | None = None  # Its icon, or none
    concerns_selection: bool = False  # Whether it acts on what is selected
    kind: EntryKind = EntryKind.COMMAND  # What it is
    name: str = ""  # What it shows or opens, which its title has after a verb, or empty
    do: Callable[[], object] = _nothing  # Does it
    # Returns entries for what else can be done with it; None if there is nothing.
    more: Callable[[], list[PaletteEntry]] | None = None


def palette_entries(
    actions: ActionSet, settings: Settings, open_scene: Callable[[Path], object]
) -> list[PaletteEntry]:
    """Return all actions, and the scenes that come with the inspector or were open lately."""
    entries = [
        PaletteEntry(
            id=action.description.id,
            title=_title(action.description),
            category=_category(action.description),
            shortcut=" or ".join(action.description.shortcut_texts),
            reason=action.reason,
            icon=action.icon() if action.description.icon else None,
            concerns_selection=action.description.concerns_selection,
            kind=_kind(action.description),
            name=action.description.plain_title if action.description.menu is MenuId.PANELS else "",
            do=action.trigger,
        )
        for action in actions.by_id.values()
        if action.description.id not in _LEFT_OUT
    ]
    known: set[Path] = set()
    for scene in built_in_scenes():
        known.add(scene.path)
        entries.append(_opening(scene.path, scene.title, "Built-in scenes", open_scene))
    recent = (path for path in map(Path, settings.recent_scenes) if path not in known)
    return [*entries, *(_opening(path, path.name, "Recent scenes", open_scene) for path in recent)]


def _opening(
    path: Path, name: str, category: str, open_scene: Callable[[Path], object]
) -> PaletteEntry:
    entry_id, title = f"scene:{path}", f"Open {name}"
    do = partial(open_scene, path)
    return PaletteEntry(entry_id, title, category, kind=EntryKind.SCENE, name=name, do=do)


def _title(description: ActionDescription[Any]) -> str:
    is_panel = description.choice is not None and description.menu is MenuId.PANELS
    return f"Show {description.plain_title}" if is_panel else description.full_title


def _kind(description: ActionDescription[Any]) -> EntryKind:
    if description.choice is None:
        return EntryKind.COMMAND
    return EntryKind.PANEL if description.menu is MenuId.PANELS else EntryKind.SETTING


def _category(description: ActionDescription[Any]) -> str:
    """Return where an action stands, as far as its title does not say so."""
    menu, parent = description.menu, description.menu.parent
    if description.choice is not None:
        return "" if parent is None else parent.plain_title
    return menu.plain_title if parent is None else f"{parent.plain_title} › {menu.plain_title}"
