"""A finite state machine: states, named transitions, and hooks around them.

By default it behaves like the TypeScript state machine it comes from, which is checked
against recordings. Additions (guards, queued transitions, hooks per state, recovery after an
exception) are optional.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from inspector.clocks.callbacks import CheckedCallback, checked_callable, refuse_unfinished
from inspector.clocks.clock import Clock
from inspector.frames.reporting import Reporter, text_of
from inspector.vocabulary import Field, MemberKind

StateT = TypeVar("StateT", bound=Hashable)
NameT = TypeVar("NameT", bound=str)
ResultT = TypeVar("ResultT")

#: The source of an edge that leads from any state. In a list of sources it is an ordinary state.
ANY: Final = "*"

#: Called with the old and the new state.
Hook: TypeAlias = Callable[[StateT, StateT], object]


class TransitionError(IntEnum):
    """Why a transition was not made; the numbers are the original's."""

    NOT_ALLOWED = 1000
    IS_TRANSITING = 1011
    #: A guard refused. This code is ours; the original has no guards.
    REFUSED = 1100


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Edge(Generic[StateT]):
    """A way to make a transition.

    Attributes:
        source: The state it leads from, a list of states, or :data:`ANY`.
        target: The state it leads to, or a function from the current state to it.
        on_transition: Called between "before" and the change of state.
        guard: Called with the current state; a false answer refuses the transition.
    """

    source: StateT | Sequence[StateT] | str
    target: StateT | Callable[[StateT], StateT]
    on_transition: Hook[StateT] | None = None
    guard: Callable[[StateT], bool] | None = None

    def __post_init__(self) -> None:
        """Refuse hooks that cannot be called, and async and generator functions."""
        for hook in (self.on_transition, self.guard):
            if hook is not None:
                checked_callable(hook)
        if callable(self.target):
            checked_callable(self.target)

    def matches(self, state: StateT) -> bool:
        """Whether it leads from ``state``; the guard is not called."""
        source = self.source
        if isinstance(source, (list, tuple)):
            return state in source
        return source in (ANY, state)

    @property
    def sources(self) -> tuple[object, ...]:
        """The states it leads from; :data:`ANY` for any."""
        source = self.source
        return tuple(source) if isinstance(source, (list, tuple)) else (source,)


@dataclass(frozen=True, slots=True)
class MachineRules:
    """What a machine does beyond the original; all off by default.

    Attributes:
        queues_transitions: A transition inside a callback is made after the current one,
            instead of being an error.
        recovers: After an exception in a callback the machine can continue; the original
            stays locked forever.
    """

    queues_transitions: bool = False
    recovers: bool = False


ORIGINAL: Final = MachineRules()

#: Stands for a transition in the history of a machine that was reset.
RESET: Final = "(reset)"
SOUND: Final = MachineRules(queues_transitions=True, recovers=True)

#: More transitions in a row count as endless.
MOST_IN_A_ROW: Final = 10_000


class EndlessTransitionsError(RuntimeError):
    """Transitions of a machine keep requesting each other."""


class Transitions:
    """The transitions of a machine as functions: ``machine.transitions.open()``.

    Each does what ``machine.go("open")`` does. Names that are not identifiers are keys:
    ``machine.transitions["step back"]()``.
    """

    __slots__ = ("_machine",)

    def __init__(self, machine: StateMachine[Any, Any]) -> None:
        self._machine = machine

    def __getattr__(self, name: str) -> Callable[[], bool]:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0], name=name, obj=self) from None

    def __getitem__(self, name: str) -> Callable[[], bool]:
        self._machine.edges(name)
        return partial(self._machine.go, name)

    def __dir__(self) -> list[str]:
        return list(self._machine.names)


