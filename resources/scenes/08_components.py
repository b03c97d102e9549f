"""A small wood of nodes and components.

Nodes and components as in Cocos Creator 2.4. A spawner makes animals, each a node with components:
one moves, one is hungry by its own timer, foxes hunt. Animals hide (their node is deactivated),
fall asleep (a component is disabled), change their herd (a node moves to another parent), and are
destroyed at the end of the frame in which they are caught.

Try:

* Open the branch of “wood” and follow one animal: new, enabled, started, disabled, started,
  destroying, gone.
* Select a phase, and see in the frame how long each component took.
* Disable a single component, or deactivate a whole herd: everything below it waits.
* Pause the director: it draws and does nothing else. Then pause the clock “forest”.
"""

from math import cos, pi, sin

from inspector.engines.creator.components import Component
from inspector.engines.creator.director import CreatorDirector
from inspector.engines.creator.nodes import Node
from inspector.pictures.shapes import Shapes, circle, group, polygon, regular, text
from inspector.sessions.stage import Stage

WIDTH, HEIGHT = 320.0, 180.0
NEAR_TOP = 24
MOST_ANIMALS = 14
NEAR = 9.0
KINDS = ("hare", "deer", "boar", "mouse")
COLORS = ("#e9edf1", "#c98b4b", "#8a6f9e", "#9aa5b1")


class Walks(Component):
    """Walks, and turns at the border of the wood."""

    execution_order = -1

    def __init__(self, x: float, y: float, angle: float) -> None:
        """Stand somewhere and look in some direction."""
        self.x = x
        self.y = y
        self.speed_x = 30 * cos(angle)
        self.speed_y = 30 * sin(angle)
        self.steps = 0

    def start(self) -> None:
        """Take the first step."""
        self.steps = 1

    def update(self, delta: float) -> None:
        """Walk on."""
        self.x += self.speed_x * delta
        self.y += self.speed_y * delta
        if not 0 <= self.x <= WIDTH:
            self.speed_x = abs(self.speed_x) if self.x < 0 else -abs(self.speed_x)
        if not 0 <= self.y <= HEIGHT:
            self.speed_y = abs(self.speed_y) if self.y < 0 else -abs(self.speed_y)
        self.steps += 1


class Eats(Component):
    """Gets hungry by a timer, and eats in the next frame."""

    def __init__(self, every: float) -> None:
        """Begin with nothing eaten."""
        self.every = every
        self.is_hungry = False
        self.meals = 0

    def on_enable(self) -> None:
        """Wake up hungry."""
        self.is_hungry = True

    def start(self) -> None:
        """Get hungry repeatedly."""
        self.schedule(self.become_hungry, self.every)

    def become_hungry(self, _elapsed: float) -> None:
        """Remember to eat."""
        self.is_hungry = True

    def update(self, _delta: float) -> None:
        """Eat when hungry."""
        if self.is_hungry:
            self.is_hungry = False
            self.meals += 1

    def on_disable(self) -> None:
        """Fall asleep."""
        self.is_hungry = False


class Hunts(Component):
    """Catches the nearest animal if it is near enough; looks when all have moved."""

    execution_order = 10

    def __init__(self, wood: "Wood") -> None:
        """Know the wood."""
        self.wood = wood
        self.caught = 0

    def late_update(self, _delta: float) -> None:
        """Catch an animal that came too near."""
        me = self.node.component(Walks)
        assert me is not None
        for animal in self.wood.animals():
            other = animal.component(Walks)
            if other is not None and abs(other.x - me.x) + abs(other.y - me.y) < NEAR:
                self.caught += 1
                self.wood.remove(animal, f"{self.node.name} catches {animal.name}")
                return


