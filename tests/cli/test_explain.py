"""The commands explain and lint: what they print, and their exit codes."""

import json
import re
import sqlite3
import sys
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from inspector.analysis.explain.explain import explain
from inspector.calls.call import CallId
from inspector.cli.main import main
from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.events.recording import RecordingInfo, RecordingWriter, open_recording
from inspector.exit_codes import ExitCode
from inspector.testing import pass_seconds, scene_file, virtual_session
from inspector.timebase import NS_PER_SECOND
from tests.cli.answers import Run

SCENE = """
    def build(stage):
        game = stage.root.child("game")
        game.set_timeout(10, lambda: None, name="boss")
        game.set_timeout(1, lambda: None, name="bomb")
        game.set_interval(0.5, lambda: None, name="wave")
        stage.root.set_timeout(2, game.pause, name="menu")
        for number in range(3):
            game.set_timeout(20 + number, lambda: None, name="lamp")
        scheduler = stage.scheduler(game, name="calls")
        scheduler.schedule(print_nothing, 5, name="often")

    def print_nothing(delta):
        pass
"""


@pytest.fixture
def scene(tmp_path: Path) -> str:
    return str(scene_file(tmp_path, SCENE))


def test_that_a_timer_is_explained_by_its_name(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["explain", scene, "boss", "--seconds", "3"])

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[:2] == [
        "At 0:03.000.",
        "Timer “boss” (1): Its time stands still: the program paused game 1.00 s ago.",
    ]
    assert any(line.startswith("  0:02.000  The program paused “game”.  [event ") for line in lines)


def test_that_an_instant_of_the_past_can_be_asked_about(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, "1", "--at", "00:01.5"]) == 0

    assert "Fires in 8.50 s, at 0:10.000, if rates stay as they are." in capsys.readouterr().out


def test_that_the_beginning_of_a_name_is_enough_if_it_is_one_names(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, "WAV", "--seconds", "1"]) == 0
    assert "Timer “wave”" in capsys.readouterr().out

    assert main(["explain", scene, "bo", "--seconds", "1"]) == 2
    assert capsys.readouterr().err == (
        "timeline-inspector: “bo” could be one of 2 names: “boss” and “bomb”. Give more of it.\n"
    )


def test_that_several_timers_of_a_name_are_listed(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, "lamp", "--seconds", "1"]) == 2

    said = capsys.readouterr().err.splitlines()
    assert said[0] == "timeline-inspector: 3 timers “lamp” are pending. Name one by its number:"
    assert said[1] == "  5  due at local 00:20.000 of “game”"
    assert len(said) == 4


@pytest.mark.parametrize("asked", ["dragon", "long", "same"])
def test_that_long_names_are_cut_in_messages(
    tmp_path: Path, asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    body = """def build(stage):
    clock = stage.root.child("c" * 5000)
    for end in "ab":
        clock.set_interval(1, print, name="long" + "x" * 5000 + end)
        clock.set_interval(1, print, name="same" + "x" * 5000)
"""
    code = main(["explain", str(scene_file(tmp_path, body)), asked, "--seconds", "0.5"])

    assert code == 2
    assert len(capsys.readouterr().err) < 1_500


def test_that_a_name_that_is_not_there_lists_those_that_are(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, "dragon", "--seconds", "1"]) == 2

    assert capsys.readouterr().err.startswith(
        "timeline-inspector: There is no timer “dragon”. There are “boss”, “bomb”, “wave”"
    )


def test_that_calls_of_schedulers_are_found_too(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, "often", "--seconds", "1"]) == 0

    assert "It is due at 00:05.000 in the time of “calls”" in capsys.readouterr().out


def test_that_a_timer_that_is_gone_is_explained_and_said_to_be_one_of_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = scene_file(
        tmp_path,
        """
        def build(stage):
            for seconds in (1, 2):
                stage.root.set_timeout(seconds, lambda: None, name="toast")
        """,
    )

    assert main(["explain", str(scene), "toast", "--seconds", "3"]) == 0

    said = capsys.readouterr().out
    assert "It has fired and is no longer pending." in said
    assert said.endswith("This is the last one; 1 other of this name came before or went.\n")


