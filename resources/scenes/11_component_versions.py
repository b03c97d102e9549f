"""Five versions of nodes and components.

Cocos Creator 1.10, 2.0.10, 2.1.4, 2.2 and 2.4 run the same tree side by side. A nest hatches a bird
inside its update, and a cuckoo in the event after that update. Before 2.4 the bird waits for the
next frame and the cuckoo overtakes it; 2.4 starts the bird at the end of the same frame. A bird
that flies away is destroyed with its node; its shadow, added to the node after that, comes alive in
1.10 only. Now and then all five are paused for a moment.

In the picture a tree says whether its bird starts late or at once, and which of the two starts
first. Dots at its foot are shadows.

Try:

* Hold, and step over a hatching (marks tell when): compare the starts in the frame's spans.
* Look for the phase “visit”: only 1.10 has it.
* Select a director and read its rules; pause a director, a nest or the clock.
* Read the marks: every ten seconds they list the differences.
"""

from inspector.engines.creator.components import Component
from inspector.engines.creator.nodes import Node
from inspector.engines.creator.versions import COMPONENT_DIALECTS, ComponentDialect, DirectorEvent
from inspector.pictures.shapes import Shapes, box, circle, line, text
from inspector.sessions.stage import Stage


class Nest(Component):
    """Hatches birds in its update."""

    def __init__(self, wood: "Wood") -> None:
        """Begin with nothing to hatch."""
        self.wood = wood
        self.is_bird_due = False

    def update(self, _delta: float) -> None:
        """Hatch, when it is time to."""
        if self.is_bird_due:
            self.is_bird_due = False
            self.wood.hatch("bird")
            self.wood.is_cuckoo_due = True


class Bird(Component):
    """Sings when it starts."""

    def __init__(self, wood: "Wood", kind: str) -> None:
        """Remember the frame of the hatching."""
        self.wood = wood
        self.kind = kind
        self.hatched_in = wood.director.total_frames

    def start(self) -> None:
        """Sing."""
        self.wood.sing(self)

    def update(self, _delta: float) -> None:
        """Hop."""


class Shadow(Component):
    """Is added to a node marked for destruction."""

    def __init__(self, wood: "Wood") -> None:
        """Know the wood."""
        self.wood = wood

    def on_enable(self) -> None:
        """Come alive if the version allows it."""
        self.wood.shadows += 1