class Wood:
    """The nodes, and what happens to them."""

    def __init__(self, stage: Stage) -> None:
        """Hang the clock under the root and plant the wood."""
        self.stage = stage
        self.clock = stage.root.child("forest")
        self.director: CreatorDirector = stage.component_director(self.clock, name="wood")
        self.director.on_draw = self.draw
        self.herds = [self.director.node(f"herd {number}") for number in (1, 2)]
        self.foxes = self.director.node("foxes")
        self.born = 0
        self.hidden: list[Node] = []
        for name in ("old fox", "young fox"):
            fox = self.director.node(name, self.foxes)
            fox.add_component(self.walks())
            fox.add_component(Hunts(self))
        life = self.clock.child("life")
        life.set_interval(0.8, self.spawn, delay=0.1, name="an animal is born")
        life.set_interval(2.3, self.hide, name="an animal hides")
        life.set_interval(3.1, self.sleep, name="an animal sleeps or wakes up")
        life.set_interval(4.7, self.change_herd, name="an animal changes its herd")
        stage.root.set_interval(20, self.rest, name="the wood rests")
        stage.picture(self.picture, width=WIDTH, height=HEIGHT, background="#16241b")

    def animals(self) -> list[Node]:
        """Return the active animals."""
        return [a for herd in self.herds for a in herd.children if a.active_in_hierarchy]

    def walks(self) -> Walks:
        """Return a random walk."""
        random = self.stage.random
        x, y = random.uniform(0, WIDTH), random.uniform(0, HEIGHT)
        return Walks(x, y, random.uniform(0, 2 * pi))

    def spawn(self) -> None:
        """Bring an animal into the smaller herd."""
        if sum(len(herd.children) for herd in self.herds) >= MOST_ANIMALS:
            return
        self.born += 1
        random = self.stage.random
        herd = min(self.herds, key=lambda herd: len(herd.children))
        animal = self.director.node(f"{random.choice(KINDS)} {self.born}", herd)
        animal.add_component(self.walks())
        animal.add_component(Eats(random.choice((0.5, 0.8, 1.3))))

    def hide(self) -> None:
        """Deactivate an animal; the previous one comes out."""
        if self.hidden:
            node = self.hidden.pop()
            if node.is_valid(strict=True):
                node.active = True
        animals = self.animals()
        if animals:
            node = self.stage.random.choice(animals)
            node.active = False
            self.hidden.append(node)

    def sleep(self) -> None:
        """Stop or resume the eating of an animal."""
        animals = self.animals()
        if animals:
            eats = self.stage.random.choice(animals).component(Eats)
            if eats is not None:
                eats.enabled = not eats.enabled

    def change_herd(self) -> None:
        """Move an animal to the other herd."""
        one, other = self.herds
        if one.children:
            one.children[0].parent = other
        self.herds.reverse()

    def remove(self, animal: Node, why: str) -> None:
        """Destroy an animal at the end of the frame."""
        if animal.destroy():
            self.stage.mark(why, clock=self.clock)

    def rest(self) -> None:
        """Pause the director for a moment; it still draws."""
        self.director.pause()
        self.stage.root.set_timeout(1, self.director.resume, name="the wood wakes up")

    def draw(self, _delta: float) -> list[tuple[int, int]]:
        """Compute the positions on the screen."""
        found = [animal.component(Walks) for animal in self.animals()]
        return [(round(walks.x * 4), round(walks.y * 4)) for walks in found if walks is not None]

    def picture(self) -> Shapes:
        """Draw the animals: rings are asleep, dots in the grass are hidden, triangles hunt."""
        animals = [animal for herd in self.herds for animal in herd.children]
        return [
            [circle(20 + 43 * n % 300, 20 + 71 * n % 150, 9, "#1c3324") for n in range(14)],
            [self.animal_shape(animal) for animal in animals],
            [self.fox_shape(fox) for fox in self.foxes.children],
        ]

    def animal_shape(self, animal: Node) -> Shapes:
        """Draw an animal."""
        walks, eats = animal.component(Walks), animal.component(Eats)
        if walks is None or eats is None:
            return ()
        color = COLORS[KINDS.index(animal.name.split()[0])]
        if not animal.active_in_hierarchy:
            return circle(walks.x, walks.y, 2, "#48604f", clock=self.clock)
        if not eats.enabled:
            return circle(walks.x, walks.y, 5, line=color, width=1.5, clock=self.clock)
        return circle(walks.x, walks.y, 5, color, clock=self.clock)

    def fox_shape(self, fox: Node) -> Shapes:
        """Draw a fox with the number of its catches."""
        walks, hunts = fox.component(Walks), fox.component(Hunts)
        if walks is None or hunts is None:
            return ()
        body = polygon(regular(3, 8), "#d55e00", line="#e9edf1")
        # Within the picture, wherever the fox is.
        x, y = min(max(walks.x, 20), WIDTH - 20), walks.y + (20 if walks.y < NEAR_TOP else -10)
        return [
            group(body, x=walks.x, y=walks.y, clock=self.clock),
            text(x, y, f"{hunts.caught}", "#e9edf1", size=16, anchor="middle", clock=self.clock),
        ]


def build(stage: Stage) -> None:
    """Plant the wood."""
    stage.name("Nodes and components")
    stage.front("Frame")
    Wood(stage)