def test_that_an_explanation_can_be_read_by_programs(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, "bomb", "--seconds", "3", "--json"]) == 0

    values = json.loads(capsys.readouterr().out)
    assert values["headline"] == "It has fired and is no longer pending."
    assert values["reasons"][0]["at_ns"] == 1_000_000_000


def test_that_an_instant_behind_the_end_is_refused(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, "boss", "--seconds", "1", "--at", "2"]) == 2

    assert capsys.readouterr().err == (
        "timeline-inspector: Argument --at: 0:02.000 is after the end, which is at 0:01.000.\n"
    )


def test_that_a_scene_that_is_not_there_has_its_own_exit_code() -> None:
    assert main(["explain", "no such scene", "boss"]) == 4
    assert main(["lint", "no such scene"]) == 4


@pytest.fixture
def recording(scene: str, tmp_path: Path) -> str:
    session = virtual_session(Path(scene))
    path = tmp_path / "session.tlr"
    writer = RecordingWriter(path, session.log, RecordingInfo(title="a game"))
    writer.start()
    pass_seconds(session, 3)
    writer.pump()
    writer.stop()
    session.close()
    return str(path)


def test_that_a_recording_is_explained_as_the_scene_itself(
    scene: str, recording: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for timer in ("boss", "bomb", "wave", "often"):
        assert main(["explain", scene, timer, "--at", "2.5", "--seconds", "5"]) == 0
        live = capsys.readouterr().out
        assert main(["explain", recording, timer, "--at", "2.5"]) == 0
        recorded = capsys.readouterr().out

        assert _without_measures(recorded) == _without_measures(live)


def _without_measures(text: str) -> str:
    return re.sub(r"took [0-9.]+ .?s", "took", re.sub(r" *\[event .*\]", "", text))


def test_that_a_recording_has_its_own_length(
    recording: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", recording, "boss", "--seconds", "9"]) == 2
    assert "a recording has a fixed length" in capsys.readouterr().err

    assert main(["lint", recording]) == 0
    assert capsys.readouterr().out.startswith("a game, 0:0")


def test_that_what_is_named_like_a_recording_is_never_run_as_a_scene(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.tlrec"
    for content, sentence in (("", "is empty"), ("raise SystemExit(7)", "is not a recording")):
        path.write_text(content)
        for line in (["explain", str(path), "boss"], ["lint", str(path)]):
            assert main(line) == ExitCode.UNREADABLE
            assert sentence in capsys.readouterr().err
    path.unlink()
    assert main(["lint", str(path)]) == ExitCode.UNREADABLE
    assert "There is no file" in capsys.readouterr().err


def test_that_lint_finds_nothing_in_a_sound_scene(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", scene, "--seconds", "5"]) == 0

    assert capsys.readouterr().out.endswith(", 0:05.000: nothing looks wrong.\n")


def test_that_lint_lists_what_it_found_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "3", "--seconds", "30"]) == 1

    said = capsys.readouterr().out
    assert said.startswith("Drift and late timers, 0:30.000: 4 findings.\n\ndrift: ")
    assert "“re-armed by a frame” reschedules itself" in said


def test_that_frames_are_held_against_the_budget_that_is_asked_for(
    recording: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", recording, "--budget", "8ms"]) == 1
    assert "over budget (9.20 ms)" in capsys.readouterr().out
    assert main(["lint", recording, "--budget", "soon"]) == 2
    assert "not a budget: “soon”" in capsys.readouterr().err


def test_that_findings_can_be_read_by_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "3", "--seconds", "30", "--json"]) == 1

    values = json.loads(capsys.readouterr().out)
    kinds = {finding["kind"] for finding in values["findings"]}
    assert kinds == {"drift", "skipped ticks", "blocks others"}


def test_that_what_was_predicted_is_said_with_what_came_of_it(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, "wave", "--at", "1.2", "--seconds", "4"]) == 0

    lines = capsys.readouterr().out.splitlines()
    place = lines.index("Predictions at that instant, and their outcome:")
    assert lines[place + 1].startswith("  0:01.500  It fired at 0:01.500 as predicted.  [event ")
    assert lines[place + 3].startswith(
        "  0:02.500  It has not fired at 0:02.500 as predicted, because “game” was paused at "
        "0:02.000 by the program."
    )
    assert main(["explain", scene, "wave", "--seconds", "4"]) == 0
    assert "predicted" not in capsys.readouterr().out


