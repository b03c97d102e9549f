"""What the window can do, and by which method it is done by remote; or why not."""

from __future__ import annotations

from argparse import ArgumentParser
from importlib import import_module

from inspector.cli.commands.attach import add_hosts, add_ways
from inspector.remote.methods import METHODS
from ui.actions.panels import PANELS
from ui.window.handlers.action_list import ACTIONS

#: Declares the methods.
import_module("inspector.remote.serving")

_LOOKING_BACK = "session.clocks"  # with at_ns, as all that lists a state
#: By action of the window.
_ACTIONS = {
    "open": "session.open",
    "open-beside": "session.open",
    "compare": "session.compare",
    "gallery": "command_line.run",
    "open-program": "session.launch",
    "reload": "command.reload",
    "record": "command.start_recording",
    "record-to": "command.start_recording",
    "save-last": "command.save_last",
    "save-last-exact": "command.save_last",
    "detach": "session.detach",
    "end-program": "session.end_program",
    "export": "session.export",
    "export-timeline": "session.export",
    "export-scene": "session.export_picture",
    "record-pictures": "session.record_pictures",
    "run-or-hold": "command.hold",
    "step": "command.step_frames",
    "step-n": "command.step_frames",
    "step-n-exact": "command.step_frames",
    "next-timer": "command.step_to_next_timer",
    "step-by": "command.step_by",
    "step-back": "command.step_back",
    "step-back-n": "command.step_back",
    "step-back-n-exact": "command.step_back",
    "rewind": "command.rewind_to",
    "slower": "command.set_rate",
    "faster": "command.set_rate",
    "normal-rate": "command.set_rate",
    "rate-of-everything": "command.set_rate",
    "undo": "command.undo",
    "redo": "command.undo",
    "mark": "command.add_mark",
    "bookmark": "session.annotate",
    "note": "session.annotate",
    "name-range": "session.annotate",
    "pause-branch": "command.pause_clock",
    "set-rate": "command.set_rate",
    "show-frames-of": "session.show_loop",
    "clear-timer": "command.clear_timer",
    "fire-timer": "command.fire_timer",
    "pause-member": "command.pause_member",
    "unschedule-member": "command.unschedule_member",
    "pause-from-priority": "command.pause_from_priority",
    "resume-from-priority": "command.resume_from_priority",
    "time-scale": "command.set_time_scale",
    "make-transition": "command.make_transition",
    "extensions": "command_line.run",
    "about": "server.about",
}
_BY_BEGINNING = {
    "look-": _LOOKING_BACK,
    "frame-rate-": "command.set_frame_rate",
    "failure-": "command.set_failure_policy",
}
#: What is about the window itself.
_OF_THE_WINDOW = (
    "quit", "fit", "follow", "find", "palette", "next-panel", "previous-panel", "close-panel",
    "float-panel", "keys", "panel-", "reset-view", "menu-bar", "lane-headers", "close-session",
    "side-column", "theme-", "text-size-", "font-", "help", "enlarge-scene",
)  # fmt: skip
#: What the window can do, and this cannot.
_MISSING = {
    "precision-economical": "a scene is woken by the system's clock, not by Qt",
    "precision-fine": "likewise",
}


#: Options of the command line that are no ways into a program.
_NO_WAYS = {"help", "program"}


def test_that_each_way_of_the_command_line_into_a_program_is_there_by_remote() -> None:
    parser = ArgumentParser()
    add_hosts(parser)
    add_ways(parser)
    ways = {action.dest for action in parser._actions} - _NO_WAYS
    assert {"ssh", "exec", "dial", "listen", "browser", "listen_websocket"} <= ways
    assert ways <= set(METHODS["session.attach"].params.__struct_fields__)
    assert {"argv", "ssh", "exec"} <= set(METHODS["session.launch"].params.__struct_fields__)


def _method(action: str) -> str | None:
    by_beginning = (to for begin, to in _BY_BEGINNING.items() if action.startswith(begin))
    return _ACTIONS.get(action) or next(by_beginning, None)


def test_that_what_the_window_can_do_can_be_done_by_remote() -> None:
    actions = [each.id for each in ACTIONS if not each.id.startswith(_OF_THE_WINDOW)]
    without = {each for each in actions if _method(each) is None}
    # Sources of time are those of the machine's packages too.
    assert {each for each in without if not each.startswith("time-source")} == set(_MISSING)
    assert {_method(each) for each in actions if each not in without} <= METHODS.keys()


def test_that_what_the_panels_show_can_be_asked_for() -> None:
    assert {each.id: each.method for each in PANELS.own if each.method not in METHODS} == {}
