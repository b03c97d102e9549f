"""Cocos Creator 2.4's main loop: the order of a frame, deltas, pause, scenes."""

from __future__ import annotations

import pytest

from inspector.engines.cocos.scheduler import Complaint
from inspector.engines.creator.destruction import LifeComplaint
from inspector.engines.creator.director import DirectorEvent
from inspector.engines.creator.nodes import Node, Scene
from tests.engines.creator.creator_world import FRAME, MS, Updater, World, only


@pytest.fixture
def world() -> World:
    return World()


# ---------------------------------------------------------------------- frames


def test_that_a_frame_goes_through_its_phases_in_order(world: World) -> None:
    probe = world.add("a")
    probe.schedule(probe.blink)
    world.listen()
    world.director.on_draw = lambda _: world.called("event.draw")
    world.frame()
    probe.destroy()
    world.add("b")
    world.add("c").schedule(probe.blink)

    calls = world.frame()

    assert calls == [
        "event.before update",
        "b.start",
        "c.start",
        "b.update",
        "c.update",
        "b.late",
        "c.late",
        "event.after update",
        "a.destroy",
        "event.before draw",
        "event.draw",
        "event.after draw",
    ]
    assert world.director.total_frames == 2


def test_that_timers_run_between_update_and_late_update(world: World) -> None:
    probe = world.add("a")
    probe.schedule(probe.blink)
    world.frame()

    assert world.frame() == ["a.update", "a.blink", "a.late"]


def test_that_the_delta_is_the_time_between_frames_in_seconds(world: World) -> None:
    updater = world.director.node().add_component(Updater())
    world.frame(MS)
    world.frame(4 * MS)

    assert updater.deltas == [FRAME, 4 * FRAME]


def test_that_a_clock_going_back_gives_no_delta_and_is_the_new_base(world: World) -> None:
    updater = world.director.node().add_component(Updater())
    for milliseconds in (4 * MS, -2 * MS, 3 * MS):
        world.frame(milliseconds)

    assert updater.deltas == [4 * FRAME, 0, 3 * FRAME]


def test_that_without_a_time_the_directors_clock_is_read(world: World) -> None:
    world.now_ms = 2 * MS
    world.director.main_loop()

    assert world.director.delta == 2 * FRAME


@pytest.mark.parametrize(("is_debug", "delta"), [(True, 1 / 60), (False, 65 / 64)])
def test_that_only_a_debug_build_cuts_deltas_above_a_second(
    *, is_debug: bool, delta: float
) -> None:
    world = World(is_debug=is_debug)

    world.frame(65 * MS)

    assert world.director.delta == delta


def test_that_a_debug_build_leaves_a_delta_of_a_second(world: World) -> None:
    world.director.is_debug = True

    world.frame(64 * MS)

    assert world.director.delta == 1


def test_that_a_paused_director_only_draws(world: World) -> None:
    probe = world.add("a")
    probe.schedule(probe.blink)
    world.frame()
    world.listen()
    world.director.pause()

    assert world.frame() == ["event.before draw", "event.after draw"]
    assert world.director.total_frames == 2
    assert world.director.delta == FRAME


def test_that_a_paused_director_never_destroys_anything(world: World) -> None:
    probe = world.add("a")
    world.frame()
    world.director.pause()
    probe.destroy()

    for _ in range(3):
        assert world.frame() == []
    world.director.resume()

    assert world.frame() == ["a.destroy"]


def test_that_pausing_lets_the_present_frame_finish(world: World) -> None:
    world.add("a")
    world.hooks["a.update"] = world.director.pause

    assert world.frame() == ["a.start", "a.update", "a.late"]
    assert world.frame() == []


def test_that_no_time_is_lost_or_caught_up_by_a_pause(world: World) -> None:
    updater = world.director.node().add_component(Updater())
    world.director.pause()
    world.frame(10 * MS)
    world.now_ms += 20 * MS
    world.director.resume()
    assert world.director.delta == 0

    world.frame(MS)

    assert updater.deltas == [FRAME]


def test_that_resuming_what_is_not_paused_changes_nothing(world: World) -> None:
    world.now_ms = 5 * MS
    world.director.resume()

    world.frame(MS)

    assert world.director.delta == 6 * FRAME


def test_that_the_time_scale_concerns_timers_only(world: World) -> None:
    probe = world.add("a")
    updater = probe.node.add_component(Updater())
    probe.schedule(probe.blink)
    world.director.scheduler.time_scale = 0.5
    world.frame()
    world.frame()

    assert probe.elapsed == [FRAME / 2]
    assert updater.deltas == [FRAME, FRAME]


# ------------------------------------------------------------------- listeners


