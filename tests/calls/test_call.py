"""Whatever schedules a call, it is read as one value."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from inspector.calls.blockers import Blocker, BlockerKind, clock_blockers, member_blockers
from inspector.calls.call import Call, CallId, call_of, clock_of, function_at, short_site
from inspector.calls.dues import DueTimes
from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.command import Command
from inspector.commands.members import PauseMember, ResumeMember, SetTimeScale
from inspector.events.states import Mark, detached_text
from inspector.sessions.hosted import HostedSession
from inspector.testing import pass_seconds, scene_file, virtual_session
from inspector.vocabulary import Field, LifeCycle, MemberKind, TimerKind

MS = 1_000_000
SECOND = 1_000_000_000

SCENE = """
    from inspector.engines.cocos.dialects import DIALECTS
    from inspector.engines.creator.components import Component
    from inspector.engines.egret.timer import BY_ELAPSED, TickerTimer
    from inspector.frames.loop import start_loop
    from inspector.engines.open_flash import OpenFlashClock

    def nothing(*_):
        pass

    class Actor:
        def __init__(self, name):
            self.name = name
        def update(self, delta):
            pass
        def shoot(self, delta):
            pass

    class Fox(Component):
        def update(self, delta):
            pass

    def build(stage):
        game = stage.root.child("game")
        for policy in ("burst", "delay", "skip"):
            game.set_interval(2, nothing, name=policy, missed=policy)
        game.set_timeout(7, nothing, name="once")
        stage.every_frame(nothing, name="paint", phase="draw")
        stage.every_frame(nothing, name="think", clock=game)
        ours = stage.scheduler(game, name="ours")
        others = [stage.dialect_scheduler(each, game, name=each.title) for each in DIALECTS]
        stage.kept = [ours, *others]
        for scheduler in stage.kept[:]:
            hero = Actor("hero")
            scheduler.schedule_update(hero, 3)
            scheduler.schedule(hero.shoot, 3.0, target=hero, repeat=4)
            stage.kept.append(hero)
        ticker = stage.ticker(game, name="ticker")
        timer = TickerTimer(ticker, 3000, 5, counting=BY_ELAPSED, name="tock")
        timer.start()
        start_loop(game, 0.25, nothing, name="physics")
        flash = OpenFlashClock(game, name="flash")
        flash.set_timeout_ns(3_000_000_000, nothing, name="fade")
        director = stage.component_director(game)
        director.node("den").add_component(Fox())
        stage.kept += [ticker, timer, flash, director]
