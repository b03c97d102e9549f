"""Messages for beginners' mistakes with schedulers, directors, nodes and the stage."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from inspector.clocks import ClockTree, ManualTimeSource, Transport
from inspector.clocks.refusals import suggest_name
from inspector.engines.cocos.dialects import CREATOR_2_4
from inspector.engines.cocos.scheduler import DialectScheduler
from inspector.engines.creator.components import Component, defines
from inspector.engines.creator.director import CreatorDirector
from inspector.engines.creator.nodes import Node
from inspector.engines.egret.ticker import Ticker
from inspector.engines.open_flash import OpenFlashClock
from inspector.frames import Director
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.sessions.stage import Stage


class Fox(Component):
    """Does nothing."""


def blink(_seconds: float = 0) -> None:
    """Be called."""


class Stand:
    """One of everything, typed so that mistakes can be made."""

    def __init__(self) -> None:
        tree, source = ClockTree(), ManualTimeSource()
        self.transport: Any = Transport(tree, source)
        self.tree: Any = tree
        self.clock: Any = tree.root
        self.director: Any = Director(tree.root)
        self.stage: Any = Stage(self.transport, self.director, lambda _duration_ns: False)
        self.scheduler: Any = Scheduler()
        self.dialect: Any = DialectScheduler(CREATOR_2_4)
        self.creator: Any = CreatorDirector(lambda: 0)
        self.ticker: Any = Ticker(lambda: 0)
        self.node: Any = self.creator.node("den")
        self.component: Any = Fox()
        self.open_flash: Any = OpenFlashClock(tree.root)


@pytest.fixture
def stand() -> Stand:
    return Stand()


def refusal(call: Callable[[], object], kind: type[Exception] = TypeError) -> str:
    with pytest.raises(kind) as caught:
        call()
    suggest_name(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("owner", "name", "meant"),
    [
        ("stage", "setTimeout", "root.set_timeout"),
        ("stage", "set_interval", "root.set_interval"),
        ("stage", "everyFrame", "every_frame"),
        ("stage", "on", "director.on"),
        ("stage", "requestAnimationFrame", "every_frame"),
        ("stage", "fps", "frame_rate"),
        ("scheduler", "scheduleOnce", "schedule_once"),
        ("scheduler", "call_later", "schedule_once"),
        ("scheduler", "set_interval", "schedule"),
        ("scheduler", "unscheduleAllForTarget", "unschedule_target"),
        ("dialect", "scheduleUpdate", "schedule_update"),
        ("dialect", "setTimeScale", "time_scale"),
        ("director", "every_frame", "on"),
        ("creator", "mainLoop", "main_loop"),
        ("creator", "getDeltaTime", "delta"),
        ("ticker", "callLater", "call_later"),
        ("node", "addComponent", "add_component"),
        ("node", "getComponent", "component"),
        ("component", "scheduleOnce", "schedule_once"),
        ("component", "setTimeout", "schedule_once"),
        ("component", "enabledInHierarchy", "enabled_in_hierarchy"),
        ("open_flash", "setTimeout", "set_timeout_ns"),
        ("open_flash", "unpause", "resume"),
    ],
)
def test_that_a_name_of_another_library_is_answered_with_ours(
    stand: Stand, owner: str, name: str, meant: str
) -> None:
    message = refusal(lambda: getattr(getattr(stand, owner), name), AttributeError)

    assert message.endswith(f" has no attribute {name!r}; did you mean {meant!r}?")


def test_that_a_component_class_is_refused_as_a_component(stand: Stand) -> None:
    assert refusal(lambda: stand.node.add_component(Fox)) == (
        "add_component needs an instance, not the class; write add_component(Fox())"
    )
    assert refusal(lambda: stand.node.add_component("fox")) == (
        "add_component needs an instance of a class derived from Component: 'fox'"
    )
    assert stand.node.components == []


def test_that_a_node_needs_its_director_first() -> None:
    make: Any = Node

    assert refusal(lambda: make("den")) == (
        "Node(director, name): needs a CreatorDirector, not “den”"
    )


def test_that_a_director_says_where_the_clock_is(stand: Stand) -> None:
    assert refusal(lambda: Director(stand.transport)) == (
        "Director(clock): needs a clock, not a Transport; pass its clock, transport.tree.root"
    )
    assert refusal(lambda: Director(stand.stage)).endswith(
        "not a Stage; pass its clock, stage.root"
    )
    assert refusal(lambda: Scheduler(stand.tree)).endswith("pass its clock, clocktree.root")
    assert refusal(lambda: Scheduler(stand.node)).endswith("needs a clock, not a Node")


def test_that_a_clock_is_refused_as_a_time_function(stand: Stand) -> None:
    for make in (CreatorDirector, Ticker):
        message = refusal(partial(make, stand.clock))

        assert message.startswith("now_ms must be a function that returns milliseconds, not <Clock")
        assert message.endswith("; pass a clock by name: clock=…")


@pytest.mark.parametrize(
    ("owner", "name", "order", "right"),
    [
        ("scheduler", "schedule", "callback, interval", "blink, 0.5"),
        ("scheduler", "schedule_once", "callback, delay", "blink, 0.5"),
        ("dialect", "schedule", "callback, interval", "blink, 0.5"),
        ("ticker", "set_timeout", "listener, delay_ms", "blink, 0.5"),
        ("ticker", "set_interval", "listener, delay_ms", "blink, 0.5"),
    ],
)
def test_that_swapped_arguments_are_named_with_the_right_order(
    stand: Stand, owner: str, name: str, order: str, right: str
) -> None:
    call = getattr(getattr(stand, owner), name)

    assert refusal(lambda: call(0.5, blink)) == (
        f"{name}({order}): the arguments are swapped; write {name}({right})"
    )


def test_that_a_callback_is_refused_as_a_phase(stand: Stand) -> None:
    assert refusal(lambda: stand.director.on(blink, "update")) == (
        'on(phase, callback): the phase comes first, as in on("update", blink)'
    )


def test_that_dialects_of_the_wrong_kind_are_refused(stand: Stand) -> None:
    dialect: Any = CREATOR_2_4

    assert refusal(lambda: stand.stage.dialect_scheduler(stand.clock)).startswith(
        "needs a dialect, such as CREATOR_2_4, not <Clock"
    )
    assert refusal(lambda: stand.stage.component_director(dialect=dialect)).startswith(
        "needs a component dialect, such as COMPONENTS_2_4, not Dialect("
    )


def test_that_a_component_defines_what_its_class_or_itself_has(stand: Stand) -> None:
    stand.component.update = blink

    assert defines(stand.component, "update")
    assert not defines(stand.component, "start")
    assert not hasattr(stand.component, "start")


def test_that_a_node_can_still_be_asked_for_what_it_lacks() -> None:
    assert not hasattr(Node(CreatorDirector(lambda: 0)), "update")
