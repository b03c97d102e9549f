"""One squad under three schedulers: ours and two originals.

Ours, Cocos Creator 2.4 and cocos2d-x 3.15 run side by side: three turrets that shoot ten times a
second, a gunner who reloads inside his last shot, an enemy who is stunned now and then, and a menu
that pauses everything from priority 0 up. All three schedulers are on one clock and get the same
calls at the same instants.

In the picture each scheduler has a belt: the shots of its three turrets as bars and in all, and a
faint bar as long as they should be; the enemy is grey while it is stunned.

Try:

* Wait for the marks every ten seconds: Creator drops the lateness of each shot, so its turrets fall
  behind; ours does not drift.
* Watch the stunned enemy when the menu closes: the originals resume every target that the menu
  found, including targets paused before.
* Select the gunner's magazine: under Creator 2.4 the reload inside the last shot is lost.
* Pause one target, or everything from a priority up, and resume exactly that.
* Set the time scale of one scheduler to 1/2, then pause the clock “squads”.
"""

from fractions import Fraction
from typing import Any

from inspector.engines.cocos.dialects import COCOS2DX_3_15, CREATOR_2_4
from inspector.engines.cocos.scheduler import DialectScheduler
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.pictures.shapes import Shapes, box, circle, line, polygon, text
from inspector.sessions.stage import Stage

SHOT = Fraction(1, 10)
MAGAZINE = 6


class Actor:
    """An actor with its own calls."""

    def __init__(self, name: str) -> None:
        """Begin with nothing done."""
        self.name = name
        self.way = 0.0
        self.shots = 0

    def update(self, delta: float) -> None:
        """Move on."""
        self.way += 20 * delta

    def shoot(self, _seconds: float) -> None:
        """Count a shot."""
        self.shots += 1


class Gunner(Actor):
    """Shoots a magazine, and reloads inside the last shot."""

    def __init__(self, name: str, scheduler: Scheduler | DialectScheduler) -> None:
        """Load the first magazine."""
        super().__init__(name)
        self.scheduler = scheduler
        self.left = MAGAZINE
        self.reload()

    def reload(self) -> None:
        """Schedule the next magazine."""
        self.left = MAGAZINE
        self.scheduler.schedule(self.empty_magazine, 0.2, target=self, repeat=MAGAZINE - 1)

    def empty_magazine(self, seconds: float) -> None:
        """Shoot; the last shot of a magazine loads the next one."""
        self.shoot(seconds)
        self.left -= 1
        if not self.left:
            self.reload()


class Squad:
    """The actors of one scheduler."""

    def __init__(self, scheduler: Scheduler | DialectScheduler, name: str) -> None:
        """Give all actors their calls, the leader first."""
        self.scheduler = scheduler
        self.name = name
        self.leader = Actor("leader")
        self.turrets = [Actor(f"turret {letter}") for letter in "abc"]
        self.enemy = Actor("enemy")
        self.gunner = Gunner("gunner", scheduler)
        self.menu: Any = None
        scheduler.schedule_update(self.leader, -10)
        for turret in self.turrets:
            scheduler.schedule_update(turret, 0)
            scheduler.schedule(turret.shoot, float(SHOT), target=turret)
        scheduler.schedule_update(self.enemy, 5)
        scheduler.schedule(self.enemy.shoot, 0.7, target=self.enemy)

    def stun(self) -> None:
        """Pause the enemy."""
        self.scheduler.pause_target(self.enemy)

    def wake(self) -> None:
        """Resume the enemy."""
        self.scheduler.resume_target(self.enemy)

    def open_menu(self) -> None:
        """Pause everything but the leader."""
        self.menu = self.scheduler.pause_all(0)

    def close_menu(self) -> None:
        """Resume what the menu has paused."""
        self.scheduler.resume(self.menu)

    def replace_turret(self) -> None:
        """Remove the first turret and add another behind the others."""
        old = self.turrets.pop(0)
        self.scheduler.unschedule_target(old)
        new = Actor(old.name)
        new.shots = old.shots
        self.turrets.append(new)
        self.scheduler.schedule_update(new, 0)
        self.scheduler.schedule(new.shoot, float(SHOT), target=new)

    @property
    def shots(self) -> int:
        """The shots of the turrets."""
        return sum(turret.shots for turret in self.turrets)