"""


@pytest.fixture
def session(tmp_path: Path) -> HostedSession:
    session = virtual_session(scene_file(tmp_path, SCENE))
    after(session, 1)
    return session


def after(session: HostedSession, seconds: float, *commands: Command) -> None:
    for command in commands:
        session.submit(command)
    pass_seconds(session, seconds)
    session.refresh()


def call(session: HostedSession, name: str, *, of: str = "") -> Call:
    """Return the call of a name, below a scheduler or anything else of another name."""
    timeline = session.timeline
    for number in timeline.timers.ids():
        if timeline.timers.row(number).label == name:
            found = call_of(timeline, CallId(number))
            assert found is not None
            return found
    number = member(session, name, of=of)
    found = call_of(timeline, CallId(number, is_member=True))
    assert found is not None
    return found


def member(session: HostedSession, name: str, *, of: str = "") -> int:
    members = session.timeline.members
    return next(
        number
        for number, each in members.by_id.items()
        if each.name == name
        and (not of or of in [above.name for above in members.path(number)[1:]])
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("burst", TimerKind.INTERVAL_BURST),
        ("delay", TimerKind.INTERVAL_DELAY),
        ("skip", TimerKind.INTERVAL_SKIP),
    ],
)
def test_that_an_interval_of_a_clock_is_a_call(
    session: HostedSession, name: str, kind: TimerKind
) -> None:
    found = call(session, name)

    assert (found.kind, found.scheduler_id, found.owner_id) == (kind, 0, 0)
    assert (found.due_ns, found.left_ns) == (2 * SECOND, SECOND)
    assert found.session_due_ns == 2 * SECOND
    assert (found.interval_ns, found.calls, found.calls_left) == (2 * SECOND, 0, -1)
    assert "build" in found.call_site
    assert not found.is_per_frame
    assert not found.blockers


def test_that_a_timeout_of_a_clock_is_a_call_with_one_left(session: HostedSession) -> None:
    found = call(session, "once")

    assert (found.kind, found.interval_ns, found.calls_left) == (TimerKind.TIMEOUT, 0, 1)
    assert found.last_lateness_ns is None


@pytest.mark.parametrize(
    "scheduler",
    ["ours", "Cocos Creator 2.4", "Cocos Creator 3.8", "cocos2d-x 3.4", "cocos2d-x 3.15"],
)
def test_that_timers_and_updates_of_every_scheduler_are_calls(
    session: HostedSession, scheduler: str
) -> None:
    timer = call(session, "Actor.shoot", of=scheduler)
    update = next(
        found
        for each in session.timeline.members.branch(member(session, scheduler))
        if each.kind is MemberKind.UPDATE
        and (found := call_of(session.timeline, CallId(each.id, is_member=True)))
    )

    for each in (timer, update):
        assert session.timeline.members.by_id[each.scheduler_id].name == scheduler
        assert session.timeline.members.by_id[each.owner_id].name == "hero"
        assert session.timeline.clocks[each.clock_id].name == "game"
    assert timer.kind is MemberKind.FRAME_TIMER
    assert (timer.interval_ns, timer.calls, timer.calls_left) == (3 * SECOND, 0, 5)
    assert timer.left_ns == pytest.approx(2 * SECOND, abs=20 * MS)
    assert timer.session_due_ns == pytest.approx(3 * SECOND, abs=20 * MS)
    assert (update.kind, update.priority) == (MemberKind.UPDATE, 3)
    assert update.is_per_frame
    assert not timer.is_per_frame
    assert update.calls > 50
    assert update.took_ns is not None


def test_that_a_timer_of_a_ticker_is_a_call(session: HostedSession) -> None:
    found = call(session, "tock")

    assert found.kind is MemberKind.TICKER_TIMER
    assert session.timeline.members.by_id[found.scheduler_id].name == "ticker"
    assert (found.interval_ns, found.calls_left) == (3 * SECOND, 5)
    assert found.session_due_ns == pytest.approx(3 * SECOND, abs=50 * MS)


def test_that_a_loop_and_a_timeout_of_a_child_clock_are_calls(session: HostedSession) -> None:
    loop, timeout = call(session, "physics"), call(session, "fade")

    assert (loop.kind, loop.scheduler_id, loop.interval_ns) == (MemberKind.LOOP, 0, 4 * SECOND)
    assert (loop.due_ns, loop.session_due_ns) == (4 * SECOND, 4 * SECOND)
    assert timeout.kind is MemberKind.TIMEOUT
    assert session.timeline.members.by_id[timeout.scheduler_id].name == "flash"
    assert timeout.left_ns == 2 * SECOND


def test_that_loops_of_clocks_of_other_rates_are_due_each_in_the_time_of_its_clock(
    tmp_path: Path,
) -> None:
    slow = """        slow = stage.root.child("slow", rate="1/2")
        start_loop(slow, 0.25, nothing, name="slow physics")
    """
    session = virtual_session(scene_file(tmp_path, SCENE + slow))
    after(session, 1)
    dues, members = DueTimes(session.timeline), session.timeline.members.by_id

    both = [members[member(session, name)] for name in ("physics", "slow physics")]

    assert [dues.session_due_ns(each) for each in both] == [4 * SECOND, 8 * SECOND]


def test_that_calls_have_titles_and_wait_on_clocks_or_within_frames(
    session: HostedSession,
) -> None:
    calls = [call(session, name) for name in ("burst", "physics", "fade", "paint")]
    calls.append(call(session, "Actor.shoot", of="ours"))

    kinds = ["Timer", "Loop", "Timeout", "Frame callback", "Frame timer"]
    assert [each.title for each in calls] == [
        f"{kind} “{each.name}” ({each.id.number})" for kind, each in zip(kinds, calls, strict=True)
    ]
    assert [each.waits_on_clock for each in calls] == [True, True, True, False, False]


def test_that_there_is_no_call_of_a_clock_that_is_not_there(session: HostedSession) -> None:
    calls = [call(session, name).id for name in ("burst", "physics")]

    session.timeline.clocks.clear()

    assert [call_of(session.timeline, each) for each in calls] == [None, None]


@pytest.mark.parametrize(
    ("call_site", "short", "function"),
    [
        ("/home/me/scene.py:12 in build", "scene.py:12 in build", "build:12"),
        ("C:\\games\\scene.py:12 in A.go", "scene.py:12 in A.go", "A.go:12"),
        ("/a/scene.py:12 in <module>", "scene.py:12 in <module>", "scene.py:12"),
        ("scene.py:12", "scene.py:12", "scene.py:12"),
        ("/a/caf\\udce9.py:1 in a/b", "caf\\udce9.py:1 in a/b", "a/b:1"),
        ("C:\\udc.py:1", "udc.py:1", "udc.py:1"),
        ("", "", ""),
    ],
)
def test_that_a_call_site_is_short_without_folders(
    call_site: str, short: str, function: str
) -> None:
    assert short_site(call_site) == short
    assert function_at(call_site) == function


def test_that_components_are_blocked_by_the_life_of_their_nodes(session: HostedSession) -> None:
    fox, den = (session.timeline.members.by_id[member(session, name)] for name in ("Fox", "den"))
    assert member_blockers(session.timeline, fox) == ()

    den.fields[Field.LIFE] = LifeCycle.DISABLED
    (blocker,) = member_blockers(session.timeline, fox)

    assert (blocker.text, blocker.is_own, blocker.member_id) == ("“den” is disabled", False, den.id)
    assert member_blockers(session.timeline, den)[0].text == "disabled"
    target = session.timeline.members.by_id[member(session, "hero", of="ours")]
    target.fields[Field.LIFE] = LifeCycle.DISABLED
    assert member_blockers(session.timeline, target) == ()


def test_that_a_clock_of_a_program_that_is_gone_blocks_its_timers(session: HostedSession) -> None:
    timeline = session.timeline
    game = call(session, "burst").clock_id
    timeline.clocks[game].paused, timeline.clocks[game].n = True, 0
    timeline.marks.append(Mark(0, detached_text("server", "it has ended"), game))

    (blocker,) = clock_blockers(timeline, game)

    assert (blocker.kind, blocker.text) == (BlockerKind.DETACHED, "“game” is no longer attached")
    assert call(session, "burst").waits_for == "“game” is no longer attached"


def test_that_callbacks_of_the_frame_and_components_are_calls(session: HostedSession) -> None:
    paint, think, fox = (call(session, name) for name in ("paint", "think", "Fox"))

    assert paint.is_per_frame
    assert think.is_per_frame
    assert session.timeline.clocks[think.clock_id].name == "game"
    assert fox.kind is MemberKind.COMPONENT
    director = session.timeline.members.by_id[fox.scheduler_id]
    assert director.kind is MemberKind.COMPONENT_DIRECTOR


def test_that_everything_that_stops_a_call_is_told_nearest_first(session: HostedSession) -> None:
    ours = member(session, "ours")
    timer = call(session, "Actor.shoot", of="ours")
    game = timer.clock_id
    after(
        session,
        1,
        PauseMember(timer.id.number),
        PauseMember(timer.owner_id),
        SetTimeScale(ours, Fraction(0)),
        PauseClock(game),
        SetRate(1, Fraction(0)),
    )

    found = call(session, "Actor.shoot", of="ours")

    assert [each.kind for each in found.blockers] == [
        BlockerKind.PAUSED,
        BlockerKind.PAUSED,
        BlockerKind.TIME_SCALE,
        BlockerKind.CLOCK_PAUSED,
        BlockerKind.CLOCK_RATE,
    ]
    texts = [each.text for each in found.blockers]
    assert texts[0] == "paused itself"
    assert texts[2:] == ["“ours” has time scale 0", "“game” is paused", "“root” has rate 0"]
    assert [bool(each.cause) for each in found.blockers] == [True, True, False, True, True]
    assert (found.due_ns, found.session_due_ns) == (None, None)
    assert found.left_ns == pytest.approx(2 * SECOND, abs=20 * MS)
    assert [each.text for each in call(session, "burst").blockers] == texts[3:]
    waiting = [call(session, name) for name in ("burst", "paint", "fade")]
    assert [each.waits_for for each in [found, *waiting]] == ["paused itself", "game", "", "game"]
    scheduler = session.timeline.members.by_id[ours]
    scale, *_ = member_blockers(session.timeline, scheduler)
    assert (scale.kind, scale.is_own, scale.member_id) == (BlockerKind.TIME_SCALE, True, ours)
    after(session, 0.1, ResumeMember(timer.id.number))
    assert call(session, "Actor.shoot", of="ours").waits_for == "hero"
    after(session, 0.1, ResumeMember(timer.owner_id))
    assert call(session, "Actor.shoot", of="ours").waits_for == "“ours” has time scale 0"
    assert [each.text for each in call(session, "paint").blockers] == []


@pytest.mark.parametrize("call_id", [CallId(7), CallId(7, is_member=True), CallId(0)])
def test_that_a_call_is_known_by_its_key(call_id: CallId) -> None:
    assert CallId.of_key(call_id.key) == call_id


def test_that_a_call_that_is_gone_is_none(session: HostedSession) -> None:
    once = call(session, "once").id
    after(session, 8)

    assert call_of(session.timeline, once) is None
    assert call_of(session.timeline, CallId(999)) is None
    unknown = (once, CallId(999), CallId(999, is_member=True))
    assert [clock_of(session.timeline, each) for each in unknown] == [0, 0, 0]
    assert call_of(session.timeline, CallId(999, is_member=True)) is None


def test_that_what_was_left_when_a_pause_began_is_no_longer_left_after_it(
    session: HostedSession,
) -> None:
    hero = member(session, "hero", of="ours")
    after(session, 0.5, PauseMember(hero))
    assert call(session, "Actor.shoot", of="ours").left_ns == 2 * SECOND

    after(session, 0.5, ResumeMember(hero))

    assert call(session, "Actor.shoot", of="ours").left_ns == 1.5 * SECOND


def test_that_a_scheduler_without_a_clock_runs_on_the_root(session: HostedSession) -> None:
    after(session, 1, SetRate(call(session, "once").clock_id, Fraction(1, 2)))
    timer = call(session, "Actor.shoot", of="ours")
    assert timer.session_due_ns == pytest.approx(5 * SECOND, abs=20 * MS)

    session.timeline.members.by_id[timer.scheduler_id].clock_id = 0

    assert call(session, "Actor.shoot", of="ours").session_due_ns == pytest.approx(
        3.5 * SECOND, abs=20 * MS
    )


@pytest.mark.parametrize(
    ("added_ns", "moved_ns"), [(0, 0), (1_005 * MS, 5 * MS), (9 * SECOND, 10 * MS)]
)
def test_that_frame_timers_of_older_recordings_wait_from_the_last_frame(
    session: HostedSession, added_ns: int, moved_ns: int
) -> None:
    """At which instant the time of a scheduler was read was not recorded then."""
    after(session, 0.01)
    timer = call(session, "Actor.shoot", of="ours")
    assert timer.session_due_ns == 3 * SECOND
    scheduler = session.timeline.members.by_id[timer.scheduler_id]

    scheduler.timed_ns, scheduler.added_ns = 0, added_ns

    # Nor could it be read before it was there, or after the present.
    found = call(session, "Actor.shoot", of="ours")
    assert found.session_due_ns == 3 * SECOND + moved_ns


@pytest.mark.parametrize(
    ("life", "is_own", "text"),
    [
        (LifeCycle.DISABLED, True, "disabled"),
        (LifeCycle.DISABLED, False, "“den” is disabled"),
        (77, True, "life 77"),
        (77, False, "“den” is life 77"),
    ],
)
def test_that_a_stage_of_life_is_named_or_numbered(life: int, is_own: bool, text: str) -> None:
    assert Blocker(BlockerKind.LIFE_CYCLE, "den", is_own=is_own, life=life).text == text


def test_that_frame_timers_wait_before_the_first_frame(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, SCENE))
    session.refresh()
    assert session.timeline.frames.end == session.timeline.frames.first

    assert call(session, "Actor.shoot", of="ours").session_due_ns == 3 * SECOND
