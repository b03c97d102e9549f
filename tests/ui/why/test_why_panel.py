"""The details panel: what it says about clocks, timers, frames and the session, and why."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from inspector.clocks.sources.wake_errors import WakeErrorSummary
from inspector.events.history import LogHistory
from inspector.events.log import BYTES_PER_EVENT
from inspector.events.states import CommandRecord
from inspector.events.timeline import Timeline
from inspector.events.timer_table import TimerTable
from inspector.sessions.interval_meter import shares_event
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.vocabulary import (
    CALLBACK_FAILED,
    COMMAND,
    FRAME_BEGAN,
    FRAME_ENDED,
    FRAME_SHARES,
    LOOP_FOUND,
    MARK,
    PHASE_ENDED,
    Mode,
    Phase,
)
from tests.analysis.test_lateness import CRUNCH, DUE_NS, LIBRARY, LOOP, MAIN, MS, REBUILD, Program
from tests.ui.world import PlayedSession
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.why import session_rows
from ui.why.frame_rows import Heaviest, frame_rows
from ui.why.grid import RowGrid
from ui.why.labels import LinkedLabel, ValueLabel
from ui.why.panel import WhyPanel
from ui.why.rows import ClockCounts, DetailRow, LinkedText, item
from ui.why.session_rows import overview_rows
from ui.why.timer_lists import next_rows


class Stand:
    """The panel over a few clocks and timers."""

    def __init__(self, qtbot: QtBot) -> None:
        self.session = PlayedSession()
        self.game = self.session.root.child("game", rate="1/2")
        self.enemies = self.game.child("enemies", rate="1/4")
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = WhyPanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.panel.resize(360, 700)
        with qtbot.waitExposed(self.panel):
            self.panel.show()

    def run_to_ms(self, milliseconds: int) -> None:
        self.session.tree.run_to(milliseconds * 1_000_000)
        self.bridge.refresh_now()
        self.panel.refresh()

    def lines(self) -> list[str]:
        return self.panel.text().split("\n")

    def value(self, key: str) -> str:
        found = [line.partition("\t")[2] for line in self.lines() if line.startswith(f"{key}\t")]
        assert len(found) == 1, f"{key} in {self.lines()}"
        return found[0]


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


def test_that_a_clock_shows_its_rate_as_a_product(stand: Stand) -> None:
    stand.run_to_ms(8_000)

    stand.bridge.select(Selection.clock(stand.enemies.id))

    assert stand.lines()[:2] == ["Clock · root / game", "enemies"]
    assert "Its time passes at 0.125 × the session's." in stand.lines()
    assert stand.value("Local") == "00:01.000  (1,000,000,000 ns)"
    assert stand.value("Own rate") == "×¼"
    assert stand.value("Effective") == "1 × 1/2 × 1/4 = 1/8"
    assert "It has had rate ×¼ since it was added." in stand.lines()


def test_that_a_timer_that_should_have_fired_is_listed_as_late(stand: Stand) -> None:
    stand.game.set_timeout(1, print, name="bell")
    timeline = stand.session.timeline
    stand.run_to_ms(0)
    timeline.set_present(timeline.at_ns + 2_421_000_000)

    rows = next_rows(timeline, 1)

    assert rows[0].text == "late 421 ms"


def test_that_timers_of_one_name_are_one_row_of_those_that_fire_next(stand: Stand) -> None:
    for number in range(12):
        stand.enemies.set_timeout(1 + number / 10, print, name="spark fades")
    stand.game.set_timeout(5, print, name="boss arrives")
    timeline = stand.session.timeline
    stand.run_to_ms(0)

    rows = next_rows(timeline, 9)

    assert [row.links[0].text for row in rows] == ["spark fades ×12", "boss arrives"]


def test_that_the_timers_of_an_instant_of_the_past_are_looked_through_once(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.game.set_timeout(5, print, name="boss arrives")
    stand.run_to_ms(1_000)
    past, present = stand.session.timeline.copy(), stand.session.timeline
    asked: list[Timeline] = []

    def noted(timeline: Timeline, most: int) -> list[DetailRow]:
        asked.append(timeline)
        return next_rows(timeline, most)

    monkeypatch.setattr(session_rows, "next_rows", noted)
    rows = overview_rows(stand.session, (), ClockCounts(), past, present)

    assert "boss arrives" in [link.text for row in rows for link in row.links]
    assert asked == [past]


def test_that_no_column_of_timers_is_read_when_none_is_pending(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.run_to_ms(1_000)
    read: list[str] = []
    monkeypatch.setattr(TimerTable, "numpy", lambda _table, column: read.append(column))

    stand.panel.refresh()

    assert "Running. No timer is pending." in stand.lines()
    assert not read


def test_that_a_short_name_of_a_clock_is_not_broken_in_a_list() -> None:
    short, long = (
        item(LinkedText("poll"), where, "9 ms") for where in ("pygame-ce loop", "a b " * 9)
    )

    kept = "  pygame\N{NON-BREAKING HYPHEN}ce\N{NO-BREAK SPACE}loop"
    assert short.links[1].text == kept
    assert long.links[1].text == "  " + "a b " * 9


def test_that_larger_text_stands_farther_from_its_keys(stand: Stand) -> None:
    def gap(times: float) -> int:
        grid = RowGrid(stand.panel)
        font = grid.font()
        font.setPointSizeF(times * font.pointSizeF())
        grid.setFont(font)
        grid.resize(900, 400)
        shown = grid.add(DetailRow("Late update", "3.05 µs"))
        grid.finish()
        assert shown.key is not None
        needed = shown.key.fontMetrics().horizontalAdvance("Late update")
        return shown.value.x() - shown.key.x() - needed

    assert gap(2) > 1.5 * gap(1)


def test_that_a_list_has_no_gap_where_a_name_that_took_two_lines_was(stand: Stand) -> None:
    grid = RowGrid(stand.panel)
    grid.resize(240, 400)
    short, long = (item(LinkedText(name), "enemies", "9 ms") for name in ("bat", "wisp " * 12))
    first, second = grid.add(long), grid.add(short)
    grid.finish()
    assert first.height > second.height

    grid.change(first, short)

    assert first.height == second.height
    grid.change(first, long)
    assert first.height > second.height


def test_that_nanoseconds_are_in_tool_tips_and_copies_only(stand: Stand) -> None:
    stand.run_to_ms(8_000)
    stand.bridge.select(Selection.clock(stand.enemies.id))

    labels = [label for label in stand.panel.findChildren(QLabel) if label.isVisible()]

    (local,) = (label for label in labels if label.text() == "00:01.000")
    assert local.toolTip() == "1,000,000,000\N{NO-BREAK SPACE}ns"
    assert not any("000 ns" in label.text() for label in labels)


def test_that_a_clock_says_who_set_its_rate_and_when(stand: Stand) -> None:
    stand.run_to_ms(8_000)
    stand.enemies.rate = 2
    stand.run_to_ms(9_000)

    stand.bridge.select(Selection.clock(stand.enemies.id))

    assert "0:08.000\tThe program sped up enemies to ×2." in stand.lines()


def test_that_a_stopped_clock_names_everyone_who_stops_it(stand: Stand) -> None:
    stand.run_to_ms(1_000)
    stand.game.pause(cause=1)
    stand.run_to_ms(2_000)
    stand.enemies.pause()
    stand.run_to_ms(3_000)

    stand.bridge.select(Selection.clock(stand.enemies.id))

    assert "Its time stands still: the program paused it 1.00 s ago." in stand.lines()
    first = stand.lines().index("Why") + 1
    assert stand.lines()[first : first + 3] == [
        "0:02.000\tThe program paused enemies.",
        "0:01.000\tCommand 1 paused game.",
        "since then\tNo timer waits.",
    ]


def test_that_a_paused_clock_says_what_waits_what_runs_on_and_how_it_ran_before(
    stand: Stand,
) -> None:
    stand.game.child("player")
    for number, seconds in enumerate((3, 1, 2)):
        stand.enemies.set_timeout(seconds, print, name=f"goblin {number}")
    stand.enemies.set_timeout(5, print, name="boss")
    stand.run_to_ms(1_000)
    stand.enemies.rate = 1
    stand.run_to_ms(2_000)
    stand.enemies.pause()
    stand.run_to_ms(3_000)

    stand.bridge.select(Selection.clock(stand.enemies.id))

    lines = stand.lines()
    first = lines.index("Why") + 1
    assert lines[first : first + 6] == [
        "0:02.000\tThe program paused enemies.",
        "since then\t4 timers wait. game and player run on.",
        "before that\tIt had run at ×1 since 0:01.000.",
        "What waits  (4 timers)",
        "goblin\t3, next 375 ms",
        "boss\t4.38 s left",
    ]
    assert stand.value("Effective") == "0, as it is paused"


def test_that_a_clock_that_is_not_there_is_named_and_says_since_when(stand: Stand) -> None:
    stand.run_to_ms(1_000)
    stand.enemies.remove()
    stand.run_to_ms(2_000)

    stand.bridge.select(Selection.clock(stand.enemies.id))

    assert stand.lines() == ["Clock · root / game", "enemies", "It was removed at 0:01.000."]


def test_that_a_clock_is_not_there_yet_before_it_was_added(stand: Stand) -> None:
    stand.run_to_ms(1_000)
    imps = stand.game.child("imps")
    stand.run_to_ms(2_000)
    stand.bridge.select(Selection.clock(imps.id))

    stand.bridge.set_playhead(500_000_000)
    stand.panel.refresh()

    assert stand.lines()[1:] == ["imps", "It does not exist yet."]


def test_that_a_timer_that_waits_and_is_due_has_nothing_left(stand: Stand) -> None:
    stand.enemies.pause()
    stand.enemies.set_timeout(0, print, name="imp")
    stand.run_to_ms(1_000)

    stand.bridge.select(Selection.clock(stand.enemies.id))

    assert stand.value("imp") == "due"


def test_that_a_timer_that_is_gone_leads_to_the_next_of_its_name(stand: Stand) -> None:
    def come_again() -> None:
        stand.game.set_timeout(30, print, name="boss")

    first = stand.game.set_timeout(1, come_again, name="boss")
    stand.run_to_ms(4_000)

    stand.bridge.select(Selection.timer(first.id))

    following = first.id + 1
    (row,) = (each for each in stand.panel.current_rows() if "of the same name" in each.text)
    assert row.text == f"Another timer of the same name is pending: {following}."
    assert row.links[0].target == Selection.timer(following)


def test_that_a_clock_leads_to_its_next_timer_and_its_children(stand: Stand) -> None:
    timer = stand.game.set_timeout(1, print, name="bell")
    stand.run_to_ms(0)
    stand.bridge.select(Selection.clock(stand.game.id))

    assert "Next to fire  (1 pending)" in stand.lines()
    assert stand.value("bell  game") == "2.00 s"
    assert "enemies" in stand.lines()[stand.lines().index("1 below it") + 1]
    stand.panel.grid.link_activated.emit(f"TIMER:{timer.id}")
    assert stand.bridge.selection == Selection.timer(timer.id)


def test_that_a_running_timer_says_how_long_it_takes_at_its_rate(stand: Stand) -> None:
    timer = stand.enemies.set_timeout(1, print, name="spawn")
    stand.run_to_ms(4_000)

    stand.bridge.select(Selection.timer(timer.id))

    assert stand.value("Due") == "0:08.000  (8,000,000,000 ns)"
    assert stand.value("Due, local") == "00:01.000  (1,000,000,000 ns)"
    assert stand.value("Local now") == "00:00.500  (500,000,000 ns)"
    assert "At an effective rate of 0.125 that takes 4.00 s of session time." in stand.lines()


def test_that_a_waiting_timer_says_what_would_make_it_fire(stand: Stand) -> None:
    timer = stand.enemies.set_timeout(1, print, name="spawn")
    stand.run_to_ms(4_000)
    stand.game.pause(cause=2)
    stand.run_to_ms(5_000)

    stand.bridge.select(Selection.timer(timer.id))

    assert stand.value("Due") == "never at present rates"
    assert "It fires 4.00 s after game is resumed." in stand.lines()
    assert "0:04.000\tCommand 2 paused game, above its clock." in stand.lines()


def test_that_the_time_after_resuming_is_true(stand: Stand) -> None:
    timer = stand.enemies.set_timeout(1, print, name="spawn")
    stand.run_to_ms(4_000)
    stand.game.pause()
    stand.run_to_ms(5_000)
    stand.game.resume()

    stand.session.tree.run_to(9_000_000_000 - 1)
    assert timer.is_pending
    stand.session.tree.run_to(9_000_000_000)
    assert not timer.is_pending


def test_that_rate_zero_is_named_as_what_stops_a_timer(stand: Stand) -> None:
    timer = stand.enemies.set_timeout(1, print)
    stand.enemies.rate = 0
    stand.run_to_ms(10)

    stand.bridge.select(Selection.timer(timer.id))

    assert "It cannot fire before enemies gets a rate above 0." in stand.lines()


def test_that_a_held_session_is_named(stand: Stand) -> None:
    timer = stand.enemies.set_timeout(1, print)
    stand.session.log.append((0, 51, Mode.HELD, 0, 0))
    stand.run_to_ms(0)

    stand.bridge.select(Selection.timer(timer.id))

    held = "The session is held: nothing is called until it is run or stepped."
    assert any(line.endswith(held) for line in stand.lines())


def test_that_one_firing_says_when_it_was_and_why_until_its_timer_is_selected(
    stand: Stand,
) -> None:
    spawn = stand.game.set_interval(0.5, print, name="wave")
    stand.run_to_ms(4_000)

    stand.bridge.select(Selection.firing(spawn.id, 2_000_000_000))
    assert stand.lines()[1:3] == ["wave", "Fired at 0:02.000, on time."]
    assert "It has fired twice, the last time in frame" not in stand.panel.text()
    stand.run_to_ms(4_100)
    assert stand.lines()[2] == "Fired at 0:02.000, on time."

    stand.bridge.select(Selection.timer(spawn.id))
    assert stand.lines()[2].startswith("Fires in ")


def test_that_a_timer_that_fired_says_so(stand: Stand) -> None:
    timer = stand.session.root.set_timeout(1, print)
    stand.run_to_ms(0)
    stand.bridge.select(Selection.timer(timer.id))

    stand.run_to_ms(1_500)

    assert stand.lines()[:4] == [
        "Timer · root",
        "print",
        "It has fired and is no longer pending.",
        "Why",
    ]


def test_that_a_frame_shows_its_phases_and_what_happened_in_it(stand: Stand) -> None:
    log = stand.session.log
    stand.run_to_ms(10)
    stand.session.run_frame()
    stand.run_to_ms(20)
    log.append((15_000_000, COMMAND, 4, log.intern("pause “game”"), 0))
    log.append((16_000_000, MARK, 0, log.intern("boss"), 0))
    traceback = "Traceback (most recent call last):\n  ...\nKeyError: 'x'\n"
    log.append((20_000_000, CALLBACK_FAILED, 0, log.intern("open chest"), log.intern(traceback)))
    stand.session.run_frame()
    stand.run_to_ms(30)

    stand.bridge.select(Selection.frame(1))

    assert stand.lines()[:3] == [
        "Frame",
        "Frame 1",
        "Took 16.7 ms, in budget.",
    ]
    assert stand.value("Frame time") == "16.7 ms, 60 fps"
    assert stand.value("Busy") == "2.00 ms, 12 % of it"
    assert stand.value("Most of that") == "what is called in update"
    assert stand.value("Update") == "1.00 ms, 50 %"
    assert stand.value("Command 4") == "pause game"
    assert stand.value("Mark") == "boss"
    assert stand.value("✖ Failed") == "open chest: KeyError: 'x'"
    assert traceback.strip() in stand.panel.text()


def test_that_frames_that_are_measured_say_how_long_they_are(stand: Stand) -> None:
    for number in range(1, 4):
        stand.run_to_ms(10 * number)
        stand.session.run_frame()
    stand.run_to_ms(40)
    stand.bridge.select(Selection())

    stand.bridge.frame_focus.change("interval", (0, 3), (1, 3))
    stand.panel.refresh()

    assert stand.lines()[:3] == ["Range", "2 frames", "33.3 ms, from 0:00.010 to 0:00.030."]
    assert stand.value("Longest") == "16.7 ms at 0:00.020"
    stand.panel.grid.link_activated.emit("FRAME:1")
    assert stand.bridge.selection == Selection.frame(1)
    below = stand.lines()[-4:]
    assert below[:2] == ["Range  (2 frames)", "33.3 ms, from 0:00.010 to 0:00.030."]
    assert stand.panel.title == "Frame 1"
    stand.bridge.select(Selection())
    stand.bridge.frame_focus.change("interval", (0, 3), None)
    stand.panel.refresh()
    assert "Range" not in stand.lines()


def test_that_a_long_turn_takes_what_its_work_takes_and_names_what_samples_saw() -> None:
    program = Program()
    program.log.append((0, LOOP_FOUND, LOOP, program.log.intern("asyncio loop"), 1))
    program.log.append((DUE_NS, FRAME_BEGAN, LOOP, 0, 0))
    for until_ms in range(10, 301, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms, begins=until_ms == 10)
    program.log.append((DUE_NS + 300 * MS, FRAME_ENDED, LOOP, 100_000, 300 * MS))
    history = LogHistory(program.log)
    timeline = history.state_before(history.end)

    rows = frame_rows(timeline, 0, history, Heaviest(), budget_ns=16_700_000, waits=True)

    texts = [" ".join(filter(None, (row.key, row.text))).strip() for row in rows]
    assert texts[:3] == [
        "Turn of the loop",
        "Turn 0",
        ("Took 300 ms, 283 ms over budget. Most of it: crunch() (server.py:4), 30 of 30 samples."),
    ]
    helps = texts.index("What helps")
    assert texts[helps + 1] == "Call it in a thread: loop.run_in_executor(None, crunch)."
    assert "Busy 300 ms" in texts


def test_that_a_long_turn_says_that_its_thread_had_no_processor() -> None:
    program = Program()
    program.log.append((0, LOOP_FOUND, LOOP, program.log.intern("asyncio loop"), 1))
    program.log.append((DUE_NS, FRAME_BEGAN, LOOP, 0, 0))
    for until_ms in range(10, 101, 10):
        program.sample(MAIN, LIBRARY, CRUNCH, until_ms=until_ms, ran_ms=2, ready_ms=8)
    program.log.append((DUE_NS + 100 * MS, FRAME_ENDED, LOOP, 100_000, 100 * MS))
    history = LogHistory(program.log)
    timeline = history.state_before(history.end)

    rows = frame_rows(timeline, 0, history, Heaviest(), budget_ns=16_700_000, waits=True)

    assert [row.text for row in rows][2:4] == [
        "Took 100 ms, 83.3 ms over budget.",
        "For 80.0 ms, its thread was ready but had no processor.",
    ]


def test_that_a_session_is_not_said_to_run_on_in_a_turn_that_keeps_a_timer_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = Program()
    for until_ms in range(10, 301, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms, begins=until_ms == 10)
    session = PlayedSession()
    session.history = LogHistory(program.log)
    timeline = session.history.state_before(session.history.end)

    rows = overview_rows(session, (), ClockCounts(), timeline, timeline)

    texts = [row.text for row in rows]
    assert [row.key for row in rows if row.text == "0"] == ["Frames"]
    monkeypatch.setattr(PlayedSession, "waits", True)
    turns = overview_rows(session, (), ClockCounts(), timeline, timeline)
    assert [row.key for row in turns if row.text == "0"] == ["Turns"]
    assert texts[2] == "Held. 1 timer is pending, late so far."
    session.status = SessionStatus(SessionPhase.STEPPING)
    stepping = overview_rows(session, (), ClockCounts(), timeline, timeline)
    assert stepping[2].text == "Stepping. 1 timer is pending, late so far."
    assert texts[3] == (
        "tick: it is due, and 300 ms late so far: task rebuild was in crunch() (server.py:4) "
        "the whole time, 30 of 30 samples."
    )


def test_that_a_long_frame_without_work_names_where_its_time_went(stand: Stand) -> None:
    shares = (0, 3_100_000, 12_000_000, 4_200_000, 249_700_000)
    stand.session.timeline.frames.append(0, 270_000_000, 270_000_000, 0, 0, [0] * 7, shares)

    stand.bridge.select(Selection.frame(0))

    took = "Took 270 ms, 253 ms over budget."
    assert f"{took} For 250 ms, nothing was due." in stand.lines()
    assert stand.value("Busy") == "0 ns, 0 % of it"
    assert stand.value("Inspector") == "3.10 ms, 1 %"
    assert stand.value("Garbage collection") == "12.0 ms, 4 %"
    assert stand.value("Host late") == "4.20 ms, 2 %"
    assert stand.value("Unknown") == "1.00 ms, under 1 %"
    assert stand.value("Idle") == "250 ms, 92 %"
    assert not any(line.startswith("Callbacks") for line in stand.lines())


def test_that_a_long_frame_says_what_kept_its_thread(stand: Stand) -> None:
    shares = (0, 3_100_000, 12_000_000, 240_200_000, 14_700_000)
    stand.session.timeline.frames.append(0, 270_000_000, 270_000_000, 0, 0, [0] * 7, shares)

    stand.bridge.select(Selection.frame(0))

    assert stand.lines()[2].endswith("For 240 ms, the host was late.")
    stand.bridge.set_budgets_ms(())
    stand.bridge.select(Selection())
    stand.bridge.select(Selection.frame(0))
    assert "Took 270 ms." in stand.lines()


def test_that_a_late_frame_leads_to_the_frame_that_made_it_late(stand: Stand) -> None:
    session, log = stand.session, stand.session.log
    for index, took_ns in enumerate((30_000_000, 0)):
        log.append((0, FRAME_BEGAN, 1, index, 40_000_000))
        log.append((0, FRAME_SHARES, *shares_event([30_000_000 * index, 0, 0, 0, 0])))
        log.append((0, PHASE_ENDED, Phase.DRAW, index, took_ns))
        log.append((0, FRAME_ENDED, 1, 40_000_000, took_ns))
    stand.bridge.refresh_now()
    stand.bridge.select(Selection.frame(1))

    assert session.timeline.frames.end == 2
    assert "Most of it: what is called in draw in frame 0, 30.0 ms busy." in stand.lines()
    labels = stand.panel.findChildren(LinkedLabel)
    (link,) = [label for label in labels if label.isVisible() and "<a href" in label.text()]
    assert link.addresses == ["FRAME:0"]
    link.linkActivated.emit("0")
    assert stand.bridge.selection == Selection.frame(0)
    assert stand.lines()[2].endswith("Most of it: what is called in draw.")


@pytest.mark.parametrize(
    ("index", "text"),
    [(5, "Frame 5 has not ended yet."), (-1, "Frame -1 is no longer in the log.")],
)
def test_that_a_frame_that_is_not_there_says_so(stand: Stand, index: int, text: str) -> None:
    stand.bridge.select(Selection.frame(index))

    assert text in stand.lines()


def test_that_the_overview_counts(stand: Stand) -> None:
    stand.session.wake_errors = WakeErrorSummary(7, 1, 750_000, 2_000_000, 3_000_000)
    stand.enemies.set_timeout(1, print)
    stand.enemies.pause()
    stand.session.run_frame()
    stand.run_to_ms(10)

    assert stand.lines()[:2] == ["Nothing is selected. Click a lane or a bar.", "Played"]
    assert stand.value("Frames") == "1"
    assert stand.value("Longest") == "16.7 ms at 0:00.000"
    assert "Source" not in stand.panel.text()
    stand.panel.grid.link_activated.emit("DO:whole")
    assert stand.value("Clocks") == "3, 1 paused"
    assert stand.value("Timers") == "1 pending, 1 waiting"
    assert stand.value("Wake-up delay") == (
        "median 750 µs, 99 % up to 2.00 ms, at most 3.00 ms (7 measured)"
    )


def test_that_without_a_selection_it_says_which_timers_fire_next(stand: Stand) -> None:
    beat = stand.session.root.set_interval(0.5, print, name="beat")
    stand.game.set_timeout(1, print, name="bell")
    stand.enemies.set_timeout(1, print, name="boss")
    stand.enemies.pause()
    for number in range(9):
        stand.session.root.set_timeout(10 + number, print, name=f"late {number}")
    stand.run_to_ms(100)

    lines = stand.lines()

    assert lines[1:3] == ["Played", "Running. 12 timers are pending, 1 waits."]
    first = lines.index("Next to fire") + 1
    assert lines[first : first + 3] == [
        "beat  root\t400 ms",
        "bell  game\t1.90 s",
        "late ×9  root\t9.90 s",
    ]
    assert lines[first + 3] == "So far"
    stand.panel.grid.link_activated.emit(f"TIMER:{beat.id}")
    assert stand.bridge.selection == Selection.timer(beat.id)


def test_that_without_a_connection_it_says_what_is_waited_for(stand: Stand) -> None:
    waiting = "Waiting for “server” to connect."
    stand.session.status = SessionStatus(SessionPhase.WAITING, waiting)
    stand.run_to_ms(100)

    assert "Waiting for server to connect." in stand.lines()
    assert not any("pending" in line for line in stand.lines())


def test_that_what_fires_next_changes_without_new_rows(stand: Stand) -> None:
    stand.session.root.set_interval(0.3, print, name="a")
    stand.session.root.set_interval(0.5, print, name="b")
    stand.run_to_ms(0)
    before = stand.panel.grid.children()

    stand.run_to_ms(400)

    assert "b  root\t100 ms" in stand.lines()
    assert set(stand.panel.grid.children()) == set(before)
    # Nor is a value read out with the name that was beside it before.
    said = [label.accessibleName() for label in stand.panel.grid.findChildren(ValueLabel)]
    assert "b  root: 100 ms" in said


def test_that_timers_keep_their_labels_when_their_order_changes(stand: Stand) -> None:
    for name, interval_s in (("a", 0.3), ("b", 0.5), ("c", 0.7)):
        stand.session.root.set_interval(interval_s, print, name=name)
    stand.run_to_ms(0)
    grid = stand.panel.grid
    names = {label.text_to_copy(): label for label in grid.findChildren(LinkedLabel)}
    texts = {name: label.text() for name, label in names.items()}

    stand.run_to_ms(400)

    lines = stand.lines()
    first = lines.index("Next to fire") + 1
    assert lines[first : first + 3] == ["b  root\t100 ms", "a  root\t200 ms", "c  root\t300 ms"]
    assert {name: label.text() for name, label in names.items()} == texts
    ordered = [names[name] for name in ("b  root", "a  root", "c  root")]
    assert sorted(ordered, key=lambda label: label.y()) == ordered
    # So do the keyboard and screen readers.
    assert [label for label in grid.findChildren(LinkedLabel) if label in ordered] == ordered
    following: QWidget | None = ordered[0].nextInFocusChain()
    while following is not None and following not in ordered:
        following = following.nextInFocusChain()
    assert following is ordered[1]


def test_that_the_transport_of_a_recording_is_told_as_past(stand: Stand) -> None:
    stand.panel.grid.link_activated.emit("DO:whole")
    stand.run_to_ms(1)
    now = stand.value("Transport")

    stand.session.is_recorded = True
    stand.run_to_ms(2)

    assert stand.value("Transport") == f"was {now}"


@pytest.mark.parametrize(
    ("text", "refusal", "said"),
    [
        ("mark “turn 2”", "", "You did\tmarked turn 2"),
        ("step to the next timer", "", "You did\tstep to the next timer"),
        ("set the rate of “game” to 2", "", "You did\tset the rate of game to 2"),
        ("pause “game”", "it is gone", "You asked to\tpause game, refused: it is gone"),
    ],
)
def test_that_the_last_change_is_told_as_what_was_done(
    stand: Stand, text: str, refusal: str, said: str
) -> None:
    stand.session.timeline.commands.append(CommandRecord(0, 1, text, refusal))
    stand.run_to_ms(100)

    assert said in stand.lines()


def test_that_the_name_is_set_again_only_where_it_changes(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.run_to_ms(100)
    answer, names = stand.panel.answer.text(), list[object]()
    monkeypatch.setattr(stand.panel.about, "set_pieces", lambda *told: names.append(told))

    stand.session.root.set_timeout(10, print, name="late")
    stand.run_to_ms(200)
    assert stand.panel.answer.text() != answer
    assert not names

    stand.bridge.select(Selection.clock(stand.game.id))
    assert names


def test_that_counts_of_a_recording_are_of_all_of_it_or_up_to_what_is_shown(stand: Stand) -> None:
    stand.run_to_ms(100)
    assert "So far" in stand.lines()

    stand.session.is_recorded = True
    stand.run_to_ms(200)
    assert "In all" in stand.lines()
    stand.bridge.set_playhead(150_000_000)
    stand.panel.refresh()

    assert "Up to this instant" in stand.lines()
    assert "So far" not in stand.lines()


def test_that_the_longest_turn_is_the_one_that_worked_longest(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    for interval_ns, busy_ns in ((500_000_000, 1_000_000), (400_000_000, 300_000_000)):
        stand.session.timeline.frames.append(
            0, interval_ns, interval_ns, busy_ns, 0, [0] * 7, (0,) * 5
        )
    stand.run_to_ms(1)
    assert stand.value("Longest").startswith("500 ms at")

    monkeypatch.setattr(PlayedSession, "waits", True)
    stand.run_to_ms(2)

    assert stand.value("Longest").startswith("300 ms at")


def test_that_events_that_fell_off_are_told(stand: Stand) -> None:
    stand.session.log.budget_bytes = 3 * BYTES_PER_EVENT
    stand.session.log.settle()

    stand.panel.grid.link_activated.emit("DO:whole")
    stand.run_to_ms(1)

    assert stand.value("No longer in the log").endswith("(their effect on the state is kept)")


def test_that_rows_are_changed_in_place_while_time_passes(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.enemies.id))
    before = stand.panel.grid.children()

    stand.run_to_ms(5_000)

    assert stand.panel.grid.children() == before
    assert stand.value("Session") == "0:05.000  (5,000,000,000 ns)"


def test_that_everything_can_be_copied(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.enemies.id))

    stand.panel.copy_all()

    assert "Clock · root / game" in QGuiApplication.clipboard().text().split("\n")


def test_that_names_are_never_taken_for_markup(stand: Stand) -> None:
    tricky = stand.game.child("<b>&amp;</b>")
    stand.run_to_ms(0)

    stand.bridge.select(Selection.clock(tricky.id))

    assert stand.panel.title_label.text() == "<b>&amp;</b>"
    assert stand.panel.title_label.textFormat() == Qt.TextFormat.PlainText
    below = tricky.child("in it")
    stand.run_to_ms(1)
    stand.bridge.select(Selection.clock(below.id))
    assert "&lt;b&gt;&amp;amp;&lt;/b&gt;" in stand.panel.about.text()


def test_that_what_stands_above_the_rows_grows_with_the_letters_of_the_panel(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.enemies.id))
    panel = stand.panel
    before = panel.about.font().pixelSize(), panel.title_label.font().pixelSize()

    font = QFont(panel.font())
    font.setPixelSize(2 * panel.fontInfo().pixelSize())
    panel.setFont(font)

    after = panel.about.font().pixelSize(), panel.title_label.font().pixelSize()
    assert after == pytest.approx([2 * size for size in before], abs=1)


def test_that_a_kind_and_path_lead_to_the_clocks_above(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.enemies.id))

    stand.panel.about.followed.emit(f"CLOCK:{stand.game.id}")

    assert stand.bridge.selection == Selection.clock(stand.game.id)
    assert stand.lines()[:2] == ["Clock · root", "game"]


def test_that_without_a_session_it_says_what_to_do(stand: Stand) -> None:
    stand.bridge.set_session(None)

    assert "No scene is open. Open one to see its clocks and timers." in stand.lines()


def test_that_the_theme_can_change(stand: Stand) -> None:
    before = stand.panel.text()

    stand.panel._theme.set_choice("dark")

    assert stand.panel.text() == before
