"""Children and workers of attached programs."""

from __future__ import annotations

import pytest

from inspector.analysis.lanes.lanes import LaneStore
from inspector.cli.attach import probe_lines
from inspector.commands.clocks import PauseClock
from inspector.commands.command import Capability
from inspector.sessions.attached.messages import CostMessage
from tests.sessions.attached.fake_probe import (
    SECOND,
    SERVER,
    Attachment,
    running,
)


def test_that_children_are_below_one_clock_with_their_parent(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    attachment.settle(session.own_clocks)
    worker = attachment.join(pid=4_711, parent_pid=4_711, name="thread")
    grandchild = attachment.join(pid=5, parent_pid=4_711, name="child")
    other = attachment.join(pid=9, parent_pid=1, name="other")
    for each in (worker, grandchild, other):
        each.keyframe()
    attachment.settle(lambda: len(session.own_clocks()) == 4)
    clocks = session.timeline.clocks
    family = clocks[SERVER].parent_id
    assert clocks[family].name == "server with children"
    assert clocks[family].children == [SERVER, SECOND, 2 + (2 << 40)]
    assert clocks[1].children == [family, 2 + (3 << 40)]
    assert session.timeline.local_ns(family) == session.timeline.at_ns
    assert session.why_not(Capability.RATE, family) == (
        "the time of “server with children” is real time: select a program or a clock below it"
    )
    assert session.program_of_clock(family) is None
    lanes = LaneStore()
    lanes.read(session.history, session.timeline)
    assert lanes.clocks.path_at(SERVER, session.present_ns) == [SERVER, family, 1]
    assert all(lanes.clocks.local_ns(each, session.present_ns) is not None for each in clocks)

    # A keyframe describes what is below it; the session's own clock stays.
    probe.keyframe()
    attachment.settle(lambda: session.programs[0].is_described)
    session.submit(PauseClock(SERVER))
    attachment.settle(lambda: session.timeline.clocks[SERVER].paused)
    assert not session.timeline.clocks[SECOND].paused
    assert family in session.timeline.clocks
    worker.close()
    attachment.settle(lambda: SECOND not in session.timeline.clocks)
    assert len(session.own_clocks()) == 3


@pytest.mark.parametrize("is_described", [False, True])
def test_that_a_child_may_dial_before_its_parent(
    attachment: Attachment, is_described: bool
) -> None:
    session, clocks = attachment.session, attachment.session.timeline.clocks
    child = attachment.join(pid=5, parent_pid=4_711, name="child")
    if is_described:
        child.keyframe()
        attachment.settle(session.own_clocks)
    parent = attachment.join(pid=4_711, name="server")
    if not is_described:
        child.keyframe()
    parent.keyframe()
    attachment.settle(lambda: len(session.own_clocks()) == 2 and len(clocks[1].children) == 1)
    (family,) = clocks[1].children
    assert clocks[family].name == "server with children"
    assert sorted(clocks[family].children) == [SERVER, SECOND]
    assert [program.name for program, _ in session.own_clocks()].count("child") == 1

    session.submit(PauseClock(family))
    attachment.settle(lambda: all(clocks[each].paused for each in clocks[family].children))


def test_that_pages_that_dial_are_no_children_of_one_another(attachment: Attachment) -> None:
    session = attachment.session
    running(attachment)
    for name in ("left", "right"):
        attachment.join(pid=0, parent_pid=0, name=name).keyframe()
    attachment.settle(lambda: len(session.own_clocks()) == 3)
    assert [session.timeline.clocks[1].children] == [[each for _, each in session.own_clocks()]]
    assert [each.process_text for each in session.programs.values()][1:] == ["page", "page"]


def test_that_workers_that_call_themselves_as_their_parent_have_names_of_their_own(
    attachment: Attachment,
) -> None:
    said = ["gunicorn", "gunicorn", "child of multiprocessing", "tool.py"]
    for pid, name in enumerate(said, 100):
        probe = attachment.join(name=name, pid=pid, parent_pid=100 if pid > 100 else 1)
        probe.keyframe()
    session = attachment.session
    attachment.settle(lambda: len(session.own_clocks()) == len(said))

    names = ["gunicorn", "gunicorn, child 1", "gunicorn, child 2"]
    assert [each.name for each in session.programs.values()] == [*names, "tool.py"]
    clocks = [session.timeline.clocks[clock_id].name for _, clock_id in session.own_clocks()]
    # The probe of this test calls the clock of every program “server”.
    assert sorted(clocks) == [*names[1:], "server", "server"]


def test_that_a_child_that_dials_again_keeps_its_name(attachment: Attachment) -> None:
    session = attachment.session
    attachment.join(name="celery", pid=100, parent_pid=1).keyframe()
    attachment.settle(lambda: len(session.own_clocks()) == 1)
    first = attachment.join(name="celery", pid=101, parent_pid=100)
    first.keyframe()
    attachment.settle(lambda: len(session.own_clocks()) == 2)
    first.close()
    attachment.settle(lambda: len(session.own_clocks()) == 1)

    attachment.join(name="celery", pid=101, parent_pid=100).keyframe()
    attachment.join(name="celery", pid=102, parent_pid=100).keyframe()
    attachment.settle(lambda: len(session.own_clocks()) == 3)

    names = [program.name for program, _ in session.own_clocks()]
    assert sorted(names) == ["celery", "celery, child 1", "celery, child 2"]


def test_that_a_report_names_a_program_once_that_forked_again_before_it_reported(
    attachment: Attachment,
) -> None:
    programs = attachment.session.programs
    first = attachment.join(pid=77, name="beat")
    attachment.join(pid=78, name="worker").close()
    first.close()
    attachment.settle(lambda: not any(each.is_attached for each in programs.values()))
    attachment.join(pid=77, name="beat")

    lines = probe_lines(programs.values())

    assert [(each.pid, each.state == "attached") for each in lines] == [(78, False), (77, True)]
    programs[0].add_cost(CostMessage(cpu_ns=1, interval_ns=10**9))
    assert len(probe_lines(programs.values())) == 3
