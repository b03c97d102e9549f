"""A small game that plays itself.

Five branches (game, enemies, particles, ui, audio) with waves, a boss, a pause menu that stops the
game but not the ui, slow motion on the enemies, and an autosave that costs a frame now and then.

Try:

* Pause “enemies” and watch in the picture what still moves: player, sparks, menu, music. Click an
  enemy that stands still, and read why its attack has not fired.
* Set the rate of “enemies” to 0.25, then the rate of “game” to 2: rates multiply.
* Hold the scene, step frames, then step to the next timer.
* Select a spike in the frame times: it is the autosave.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import atan2, cos, hypot, pi, sin
from random import Random

from inspector.clocks import Timer
from inspector.pictures.shapes import (
    Shape,
    Shapes,
    box,
    circle,
    group,
    line,
    polygon,
    regular,
    text,
)
from inspector.sessions.stage import Stage
from inspector.vocabulary import Phase

WIDTH, HEIGHT = 320.0, 180.0
MOST_ENEMIES = 24
ENEMY_SIZE = 8.0
#: Height of the bar below the field.
BAR = 24.0
#: What never changes is made once, not for every frame.
GRID = (
    *(line(x, 0, x, HEIGHT, "#18202a") for x in range(40, round(WIDTH), 40)),
    *(line(0, y, WIDTH, y, "#18202a") for y in range(36, round(HEIGHT), 36)),
)
BAR_GROUND = box(0, HEIGHT, WIDTH, BAR, "#202833")
HEALTH_GROUND = box(224, HEIGHT + 9, 40, 6, "#39434f")
SHIP = polygon([(8, 0), (-6, 5), (-3, 0), (-6, -5)], "#56b4e9", line="#ffffff", width=0.7)
NAMES = ("goblin", "orc", "imp", "wisp", "bat")
COLORS = ("#009e73", "#e69f00", "#cc79a7", "#7fd0ff", "#b58cff")
BOSS_SIZE, FIGURE_SIZE = 10.0, 0.7 * ENEMY_SIZE
FIGURES = {
    "boss": circle(0, 0, BOSS_SIZE, "#d55e00", line="#ffffff"),
    **{
        name: polygon(regular(corners, FIGURE_SIZE), color)
        for corners, (name, color) in enumerate(zip(NAMES, COLORS, strict=True), 3)
    },
}


@dataclass
class Body:
    """Something that moves."""

    x: float
    y: float
    speed_x: float
    speed_y: float

    def move(self, delta: float) -> None:
        """Move, and turn at the border."""
        self.x += self.speed_x * delta
        self.y += self.speed_y * delta
        if not 0 <= self.x <= WIDTH:
            self.speed_x = abs(self.speed_x) if self.x < 0 else -abs(self.speed_x)
        if not 0 <= self.y <= HEIGHT:
            self.speed_y = abs(self.speed_y) if self.y < 0 else -abs(self.speed_y)


@dataclass(eq=False)
class Enemy(Body):
    """An enemy with its own attack timer on the clock of the enemies."""

    name: str = ""
    health: int = 5
    attack: Timer | None = None


@dataclass
class World:
    """The state of the game besides its clocks."""

    random: Random
    player: Body = field(default_factory=lambda: Body(WIDTH / 2, HEIGHT / 2, 40.0, 25.0))
    enemies: list[Enemy] = field(default_factory=list)
    sparks: list[Body] = field(default_factory=list)
    spawned: int = 0
    score: int = 0
    shown_score: int = 0
    health: int = 100
    toast: str = ""
    is_menu_open: bool = False


class Game:
    """The clocks, and what happens on them."""

    def __init__(self, stage: Stage) -> None:
        """Hang the branches under the root and set the first timers."""
        self.stage = stage
        self.world = World(stage.random)
        self.game = stage.root.child("game")
        self.enemies = self.game.child("enemies")
        self.particles = self.game.child("particles")
        self.ui = stage.root.child("ui")
        self.audio = stage.root.child("audio")

        self.game.set_interval(0.35, self.shoot, name="player shoots")
        self.game.set_interval(11, self.begin_slow_motion, name="slow motion begins")
        self.enemies.set_interval(2.5, self.spawn_wave, delay=0.5, name="next wave")
        self.enemies.set_timeout(20, self.boss_arrives, name="boss arrives")
        self.ui.set_interval(0.53, self.blink, name="cursor blinks")
        self.ui.set_interval(0.1, self.count_score, name="score counts up")
        self.ui.set_interval(17, self.open_menu, name="player opens the menu")
        self.audio.set_interval(0.5, self.beat, name="beat")
        self.audio.set_interval(2, self.bar, name="bar")
        stage.root.set_interval(7, self.autosave, name="autosave")

        stage.every_frame(self.move_player, clock=self.game, name="move player")
        stage.every_frame(self.move_enemies, clock=self.enemies, name="move enemies")
        stage.every_frame(self.move_sparks, clock=self.particles, name="move sparks")
        stage.every_frame(self.collide, phase=Phase.LATE_UPDATE, name="collide")
        stage.every_frame(self.draw, phase=Phase.DRAW, name="draw")
        stage.picture(self.picture, width=WIDTH, height=HEIGHT + BAR, background="#10151c")
        self.is_cursor_shown = True
        self.beats = self.bars = 0
        self.beat_shapes = [self.draw_beat(beat) for beat in range(4)]

    # ------------------------------------------------------------- enemies

    def spawn_wave(self) -> None:
        """Send two to five enemies, each with its own attack timer."""
        world = self.world
        for _ in range(world.random.randint(2, 5)):
            if len(world.enemies) >= MOST_ENEMIES:
                break
            world.spawned += 1
            angle = world.random.uniform(0, 2 * pi)
            speed = world.random.uniform(15, 45)
            enemy = Enemy(
                world.random.uniform(0, WIDTH),
                world.random.choice((0.0, HEIGHT)),
                speed * cos(angle),
                speed * sin(angle),
                f"{world.random.choice(NAMES)} {world.spawned}",
            )
            every = world.random.choice((0.8, 1.2, 1.6, 2.4))
            name = f"{enemy.name} attacks"
            enemy.attack = self.enemies.set_interval(every, self.attack, enemy, name=name)
            world.enemies.append(enemy)

    def attack(self, enemy: Enemy) -> None:
        """Hurt the player a little; a hit is worth a toast."""
        self.world.health -= 1
        if self.world.health <= 0:
            self.world.health = 100
            self.stage.mark(f"{enemy.name} wins, next life", clock=self.game)
            self.toast("next life")

    def boss_arrives(self) -> None:
        """Bring the boss, who leaves and returns half a minute later."""
        self.stage.mark("the boss arrives", clock=self.enemies)
        boss = Enemy(WIDTH / 2, 0.0, 20.0, 10.0, "boss", 60)
        boss.attack = self.enemies.set_interval(1.5, self.charge, boss, name="boss charges")
        self.world.enemies.append(boss)
        self.enemies.set_timeout(9, self.boss_leaves, boss, name="boss leaves")
        self.enemies.set_timeout(30, self.boss_arrives, name="boss arrives")
        self.toast("a boss!")

    def charge(self, boss: Enemy) -> None:
        """Turn towards the player."""
        player = self.world.player
        distance = hypot(player.x - boss.x, player.y - boss.y) or 1.0
        boss.speed_x = 60 * (player.x - boss.x) / distance
        boss.speed_y = 60 * (player.y - boss.y) / distance
        self.explode(boss, 6)

    def boss_leaves(self, boss: Enemy) -> None:
        """Let the boss leave unless the player has defeated it."""
        if boss in self.world.enemies:
            self.remove(boss)
            self.stage.mark("the boss escapes", clock=self.enemies)

    def remove(self, enemy: Enemy) -> None:
        """Remove an enemy and its timer."""
        self.world.enemies.remove(enemy)
        if enemy.attack is not None:
            self.enemies.clear(enemy.attack)

    # -------------------------------------------------------------- player

    def shoot(self) -> None:
        """Hit the nearest enemy."""
        world = self.world
        if not world.enemies:
            return
        player = world.player
        target = min(world.enemies, key=lambda e: hypot(e.x - player.x, e.y - player.y))
        target.health -= 2
        if target.health <= 0:
            world.score += 100
            self.explode(target, 12)
            self.remove(target)
            if target.name == "boss":
                self.stage.mark("the boss is defeated", clock=self.enemies)
                self.toast("boss defeated")

    def begin_slow_motion(self) -> None:
        """Slow the enemies to a quarter and the music a little, for two seconds."""
        self.enemies.rate = Fraction(1, 4)
        self.particles.rate = Fraction(1, 2)
        self.audio.rate = Fraction(4, 5)
        self.stage.mark("slow motion", clock=self.enemies)
        self.game.set_timeout(2, self.end_slow_motion, name="slow motion ends")

    def end_slow_motion(self) -> None:
        """Restore the rates."""
        for clock in (self.enemies, self.particles, self.audio):
            clock.rate = 1

    # ------------------------------------------------------ ui, audio, disk

    def open_menu(self) -> None:
        """Pause the game but not the ui, which has to close the menu."""
        if self.game.pause():
            self.world.is_menu_open = True
            self.stage.mark("menu opened: the game is paused", clock=self.ui)
            self.ui.set_timeout(3, self.close_menu, name="player closes the menu")

    def close_menu(self) -> None:
        """Resume the game."""
        self.world.is_menu_open = False
        self.game.resume()
        self.stage.mark("menu closed", clock=self.ui)

    def toast(self, text: str) -> None:
        """Show a text for a while."""
        self.world.toast = text
        self.ui.set_timeout(2.5, self.fade_toast, name=f"toast “{text}” fades")

    def fade_toast(self) -> None:
        """Let the text go, and have the cursor blink."""
        self.world.toast = ""
        self.blink()

    def blink(self) -> None:
        """Turn the text cursor on or off."""
        self.is_cursor_shown = not self.is_cursor_shown

    def count_score(self) -> None:
        """Let the shown score follow the real one."""
        self.world.shown_score += min(10, self.world.score - self.world.shown_score)

    def beat(self) -> None:
        """Count a beat of the music."""
        self.beats += 1

    def bar(self) -> None:
        """Count a bar of the music."""
        self.bars += 1

    def autosave(self) -> None:
        """Write the world to a slow disk: the spike in the frame times."""
        milliseconds = self.world.random.randint(20, 40)
        self.stage.work(Fraction(milliseconds, 1000))
        self.stage.mark(f"autosave took {milliseconds} ms")

    # --------------------------------------------------------------- frames

    def explode(self, at: Body, count: int) -> None:
        """Throw sparks, each of which fades by its own timer."""
        random = self.world.random
        for _ in range(count):
            angle = random.uniform(0, 2 * pi)
            spark = Body(at.x, at.y, 80 * cos(angle), 80 * sin(angle))
            self.world.sparks.append(spark)
            self.particles.set_timeout(
                random.uniform(0.3, 1.4), self.world.sparks.remove, spark, name="spark fades"
            )

    def move_player(self, delta: float) -> None:
        """Walk about."""
        self.world.player.move(delta)

    def move_enemies(self, delta: float) -> None:
        """Move every enemy by the time of the enemies' clock."""
        for enemy in self.world.enemies:
            enemy.move(delta)

    def move_sparks(self, delta: float) -> None:
        """Move every spark by the time of the particles' clock."""
        for spark in self.world.sparks:
            spark.move(delta)

    def collide(self, _delta: float) -> None:
        """Push enemies apart, pair by pair, as small games do."""
        enemies = self.world.enemies
        for index, one in enumerate(enemies):
            for other in enemies[:index]:
                if max(abs(one.x - other.x), abs(one.y - other.y)) < ENEMY_SIZE:
                    one.speed_x, other.speed_x = other.speed_x, one.speed_x
                    one.speed_y, other.speed_y = other.speed_y, one.speed_y

    def draw(self, _delta: float) -> list[tuple[int, int]]:
        """Compute the positions on the screen."""
        bodies = (self.world.player, *self.world.enemies, *self.world.sparks)
        return [(round(body.x * 4), round(body.y * 4)) for body in bodies for _ in range(4)]

    # -------------------------------------------------------------- picture

    def picture(self) -> Shapes:
        """Draw the field with everything on it, and the bar below."""
        world = self.world
        return [
            GRID,
            [
                circle(spark.x, spark.y, 1.2, "#f0e442", clock=self.particles)
                for spark in world.sparks
            ],
            [self.enemy_shapes(enemy) for enemy in world.enemies],
            self.player_shapes(),
            self.bar_shapes(),
            self.menu_shapes() if world.is_menu_open else (),
        ]

    def enemy_shapes(self, enemy: Enemy) -> Shapes:
        """Draw an enemy, which belongs to its attack timer, with what is left of its health."""
        kind = enemy.name.split()[0]
        is_boss = kind == "boss"
        size, full = (BOSS_SIZE, 60) if is_boss else (FIGURE_SIZE, 5)
        return group(
            FIGURES[kind],
            box(-size, -size - 4, 2 * size * max(enemy.health, 0) / full, 1.5, "#e9edf1"),
            x=enemy.x,
            y=enemy.y,
            clock=self.enemies,
            timer=enemy.attack,
        )

    def player_shapes(self) -> Shapes:
        """Draw the player, looking where it walks."""
        player = self.world.player
        turn = atan2(player.speed_y, player.speed_x)
        return group(SHIP, x=player.x, y=player.y, turn=turn, clock=self.game)

    def bar_shapes(self) -> Shapes:
        """Draw the score with its cursor, a toast, the health, and the beat of the music."""
        world, top = self.world, HEIGHT
        return [
            BAR_GROUND,
            text(8, top + 18, f"{world.shown_score:,}", "#e9edf1", size=17, clock=self.ui),
            box(74, top + 5, 1.5, 14, "#e9edf1", clock=self.ui) if self.is_cursor_shown else (),
            text(150, top + 18, world.toast, "#f0e442", size=17, anchor="middle", clock=self.ui)
            if world.toast
            else (),
            HEALTH_GROUND,
            box(224, top + 9, 0.4 * max(world.health, 0), 6, "#2bb58c"),
            self.beat_shapes[self.beats % 4],
        ]

    def draw_beat(self, beat: int) -> list[Shape]:
        """Draw the four beats of a bar, one of them lit."""
        return [
            circle(
                *(276 + 11 * n, HEIGHT + 12, 3.5 if n == beat else 2.2),
                "#cc79a7" if n == beat else "#5d5f73",
                clock=self.audio,
            )
            for n in range(4)
        ]

    def menu_shapes(self) -> Shapes:
        """Draw the menu, which belongs to the ui: it goes on while the game is paused."""
        return [
            box(WIDTH / 2 - 64, 60, 128, 52, "#202833", line="#56b4e9", clock=self.ui),
            text(WIDTH / 2, 81, "Menu", "#e9edf1", size=17, anchor="middle", clock=self.ui),
            text(WIDTH / 2, 102, "game paused", "#a3acb6", size=17, anchor="middle", clock=self.ui),
        ]


def build(stage: Stage) -> None:
    """Set up the game."""
    stage.name("A small game")
    Game(stage)