class Wood:
    """What happens under the rules of one version."""

    def __init__(self, stage: Stage, dialect: ComponentDialect) -> None:
        """Make the director, the nest and the branch for the birds."""
        self.version = dialect.title.removeprefix("Cocos Creator ")
        self.director = stage.component_director(
            stage.root.child(f"wood {self.version}"),
            dialect=dialect,
            name=f"director {self.version}",
        )
        self.director.on_visit = self.director.on_draw = self.look
        self.nest = self.director.node("nest").add_component(Nest(self))
        self.birds = self.director.node("birds")
        self.hatched = 0
        self.is_cuckoo_due = False
        self.waited = 0
        self.first_to_sing = ""
        self.shadows = 0
        self.delta_after_pause = -1.0
        self.director.on(DirectorEvent.AFTER_UPDATE, self.after_update)
        self.clock = self.director.clock

    def look(self, _delta: float) -> int:
        """Count the visible birds."""
        return sum(node.active_in_hierarchy for node in self.birds.children)

    def after_update(self, _delta: float) -> None:
        """Hatch a cuckoo if a bird hatched in this frame."""
        if self.is_cuckoo_due:
            self.is_cuckoo_due = False
            self.hatch("cuckoo")

    def hatch(self, kind: str) -> Node:
        """Add a node with a bird."""
        self.hatched += 1
        node = self.director.node(f"{kind} {self.hatched}", self.birds)
        node.add_component(Bird(self, kind))
        return node

    def sing(self, bird: Bird) -> None:
        """Note which bird sings first, and how many frames it waited."""
        self.first_to_sing = self.first_to_sing or bird.kind
        if bird.kind == "bird":
            self.waited = self.director.total_frames - bird.hatched_in

    def ask_for_bird(self) -> None:
        """Have the nest hatch in its next update."""
        self.first_to_sing = ""
        self.nest.is_bird_due = True

    def fly_away(self) -> None:
        """Destroy every bird; its shadow is added to the rest."""
        for node in list(self.birds.children):
            if node.destroy():
                node.add_component(Shadow(self))

    def picture(self, x: float) -> Shapes:
        """Draw the tree with its nest and birds, and what makes this version different."""
        clock = self.clock
        birds = [node for node in self.birds.children if node.active_in_hierarchy]
        waited = "late" if self.waited else "at once"
        return [
            line(x, 130, x, 60, "#6b4a2f", 5, clock=clock),
            circle(x, 52, 24, "#2f5d3a", clock=clock),
            box(x - 9, 66, 18, 6, "#a5814f", clock=clock),
            [
                circle(x - 14 + 9 * n, 44 - 7 * (n % 2), 4, color, clock=clock)
                for n, bird in enumerate(birds[:4])
                for color in ("#7fd0ff" if bird.name.startswith("bird") else "#f0a830",)
            ],
            [
                circle(x - 12 + 6 * n, 135, 2, "#6d8574", clock=clock)
                for n in range(min(self.shadows, 5))
            ],
            text(x, 20, self.version, "#e9edf1", size=16, anchor="middle", clock=clock),
            text(x, 153, waited, "#b8c0c8", size=16, anchor="middle", clock=clock),
            text(
                *(x, 172, self.first_to_sing or "–", "#b8c0c8"),
                size=16,
                anchor="middle",
                clock=clock,
            ),
        ]

    def resume(self) -> None:
        """Resume after a pause, and note the first delta."""
        self.director.resume()
        self.director.once(DirectorEvent.BEFORE_UPDATE, self.note_delta)

    def note_delta(self, delta: float) -> None:
        """Note the delta of this frame."""
        self.delta_after_pause = delta


class Comparison:
    """The five woods and their common timetable."""

    def __init__(self, stage: Stage) -> None:
        """Set the timetable up."""
        self.stage = stage
        self.woods = [Wood(stage, dialect) for dialect in COMPONENT_DIALECTS.own]
        root = stage.root
        root.set_interval(2, self.hatch, name="a bird hatches")
        root.set_interval(2, self.fly_away, delay=3.5, name="the birds fly away")
        root.set_interval(7, self.rest, name="all five rest")
        root.set_interval(10, self.compare, name="the five are compared")
        stage.picture(self.picture, width=320, height=180, background="#162019")

    def hatch(self) -> None:
        """Hatch a bird everywhere."""
        self.stage.mark("a bird hatches")
        for wood in self.woods:
            wood.ask_for_bird()

    def fly_away(self) -> None:
        """Let all birds go."""
        for wood in self.woods:
            wood.fly_away()

    def rest(self) -> None:
        """Pause every director for half a second, until between two frames."""
        for wood in self.woods:
            wood.director.pause()
        self.stage.root.set_timeout(0.505, self.wake_up, name="all five wake up")

    def wake_up(self) -> None:
        """Resume every director."""
        for wood in self.woods:
            wood.resume()

    def compare(self) -> None:
        """Mark the differences."""
        waited = ", ".join(f"{wood.version} {wood.waited}" for wood in self.woods)
        self.stage.mark(f"frames from a bird's hatching in update to its start: {waited}")
        first = ", ".join(f"{wood.version} {wood.first_to_sing}" for wood in self.woods)
        self.stage.mark(f"starts first: {first}")
        shadows = ", ".join(f"{wood.version} {wood.shadows}" for wood in self.woods)
        self.stage.mark(f"components come alive on destroyed nodes: {shadows}")
        deltas = ", ".join(
            f"{wood.version} {wood.delta_after_pause * 1000:.0f} ms" for wood in self.woods
        )
        self.stage.mark(f"first delta after a pause: {deltas}")

    def picture(self) -> Shapes:
        """Draw the five trees."""
        return [wood.picture(32 + 64 * number) for number, wood in enumerate(self.woods)]


def build(stage: Stage) -> None:
    """Set the five side by side."""
    stage.name("Five versions of components")
    stage.front("Frame")
    Comparison(stage)
