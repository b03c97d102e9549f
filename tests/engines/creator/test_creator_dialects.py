"""What differs between the versions of Cocos Creator's main loop and component life."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from inspector.engines.creator.destruction import LifeComplaint
from inspector.engines.creator.nodes import Scene
from inspector.engines.creator.rendering_scenes import RenderingScene
from inspector.engines.creator.versions import (
    COMPONENT_DIALECTS,
    COMPONENTS_1_10,
    COMPONENTS_2_0_10,
    COMPONENTS_2_1_4,
    COMPONENTS_2_2,
    COMPONENTS_2_4,
    ComponentDialect,
    DirectorEvent,
)
from tests.engines.creator.creator_world import FRAME, MS, Updater, World, boom, only

if TYPE_CHECKING:
    from inspector.engines.creator.rendering_scenes import SceneMessage
    from tests.engines.creator.creator_world import Probe

BEFORE_2_4 = COMPONENT_DIALECTS[:-1]
CATCHING = (COMPONENTS_2_1_4, COMPONENTS_2_2, COMPONENTS_2_4)
FROM_2_0 = COMPONENT_DIALECTS[1:]

of_every = pytest.mark.parametrize("dialect", COMPONENT_DIALECTS, ids=lambda each: each.name)


def of(*dialects: ComponentDialect) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("dialect", dialects, ids=lambda each: each.name)


def raises(world: World) -> list[str]:
    """Run a frame that an exception ends, and return what was called in it."""
    with pytest.raises(RuntimeError, match="boom"):
        world.frame()
    return list(world.calls)


def rendering(world: World, name: str) -> RenderingScene:
    """Return a rendering scene that notes its messages."""

    def told(message: SceneMessage) -> None:
        world.called(f"{name}.{message.value}")

    return RenderingScene(name, told)


# ------------------------------------------------------------- when newcomers start


@of(*BEFORE_2_4)
def test_that_a_component_enabled_in_update_starts_in_the_next_frame(
    dialect: ComponentDialect,
) -> None:
    world = World(dialect)
    world.add("a")
    world.hooks["a.update"] = lambda: world.add("b")

    first = world.frame()

    assert only(first, "start") == ["a.start"]
    assert only(world.frame(), "start", "update") == ["b.start", "a.update", "b.update"]


def test_that_in_2_4_a_component_enabled_in_update_starts_in_the_same_frame() -> None:
    world = World(COMPONENTS_2_4)
    world.add("a")
    world.hooks["a.update"] = lambda: world.add("b")

    assert only(world.frame(), "start", "update") == ["a.start", "a.update", "b.start"]


@of(*BEFORE_2_4)
def test_that_a_component_added_in_a_start_waits_for_the_next_start_phase(
    dialect: ComponentDialect,
) -> None:
    world = World(dialect)
    world.add("a")
    world.hooks["a.start"] = lambda: world.add("b")
    world.hooks["b.start"] = lambda: world.add("c")

    starts = [only(world.frame(), "start") for _ in range(3)]

    assert starts == [["a.start"], ["b.start"], ["c.start"]]


@of(*BEFORE_2_4)
def test_that_a_component_enabled_after_late_update_overtakes_one_that_waits(
    dialect: ComponentDialect,
) -> None:
    world = World(dialect)
    world.add("a")
    world.listen(DirectorEvent.AFTER_UPDATE)
    world.hooks["a.update"] = lambda: world.add("waits")
    world.hooks["event.after update"] = lambda: world.add("overtakes")
    world.frame()

    calls = world.frame()

    assert only(calls, "start") == ["overtakes.start", "waits.start"]
    assert only(calls, "update") == ["a.update", "overtakes.update", "waits.update"]


@of(*BEFORE_2_4)
def test_that_disabling_and_enabling_between_frames_ends_the_waiting(
    dialect: ComponentDialect,
) -> None:
    world = World(dialect)
    world.add("a")
    added: list[Probe] = []
    world.hooks["a.update"] = lambda: added.extend(world.add(name) for name in "bcd")
    world.frame()

    added[0].enabled = False
    added[0].enabled = True

    # Straight into the list; in the queue, the last one has taken the place.
    assert only(world.frame(), "start") == ["b.start", "d.start", "c.start"]


# ------------------------------------------------------------------- exceptions


@of(COMPONENTS_1_10, COMPONENTS_2_0_10)
def test_that_an_exception_in_update_ends_the_frame(dialect: ComponentDialect) -> None:
    world = World(dialect)
    for name in "ab":
        world.add(name)
    world.hooks["a.update"] = boom

    assert raises(world) == ["a.start", "b.start", "a.update"]
    assert world.director.total_frames == 0
    assert world.frame() == ["a.update", "b.update", "a.late", "b.late"]


@of(COMPONENTS_1_10, COMPONENTS_2_0_10)
def test_that_after_a_start_that_raises_all_starts_run_again(dialect: ComponentDialect) -> None:
    world = World(dialect)
    for name in "abc":
        world.add(name)
    world.hooks["b.start"] = boom

    assert raises(world) == ["a.start", "b.start"]
    assert only(world.frame(), "start") == ["a.start", "b.start", "c.start"]


@of(*CATCHING)
def test_that_from_2_1_4_an_exception_is_reported_and_the_frame_goes_on(
    dialect: ComponentDialect,
) -> None:
    world = World(dialect)
    for name in "ab":
        world.add(name)
    failures: list[str] = []
    world.director.on_failure = lambda failure: failures.append(failure.method)
    world.hooks["a.start"] = world.hooks["a.update"] = world.hooks["a.late"] = boom

    calls = world.frame()

    assert calls == ["a.start", "b.start", "a.update", "b.update", "a.late", "b.late"]
    assert failures == ["start", "update", "late_update"]


@of_every
def test_that_an_on_destroy_that_raises_runs_again_in_the_next_frame(
    dialect: ComponentDialect,
) -> None:
    world = World(dialect)
    probes = [world.add(name) for name in "ab"]
    world.frame()
    for probe in probes:
        probe.destroy()
    world.hooks["a.destroy"] = boom

    assert raises(world) == ["a.destroy"]
    assert world.frame() == ["a.destroy", "b.destroy"]


# -------------------------------------------------------------- order of a frame


def test_that_a_frame_of_1_10_has_events_around_the_visit() -> None:
    world = World(COMPONENTS_1_10)
    world.director.on_visit = lambda _: world.called("visit")
    world.director.on_draw = lambda _: world.called("draw")
    world.listen()

    assert world.frame() == [
        "event.before update",
        "event.after update",
        "event.before visit",
        "visit",
        "event.after visit",
        "draw",
        "event.after draw",
    ]


@of(*FROM_2_0)
def test_that_from_2_0_the_events_of_the_visit_are_names_of_before_draw(
    dialect: ComponentDialect,
) -> None:
    world = World(dialect)
    world.listen(DirectorEvent.BEFORE_VISIT, DirectorEvent.AFTER_VISIT, DirectorEvent.BEFORE_DRAW)

    assert world.frame() == ["event.before visit", "event.after visit", "event.before draw"]
    assert world.director.on_visit is None


def test_that_1_10_refuses_the_event_that_it_does_not_have() -> None:
    world = World(COMPONENTS_1_10)

    with pytest.raises(ValueError, match=r"Creator 1\.10 has no event “before draw”"):
        world.listen(DirectorEvent.BEFORE_DRAW)


@pytest.mark.parametrize(("dialect", "counted"), [(COMPONENTS_1_10, 1), (COMPONENTS_2_2, 0)])
def test_that_only_1_10_counts_the_frame_before_after_draw(
    dialect: ComponentDialect, counted: int
) -> None:
    world = World(dialect)
    counts: list[int] = []
    world.director.on(
        DirectorEvent.AFTER_DRAW, lambda _: counts.append(world.director.total_frames)
    )
    world.frame()

    assert counts == [counted]


# ---------------------------------------------------------------- delta time


def deltas(dialect: ComponentDialect, *frames: tuple[float, float]) -> list[float]:
    """Return the deltas of frames, each given as its stamp and the clock's reading in ms."""
    world = World(dialect)
    updater = world.director.node().add_component(Updater())
    for stamp_ms, clock_ms in frames:
        world.now_ms = clock_ms
        world.director.main_loop(stamp_ms)
    return updater.deltas


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        (COMPONENTS_1_10, [0, 0.016]),
        (COMPONENTS_2_0_10, [0.016, 0.016]),
        (COMPONENTS_2_1_4, [0.015, 0.015]),
        (COMPONENTS_2_2, [0.015, 0.015]),
        (COMPONENTS_2_4, [0.015, 0.015]),
    ],
)
def test_that_the_clock_counts_until_2_0_and_the_stamp_after(
    dialect: ComponentDialect, expected: list[float]
) -> None:
    assert deltas(dialect, (15, 16), (30, 32)) == expected


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        (COMPONENTS_1_10, 0.01),
        (COMPONENTS_2_0_10, 0.01),
        (COMPONENTS_2_1_4, -0.01),
        (COMPONENTS_2_2, 0.01),
        (COMPONENTS_2_4, 0),
    ],
)
def test_that_each_version_has_its_own_answer_to_a_stamp_before_the_last(
    dialect: ComponentDialect, expected: float
) -> None:
    assert deltas(dialect, (40, 40), (30, 50))[1] == expected


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [(COMPONENTS_1_10, -0.01), (COMPONENTS_2_0_10, -0.01), (COMPONENTS_2_4, 0)],
)
def test_that_a_clock_that_goes_back_gives_a_negative_delta_before_2_4(
    dialect: ComponentDialect, expected: float
) -> None:
    assert deltas(dialect, (40, 40), (30, 30))[1] == expected