def test_that_a_pause_is_previewed_without_being_made(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, "--at", "1.2", "--preview", "pause root/game"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "At 0:01.200.",
        "Pausing “game”: 6 timers would wait until that is undone.",
        "  timer  fires at  would fire at",
        "  wave   0:01.500          never  waits",
    ]
    assert len(lines) == 9


def test_that_a_rate_is_previewed_for_programs_too(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, "--preview", "rate game 50%", "--at", "0", "--json"]) == 0

    values = json.loads(capsys.readouterr().out)
    assert values["timers"][0] == {"timer_id": 3, "old_ns": 500_000_000, "new_ns": 1_000_000_000}
    assert len(values["timers"]) == 7
    assert len([each for each in values["timers"] if "member_id" in each]) == 1


COMBAT = """
    class Hero:
        def update(self, delta):
            pass

    def build(stage):
        scheduler = stage.scheduler(stage.root, name="combat")
        for name in ("left", "right"):
            hero = Hero()
            setattr(stage, name, hero)
            scheduler.schedule_update(hero, 1)
            scheduler.schedule(lambda delta: None, 2, target=hero, name=name)
"""


def test_that_changes_of_schedulers_and_targets_are_previewed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = str(scene_file(tmp_path, COMBAT))

    def said(change: str) -> str:
        code = main(["explain", scene, "--at", "1", "--seconds", "1", "--preview", change])
        captured = capsys.readouterr()
        return captured.out if code == 0 else captured.err

    assert "Setting the time scale of “combat” to 0.5: 2 timers would fire" in (
        said("scale combat 1/2")
    )
    assert "Pausing “combat” from priority 1 on: 2 timers would wait" in said("pause combat from 1")
    assert "none would fire at a different instant" in said("pause combat from 2")
    assert "Pausing “Hero 1”: 1 timer would wait until that is undone." in said("pause Hero 1")
    assert "2 members are called “Hero.update”. Name one by its number: member:4 (combat/" in (
        said("pause Hero.update")
    )
    assert "Pausing “Hero.update”: no timer is pending there." in said("pause member:4")
    assert "There is no scheduler “hero”. There are “combat”." in said("scale hero 2")
    assert "There is no member that can be paused “member:99”." in said("pause member:99")


def test_that_a_preview_of_members_names_their_numbers_for_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = str(scene_file(tmp_path, COMBAT))

    assert main(["explain", scene, "--at", "1", "--preview", "scale combat 0", "--json"]) == 0

    timers = json.loads(capsys.readouterr().out)["timers"]
    assert [sorted(each) for each in timers] == [["member_id", "new_ns", "old_ns"]] * 2
    assert timers[0]["new_ns"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Argument TIMER: name a timer, or use --preview."),
        (
            ["boss", "--preview", "pause game"],
            "Name either a timer or a --preview, not both.",
        ),
        (
            ["--preview", "stop game"],
            "Argument --preview: “stop game” is not a known change. ",
        ),
        (
            ["--preview", "pause dragons"],
            "Argument --preview: There is no clock “dragons”. There are “root” and “game”.",
        ),
        (["--preview", "pause"], "Argument --preview: “pause” is not a known change."),
        (["--preview", "rate game"], "Argument --preview: “rate game” is not a known change."),
        (["--preview", "rate game fast"], "Argument --preview: "),
        (["--preview", "rate game -1"], "Argument --preview: "),
    ],
)
def test_that_a_preview_of_nonsense_is_refused_in_one_sentence(
    scene: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, *arguments, "--seconds", "1"]) == 2

    said = capsys.readouterr()
    assert said.err.startswith(f"timeline-inspector: {message}")
    assert len(said.err.splitlines()) == 1
    assert said.out == ""