def test_that_a_listener_can_be_taken_off_in_the_middle_of_its_event(world: World) -> None:
    director = world.director

    def first(_: float) -> None:
        world.called("first.call")
        director.off(DirectorEvent.BEFORE_UPDATE, second)
        director.on(DirectorEvent.BEFORE_UPDATE, third)

    def second(_: float) -> None:
        world.called("second.call")

    def third(_: float) -> None:
        world.called("third.call")

    director.on(DirectorEvent.BEFORE_UPDATE, first)
    director.on(DirectorEvent.BEFORE_UPDATE, second)

    assert world.frame() == ["first.call"]
    assert world.frame() == ["first.call", "third.call"]
    assert not director.off(DirectorEvent.BEFORE_UPDATE, second)


def test_that_a_listener_can_be_called_once(world: World) -> None:
    world.director.once(DirectorEvent.AFTER_UPDATE, lambda delta: world.called(f"once.{delta}"))

    assert world.frame() == [f"once.{FRAME}"]
    assert world.frame() == []


def test_that_a_listener_must_be_callable(world: World) -> None:
    with pytest.raises(TypeError, match="not callable"):
        world.director.on(DirectorEvent.AFTER_UPDATE, "listener")  # type: ignore[arg-type]


# ---------------------------------------------------------------------- scenes


def test_that_another_scene_runs_after_the_next_draw(world: World) -> None:
    world.add("a")
    scene = Scene(world.director, "second")
    world.add("b", Node(world.director, parent=scene))
    world.listen(
        DirectorEvent.AFTER_DRAW,
        DirectorEvent.BEFORE_SCENE_LAUNCH,
        DirectorEvent.AFTER_SCENE_LAUNCH,
    )
    world.director.run_scene(scene)

    assert world.frame() == [
        "a.start",
        "a.update",
        "a.late",
        "event.after draw",
        "a.disable",
        "a.destroy",
        "event.before scene launch",
        "b.load",
        "b.enable",
        "event.after scene launch",
    ]
    assert world.director.scene is scene
    assert world.frame() == ["b.start", "b.update", "b.late", "event.after draw"]


def test_that_a_flush_inside_the_flush_does_nothing(world: World) -> None:
    probe = world.add("a")
    scene = Scene(world.director, "second")
    world.hooks["a.destroy"] = lambda: world.director.run_scene_immediate(scene)
    probe.destroy()

    assert only(world.frame(), "destroy") == ["a.destroy"]
    assert world.director.scene is scene


def test_that_a_scene_is_destroyed_once(world: World) -> None:
    scene = world.director.scene
    assert scene is not None
    assert scene.destroy()
    assert not scene.destroy()
    world.director.run_scene_immediate(Scene(world.director, "second"))
    assert not scene.is_valid()


def test_that_ending_drops_everything_until_another_scene_runs(world: World) -> None:
    probe = world.add("a")
    probe.schedule(probe.blink)
    world.frame()
    world.director.end()

    assert world.frame() == ["a.disable"]
    assert world.frame() == []
    assert (world.director.scene, world.director.total_frames) == (None, 1)
    assert world.director.is_ended
    world.now_ms += 100 * MS
    scene = Scene(world.director, "second")
    world.add("b", Node(world.director, parent=scene))
    world.director.run_scene_immediate(scene)

    assert "b.update" in world.frame()
    assert world.director.delta == FRAME


def test_that_ending_twice_destroys_the_scene_once(world: World) -> None:
    scene = world.director.scene
    assert scene is not None
    scene.destroy()
    world.director.end()
    world.frame()
    world.director.end()

    assert world.frame() == []
    assert world.complaints == []


# --------------------------------------------------------------------- display


def test_that_everything_shows_what_it_is(world: World) -> None:
    probe = world.add("a", world.director.node("player"))
    node = probe.node

    assert repr(probe) == "<Probe of 'player', waits for its start>"
    assert repr(node) == "<Node 'player', active>"
    node.destroy()
    assert repr(node) == "<Node 'player', will be destroyed>"
    world.frame()
    assert repr(probe) == "<Probe, destroyed>"
    assert repr(node) == "<Node 'player', destroyed>"
    assert repr(Node(world.director, "loose")) == "<Node 'loose', inactive>"
    assert repr(world.director) == "<CreatorDirector of <Scene 'scene', active>, 1 frames>"
    world.director.pause()
    assert repr(world.director).endswith("1 frames, paused>")


def test_that_complaints_are_logged_without_a_handler(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.director.on_diagnostic = None
    probe = world.add("a")
    caplog.set_level("DEBUG")

    probe.schedule(probe.blink, -1)
    probe.schedule(probe.blink, 1)

    assert LifeComplaint.NEGATIVE_INTERVAL.text in caplog.text
    assert Complaint.RESCHEDULED.value in caplog.text


def test_that_complaints_have_the_numbers_of_the_original() -> None:
    assert LifeComplaint.REACTIVATED.code == 3816