def test_that_where_2_2_never_returns_the_delta_is_0_and_that_is_said() -> None:
    world = World(COMPONENTS_2_2)
    world.frame(40)
    world.frame(-10)

    assert world.director.delta == 0
    assert world.complaints == [LifeComplaint.ENDLESS_DELTA]


def test_that_in_1_10_the_delta_is_0_after_launch_pause_and_resume() -> None:
    world = World(COMPONENTS_1_10)
    seen: list[float] = []
    for change in (None, None, world.director.pause, None, world.director.resume, None):
        if change is not None:
            change()
        world.frame()
        seen.append(world.director.delta)

    assert seen == [0, FRAME, 0, FRAME, 0, FRAME]


@of_every
def test_that_a_resume_in_an_update_sets_the_delta_of_the_rest_of_the_frame_to_0(
    dialect: ComponentDialect,
) -> None:
    world = World(dialect)
    world.add("a")
    late: list[float] = []
    world.director.on(DirectorEvent.AFTER_UPDATE, late.append)

    def pause_and_resume() -> None:
        world.director.pause()
        world.director.resume()

    world.frame()
    world.hooks["a.update"] = pause_and_resume
    world.frame()

    assert late[-1] == 0


@pytest.mark.parametrize("dialect", COMPONENT_DIALECTS, ids=lambda each: each.name)
def test_that_only_2_0_counts_the_delta_from_the_launch_of_a_scene(
    dialect: ComponentDialect,
) -> None:
    world = World(dialect)
    world.frame()
    world.now_ms += 3 * MS
    world.director.run_scene_immediate(Scene(world.director, "next"))

    world.frame()

    expected = FRAME if dialect is COMPONENTS_2_0_10 else 4 * FRAME
    assert world.director.delta == expected


