"""Twisted, by pytest-twisted."""

import pytest_twisted
from twisted.internet import defer, reactor, task


@pytest_twisted.inlineCallbacks
def test_that_a_loop_calls_at_its_interval():
    calls = []
    loop = task.LoopingCall(lambda: calls.append(reactor.seconds()))
    loop.start(0.1)
    yield task.deferLater(reactor, 0.35, lambda: None)
    loop.stop()
    assert len(calls) == 4


@pytest_twisted.inlineCallbacks
def test_that_calls_are_made_in_order():
    called = []
    for delay in (0.15, 0.05, 0.1):
        reactor.callLater(delay, called.append, delay)
    reactor.callLater(0.12, called.append, "never").cancel()
    yield task.deferLater(reactor, 0.2, lambda: None)
    assert called == [0.05, 0.1, 0.15]


@pytest_twisted.inlineCallbacks
def test_that_a_deferred_times_out():
    waiting = defer.Deferred()
    waiting.addTimeout(0.1, reactor)
    try:
        yield waiting
    except defer.TimeoutError:
        return
    raise AssertionError
