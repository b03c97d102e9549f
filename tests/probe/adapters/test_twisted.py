"""What Twisted programs do with delayed calls that programs of other libraries do not."""

from __future__ import annotations

import pytest

from inspector.probe.kinds import MARK, TIMER_ARMED, TIMER_CLEARED
from inspector.vocabulary import TimerKind
from tests.probe.adapters.libraries import python_with
from tests.probe.receiver import Receiver, attached

HEAD = """
from twisted.internet import reactor, task
say = timeline_probe.mark
"""


@pytest.fixture
def python() -> str:
    return python_with("twisted")


def marks(receiver: Receiver) -> list[str]:
    return [receiver.texts[a] for _, kind, _, a, _ in receiver.events if kind == MARK]


def test_that_a_looping_call_is_one_interval_until_it_stops(python: str) -> None:
    code = """
class Server:
    count = 0
    def beat(self):
        self.count += 1
        if self.count == 6:
            loop.stop()
            say("stopped")
loop = task.LoopingCall(Server().beat)
loop.start(0.05)
reactor.run()
"""
    with attached(HEAD + code, python=python) as (receiver, _):
        receiver.wait_for(lambda: receiver.firings()["Server.beat"] > 3)
        timers = receiver.timeline().timers
        (number,) = timers.ids()
        row = timers.index(number)
        assert (timers.kind[row], timers.interval[row]) == (TimerKind.INTERVAL_SKIP, 50_000_000)
        assert timers.row(number).label == "Server.beat"
        receiver.wait_for(lambda: "stopped" in marks(receiver))
        receiver.wait_for(lambda: not [*receiver.timeline().timers.ids()])
        # From the first call on.
        assert len(receiver.timer_names()) == 1


def test_that_what_a_function_waits_for_is_named_after_it(python: str) -> None:
    code = """
def poll():
    return task.deferLater(reactor, 600)
poll()
reactor.run()
"""
    with attached(HEAD + code, python=python) as (receiver, _):
        receiver.wait_for(lambda: "Deferred.callback in poll" in receiver.timer_names().values())


def test_that_a_call_may_be_moved_and_cancelled(python: str) -> None:
    code = """
moved, gone = reactor.callLater(600, say, "moved"), reactor.callLater(600, say, "gone")
late = reactor.callLater(600, say, "late")
late.delay(600)
gone.cancel()
reactor.callLater(0.1, moved.reset, 0.1)
try:
    gone.reset(1)
except Exception as error:
    say(type(error).__name__)
reactor.run()
"""
    with attached(HEAD + code, python=python) as (receiver, _):
        receiver.wait_for(lambda: "moved" in marks(receiver))
        assert marks(receiver) == ["AlreadyCancelled", "moved"]
        timeline = receiver.timeline()
        (number,) = timeline.timers.ids()
        assert timeline.timers.row(number).due_ns > 1_100e9
        cleared = [subject for _, kind, subject, _, _ in receiver.events if kind == TIMER_CLEARED]
        assert len(cleared) == 1
        dues_ns = [a for _, kind, _, a, _ in receiver.events if kind == TIMER_ARMED]
        assert len([due_ns for due_ns in dues_ns if due_ns < 100e9]) == 2


def test_that_connections_are_answered_while_it_is_held(python: str) -> None:
    code = """
from twisted.internet import endpoints, protocol
class Echo(protocol.Protocol):
    def dataReceived(self, data):
        self.transport.write(data)
class Asks(protocol.Protocol):
    def connectionMade(self):
        self.transport.write(b"?")
    def dataReceived(self, data):
        say("answered")
        self.transport.write(data)
def connect(port):
    reached = endpoints.TCP4ClientEndpoint(reactor, "127.0.0.1", port.getHost().port)
    reached.connect(protocol.Factory.forProtocol(Asks))
listens = endpoints.TCP4ServerEndpoint(reactor, 0, interface="127.0.0.1")
listens.listen(protocol.Factory.forProtocol(Echo)).addCallback(connect)
reactor.callLater(0.2, say, "called")
reactor.run()
"""
    with attached(HEAD + code, python=python) as (receiver, _):
        receiver.wait_until_complete()
        top = next(number for number, parent in receiver.parents().items() if parent == 0)
        receiver.ask("Clock.pause", clock=top)
        receiver.listen(0.1)
        before = marks(receiver).count("answered")
        receiver.wait_for(lambda: marks(receiver).count("answered") > before)
        receiver.listen(0.4)
        assert "called" not in marks(receiver)
        receiver.ask("Clock.resume", clock=top)
        receiver.wait_for(lambda: "called" in marks(receiver))