# ------------------------------------------------------------------- scenes


@pytest.mark.parametrize(
    ("dialect", "after"),
    [(each, "after update") for each in BEFORE_2_4] + [(COMPONENTS_2_4, "after draw")],
)
def test_that_a_scene_is_launched_after_update_before_2_4(
    dialect: ComponentDialect, after: str
) -> None:
    world = World(dialect)
    world.listen()
    world.director.run_scene(Scene(world.director, "next"))

    calls = world.frame()

    assert calls[calls.index("event.before scene launch") - 1] == f"event.{after}"


def test_that_1_10_switches_to_the_next_rendering_scene_before_the_visit_even_if_paused() -> None:
    world = World(COMPONENTS_1_10)
    world.listen()
    world.director.pause()
    world.director.push_rendering(rendering(world, "menu"))

    assert world.frame() == [
        "menu.onEnter",
        "menu.onEnterTransitionDidFinish",
        "event.before visit",
        "event.after visit",
        "event.after draw",
    ]


def test_that_only_a_popped_rendering_scene_is_cleaned_up() -> None:
    world = World(COMPONENTS_1_10)
    world.director.push_rendering(rendering(world, "a"))
    world.frame()
    world.director.push_rendering(rendering(world, "b"))
    pushed = world.frame()
    world.director.pop_rendering()

    popped = world.frame()

    assert only(pushed, "cleanup", "onExit") == ["a.onExit"]
    assert only(popped, "cleanup", "onExit") == ["b.onExit", "b.cleanup"]
    assert world.director.rendering.running is world.director.rendering.scenes[-1]


def test_that_popping_the_last_rendering_scene_ends_the_director() -> None:
    world = World(COMPONENTS_1_10)
    world.listen()
    world.director.pop_rendering()

    assert world.frame() == []
    assert world.director.is_ended


def test_that_a_launch_switches_the_rendering_scene_before_after_scene_launch() -> None:
    world = World(COMPONENTS_1_10)
    scene = Scene(world.director, "next")
    scene.rendering = rendering(world, "next")
    world.listen()

    calls = world.during(partial(world.director.run_scene_immediate, scene))

    assert calls == [
        "event.before scene launch",
        "next.onEnter",
        "next.onEnterTransitionDidFinish",
        "event.after scene launch",
    ]


def test_that_a_launch_after_the_end_runs_again_from_a_delta_of_0() -> None:
    world = World(COMPONENTS_1_10)
    world.frame()
    world.director.end()
    world.frame()
    world.director.run_scene_immediate(Scene(world.director, "next"))

    world.frame()

    assert (world.director.total_frames, world.director.delta) == (2, 0)