def test_that_a_clock_that_several_are_called_is_asked_for_by_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twins = scene_file(
        tmp_path,
        """
        def build(stage):
            for name in ("left", "right"):
                stage.root.child(name).child("ui").set_timeout(9, print, name=name)
        """,
    )

    assert main(["explain", str(twins), "--preview", "pause ui"]) == 2
    assert "Name one by its number or its path: 3 (root/left/ui), 5 (root/right/ui)." in (
        capsys.readouterr().err
    )
    assert main(["explain", str(twins), "--seconds", "1", "--preview", "pause root/left/ui"]) == 0
    assert "1 timer would wait" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("timer", "message"),
    [
        ("", "The name of the timer is empty. Give a name or a number."),
        (" ", "The name of the timer is empty. Give a name or a number."),
        ("0", "This session never had a timer of the number 0."),
        ("4711", "This session never had a timer of the number 4711."),
        ("member:4711", "This session never had a member of the number 4711."),
        ("9" * 5_000, f"This session never had a timer of the number {'9' * 19}…."),
    ],
)
def test_that_a_timer_that_never_was_is_refused_in_one_sentence(
    scene: str, timer: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, timer, "--seconds", "1"]) == 2

    said = capsys.readouterr()
    assert said.err == f"timeline-inspector: {message}\n"
    assert said.out == ""


