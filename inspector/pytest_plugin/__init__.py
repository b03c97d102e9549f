"""Virtual time in tests, by the fixture ``timeline``: what pytest loads in every run.

Nothing else of the inspector is imported until a test uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from .run import VirtualRun
    from .timeline import Timeline

_RUN = pytest.StashKey["VirtualRun"]()
_MARK = (
    "timeline(hold=False, autojump=False, rate=1, outside='pass'): control the time of the test; "
    "hold: time stands until the test lets it go on; autojump: once everything waits, time jumps "
    "to what is due next; rate: time passes so many times as fast; outside: what time does while "
    "something outside of the program is awaited, 'pass', 'stand' or 'jump'"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("timeline", "virtual time")
    group.addoption(
        "--timeline-autojump",
        action="store_true",
        help="run every test in virtual time, which jumps to what is due once everything waits",
    )
    group.addoption(
        "--timeline-outside",
        choices=("pass", "stand", "jump"),
        default=None,
        help="what virtual time does while something outside of the program is awaited",
    )
    group.addoption(
        "--timeline",
        choices=("on", "retain-on-failure", "off"),
        default="off",
        help="leave a recording (.tlrec) of each test, or of those that fail",
    )
    group.addoption(
        "--timeline-folder",
        default="timeline-recordings",
        metavar="DIR",
        help="where recordings are left, from the root of the tests",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARK)


def _uses_timeline(item: pytest.Item) -> bool:
    return (
        item.config.option.timeline_autojump
        or item.config.option.timeline != "off"
        or _has_fixture(item)
        or item.get_closest_marker("timeline") is not None
    )


def _has_fixture(item: pytest.Item) -> bool:
    """Whether a test uses our fixture, not one of the same name that the suite has of its own."""
    if "timeline" not in getattr(item, "fixturenames", ()):
        return False
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    # The last definition is the nearest to the test; it may build on the one before.
    for each in reversed(known.get("timeline", ())):
        if each.func.__module__ == __name__:
            return True
        if "timeline" not in each.argnames:
            break
    return False


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    if _uses_timeline(item):
        from .run import begun  # noqa: PLC0415 - costs nothing where it is not used

        item.stash[_RUN] = begun(item)
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    run = item.stash.get(_RUN, None)
    if run is None:
        return (yield)
    with run.call():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    run = item.stash.get(_RUN, None)
    try:
        return (yield)
    finally:
        if run is not None:
            run.end()
            del item.stash[_RUN]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    run = item.stash.get(_RUN, None)
    if run is not None and report.failed and call.when != "teardown":
        report.sections.append(("timeline", run.failed()))
    return report


@pytest.fixture
def timeline(request: pytest.FixtureRequest) -> Timeline:
    """Control the time of this test."""
    run: VirtualRun = request.node.stash[_RUN]
    return run.timeline
