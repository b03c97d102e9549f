"""The lists from which Cocos Creator calls components, each with its cursor.

Three lists make one order: negative execution orders, zero, positive ones. Their behaviour
when a component leaves during an iteration causes the original's surprises.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from inspector.clocks.callbacks import refuse_unfinished
from inspector.clocks.failures import CALLBACK_ERRORS

if TYPE_CHECKING:
    from inspector.engines.creator.components import Component

    #: Called with the component that raised, the exception, and the component at the cursor.
    OnError = Callable[[Component, BaseException, Component | None], None]


class ComponentList:
    """Components, and the cursor of the iteration over them."""

    __slots__ = ("cursor", "items")

    def __init__(self) -> None:
        self.items: list[Component] = []  # In call order
        self.cursor = -1  # Index of the current item; between iterations, where the last one ended

    def call_all(self, call: Callable[[Component], object], on_error: OnError | None) -> None:
        """Call each; items added at the end meanwhile are called too.

        Exceptions go to ``on_error``, after which the iteration continues; ``None`` raises them.
        """
        items = self.items
        self.cursor = 0
        while self.cursor < len(items):
            component = items[self.cursor]
            try:
                returned = call(component)
                if returned is not None:
                    refuse_unfinished(returned)
            except CALLBACK_ERRORS as error:
                if on_error is None:
                    raise
                is_anybody_there = 0 <= self.cursor < len(items)
                on_error(component, error, items[self.cursor] if is_anybody_there else None)
            self.cursor += 1

    def remove_at(self, index: int) -> None:
        """Remove; later items move up."""
        del self.items[index]
        self._step_back(index)

    def remove_by_swap(self, component: Component) -> None:
        """Remove if present; the last item takes the place.

        Quirk: an iteration that is past the place still steps back, though nothing moved up. It
        calls the current component a second time and misses the last one, which is now at a place
        already passed.
        """
        index = _index_of(self.items, component)
        if index is None:
            return
        last = self.items.pop()
        if last is not component:
            self.items[index] = last
        self._step_back(index)

    def _step_back(self, index: int) -> None:
        if index <= self.cursor:
            self.cursor -= 1


class _ByOrder:
    """Three lists: negative execution orders, zero, positive ones."""

    __slots__ = ("negative", "positive", "zero")

    def __init__(self) -> None:
        self.negative = ComponentList()
        self.zero = ComponentList()
        self.positive = ComponentList()

    def __iter__(self) -> Iterator[Component]:
        return iter([*self.negative.items, *self.zero.items, *self.positive.items])

    def list_of(self, component: Component) -> ComponentList:
        order = component.execution_order
        return self.zero if order == 0 else self.negative if order < 0 else self.positive


class OneShotCalls(_ByOrder):
    """Calls that each component gets once: ``on_load``, ``on_enable``, ``start``."""

    __slots__ = ()

    def add(self, component: Component) -> None:
        """Add a component; added to the list under iteration, it still has its turn."""
        self.list_of(component).items.append(component)

    def remove(self, component: Component) -> None:
        self.list_of(component).remove_by_swap(component)

    def call_all(
        self, call: Callable[[Component], object], on_error: OnError | None = None
    ) -> None:
        """Call each and empty the lists; a list is sorted when its turn comes."""
        for components in (self.negative, self.zero, self.positive):
            components.items.sort(key=_execution_order)
            components.call_all(call, on_error)
            components.items.clear()

    def cancel_inactive(self, on_cancel: Callable[[Component], object] | None = None) -> None:
        """Drop pending components that are disabled or on an inactive node."""
        for components in (self.zero, self.negative, self.positive):
            index = components.cursor + 1
            while index < len(components.items):
                component = components.items[index]
                if component.may_run:
                    index += 1
                    continue
                components.remove_at(index)
                if on_cancel is not None:
                    on_cancel(component)


class FrameCalls(_ByOrder):
    """Calls that each component gets in every frame: ``update``, ``late_update``.

    Equal execution orders other than zero are sorted by component id.
    """

    __slots__ = ("_key",)

    def __init__(self, *, compares_ids_as_text: bool) -> None:
        super().__init__()
        self._key = _key_by_text if compares_ids_as_text else _key_by_number

    def add(self, component: Component) -> None:
        components = self.list_of(component)
        if components is self.zero:
            components.items.append(component)
        else:
            components.items.insert(self._place(components, component), component)

    def remove(self, component: Component) -> None:
        components = self.list_of(component)
        if components is self.zero:
            components.remove_by_swap(component)
            return
        index = self._place(components, component)
        if index < len(components.items) and components.items[index] is component:
            components.remove_at(index)

    def call_all(
        self, call: Callable[[Component], object], on_error: OnError | None = None
    ) -> None:
        for components in (self.negative, self.zero, self.positive):
            components.call_all(call, on_error)

    def _place(self, components: ComponentList, component: Component) -> int:
        key: Callable[[Component], Any] = self._key
        return bisect_left(components.items, key(component), key=key)


def _execution_order(component: Component) -> int:
    return component.execution_order


def _key_by_text(component: Component) -> tuple[int, str]:
    # Quirk: "Comp.1000" comes before "Comp.999".
    return component.execution_order, component.life.id


def _key_by_number(component: Component) -> tuple[int, int]:
    return component.execution_order, component.life.number


def _index_of(items: list[Component], component: Component) -> int | None:
    # By identity: a component that is a dataclass may equal another.
    return next((index for index, item in enumerate(items) if item is component), None)
