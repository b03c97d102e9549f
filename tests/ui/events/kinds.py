"""Chooses kinds of events in the menu of their panel."""

from __future__ import annotations

from inspector.events.schema import EventGroup
from ui.events.panel import EventListPanel


def choose_kinds(panel: EventListPanel, groups: frozenset[EventGroup]) -> None:
    titles = {group.title for group in groups}
    for action in panel.kinds_button.menu().actions():
        action.setChecked(action.text() in titles)
