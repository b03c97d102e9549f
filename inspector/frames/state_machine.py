"""A finite state machine: states, named transitions, and hooks around them.

As it is, it behaves like the TypeScript state machine it comes from, which can be
checked against recordings of it. What its users ask for (guards, queued transitions,
entering and leaving per state, going on after an exception) is off until asked for.
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
from inspector.frames.reporting import Reporter, text_of
from inspector.vocabulary import Field, MemberKind

if TYPE_CHECKING:
    from inspector.clocks.clock import Clock

StateT = TypeVar("StateT", bound=Hashable)
NameT = TypeVar("NameT", bound=str)
ResultT = TypeVar("ResultT")

#: As the source of an edge: any state. Inside a list it is a state like any other.
ANY: Final = "*"

#: Called with the state that is left and the one that is entered.
Hook: TypeAlias = Callable[[StateT, StateT], object]


class TransitionError(IntEnum):
    """Why a transition was not made; the numbers are the original's."""

    NOT_ALLOWED = 1000
    IS_TRANSITING = 1011
    #: Ours: a guard has refused.
    REFUSED = 1100


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Edge(Generic[StateT]):
    """One way in which a transition can be made.

    Attributes:
        source: The state it leads away from, a list of such states, or :data:`ANY`.
        target: The state it leads to, or a function from the present state to it.
        on_transition: Called between "before" and the change of state.
        guard: Called with the present state; a false answer refuses the transition.
    """

    source: StateT | Sequence[StateT] | str
    target: StateT | Callable[[StateT], StateT]
    on_transition: Hook[StateT] | None = None
    guard: Callable[[StateT], bool] | None = None

    def __post_init__(self) -> None:
        """Refuse hooks that nothing would run.

        Raises:
            TypeError: One of them cannot be called, or is an async or generator function.
        """
        for hook in (self.on_transition, self.guard):
            if hook is not None:
                checked_callable(hook)
        if callable(self.target):
            checked_callable(self.target)

    def matches(self, state: StateT) -> bool:
        """Whether it leads away from ``state``; a guard is not asked."""
        source = self.source
        if isinstance(source, (list, tuple)):
            return state in source
        return source in (ANY, state)

    @property
    def sources(self) -> tuple[object, ...]:
        """The states it leads away from, one by one; :data:`ANY` for any."""
        source = self.source
        return tuple(source) if isinstance(source, (list, tuple)) else (source,)


@dataclass(frozen=True, slots=True)
class MachineRules:
    """What a machine does beyond the original; all of it is off by default.

    Attributes:
        queues_transitions: A transition asked for inside a callback is made after the
            present one, instead of being an error.
        recovers: After an exception in a callback the machine can go on; the original
            stays locked for ever.
    """

    queues_transitions: bool = False
    recovers: bool = False


ORIGINAL: Final = MachineRules()

#: What stands for a transition in the history of a machine that was reset.
RESET: Final = "(reset)"
SOUND: Final = MachineRules(queues_transitions=True, recovers=True)

#: So many transitions may wait for one another before that is called endless.
MOST_IN_A_ROW: Final = 10_000


class EndlessTransitionsError(RuntimeError):
    """Transitions of a machine keep asking for one another."""


class Transitions:
    """The transitions of a machine as functions: ``machine.transitions.open()``.

    Each does what ``machine.go("open")`` does. A name that is no identifier is looked up:
    ``machine.transitions["step back"]()``.
    """

    __slots__ = ("_machine",)

    def __init__(self, machine: StateMachine[Any, Any]) -> None:
        """Offer those of a machine."""
        self._machine = machine

    def __getattr__(self, name: str) -> Callable[[], bool]:
        """Return what makes a transition."""
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0], name=name, obj=self) from None

    def __getitem__(self, name: str) -> Callable[[], bool]:
        """Return what makes a transition.

        Raises:
            KeyError: There is no such transition.
        """
        self._machine.edges(name)
        return partial(self._machine.go, name)

    def __dir__(self) -> list[str]:
        """Return the names of all transitions."""
        return list(self._machine.names)


