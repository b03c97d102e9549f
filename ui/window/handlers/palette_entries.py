"""What the command palette lists: every action, and every scene that can be opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.sessions.scene import built_in_scenes

from .command_palette import PaletteEntry

if TYPE_CHECKING:
    from ...actions.actions import ActionSet
    from ...actions.descriptions import ActionDescription
    from ..settings import Settings

#: Would only open what is open already.
_LEFT_OUT = frozenset({"palette"})


def palette_entries(
    actions: ActionSet, settings: Settings
) -> tuple[list[PaletteEntry], dict[str, Path]]:
    """Return the entries, and the files of those that open a scene."""
    entries = [
        PaletteEntry(
            id=action.description.id,
            title=action.description.full_title,
            category=_category(action.description),
            shortcut=" or ".join(action.description.shortcut_texts),
            reason=action.reason,
            icon=action.icon() if action.description.icon else None,
            concerns_selection=action.description.concerns_selection,
        )
        for action in actions.by_id.values()
        if action.description.id not in _LEFT_OUT
    ]
    paths: dict[str, Path] = {}
    for scene in built_in_scenes():
        entry_id = f"scene:{scene.path}"
        paths[entry_id] = scene.path
        entries.append(PaletteEntry(entry_id, f"Open {scene.title}", "Built-in scenes"))
    for text in settings.recent_scenes:
        entry_id = f"scene:{text}"
        if entry_id not in paths:
            paths[entry_id] = Path(text)
            entries.append(PaletteEntry(entry_id, f"Open {Path(text).name}", "Recent scenes"))
    return entries, paths


def _category(description: ActionDescription[Any]) -> str:
    """Return where an action stands, as far as its title does not say so."""
    menu, parent = description.menu, description.menu.parent
    if description.choice is not None:
        return "" if parent is None else parent.plain_title
    return menu.plain_title if parent is None else f"{parent.plain_title} › {menu.plain_title}"
