"""Texts that are sent by number: names, and places in code."""

# ruff: noqa: ANN401 - stand-ins are no frames

from __future__ import annotations

import threading
from functools import partial
from types import CodeType, SimpleNamespace
from typing import Any

import pytest

from inspector.probe import texts as module
from inspector.probe.texts import Texts


@pytest.fixture
def texts() -> Texts:
    return Texts()


def code(name: str, file: str = "/game/app.py", flags: int = 0, names: tuple[str, ...] = ()) -> Any:
    return SimpleNamespace(
        co_name=name, co_filename=file, co_flags=flags, co_names=names, co_firstlineno=9
    )


def frame(of: Any, line: int = 1, back: Any = None, in_module: str = "game") -> Any:
    return SimpleNamespace(
        f_code=of, f_lineno=line, f_lasti=2 * line, f_back=back, f_globals={"__name__": in_module}
    )


def test_that_each_text_is_kept_once_and_cut_to_its_length(texts: Texts) -> None:
    numbers = [texts.text(each) for each in ("a", "b", "a", "")]
    assert numbers == [1, 2, 1, 0]
    long = texts.text("x" * 600)
    assert len(texts.texts[long]) == 510
    assert texts.text("x" * 700) == long
    assert texts.texts[texts.text("y" * 600, 700)] == "y" * 600


def test_that_a_program_has_so_many_texts(texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    most = module.MOST_TEXTS
    monkeypatch.setattr(module, "MOST_TEXTS", 3)
    numbers = [texts.text(each) for each in ("a", "b", "c", "d", "a")]

    assert numbers == [1, 2, 3, 3, 1]
    assert texts.texts[3] == f"(more than {most:,} different texts)"


def test_that_a_place_is_worked_out_once(texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    play = code("play")
    site = texts.code_site(play, 5)
    assert texts.texts[site] == "/game/app.py:5 in play"
    # Another object at the same place in memory would be taken for it.
    assert texts._codes[id(play)] is play
    from_frame = texts.site_from(frame(play, 7))
    assert texts.texts[from_frame] == "/game/app.py:7 in play"
    monkeypatch.setattr(texts, "_new_site", lambda *_: pytest.fail("it is known"))
    assert texts.code_site(play, 5) == site
    monkeypatch.setattr(texts, "code_site", lambda *_: pytest.fail("it is known"))
    assert texts.site_from(frame(play, 7)) == from_frame
    assert texts.site_from(None) == 0


def test_that_a_program_has_so_many_places(texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TEXTS", 2)
    play = code("play", flags=0x80)
    assert texts.code_site(play, 1)
    assert texts.code_site(play, 2)
    monkeypatch.setattr(module, "MOST_TEXTS", 2)
    assert texts.code_site(play, 3) == 0
    assert texts.site_from(frame(play, 4)) == 0
    assert texts.resumed_site(play, 5) == 0
    assert len(texts._sites) == 2
    # There is room for more by now.
    monkeypatch.setattr(module, "MOST_TEXTS", 200)
    assert texts.texts[texts.site_from(frame(play, 4))] == "/game/app.py:4 in play"


@pytest.mark.parametrize(
    ("flags", "word"), [(0x80, "async "), (0x200, "async "), (0x20, "generator "), (0x40, "")]
)
def test_that_code_that_is_resumed_is_called_so(
    texts: Texts, monkeypatch: pytest.MonkeyPatch, flags: int, word: str
) -> None:
    play = code("play", flags=flags)
    site = texts.resumed_site(play, 5)
    assert texts.texts[site] == f"/game/app.py:5 in {word}play"
    monkeypatch.setattr(texts, "text", lambda *_: pytest.fail("it is known"))
    assert texts.resumed_site(play, 5) == site


def test_that_a_function_is_where_it_begins(texts: Texts) -> None:
    class Game:
        def play(self) -> None: ...

    line = Game.play.__code__.co_firstlineno
    for function in (Game.play, Game().play, partial(partial(Game.play, Game()))):
        place = texts.texts[texts.function_site(function)]
        assert place.startswith(f"{__file__}:{line} in ")
    assert texts.function_site(print) == 0


# ------------------------------------------------------------------------------- whose code it is


@pytest.mark.parametrize(
    ("file", "is_library"),
    [
        (module.os.__file__, True),  # type: ignore[attr-defined]
        ("<frozen importlib>", True),
        ("/x/site-packages/y.py", True),
        ("/usr/lib/python3/dist-packages/y.py", True),
        ("/game/app.py", False),
        ("<string>", False),
    ],
)
def test_that_code_is_pythons_or_a_packages_or_the_programs(
    texts: Texts, file: str, *, is_library: bool
) -> None:
    assert [texts.is_library(code("play", file)) for _ in range(2)] == [is_library] * 2


def test_that_what_is_hidden_from_now_on_is_no_place_of_the_program(texts: Texts) -> None:
    game = frame(code("play"), 1)
    for of in (code("hook", "/x/lib.py"), code("made", "<made>")):
        lib = frame(of, 5, game, "lib.core")
        similar = frame(code("other", f"/y/{of.co_name}.py"), 5, game, "library")
        fresh = Texts()
        found = [fresh.is_hidden(lib), fresh.texts[fresh.site_from(lib)]]
        fresh.hide("lib")
        found += [fresh.is_hidden(lib), fresh.texts[fresh.site_from(lib)]]
        assert found == [
            False,
            f"{of.co_filename}:5 in {of.co_name}",
            True,
            "/game/app.py:1 in play",
        ]
        assert not fresh.is_hidden(similar)
    assert texts.is_hidden(frame(code("x", "/a.py"), in_module="inspector.probe.link"))
    assert texts.is_hidden(frame(code("x", "/b.py"), in_module="importlib"))


def test_that_code_without_a_file_may_be_of_any_module(texts: Texts) -> None:
    made = code("made", "<made>")
    assert texts.is_hidden(frame(made, in_module="importlib.util"))
    assert not texts.is_hidden(frame(made, in_module="game"))


PACKAGE = "/x/site-packages/lib.py"
SPAWNING = ("multiprocessing.spawn", "x")


@pytest.mark.parametrize(
    ("codes", "place"),
    [
        ([code("play"), code("call", PACKAGE)], "/game/app.py:0 in play"),
        # Code that was typed, and that of a child of multiprocessing.
        ([code("main"), code("<module>", "<string>")], "<string>:1 in <module>"),
        ([code("<module>", "<string>", names=SPAWNING)], ""),
        ([code("play", names=SPAWNING)], "/game/app.py:0 in play"),
        (
            [code("<module>", "<string>", names=SPAWNING), code("run", PACKAGE)],
            f"{PACKAGE}:1 in run",
        ),
        # Only packages, the innermost of them, and what begins a thread.
        ([code("outer", PACKAGE), code("inner", PACKAGE)], f"{PACKAGE}:1 in inner"),
        ([code("run", threading.__file__)], ""),
        ([code("_bootstrap", PACKAGE)], ""),
        ([code("run", threading.__file__), code("call", PACKAGE)], f"{PACKAGE}:1 in call"),
    ],
)
def test_that_a_call_comes_from_the_innermost_place_of_the_program(
    texts: Texts, codes: list[CodeType], place: str
) -> None:
    innermost = None
    for line, each in enumerate(codes):
        innermost = frame(each, line, innermost)

    assert texts.texts[texts.site_from(innermost)] == place