@of(*FROM_2_0)
def test_that_there_are_no_rendering_scenes_from_2_0(dialect: ComponentDialect) -> None:
    director = World(dialect).director

    for call in (director.pop_rendering, partial(director.push_rendering, RenderingScene())):
        with pytest.raises(TypeError, match="has no rendering scenes"):
            call()


@pytest.mark.parametrize("dialect", COMPONENT_DIALECTS, ids=lambda each: each.name)
def test_that_the_end_leaves_the_scene_alone_in_1_10(dialect: ComponentDialect) -> None:
    world = World(dialect)
    probe = world.add("a")
    world.frame()
    world.director.end()

    calls = world.frame()

    assert calls == ([] if dialect is COMPONENTS_1_10 else ["a.disable"])
    assert probe.node.active_in_hierarchy is (dialect is COMPONENTS_1_10)


# -------------------------------------------------------- nodes and components


def test_that_in_1_10_a_destroyed_node_stays_active_and_runs_what_is_added_to_it() -> None:
    world = World(COMPONENTS_1_10)
    node = world.add("a").node
    world.frame()
    node.destroy()

    added = world.during(lambda: world.add("b", node))

    assert node.active
    assert node.active_in_hierarchy
    assert added == ["b.load", "b.enable"]
    assert world.frame() == [
        *("b.start", "b.update", "b.late", "a.destroy", "b.disable", "b.destroy"),
    ]


@of(*FROM_2_0)
def test_that_from_2_0_a_destroyed_node_is_switched_off(dialect: ComponentDialect) -> None:
    world = World(dialect)
    node = world.add("a").node
    world.frame()
    node.destroy()

    assert world.during(lambda: world.add("b", node)) == []
    assert world.frame() == ["a.destroy"]


@pytest.mark.parametrize("dialect", COMPONENT_DIALECTS, ids=lambda each: each.name)
def test_that_only_1_10_activates_a_component_that_is_marked_for_destruction(
    dialect: ComponentDialect,
) -> None:
    world = World(dialect)
    node = world.director.node("den", active=False)
    world.add("a", node).destroy()

    calls = world.during(lambda: setattr(node, "active", True))

    assert calls == (["a.load", "a.enable"] if dialect is COMPONENTS_1_10 else [])


@pytest.mark.parametrize("dialect", COMPONENT_DIALECTS, ids=lambda each: each.name)
def test_that_enabled_in_hierarchy_means_on_in_1_10(dialect: ComponentDialect) -> None:
    world = World(dialect)
    node = world.director.node("den", active=False)
    probe = world.add("a", node)
    seen: list[bool] = []
    world.hooks["a.enable"] = lambda: seen.append(probe.enabled_in_hierarchy)

    node.active = True

    assert [*seen, probe.enabled_in_hierarchy] == [dialect is not COMPONENTS_1_10, True]


@pytest.mark.parametrize("dialect", COMPONENT_DIALECTS, ids=lambda each: each.name)
def test_that_ids_are_compared_as_texts_from_2_0(dialect: ComponentDialect) -> None:
    world = World(dialect, first_component_number=999)
    for name in ("999", "1000"):
        world.add(name, order=1)

    updates = only(world.frame(), "update")

    in_order = ["999.update", "1000.update"]
    assert updates == (in_order if dialect is COMPONENTS_1_10 else in_order[::-1])


# --------------------------------------------------------------------- as data


@of_every
def test_that_a_dialect_says_each_of_its_rules_in_words(dialect: ComponentDialect) -> None:
    explained = dialect.explain()

    assert len(explained) == 14
    assert all(each.sentence.endswith(".") and each.source for each in explained)
    assert {each.name for each in explained} >= {"newcomers", "backward time", "has visit"}


def test_that_no_two_dialects_are_the_same() -> None:
    rules = [tuple(str(each.value) for each in d.explain()) for d in COMPONENT_DIALECTS]

    assert len(set(rules)) == len(COMPONENT_DIALECTS)
    assert len({each.name for each in COMPONENT_DIALECTS}) == len(COMPONENT_DIALECTS)


@pytest.mark.parametrize("dialect", COMPONENT_DIALECTS, ids=lambda each: each.name)
def test_that_showing_the_program_again_keeps_the_delta_of_the_last_frame(
    dialect: ComponentDialect,
) -> None:
    world = World(dialect)
    for _ in range(2):
        world.frame()
    world.now_ms += 1000

    world.director.reset_delta()

    assert world.director.delta == FRAME
    world.frame()
    assert world.director.delta == FRAME
