"""Virtual time in tests, by the fixture ``timeline``: the part that pytest loads in every run.

Unless a test uses it, nothing else of the inspector is imported, and tests run as without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .timeline import Timeline

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


def pytest_collection_finish(session: pytest.Session) -> None:
    if any(map(_uses_timeline, session.items)):
        from .run import VirtualRuns  # noqa: PLC0415 - costs nothing where it is not used

        session.config.pluginmanager.register(VirtualRuns(_uses_timeline), "timeline runs")


def _uses_timeline(item: pytest.Item) -> bool:
    return (
        item.config.option.timeline_autojump
        or item.config.option.timeline != "off"
        or _has_fixture(item)
        or item.get_closest_marker("timeline") is not None
    )


def _has_fixture(item: pytest.Item) -> bool:
    if "timeline" not in getattr(item, "fixturenames", ()):
        return False
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    # The last definition is the nearest to the test; it may use the one before.
    for each in reversed(known.get("timeline", ())):
        if each.func.__module__ == __name__:
            return True
        if "timeline" not in each.argnames:
            break
    return False


@pytest.fixture
def timeline(request: pytest.FixtureRequest) -> Timeline:
    """Control the time of this test."""
    from .run import run_of  # noqa: PLC0415 - costs nothing where it is not used

    return run_of(request.node).timeline
