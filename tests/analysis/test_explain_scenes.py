"""Everything in the built-in scenes is explained at any instant, in sentences that make sense."""

import re
from pathlib import Path
from random import Random

import pytest

from inspector.analysis.evidence import Explanation
from inspector.analysis.explain.explain import explain
from inspector.analysis.predict.forecast import scored_calls
from inspector.calls.call import CallId
from inspector.commands.clocks import PauseClock, ResumeClock
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.sessions.hosted import HostedSession
from inspector.sessions.scene import SceneFile, built_in_scenes
from inspector.testing import pass_seconds, virtual_session
from inspector.vocabulary import MEMBER_ADDED, TIMER_ADDED
from tests.fuzz import rounds
from tests.light_scenes import light_scene

SECOND = 1_000_000_000
INSTANTS = (0, SECOND // 3, 2 * SECOND, 3 * SECOND, 4 * SECOND + 123_456_789)
#: So many timers and members of each scene are asked about.
MOST = len(rounds(2))
#: Times before the beginning, values that are none, and texts that were not filled in.
NONSENSE = re.compile(r"-\d+(:\d\d)*\.\d|\bNone\b(?! of its)|\?|\{|“”|  | ,|\.\.")


def played(scene: SceneFile, folder: Path) -> HostedSession:
    """Return a scene that was paused, resumed and meddled with."""
    session = virtual_session(light_scene(scene.path, folder))
    pass_seconds(session, 2)
    clock_id = list(session.timeline.clocks)[-1]
    session.submit(PauseClock(clock_id))
    pending = list(session.timeline.timers.ids())
    if pending:
        session.submit(FireTimer(pending[0]))
        session.submit(ClearTimer(pending[-1]))
    pass_seconds(session, 1.5)
    session.submit(ResumeClock(clock_id))
    pass_seconds(session, 1.5)
    session.refresh()
    return session


def sentences(explanation: Explanation) -> list[str]:
    return [explanation.headline, *(reason.text for reason in explanation.reasons)]


@pytest.mark.parametrize("scene", built_in_scenes(), ids=lambda scene: scene.path.stem)
def test_that_every_timer_and_member_is_explained_at_every_instant(
    scene: SceneFile, tmp_path: Path
) -> None:
    session = played(scene, tmp_path)
    history = session.history
    events = history.events(0, history.end)
    chosen = Random(scene.path.stem)
    said: list[str] = []

    for kind in (TIMER_ADDED, MEMBER_ADDED):
        numbers = sorted({event[2] for event in events if event[1] == kind})
        for number in chosen.sample(numbers, min(MOST, len(numbers))):
            for at_ns in INSTANTS:
                explanation = explain(history, CallId(number, kind == MEMBER_ADDED), at_ns)
                said += sentences(explanation)
                assert explanation.subject
                for reason in explanation.reasons:
                    is_cited = reason.cursor is None or 0 <= reason.cursor < history.end
                    assert is_cited, reason
                call_id = CallId(number, kind == MEMBER_ADDED)
                scores = scored_calls(history, history.state_at(at_ns), call_id)
                said += [score.text for score in scores]

    # A failure's own words may be anything.
    ours = [text for text in said if "raised" not in text]
    assert not [text for text in ours if NONSENSE.search(text)]
    assert not [text for text in ours if not text.endswith(".")]
    session.close()
