"""Cocos Creator's main loop and component life as data: what each version does.

One implementation, :class:`~inspector.engines.creator.director.CreatorDirector`, follows these
rules. Unlisted versions between two listed ones behave like the earlier one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from inspector.engines.cocos.dialects import (
    CREATOR_2_4,
    Dialect,
    ExplainedRule,
    explain_rules,
    rule,
)
from inspector.extensions import Registry


class DirectorEvent(Enum):
    """The events of listeners: around the phases with the delta, otherwise with the scene."""

    BEFORE_UPDATE = "before update"
    AFTER_UPDATE = "after update"
    BEFORE_VISIT = "before visit"
    AFTER_VISIT = "after visit"
    BEFORE_DRAW = "before draw"
    AFTER_DRAW = "after draw"
    BEFORE_SCENE_LAUNCH = "before scene launch"
    AFTER_SCENE_LAUNCH = "after scene launch"


class Newcomers(Enum):
    """When a component starts that is enabled between the start phase and late update."""

    THIS_FRAME = "in this frame, after the start phase or after late update"
    NEXT_FRAME = "in the next frame's start phase"


class BackwardTime(Enum):
    """What a frame does when its time is before that of the last one."""

    NEGATIVE = "its delta is negative"
    CLOCK = "the clock is read instead"
    ZERO = "its delta is 0"


@dataclass(frozen=True, slots=True)
class ComponentDialect:
    """The rules of a version of Cocos Creator for frames, nodes and components."""

    name: str
    title: str
    newcomers: Newcomers = rule(
        "Creator 1.x to 2.2: a component that becomes enabled between the start phase and the"
        " end of late update waits for the next start phase, and one that becomes enabled"
        " after late update overtakes it; Creator 2.4: it starts at the end of this frame.",
        "start",
    )
    catches_exceptions: bool = rule(
        "Creator from 2.1.4: an exception in start, update, late update or in on_load of an"
        " activated node is reported and the frame continues; before, it ends the frame, and"
        " after a start that raises all starts of its list run again.",
        "exceptions",
    )
    has_visit: bool = rule(
        "Creator 1.x: the frame switches to the next rendering scene, paused or not, then"
        " visits the running one, with an event before and after; from 2.0 these two events"
        " are other names of before draw.",
        "order of a frame",
    )
    counts_frame_before_after_draw: bool = rule(
        "Creator 1.x: the frame is counted before the event after draw; from 2.0 after it.",
        "order of a frame",
    )
    launches_at: DirectorEvent = rule(
        "When a scene given to run_scene is launched. A call inside a listener of this very"
        " event waits for the next frame.",
        "scenes",
    )
    reads_stamp: bool = rule(
        "Creator from 2.1.4: a frame takes the time that main_loop is given; before, it reads"
        " the clock.",
        "delta time",
    )
    backward_time: BackwardTime = rule(
        "When the time lies before that of the last frame. Creator 2.2 never returns if the"
        " clock does too; here the delta is 0 then, and that is reported.",
        "delta time",
    )
    first_delta_is_zero: bool = rule(
        "Creator 1.x: the delta is 0 in the first frame after the launch of the first scene,"
        " after pause() and after resume().",
        "delta time",
    )
    launch_restarts_time: bool = rule(
        "Creator 2.0: the delta after the launch of a scene counts from the launch, not from"
        " the last frame.",
        "delta time",
    )
    destroy_deactivates: bool = rule(
        "Creator from 2.0: node.destroy() deactivates the node; in 1.x its components are"
        " disabled, but it stays active: components added to it or enabled on it still run,"
        " until it is destroyed at the end of the frame.",
        "destruction",
    )
    activates_destroyed: bool = rule(
        "Creator 1.x: a component that is marked for destruction is loaded and enabled when"
        " its node becomes active; from 2.0 it is skipped.",
        "destruction",
    )
    enabled_in_hierarchy_means_on: bool = rule(
        "Creator 1.x: enabled_in_hierarchy is true from the end of on_enable to the end of"
        " on_disable; from 2.0 it is the component's own flag together with its node's.",
        "activation",
    )
    end_destroys_scene: bool = rule(
        "Creator from 2.0: end() disables the components of the scene; in 1.x the scene stays"
        " as it is and is not run any more.",
        "scenes",
    )
    compares_ids_as_text: bool = rule(
        "Creator from 2.0: components of the same execution order other than 0 are updated in"
        " the order of their ids as texts, so number 1000 comes before number 999; in 1.x in"
        " the order of their numbers.",
        "order of components",
    )

    def explain(self) -> list[ExplainedRule]:
        """Return every rule with its value."""
        return explain_rules(self)

    @property
    def scheduler(self) -> Dialect:
        """The rules of the timers: from 1.10 to 2.4 they are the same."""
        return replace(CREATOR_2_4, name=self.name, title=self.title)

    @property
    def waiting_rule(self) -> str:
        """What makes an enabled component wait, said of the version; empty if nothing does."""
        waits = self.newcomers is Newcomers.NEXT_FRAME
        return "starts components only when a frame begins" if waits else ""

    @property
    def phases(self) -> tuple[str, ...]:
        """The parts of a frame, in their order."""
        visit = ("visit",) if self.has_visit else ()
        return ("start", "update", "timers", "late update", "destroy", *visit, "draw")

    @property
    def events(self) -> tuple[DirectorEvent, ...]:
        """The events that listeners can be called at."""
        missing = (DirectorEvent.BEFORE_DRAW,) if self.has_visit else _VISITS
        return tuple(event for event in DirectorEvent if event not in missing)

    def event(self, event: DirectorEvent) -> DirectorEvent:
        """Return the event itself, or in 2.x the event for which the name is an alias."""
        if event in self.events:
            return event
        if event in _VISITS:
            return DirectorEvent.BEFORE_DRAW
        raise ValueError(f"{self.title} has no event “{event.value}”; take “before visit”")


_VISITS: Final = (DirectorEvent.BEFORE_VISIT, DirectorEvent.AFTER_VISIT)

COMPONENTS_1_10: Final = ComponentDialect(
    name="creator-1.10",
    title="Cocos Creator 1.10",
    newcomers=Newcomers.NEXT_FRAME,
    catches_exceptions=False,
    has_visit=True,
    counts_frame_before_after_draw=True,
    launches_at=DirectorEvent.AFTER_UPDATE,
    reads_stamp=False,
    backward_time=BackwardTime.NEGATIVE,
    first_delta_is_zero=True,
    launch_restarts_time=False,
    destroy_deactivates=False,
    activates_destroyed=True,
    enabled_in_hierarchy_means_on=True,
    end_destroys_scene=False,
    compares_ids_as_text=False,
)

COMPONENTS_2_0_10: Final = ComponentDialect(
    name="creator-2.0.10",
    title="Cocos Creator 2.0.10",
    newcomers=Newcomers.NEXT_FRAME,
    catches_exceptions=False,
    has_visit=False,
    counts_frame_before_after_draw=False,
    launches_at=DirectorEvent.AFTER_UPDATE,
    reads_stamp=False,
    backward_time=BackwardTime.NEGATIVE,
    first_delta_is_zero=False,
    launch_restarts_time=True,
    destroy_deactivates=True,
    activates_destroyed=False,
    enabled_in_hierarchy_means_on=False,
    end_destroys_scene=True,
    compares_ids_as_text=True,
)

COMPONENTS_2_1_4: Final = replace(
    COMPONENTS_2_0_10,
    name="creator-2.1.4",
    title="Cocos Creator 2.1.4",
    catches_exceptions=True,
    reads_stamp=True,
    launch_restarts_time=False,
)

COMPONENTS_2_2: Final = replace(
    COMPONENTS_2_1_4,
    name="creator-2.2",
    title="Cocos Creator 2.2",
    backward_time=BackwardTime.CLOCK,
)

COMPONENTS_2_4: Final = replace(
    COMPONENTS_2_2,
    name="creator-2.4",
    title="Cocos Creator 2.4",
    newcomers=Newcomers.THIS_FRAME,
    launches_at=DirectorEvent.AFTER_DRAW,
    backward_time=BackwardTime.ZERO,
)

#: Every dialect, the oldest first; explanations of components that wait name their rules.
COMPONENT_DIALECTS: Final = Registry(
    "component_dialects",
    ComponentDialect,
    (COMPONENTS_1_10, COMPONENTS_2_0_10, COMPONENTS_2_1_4, COMPONENTS_2_2, COMPONENTS_2_4),
    names=lambda each: (each.name, each.title),
)