def test_that_an_absurd_instant_is_refused_without_all_its_digits(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", scene, "boss", "--at", "1e400"]) == 2

    assert len(capsys.readouterr().err) < 200


def test_that_a_name_that_is_a_timer_beats_a_phase(run: Run, tmp_path: Path) -> None:
    scene = scene_file(
        tmp_path,
        """
        class Thing:
            def update(self, delta):
                pass

        def build(stage):
            stage.component_director(name="wood")
            scheduler = stage.scheduler(name="ours")
            scheduler.schedule_update(Thing(), name="update")
            stage.root.set_interval(1, int, name="boss timer")
            stage.root.set_interval(1, int, name="late")
        """,
    )

    def meant(name: str) -> str:
        code, out, _ = run(f'explain {scene} "{name}" --seconds 2')
        assert code == ExitCode.OK
        return out.splitlines()[1].partition(":")[0]

    assert meant("update").startswith("Update “update”")
    assert meant("timer").startswith("Timer “boss timer”")
    assert meant("late").startswith("Timer “late”")
    assert meant("timers").startswith("Phase “timers”")
    assert meant("ours").startswith("Scheduler “ours”")


def test_that_names_of_timers_come_before_those_of_members(run: Run) -> None:
    _, _, err = run("explain 8 nobody --seconds 1")

    assert "There are “an animal is born”, " in err
    assert "“late update”" not in err


BLOCKING = """
    from time import thread_time

    def build(stage):
        def load():
            end = thread_time() + 0.06
            while thread_time() < end:
                pass
        stage.root.set_interval(0.6, load, name="load")
        stage.root.set_interval(0.02, int, name="tick")
"""


@pytest.fixture
def blocking(tmp_path: Path) -> str:
    return str(scene_file(tmp_path, BLOCKING))


def test_that_virtual_time_says_what_it_does_not_show(run: Run, blocking: str) -> None:
    code, out, _ = run(f"lint {blocking} --seconds 1")
    _, explained, _ = run(f"explain {blocking} tick --seconds 1")
    _, values, _ = run(f"lint {blocking} --seconds 1 --json")

    hint = out.splitlines()[-1]
    assert code == ExitCode.OK
    assert hint.startswith("In virtual time work takes no time, so it delayed nothing;")
    assert "ms of work, most of it " in hint
    assert "“load”" in hint
    assert "the limit for a frame is 19.2 ms. Use --real-time to see the effect." in hint
    assert explained.splitlines()[-1].startswith("In virtual time work takes no time")
    assert json.loads(values)["hint"].startswith("In virtual time work takes no time")


def test_that_a_callback_that_sleeps_is_told_of_as_well(run: Run, tmp_path: Path) -> None:
    scene = scene_file(
        tmp_path,
        """
        from time import sleep

        def build(stage):
            stage.root.set_timeout(0.5, sleep, 0.11, name="sleeps")
        """,
    )

    _, out, _ = run(f"lint {scene} --seconds 1")

    assert re.search(r"frame \d+ took 1[1-9]\d ms of work, most of it “sleeps”; the", out)


def test_that_frames_that_all_sleep_a_little_too_long_are_told_of(run: Run, tmp_path: Path) -> None:
    scene = scene_file(
        tmp_path,
        """
        from time import sleep

        def build(stage):
            stage.every_frame(lambda _delta: sleep(0.025))
        """,
    )

    _, out, _ = run(f"lint {scene} --seconds 0.5")

    assert ": nothing looks wrong in virtual time.\n" in out
    assert re.search(r"; but frame \d+ took \d+.* of work, most of it “.*lambda”; the limit", out)
    assert "19.2 ms, and 29 of 30 frames exceeded it. Use --real-time" in out


def test_that_virtual_time_says_nothing_of_work_that_fits(run: Run, scene: str) -> None:
    _, out, _ = run(f"lint {scene} --seconds 5")
    _, _, err = run(f"lint {scene} --seconds 5 --json")

    assert out.endswith(", 0:05.000: nothing looks wrong.\n")
    assert err == ""


def test_that_work_that_virtual_time_does_notice_is_a_finding_and_no_hint(
    run: Run, tmp_path: Path
) -> None:
    scene = scene_file(
        tmp_path,
        """
        def build(stage):
            stage.root.set_interval(0.5, stage.work, 0.2, name="load")
        """,
    )

    code, out, _ = run(f"lint {scene} --seconds 3")

    assert code == ExitCode.FAILED
    assert "blocks others" in out
    assert "In virtual time" not in out


@pytest.fixture
def quiet_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give real time to nothing but what sleeps, on a computer that does nothing else."""
    now_ns = 0

    def clock() -> int:
        nonlocal now_ns
        # So that waiting for the clock ends.
        now_ns += 1
        return now_ns

    def sleep(seconds: float | None) -> None:
        nonlocal now_ns
        now_ns += round((seconds or 0) * NS_PER_SECOND)

    for name, module in list(sys.modules.items()):
        if name.startswith("inspector.") and hasattr(module, "perf_counter_ns"):
            monkeypatch.setattr(module, "perf_counter_ns", clock)
    source = partial(SystemTimeSource, clock=clock, wait=sleep)
    monkeypatch.setattr("inspector.cli.explain.SystemTimeSource", source)
    monkeypatch.setattr("time.sleep", sleep)


SLEEPING = """
    from time import sleep

    def build(stage):
        count = 0

        def tick():
            nonlocal count
            count += 1
            sleep(0.021 if count == {stalls_at} else 0.001)

        stage.root.set_interval(0.25, lambda: sleep(0.06), name="load")
        stage.root.set_interval(0.02, tick, name="tick")
"""


@pytest.mark.usefixtures("quiet_computer")
def test_that_real_time_shows_what_a_callback_that_blocks_does(run: Run, tmp_path: Path) -> None:
    blocking = scene_file(tmp_path, SLEEPING.format(stalls_at=0))

    code, out, _ = run(f"lint {blocking} --seconds 1.5 --real-time")
    _, explained, _ = run(f"explain {blocking} tick --seconds 1.1 --real-time --at 1.05")

    assert code == ExitCode.FAILED
    assert re.search(r"“load” took .* ms in frame \d+", out)
    assert "“tick” had to wait for it" in out
    assert "In virtual time" not in out + explained


@pytest.mark.usefixtures("quiet_computer")
def test_that_a_callback_that_once_took_a_little_long_is_not_blamed_for_another(
    run: Run, tmp_path: Path
) -> None:
    blocking = scene_file(tmp_path, SLEEPING.format(stalls_at=5))

    _, out, _ = run(f"lint {blocking} --seconds 1.5 --real-time")

    assert re.search(r"“load” took 6\d\.\d+ ms in frame \d+.* It took too long 6 times", out)


@pytest.mark.parametrize("argument", ["--real-time", "--source system", "--source virtual"])
def test_that_a_recording_is_not_run(run: Run, tmp_path: Path, argument: str) -> None:
    session = virtual_session(scene_file(tmp_path, SCENE))
    writer = RecordingWriter(tmp_path / "a.tlrec", session.log, RecordingInfo())
    writer.start()
    writer.stop()
    session.close()

    code, _, err = run(f"lint a.tlrec {argument}")

    assert code == ExitCode.USAGE
    assert f"Argument {argument.split(maxsplit=1)[0]}: a recording is not run. Omit it." in err


def test_that_of_a_damaged_recording_only_what_can_be_read_is_judged(
    run: Run, tmp_path: Path
) -> None:
    recording = tmp_path / "a.tlrec"
    assert run(f"run 4 --seconds 2 --record {recording}")[0] == ExitCode.OK
    with closing(sqlite3.connect(recording)) as connection, connection:
        connection.execute("UPDATE chunks SET data = zeroblob(length(data))")

    code, out, err = run(f"lint {recording}")

    assert code == ExitCode.CANNOT_TELL
    assert "damaged" in err
    assert "nothing looks wrong in what can be read" in out


@pytest.mark.parametrize("timer", ["blink", "3"])
def test_that_a_timer_set_in_a_damaged_part_is_found(run: Run, tmp_path: Path, timer: str) -> None:
    recording = tmp_path / "a.tlrec"
    assert run(f"run 4 --seconds 2 --record {recording}")[0] == ExitCode.OK
    with closing(sqlite3.connect(recording)) as connection, connection:
        connection.execute("UPDATE chunks SET data = zeroblob(length(data))")

    code, out, err = run(f"explain {recording} {timer}")

    assert "damaged" in err
    assert code == ExitCode.OK
    assert out.startswith("At 0:02.000.\nTimer “blink” (3): Fires in 1.00 s, at 0:03.000")


def test_that_nothing_is_said_of_an_instant_whose_events_are_missing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.events.recording.writing.file.CHUNK_EVENTS", 500)
    recording = tmp_path / "a.tlrec"
    assert run(f"run 4 --seconds 13 --record {recording}")[0] == ExitCode.OK
    with closing(sqlite3.connect(recording)) as connection, connection:
        chunks = connection.execute("SELECT first_cursor, first_ns FROM chunks").fetchall()
        # It blinks each second. This chunk begins between two of them; some are shorter.
        (cursor, since_ns), (_, until_ns) = next(
            (one, other)
            for one, other in pairwise(chunks[2:])
            if one[1] % 10**9 and other[1] - one[1] > 10**9
        )
        connection.execute("UPDATE chunks SET crc = 0 WHERE first_cursor = ?", (cursor,))

    last_s = since_ns // 10**9
    before = run(f"explain {recording} blink --at {last_s - 1} --json")
    within = run(f"explain {recording} blink --at {(since_ns + until_ns) // 2 / 1e9}")
    behind = run(f"explain {recording} blink --at {until_ns // 10**9 + 1}")

    assert before[0] == ExitCode.OK
    outcomes = [each["outcome"] for each in json.loads(before[1])["predicted"]]
    assert outcomes == ["came true", "not yet known", "not yet known"]
    for code, out, err in (within, behind):
        assert (code, out) == (ExitCode.UNREADABLE, "")
        assert "are missing, so the state at" in err
    with closing(open_recording(recording)) as past:
        # As the window asks when it looks back.
        found = explain(past, CallId(3), (since_ns + until_ns) // 2)
    assert "are missing, so the state at" in found.headline
    assert found.reasons == ()


def test_that_a_long_pause_is_named_before_many_short_changes(run: Run, tmp_path: Path) -> None:
    scene = scene_file(
        tmp_path,
        """
        def build(stage):
            root, enemies = stage.root, stage.root.child("enemies")
            enemies.set_timeout(100, print, name="boss")
            root.set_timeout(1, enemies.pause)
            root.set_timeout(31, enemies.resume)
            for number in range(20):
                root.set_timeout(32 + number, lambda: setattr(enemies, "rate", "1/4"))
                root.set_timeout(32.5 + number, lambda: setattr(enemies, "rate", 1))
        """,
    )

    _, out, _ = run(f"explain {scene} boss --seconds 60")

    assert "  0:01.000  The program paused “enemies” for 30.0 s.  [" in out
    assert "There were 15 more changes of these clocks, none of greater effect.\n" in out