class StateMachine(Generic[StateT, NameT]):
    """Makes named transitions from state to state.

    For a type checker that knows the names, annotate a machine as
    ``StateMachine[str, Literal["open", "close"]]``. The first matching edge of a transition is
    taken. Hooks run in this order: ``on_before``, leaving the old state, the edge's own, the
    change of state, entering the new state, ``on_after``.

    Attributes:
        on_before: Called first; may be set and removed at any time.
        on_after: Called last.
        on_error: Called with a code and a sentence when a transition is not made.
        on_enter: By state: called after the state is entered.
        on_leave: By state: called before the state is left.
        transitions: The transitions as functions: ``machine.transitions.open()``.
        name: Display name.
        number: Its number in events; 0 without a clock or while nothing records.
    """

    if TYPE_CHECKING:
        on_before: Hook[StateT] | None
        on_after: Hook[StateT] | None
        on_error: Callable[[TransitionError, str], object] | None
    else:
        on_before, on_after, on_error = CheckedCallback(), CheckedCallback(), CheckedCallback()

    def __init__(
        self,
        initial: StateT,
        transitions: Mapping[NameT, Edge[StateT] | Sequence[Edge[StateT]]],
        *,
        rules: MachineRules = ORIGINAL,
        clock: Clock | None = None,
        name: str = "",
    ) -> None:
        """Start in ``initial``.

        Args:
            initial: The first state.
            transitions: By name, an edge or a list of edges that are tried in order.
            rules: What it does beyond the original.
            clock: The clock that it is shown under.
            name: Display name.

        Raises:
            TypeError: A transition has something else than edges.
        """
        self._initial = self._state = initial
        self._edges: dict[str, tuple[Edge[StateT], ...]] = {
            name: _checked_edges(name, edges) for name, edges in transitions.items()
        }
        self.transitions = Transitions(self)
        self._rules = rules
        # Stays true after an exception, unless the machine recovers.
        self._is_transiting = False
        self._is_in_hooks = False
        self._hook_numbers: dict[str, int] = {}
        self._waiting: deque[NameT] = deque()
        self.on_before = self.on_after = self.on_error = None
        self.on_enter: dict[StateT, Hook[StateT]] = {}
        self.on_leave: dict[StateT, Hook[StateT]] = {}
        self.name = name or "machine"
        self._reporter = Reporter(clock)
        self.number = self._reporter.add(self, MemberKind.MACHINE, self.name)
        if self.number:
            self._report_all()

    def __repr__(self) -> str:
        return f"<StateMachine in {self._state!r}, can {', '.join(self.possible()) or 'nothing'}>"

    @property
    def state(self) -> StateT:
        """The current state."""
        return self._state

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all transitions, in the order of definition."""
        return tuple(self._edges)

    def edges(self, name: NameT) -> tuple[Edge[StateT], ...]:
        """Return the edges of a transition.

        Raises:
            KeyError: There is no such transition.
        """
        if name not in self._edges:
            raise KeyError(f"no transition {name!r}; there are {', '.join(self._edges)}")
        return self._edges[name]

    def can(self, name: str) -> bool:
        """Whether a transition leads from the current state; false for unknown names."""
        return any(edge.matches(self._state) for edge in self._edges.get(name, ()))

    def possible(self) -> list[str]:
        """Return the names of the transitions that lead from the current state."""
        return [name for name in self._edges if self.can(name)]

    def go(self, name: NameT) -> bool:
        """Make a transition.

        Returns:
            Whether it was made; also ``False`` when it waits for the current one.

        Raises:
            KeyError: There is no such transition. (A refusal is not an exception:
                ``on_error`` is called.)
            EndlessTransitionsError: Queued transitions keep requesting others.
        """
        self.edges(name)
        self._reporter.check_thread()
        if self._is_transiting and self._rules.queues_transitions:
            self._waiting.append(name)
            return False
        made = self._try(name)
        tried = 0
        while self._waiting and not self._is_transiting:
            tried += 1
            if tried > MOST_IN_A_ROW:
                self._waiting.clear()
                raise EndlessTransitionsError(
                    f"more than {MOST_IN_A_ROW:,} transitions were queued in a row, the last "
                    f"{name!r}; does a hook always request the next one?"
                )
            name = self._waiting.popleft()
            self._try(name)
        return made

    def reset(self) -> bool:
        """Return to the first state without a transition: no hook is called.

        Queued transitions are dropped, and a machine locked by an exception works again.

        Returns:
            Whether it was reset; not within a hook, which is an error like a transition there.
        """
        self._reporter.check_thread()
        if self._is_in_hooks:
            text = "This is transiting now. It cannot be reset before that is done."
            return self._refuse(RESET, TransitionError.IS_TRANSITING, text)
        self._is_transiting = False
        self._waiting.clear()
        self._state = self._initial
        if self.number:
            self._reporter.state_entered(self.number, text_of(self._state), RESET)
        return True

    def _try(self, name: NameT) -> bool:
        state = self._state
        edge = next((edge for edge in self._edges[name] if edge.matches(state)), None)
        if edge is None:
            text = f"You can not '{name}' now. Current state is {state}"
            return self._refuse(name, TransitionError.NOT_ALLOWED, text)
        if self._is_transiting:
            text = "This is transiting now. You cannot transition more times at one time."
            return self._refuse(name, TransitionError.IS_TRANSITING, text)
        if edge.guard is not None and not self._call(f"guard of {name}", edge.guard, state):
            text = f"A guard does not let you '{name}' now. Current state is {state}"
            return self._refuse(name, TransitionError.REFUSED, text)
        self._is_transiting = self._is_in_hooks = True
        try:
            self._make(name, edge)
        except BaseException:
            if self._rules.recovers:
                self._is_transiting = False
                self._waiting.clear()
            raise
        finally:
            self._is_in_hooks = False
        self._is_transiting = False
        return True

    def _make(self, name: NameT, edge: Edge[StateT]) -> None:
        old = self._state
        new: StateT = _finished(edge.target(old)) if callable(edge.target) else edge.target
        if self.on_before is not None:
            self._call("on_before", self.on_before, old, new)
        if (leave := self.on_leave.get(old)) is not None:
            self._call(f"on_leave {text_of(old)}", leave, old, new)
        if edge.on_transition is not None:
            self._call(f"on_transition of {name}", edge.on_transition, old, new)
        self._state = new
        if self.number:
            self._reporter.state_entered(self.number, text_of(new), name)
        if (enter := self.on_enter.get(new)) is not None:
            self._call(f"on_enter {text_of(new)}", enter, old, new)
        if self.on_after is not None:
            self._call("on_after", self.on_after, old, new)

    def _call(self, hook: str, function: Callable[..., ResultT], *args: object) -> ResultT:
        if not self.number:
            return _finished(function(*args))
        number = self._hook_numbers.get(hook, 0)
        if not number:
            number = self._reporter.add(object(), MemberKind.HOOK, hook, self.number)
            self._hook_numbers[hook] = number
        began_ns = perf_counter_ns()
        try:
            return _finished(function(*args))
        finally:
            self._reporter.call_ended(number, began_ns)

    def _refuse(self, name: str, code: TransitionError, text: str) -> bool:
        self._reporter.transition_refused(self.number, name, text)
        if self.on_error is not None:
            self._call("on_error", self.on_error, code, text)
        return False

    def _report_all(self) -> None:
        reporter = self._reporter
        reporter.set_text(self.number, Field.STATE, text_of(self._state))
        for name, edges in self._edges.items():
            for edge in edges:
                target = "" if callable(edge.target) else text_of(edge.target)
                for source in edge.sources:
                    number = reporter.add(edge, MemberKind.EDGE, name, self.number)
                    reporter.set_text(number, Field.SOURCE, text_of(source))
                    reporter.set_text(number, Field.TARGET, target)


def _finished(returned: ResultT) -> ResultT:
    refuse_unfinished(returned)
    return returned


def _checked_edges(name: str, edges: object) -> tuple[Edge[Any], ...]:
    """Return the edges of a transition."""
    if isinstance(edges, Edge):
        return (edges,)
    listed = (edges,) if isinstance(edges, str) or not isinstance(edges, Iterable) else (*edges,)
    for edge in listed:
        if not isinstance(edge, Edge):
            # A tuple is taken for an edge with a mistake in it, not for a list of edges.
            is_one = isinstance(edges, tuple) and not isinstance(edge, tuple)
            wrong = edges if is_one else edge
            written = ", ".join(map(repr, wrong)) if isinstance(wrong, tuple) else "source, target"
            raise TypeError(f"transition {name!r} has {wrong!r} for an edge: write Edge({written})")
    return listed
