"""The menus of the window; their titles are painted before anything is in them."""

from __future__ import annotations

from enum import Enum
from typing import Final


class MenuId(Enum):
    """The menus, in the order of the menu bar; a submenu follows its parent."""

    SCENE = "&Scene"
    BUILT_IN_SCENES = "&Built-in scenes"
    RECENT_SCENES = "Recen&t scenes"
    TIME = "&Time"
    LOOK_BACK = "L&ook back"
    FRAME_RATE = "Fr&ame rate"
    FAILURE_POLICY = "When a &callback fails"
    PRECISION = "Time source &precision"
    TIME_SOURCE = "T&ime source"
    BRANCH = "&Branch"
    MEMBER = "Scheduler, component, &machine"
    TIMER = "Ti&mer"
    VIEW = "&View"
    PANELS = "&Panels"
    THEME = "&Theme"
    TEXT_SIZE = "Te&xt size"
    FONT = "T&ypeface"
    HELP = "&Help"
    HELP_PAGES = "Help &pages"

    @property
    def parent(self) -> MenuId | None:
        return _PARENTS.get(self)

    @property
    def plain_title(self) -> str:
        return self.value.replace("&", "")


_PARENTS: Final = {
    MenuId.BUILT_IN_SCENES: MenuId.SCENE,
    MenuId.RECENT_SCENES: MenuId.SCENE,
    MenuId.LOOK_BACK: MenuId.TIME,
    MenuId.FRAME_RATE: MenuId.TIME,
    MenuId.FAILURE_POLICY: MenuId.TIME,
    MenuId.PRECISION: MenuId.TIME,
    MenuId.TIME_SOURCE: MenuId.TIME,
    MenuId.MEMBER: MenuId.BRANCH,
    MenuId.PANELS: MenuId.VIEW,
    MenuId.THEME: MenuId.VIEW,
    MenuId.TEXT_SIZE: MenuId.VIEW,
    MenuId.FONT: MenuId.VIEW,
    MenuId.HELP_PAGES: MenuId.HELP,
}
