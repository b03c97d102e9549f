"""What can be left in a session, as data: bookmarks, notes and named ranges."""

from __future__ import annotations

from typing import Final

from .descriptions import ActionDescription, Needs
from .menus import MenuId

ANNOTATION_ACTIONS: Final = (
    ActionDescription(
        "bookmark",
        "Bookmark &here",
        MenuId.TIME,
        "add_bookmark",
        ("B",),
        needs=Needs.PAST,
        tip="Add a bookmark at the playhead, or at the present; recordings keep it.",
        starts_section=True,
    ),
    ActionDescription(
        "note",
        "Not&e here …",
        MenuId.TIME,
        "ask_for_note",
        ("Shift+B",),
        needs=Needs.PAST,
        tip="Add a note to the instant that is shown.",
    ),
    ActionDescription(
        "name-range",
        "Name the ran&ge …",
        MenuId.TIME,
        "ask_for_range_name",
        ("Ctrl+B",),
        needs=Needs.PAST,
        tip=(
            "Name the range that is measured in the timeline, or selected or in view in the "
            "frame times."
        ),
    ),
    ActionDescription(
        "look-bookmark-back",
        "&Previous bookmark",
        MenuId.LOOK_BACK,
        "look_bookmark_back",
        ("Alt+PgUp",),
        needs=Needs.PAST,
        tip="Show the state at the previous bookmark, note or range.",
        starts_section=True,
    ),
    ActionDescription(
        "look-bookmark-on",
        "&Next bookmark",
        MenuId.LOOK_BACK,
        "look_bookmark_on",
        ("Alt+PgDown",),
        needs=Needs.PAST,
        tip="Show the state at the next bookmark, note or range.",
    ),
)
