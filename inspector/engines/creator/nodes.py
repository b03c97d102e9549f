"""The tree of nodes that components live on, as in Cocos Creator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

from inspector.engines.creator.components import Component, check_methods
from inspector.engines.creator.destruction import DestructionState, LifeComplaint
from inspector.engines.creator.rendering_scenes import RenderingScene
from inspector.engines.creator.reports import report_component
from inspector.foreign.numbers import shown

if TYPE_CHECKING:
    from inspector.engines.creator.director import CreatorDirector

ComponentT = TypeVar("ComponentT", bound="Component")


class Node:
    """A node with components and children; the components run while it is active."""

    def __init__(
        self,
        director: CreatorDirector,
        name: str = "",
        *,
        parent: Node | None = None,
        active: bool = True,
    ) -> None:
        if not hasattr(director, "destruction"):
            what = f"{type(self).__name__}(director, name)"
            raise TypeError(f"{what}: needs a CreatorDirector, not {shown(director)}")
        self.director = director  # Runs its frames
        self._name = name
        self.components: list[Component] = []  # In the order in which they were added; read-only
        self.children: list[Node] = []  # In the order in which they were added; read-only
        self.life = DestructionState()  # Whether it is marked or destroyed
        # Whether it and all nodes above are active, up to a running scene; kept by the engine
        self.active_in_hierarchy = False
        self.is_deactivating = False  # Inside its own deactivation; kept by the engine
        self.is_ending = False  # During or after its real destruction
        self._parent: Node | None = None
        self._active = active
        if parent is None:
            self._report_place()
        else:
            self.parent = parent

    def __repr__(self) -> str:
        state = "active" if self.active_in_hierarchy else "inactive"
        if self.life.is_marked or self.life.is_destroyed:
            state = "destroyed" if self.life.is_destroyed else "will be destroyed"
        return f"<{type(self).__name__} {self.name!r}, {state}>"

    def is_valid(self, *, strict: bool = False) -> bool:
        """Return whether it is not destroyed, or with ``strict`` not even marked.

        Quirk: children of a marked node are not marked themselves.
        """
        life = self.life
        return not (life.is_destroyed or (strict and life.is_marked))

    def walk(self) -> Iterator[Node]:
        """Yield the nodes of the branch, depth first, starting with this one."""
        yield self
        for child in list(self.children):
            yield from child.walk()

    @property
    def name(self) -> str:
        """Display name."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name
        if self.director.reports is not None:
            self.director.reports.node_renamed(self)

    def report(self) -> None:
        """Report the changes of its life cycle; internal."""
        if self.director.reports is not None:
            self.director.reports.node_changed(self)

    def _report_place(self) -> None:
        if self.director.reports is not None:
            self.director.reports.node_placed(self)

    @property
    def active(self) -> bool:
        """Its own flag; setting it activates or deactivates the branch before it returns.

        Quirk: setting it inside the node's own deactivation is refused; the flag stays on while
        the node is inactive.
        """
        return self._active

    @active.setter
    def active(self, active: bool) -> None:
        if self._active == active:
            return
        self._active = active
        self.report()
        parent = self._parent
        if parent is not None and parent.active_in_hierarchy:
            self._set_active_in_hierarchy(active=active)

    @property
    def parent(self) -> Node | None:
        """The node above; setting it activates or deactivates the branch as needed.

        Moving between two active parents calls nothing.
        """
        return self._parent

    @parent.setter
    def parent(self, parent: Node | None) -> None:
        old = self._parent
        if parent is old:
            return
        self._check_parent(parent)
        for affected in (old, parent):
            if affected is not None and affected.is_deactivating and self.director.is_debug:
                self.director.complain(LifeComplaint.PARENT_DEACTIVATING, self)
        self._parent = parent
        if parent is not None:
            parent.children.append(self)
        self._report_place()
        if old is not None:
            # Quirk: leaving a node that is being destroyed changes no activity.
            if old.is_ending:
                return
            old.children.remove(self)
        should_be_active = self._active and parent is not None and parent.active_in_hierarchy
        if self.active_in_hierarchy != should_be_active:
            self._set_active_in_hierarchy(active=should_be_active)

    def _check_parent(self, parent: Node | None) -> None:
        if parent is not None and parent.life.is_destroyed:
            raise RuntimeError(f"{parent!r} cannot have children")
        above = parent
        while above is not None:
            if above is self:
                message = f"{self.name!r} cannot be moved under {parent!r}, which is below it"
                raise ValueError(message)
            above = above.parent

    def _set_active_in_hierarchy(self, *, active: bool) -> None:
        activator = self.director.activator
        if active:
            activator.activate(self)
        else:
            activator.deactivate(self)

    def add_component(self, component: ComponentT) -> ComponentT:
        """Add a component; on an active node it is loaded and enabled before this returns."""
        _check_component(component)
        if self.life.is_destroyed:
            raise RuntimeError(f"{self!r} cannot have components")
        life = component.life
        if life.director is not None:
            raise ValueError(f"a component can be added to one node only, once: {component!r}")
        check_methods(component)
        life.director = self.director
        life.node = self
        life.number = self.director.next_component_number()
        self.components.append(component)
        report_component(component)
        if self.active_in_hierarchy:
            self.director.activator.activate_component(component)
        return component

    def component(self, kind: type[ComponentT]) -> ComponentT | None:
        """Return the first component of a class, ``None`` if there is none."""
        return next((found for found in self.components if isinstance(found, kind)), None)

    def forget(self, component: Component) -> None:
        """Remove a destroyed component; internal."""
        if not self.is_ending:
            self.components[:] = [other for other in self.components if other is not component]

    def destroy(self) -> bool:
        """Disable it and all below it now, and destroy it at the end of the frame.

        In Creator 1.x the node stays active until then: what is added to it still runs. Returns
        whether it was neither destroyed nor marked.
        """
        if not self.director.destruction.mark(self):
            return False
        if self.director.dialect.destroy_deactivates:
            self.active = False
        elif self.active_in_hierarchy:
            self.director.activator.disable_components(self)
        return True

    def destroy_all_children(self) -> None:
        """Destroy each child."""
        for child in list(self.children):
            child.destroy()

    def end(self) -> None:
        """Destroy it for real: children first, then components; internal."""
        self.is_ending = True
        destroy_now = self.director.destruction.destroy_now
        # What is added meanwhile is not destroyed; the lists do not shrink any more.
        for child in list(self.children):
            destroy_now(child)
        for component in list(self.components):
            destroy_now(component)
        parent = self._parent
        if parent is not None and not parent.is_ending:
            parent.children.remove(self)
        self._parent = None
        self.children = []
        self.components = []


def _check_component(component: object) -> None:
    life = getattr(component, "life", None)
    if hasattr(life, "director"):
        return
    if isinstance(component, type):
        name = component.__name__
        message = f"add_component needs an instance, not the class; write add_component({name}())"
    else:
        message = (
            f"add_component needs an instance of a class derived from Component: {component!r}"
        )
    raise TypeError(message)


class Scene(Node):
    """The root of a tree; the director that runs it makes it active."""

    def __init__(self, director: CreatorDirector, name: str = "") -> None:
        self.rendering = RenderingScene(name)  # What Creator 1.x draws while the scene runs
        super().__init__(director, name)

    def destroy(self) -> bool:
        """Disable every branch now, and destroy everything with the next flush."""
        if not self.director.dialect.destroy_deactivates:
            is_new = super().destroy()
        else:
            is_new = self.director.destruction.mark(self)
            index = 0
            while is_new and index < len(self.children):
                # Not a copy: what is added meanwhile is switched off too.
                self.children[index].active = False
                index += 1
            self._active = False
        self.active_in_hierarchy = False
        self.report()
        return is_new
