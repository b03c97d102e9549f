"""Loops of games: pygame, pyglet, Kivy and Panda3D."""

import pytest


@pytest.fixture
def pygame():
    pygame = pytest.importorskip("pygame")
    pygame.init()
    pygame.display.set_mode((32, 32))
    yield pygame
    pygame.quit()


@pytest.fixture
def pyglet():
    pyglet = pytest.importorskip("pyglet")
    pyglet.options["headless"] = True
    return pyglet


def test_that_a_loop_draws_its_frames(pygame):
    clock, frames = pygame.time.Clock(), 0
    end = pygame.time.get_ticks() + 300
    while pygame.time.get_ticks() < end:
        pygame.event.get()
        pygame.display.flip()
        clock.tick(50)
        frames += 1
    assert 5 <= frames <= 17


def test_that_a_timer_posts_events(pygame):
    pygame.event.clear()
    pygame.time.set_timer(pygame.USEREVENT, 50, 2)
    got = []
    while len(got) < 2:
        got += [each.type for each in pygame.event.get() if each.type == pygame.USEREVENT]
        pygame.time.wait(10)
    assert got == [pygame.USEREVENT] * 2


def test_that_a_loop_calls_what_is_scheduled(pyglet):
    order = []
    pyglet.clock.schedule_once(lambda _: order.append("second"), 0.1)
    pyglet.clock.schedule_once(lambda _: order.append("first"), 0.05)
    pyglet.clock.schedule_once(lambda _: pyglet.app.exit(), 0.2)
    pyglet.app.run(None)
    assert order == ["first", "second"]


def test_that_an_interval_is_called(pyglet):
    called = []
    pyglet.clock.schedule_interval(called.append, 0.05)
    pyglet.clock.schedule_once(lambda _: pyglet.app.exit(), 0.22)
    pyglet.app.run(None)
    pyglet.clock.unschedule(called.append)
    assert 3 <= len(called) <= 5


def test_that_the_clock_of_kivy_calls_what_is_scheduled():
    clock = pytest.importorskip("kivy.clock").Clock
    called = []
    interval = clock.schedule_interval(lambda _: called.append("interval"), 0.1)
    clock.schedule_once(lambda _: called.append("once"), 0.35)
    while "once" not in called:
        clock.tick()
    interval.cancel()
    assert called == ["interval"] * 3 + ["once"]


def test_that_tasks_of_panda3d_are_done_later():
    manager = pytest.importorskip("direct.task.TaskManagerGlobal").taskMgr
    clock = pytest.importorskip("panda3d.core").ClockObject.getGlobalClock()
    called = []

    def again(task):
        called.append("again")
        return task.again

    manager.doMethodLater(0.1, again, "again")
    manager.doMethodLater(0.35, lambda _: called.append("once"), "once")
    while "once" not in called:
        clock.tick()
        manager.step()
    manager.remove("again")
    assert called == ["again"] * 3 + ["once"]
