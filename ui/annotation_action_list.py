"""What can be left in a session, as data: bookmarks, notes and named ranges."""

from __future__ import annotations

from typing import Final

from .action_descriptions import ActionDescription, Needs
from .menus import MenuId

ANNOTATION_ACTIONS: Final = (
    ActionDescription(
        "bookmark",
        "Bookmark &here",
        MenuId.TIME,
        "add_bookmark",
        ("B",),
        needs=Needs.PAST,
        tip="Leave a bookmark at the playhead, or at the present; a recording keeps it.",
        starts_section=True,
    ),
    ActionDescription(
        "note",
        "L&eave a note here …",
        MenuId.TIME,
        "ask_for_note",
        ("Shift+B",),
        needs=Needs.PAST,
        tip="Write down what there is to say about the instant that is shown.",
    ),
    ActionDescription(
        "name-range",
        "Name the ran&ge …",
        MenuId.TIME,
        "ask_for_range_name",
        ("Ctrl+B",),
        needs=Needs.PAST,
        tip="Name what is measured in the timeline, or chosen or in view in the frame times.",
    ),
    ActionDescription(
        "look-bookmark-back",
        "To the &previous bookmark",
        MenuId.LOOK_BACK,
        "look_bookmark_back",
        ("Alt+PgUp",),
        needs=Needs.PAST,
        tip="Show the state at the bookmark, note or range before.",
        starts_section=True,
    ),
    ActionDescription(
        "look-bookmark-on",
        "To the &next bookmark",
        MenuId.LOOK_BACK,
        "look_bookmark_on",
        ("Alt+PgDown",),
        needs=Needs.PAST,
        tip="Show the state at the bookmark, note or range that comes next.",
    ),
)