class Range:
    """Three squads, and what happens to all of them."""

    def __init__(self, stage: Stage) -> None:
        """Hang the clock under the root and give the orders."""
        self.stage = stage
        self.clock = stage.root.child("squads")
        orders = stage.root.child("orders")
        self.squads = [
            Squad(stage.scheduler(self.clock, name="ours"), "ours"),
            Squad(stage.dialect_scheduler(CREATOR_2_4, self.clock), "Creator 2.4"),
            Squad(stage.dialect_scheduler(COCOS2DX_3_15, self.clock), "cocos2d-x 3.15"),
        ]
        orders.set_interval(8, self.stun, delay=3, name="the enemy is stunned")
        orders.set_interval(8, self.open_menu, delay=4, name="the menu opens")
        orders.set_interval(8, self.close_menu, delay=5, name="the menu closes")
        orders.set_interval(8, self.wake, delay=7, name="the enemy wakes up")
        orders.set_interval(6, self.replace_turret, name="a turret is replaced")
        orders.set_interval(10, self.report, delay=10.05, name="report")
        stage.picture(self.picture)

    def stun(self) -> None:
        """Stun the enemy of every squad."""
        for squad in self.squads:
            squad.stun()

    def wake(self) -> None:
        """Wake the enemy of every squad."""
        for squad in self.squads:
            squad.wake()

    def open_menu(self) -> None:
        """Pause every squad but its leader."""
        for squad in self.squads:
            squad.open_menu()

    def close_menu(self) -> None:
        """Resume, and mark wrongly resumed enemies."""
        for squad in self.squads:
            squad.close_menu()
        awake = [
            squad.name for squad in self.squads if not squad.scheduler.is_target_paused(squad.enemy)
        ]
        self.stage.mark(f"the menu woke the stunned enemy: {', '.join(awake)}", clock=self.clock)

    def replace_turret(self) -> None:
        """Replace a turret of every squad."""
        for squad in self.squads:
            squad.replace_turret()

    def report(self) -> None:
        """Mark the shots of each squad."""
        texts = ", ".join(
            f"{each.name} {each.shots} and {each.gunner.shots}" for each in self.squads
        )
        self.stage.mark(f"shots of turrets and gunner: {texts}", clock=self.clock)

    def picture(self) -> Shapes:
        """Draw a belt for each squad."""
        return [self.belt(60 * number, squad) for number, squad in enumerate(self.squads)]

    def belt(self, y: int, squad: Squad) -> Shapes:
        """Draw the belt of a squad, which moves by the way of its leader."""
        ideal = self.clock.time_ns // 100_000_000
        turn, clock = squad.leader.way % 20, self.clock
        is_awake = not squad.scheduler.is_target_paused(squad.enemy)
        enemy = "#d55e00" if is_awake else "#6e7681"
        found: list[Shapes] = [
            text(6, y + 15, squad.name, "#e9edf1", size=16, clock=clock),
            text(
                314, y + 15, f"{squad.shots:,} shots", "#a3acb6", size=16, anchor="end", clock=clock
            ),
            line(6, y + 54, 314, y + 54, "#39434f", 2, clock=clock),
            [
                line(6 + x + turn, y + 54, x + turn, y + 58, "#6e7681", 1.5, clock=clock)
                for x in range(6, 296, 20)
            ],
            circle(302, y + 35, 10, enemy, clock=clock),
            polygon([(6, y + 52), (16, y + 47), (6, y + 42)], "#56b4e9", clock=clock),
        ]
        for number, turret in enumerate(squad.turrets):
            top, length = y + 20 + 8 * number, 250.0
            # A bar shows the last ten seconds' worth of shots against the clock.
            share = turret.shots / max(ideal, 1)
            found += [
                box(30, top, length, 6, "#20262e", clock=clock),
                box(30, top, length * min(share, 1), 6, "#2bb58c", clock=clock),
            ]
        magazine = [
            box(30 + 9 * n, y + 45, 6, 6, "#f0e442", clock=clock) for n in range(squad.gunner.left)
        ]
        return [found, magazine]


def build(stage: Stage) -> None:
    """Set up the range."""
    stage.name("Three schedulers")
    Range(stage)
