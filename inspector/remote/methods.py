"""Declares functions, such as those of ``questions.py``, as remote methods with a schema."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, Final, Literal, get_type_hints

import msgspec
from msgspec import NODEFAULT, Meta, Struct, structs

from inspector import __version__
from inspector.clocks.failures import FailurePolicy
from inspector.commands.command import COMMANDS, Capability, Command
from inspector.errors import InspectorError
from inspector.events.conditions.breakpoint import Breakpoint
from inspector.probe.requests import FULL, GRANTS, READ_ONLY, STEP

Grant = Literal["read-only", "step", "full"]

#: Codes of errors, the first five as JSON-RPC has them.
NOT_JSON: Final = -32700
NOT_A_REQUEST: Final = -32600
NO_SUCH_METHOD: Final = -32601
BAD_PARAMS: Final = -32602
FAULT: Final = -32603
REFUSED: Final = -32000
NOT_GRANTED: Final = -32001
TOOK_TOO_LONG: Final = -32002

SessionNumber = Annotated[
    int, Meta(ge=0, lt=2**31, description="number of the session; 0 for the newest of this client")
]
Instant = Annotated[int, Meta(ge=0, lt=2**62, description="nanoseconds of session time")]
Duration = Annotated[int, Meta(gt=0, lt=2**62, description="nanoseconds")]
Offset = Annotated[int, Meta(ge=0, lt=2**62, description="how many to leave out")]
Limit = Annotated[int, Meta(ge=1, le=1_000, description="how many to return at most")]
Seconds = Annotated[float, Meta(gt=0, le=86_400, description="seconds of this computer's clock")]
ProcessNumber = Annotated[int, Meta(ge=0, lt=2**31, description="number of a process")]
Port = Annotated[int, Meta(ge=0, lt=2**16, description="a port; 0 for any")]
Text = Annotated[str, Meta(max_length=10_000)]

#: The grant that a command needs, by capability; all others need the full grant.
_NEEDS: Final = {
    Capability.MARK: READ_ONLY,
    **dict.fromkeys(
        (
            Capability.TRANSPORT,
            Capability.STEP,
            Capability.STEP_TIME,
            Capability.STEP_TIMER,
            Capability.PAUSE,
            Capability.BREAKPOINTS,
            Capability.UNDO,
        ),
        STEP,
    ),
}
#: The types of values of commands, as they are written in JSON.
_JSON_TYPES: Final[dict[type, Any]] = {
    int: int,
    bool: bool,
    str: Text,
    Fraction: Annotated[str | int | float, Meta(description="a number, or text such as 1/3")],
    FailurePolicy: Literal[tuple(each.value for each in FailurePolicy)],
    Breakpoint: dict[str, str | int | bool],
}


class RemoteError(InspectorError):
    """A request is not carried out."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code  # The code of the error


class Method(Struct, frozen=True):
    name: str  # Its name in requests
    summary: str  # What it does, in a sentence
    params: type[Struct]  # Its parameters; answers have the state of a session among them
    grant: str  # The grant that it needs
    call: Callable[..., object]  # Carries it out
    opens: bool = False  # Whether it opens a session


METHODS: Final[dict[str, Method]] = {}


def method(
    name: str, grant: str = READ_ONLY, *, opens: bool = False
) -> Callable[[Callable[..., object]], Any]:
    """Declare a function as a method; docstring and signature are its schema."""

    def declare(call: Callable[..., object]) -> Callable[..., object]:
        hints = get_type_hints(call, include_extras=True)
        given = list(inspect.signature(call).parameters.values())[1:]
        found = [
            (each.name, hints[each.name])
            if each.default is inspect.Parameter.empty
            else (each.name, hints[each.name], each.default)
            for each in given
        ]
        summary = (inspect.getdoc(call) or "").partition("\n\n")[0].replace("\n", " ")
        METHODS[name] = Method(name, summary, _params(name, found), grant, call, opens)
        return call

    return declare


def _params(name: str, found: list[Any]) -> type[Struct]:
    title = "".join(word.title() for word in name.replace(".", "_").split("_"))
    return msgspec.defstruct(title, found, kw_only=True, forbid_unknown_fields=True)


def command_method_name(command: type[Command]) -> str:
    """Return the name of the method of a command, such as ``command.set_rate``."""
    spaced = "".join(f"_{each.lower()}" if each.isupper() else each for each in command.__name__)
    return f"command.{spaced.strip('_')}"


def declare_commands(submit: Callable[[Any, int, float, Command], object]) -> None:
    """Declare a method for each command of sessions, from its own declaration."""
    for command in COMMANDS.values():
        hints = get_type_hints(command)
        found: list[Any] = [("session", SessionNumber, 0), ("timeout_s", Seconds, 30.0)]
        for each in structs.fields(command):
            kind = _JSON_TYPES[hints[each.name]]
            is_needed = each.default is NODEFAULT
            found.append((each.name, kind) if is_needed else (each.name, kind, each.default))
        name = command_method_name(command)
        summary = (inspect.getdoc(command) or "").partition("\n")[0]
        grant = _NEEDS.get(command.capability, FULL)

        def call(
            asked: object,
            session: int,
            timeout_s: float,
            of: type[Command] = command,
            **values: object,
        ) -> object:
            return submit(asked, session, timeout_s, of.from_values(values))

        METHODS[name] = Method(name, summary, _params(name, found), grant, call)


def grant_of(command: Command) -> str:
    return _NEEDS.get(command.capability, FULL)


def is_granted(needed: str, granted: str) -> bool:
    return GRANTS.index(needed) <= GRANTS.index(granted)


def schema() -> dict[str, Any]:
    """Return all methods as OpenRPC describes them."""
    names = sorted(METHODS)
    structs = [METHODS[name].params for name in names]
    _, components = msgspec.json.schema_components(structs)
    methods = []
    for name in names:
        each = METHODS[name]
        about = components[each.params.__name__]
        params = [
            {"name": key, "required": key in about.get("required", ()), "schema": kind}
            for key, kind in about["properties"].items()
        ]
        methods.append(
            {
                "name": name,
                "summary": each.summary,
                "params": params,
                "paramStructure": "by-name",
                "x-grant": each.grant,
                "result": {"name": "answer", "schema": {"$ref": "#/components/schemas/Answer"}},
            }
        )
    answer = {
        "type": "object",
        "required": ["value", "state"],
        "properties": {
            "value": {},
            "state": {"type": ["object", "null"], "description": "what session.state returns"},
        },
    }
    return {
        "openrpc": "1.3.2",
        "info": {"title": "Timeline Inspector", "version": __version__},
        "methods": methods,
        "components": {"schemas": {"Answer": answer}},
    }


def plain(value: object) -> Any:  # noqa: ANN401 - anything that JSON can be made of
    """Return a value of the inspector as JSON has it: names for enumerations, text for the rest."""
    return msgspec.to_builtins(value, enc_hook=str, str_keys=True)
