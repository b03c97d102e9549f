"""What the command says when a window cannot be opened, and what it ends with."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from inspector import environment, window_loader
from inspector.environment import (
    QT_LIBRARIES,
    EnvironmentProblemError,
    SystemLibrary,
    check_display,
    check_qt,
    install_command,
    missing_libraries,
    qt_import_problem,
)
from inspector.errors import ExportError, InspectorError, SceneError
from inspector.exit_codes import ExitCode
from inspector.launcher import main
from inspector.window_loader import UI_NAME, load_ui

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be without a display")


def test_that_the_numbers_of_the_exit_codes_stay() -> None:
    assert [(code.name, code.value) for code in ExitCode] == [
        ("OK", 0),
        ("FAILED", 1),
        ("USAGE", 2),
        ("NO_DISPLAY", 3),
        ("SCENE", 4),
        ("BAD_ENVIRONMENT", 5),
        ("DIFFERENT", 6),
        ("NOT_ATTACHED", 7),
        ("CANNOT_TELL", 8),
        ("UNREADABLE", 9),
        ("NOT_EXECUTABLE", 126),
        ("NOT_FOUND", 127),
        ("HUNG_UP", 129),
        ("INTERRUPTED", 130),
        ("TERMINATED", 143),
    ]


@on_linux
def test_that_without_a_display_one_sentence_names_the_headless_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)

    code = main([])

    printed = capsys.readouterr()
    assert code == ExitCode.NO_DISPLAY
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "`timeline-inspector run`, `export`" in printed.err
    assert all(f"`{command}`" in printed.err for command in ("lab", "explain", "lint", "replay"))


@on_linux
def test_that_a_display_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":7353")
    monkeypatch.setattr(environment, "X11_LIBRARIES", ())

    with pytest.raises(
        EnvironmentProblemError, match="the display :7353 does not answer"
    ) as caught:
        check_display({"DISPLAY": ":7353"})

    assert caught.value.exit_code is ExitCode.NO_DISPLAY


@on_linux
def test_that_a_display_that_answers_after_a_moment_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [False, False, True]
    monkeypatch.setattr(environment, "X11_LIBRARIES", ())
    monkeypatch.setattr(environment, "_x11_connects", lambda: answers.pop(0))
    monkeypatch.setattr(environment, "sleep", lambda _seconds: None)

    check_display({"DISPLAY": ":0"})

    assert answers == []


@on_linux
def test_that_missing_x11_libraries_are_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost = SystemLibrary("libxcb-lost.so.0", "libxcb-lost0")
    monkeypatch.setattr(environment, "X11_LIBRARIES", (lost,))
    monkeypatch.setattr(environment, "_APT_GET", Path(sys.executable))

    with pytest.raises(EnvironmentProblemError) as caught:
        check_display({"DISPLAY": ":0"})

    assert "(libxcb-lost.so.0)" in str(caught.value)
    assert str(caught.value).endswith(
        "run: sudo apt-get install --no-install-recommends libxcb-lost0"
    )
    assert caught.value.exit_code is ExitCode.BAD_ENVIRONMENT


@on_linux
@pytest.mark.parametrize("platform", ["offscreen", "minimal", "vnc:size=800x600", "xcb;offscreen"])
def test_that_platforms_without_a_screen_need_no_display(platform: str) -> None:
    check_display({"QT_QPA_PLATFORM": platform})


@on_linux
def test_that_x11_asked_for_by_name_needs_a_display() -> None:
    with pytest.raises(EnvironmentProblemError, match="neither DISPLAY nor WAYLAND_DISPLAY"):
        check_display({"QT_QPA_PLATFORM": "xcb"})


@pytest.mark.parametrize(
    ("pyside", "python", "part"),
    [
        ("6.12.0", (3, 11), "PySide6 6.12.0 makes Python 3.11 abort"),
        ("6.12.1", (3, 10), "use Python 3.12 or newer"),
        ("6.9.1", (3, 13), "PySide6 6.9.1 does not work with pyqtgraph"),
    ],
)
def test_that_a_pair_known_to_fail_is_refused(
    pyside: str, python: tuple[int, int], part: str
) -> None:
    with pytest.raises(EnvironmentProblemError, match=part) as caught:
        check_qt(pyside, python)

    assert "-m pip install 'PySide6-Essentials>=6.8" in str(caught.value)


@pytest.mark.parametrize(
    ("pyside", "python"),
    [("6.11.3", (3, 11)), ("6.12.0", (3, 12)), ("6.8.0.2", (3, 11)), ("6.9.2", (3, 13))],
)
def test_that_other_pairs_are_accepted(pyside: str, python: tuple[int, int]) -> None:
    check_qt(pyside, python)


def test_that_start_up_refuses_a_pair_known_to_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "PySide6", SimpleNamespace(__version__="6.9.1"))

    code = main([])

    assert code == ExitCode.BAD_ENVIRONMENT
    assert capsys.readouterr().err.startswith("timeline-inspector: PySide6 6.9.1 does not work")


def test_that_a_missing_library_of_qt_becomes_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "QT_LIBRARIES", (SystemLibrary("libLost.so.1", "liblost1"),))
    text = "libLost.so.1: cannot open shared object file: No such file or directory"

    problem = qt_import_problem(ImportError(text))

    assert problem is not None
    assert "(libLost.so.1)" in str(problem) or "install libLost.so.1" in str(problem)


def test_that_a_dependency_that_is_not_installed_becomes_a_sentence() -> None:
    problem = qt_import_problem(ModuleNotFoundError("No module", name="PySide6.QtGui"))

    assert problem is not None
    assert "The window needs PySide6, which is not installed" in str(problem)


@pytest.mark.parametrize(
    "fault", [ModuleNotFoundError("no", name=f"{UI_NAME}.nowhere"), ImportError("cannot import x")]
)
def test_that_a_fault_of_our_own_is_not_put_on_the_environment(fault: ImportError) -> None:
    assert qt_import_problem(fault) is None


def test_that_the_command_that_installs_names_each_package_once() -> None:
    command = install_command([*QT_LIBRARIES, *QT_LIBRARIES])

    assert command.count("libglib2.0-0") == 1


def test_that_the_libraries_of_this_machine_are_found() -> None:
    assert missing_libraries(QT_LIBRARIES) == []


@pytest.mark.parametrize("arguments", [["--version"], ["scenes"], ["run", "--help"]])
def test_that_what_needs_no_window_looks_for_no_display(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)

    assert main(arguments) == ExitCode.OK
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--no-such-option"], ExitCode.USAGE), (["no_such_scene.py"], ExitCode.SCENE)],
)
def test_that_wrong_arguments_are_reported_before_a_missing_display(
    arguments: list[str],
    code: ExitCode,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)

    assert main(arguments) == code
    assert arguments[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SceneError("s.py does not build"), ExitCode.SCENE),
        (ExportError("the disk is full"), ExitCode.FAILED),
        (InspectorError("no"), ExitCode.FAILED),
    ],
)
def test_that_an_expected_failure_is_one_sentence_and_a_code(
    error: InspectorError,
    code: ExitCode,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_scene: Path | None) -> int:
        raise error

    monkeypatch.setattr(window_loader, "load_ui", lambda _name: SimpleNamespace(main=fail))

    assert main([]) == code
    assert capsys.readouterr().err == f"timeline-inspector: {error}\n"


def test_that_ctrl_c_ends_with_the_code_that_shells_expect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(_scene: Path | None) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(window_loader, "load_ui", lambda _name: SimpleNamespace(main=interrupt))

    assert main([]) == ExitCode.INTERRUPTED


def test_that_ctrl_c_while_the_window_is_loaded_does_not_interrupt_an_import(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def load(_name: str) -> SimpleNamespace:
        seen.append(signal.getsignal(signal.SIGINT))
        return SimpleNamespace(main=lambda _scene: 0)

    monkeypatch.setattr(window_loader, "load_ui", load)
    before = signal.getsignal(signal.SIGINT)

    main([])

    assert seen == [signal.SIG_DFL]
    assert signal.getsignal(signal.SIGINT) is before


def test_that_a_signal_waits_for_the_import_of_qt(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = []

    def note(name: str) -> ModuleType:
        signal.raise_signal(signal.SIGINT)
        imported.append(name)
        return import_module(name)

    monkeypatch.setattr(window_loader, "import_module", note)

    with pytest.raises(KeyboardInterrupt):
        load_ui()

    assert imported == ["PySide6"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_that_the_window_is_loaded_once_under_its_private_name() -> None:
    package = load_ui()

    assert package.__name__ == UI_NAME
    assert load_ui() is package
    assert load_ui("kit.picture").__name__ == f"{UI_NAME}.kit.picture"


@on_linux
@pytest.mark.parametrize("platform", ["foo", "foo;bar", "wayland2"])
def test_that_a_platform_that_qt_does_not_have_is_refused_with_those_it_has(platform: str) -> None:
    with pytest.raises(EnvironmentProblemError, match="Qt has no platform “") as caught:
        check_display({"QT_QPA_PLATFORM": platform})

    assert "offscreen" in str(caught.value)
    assert caught.value.exit_code is ExitCode.NO_DISPLAY


@on_linux
@pytest.mark.parametrize("platform", ["offscreen", "minimal", "vnc:port=5901", "foo;offscreen"])
def test_that_a_platform_that_qt_has_is_left_to_qt(platform: str) -> None:
    check_display({"QT_QPA_PLATFORM": platform})