class StateMachine(Generic[StateT, NameT]):
    """Makes named transitions from state to state.

    The names can be checked by a type checker: annotate a machine as
    ``StateMachine[str, Literal["open", "close"]]``. Of the edges of a transition the
    first that matches is taken. The hooks run in this order: ``on_before``, leaving
    the old state, the edge's own, then the state changes, entering the new state,
    ``on_after``.

    Attributes:
        on_before: Called before anything else, may be set and removed at any time.
        on_after: Called when everything is done.
        on_error: Called with a code and a sentence when a transition is not made.
        on_enter: By state: called after that state was entered.
        on_leave: By state: called before that state is left.
        transitions: The transitions as functions: ``machine.transitions.open()``.
        name: What people call it.
        number: By which it is reported; 0 without a clock, or when nobody records.
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
        """Begin in ``initial``.

        Args:
            initial: The first state.
            transitions: By name, an edge or a list of edges that are tried in order.
            rules: What it does beyond the original.
            clock: The clock that it is shown under, with what it does.
            name: What people call it.

        Raises:
            TypeError: Something stands in the place of an edge.
        """
        self._initial = self._state = initial
        self._edges: dict[str, tuple[Edge[StateT], ...]] = {
            name: _checked_edges(name, edges) for name, edges in transitions.items()
        }
        self.transitions = Transitions(self)
        self._rules = rules
        # Stays so after an exception, unless it recovers: then no hook is being called.
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
        """Show the present state and what can be done from it."""
        return f"<StateMachine in {self._state!r}, can {', '.join(self.possible()) or 'nothing'}>"

    @property
    def state(self) -> StateT:
        """The present state."""
        return self._state

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all transitions, in the order in which they were defined."""
        return tuple(self._edges)

    def edges(self, name: NameT) -> tuple[Edge[StateT], ...]:
        """Return the edges of a transition.

        Raises:
            KeyError: There is no such transition.
        """
        if name not in self._edges:
            message = f"no transition {name!r}; there are {', '.join(self._edges)}"
            raise KeyError(message)
        return self._edges[name]

    def can(self, name: str) -> bool:
        """Whether a transition leads away from the present state; unknown names do not."""
        return any(edge.matches(self._state) for edge in self._edges.get(name, ()))

    def possible(self) -> list[str]:
        """Return the names of the transitions that lead away from the present state."""
        return [name for name in self._edges if self.can(name)]

    def go(self, name: NameT) -> bool:
        """Make a transition.

        Returns:
            Whether it was made; ``False`` too when it waits for the present one.

        Raises:
            KeyError: There is no such transition. (Not being allowed is no exception:
                ``on_error`` is called.)
            EndlessTransitionsError: Those that waited kept asking for others.
        """
        self.edges(name)
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
                    f"more than {MOST_IN_A_ROW:,} transitions waited for one another, the last "
                    f"{name!r}; is there a hook that always asks for the next one?"
                )
            name = self._waiting.popleft()
            self._try(name)
        return made

    def reset(self) -> bool:
        """Go back to the first state, without a transition: no hook is called.

        What waits is dropped, and a machine that an exception has locked can go on.

        Returns:
            Whether it was done: not within a hook, which is an error like a transition there.
        """
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
        """Call a hook, and report the call."""
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
        """Report the first state, and every edge."""
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
    """Return the edges of a transition.

    Raises:
        TypeError: One of them is something else.
    """
    if isinstance(edges, Edge):
        return (edges,)
    listed = (edges,) if isinstance(edges, str) or not isinstance(edges, Iterable) else (*edges,)
    for edge in listed:
        if not isinstance(edge, Edge):
            # A tuple is taken for one edge that was meant, not for a list of such.
            is_one = isinstance(edges, tuple) and not isinstance(edge, tuple)
            wrong = edges if is_one else edge
            written = ", ".join(map(repr, wrong)) if isinstance(wrong, tuple) else "source, target"
            message = f"transition {name!r} has {wrong!r} for an edge: write Edge({written})"
            raise TypeError(message)
    return listed
