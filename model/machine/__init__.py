"""The modelling language: transition systems with named actors and components (state variables). Nothing in the package
`machine` depends on Hudi tables. The page docs/write-your-own-model.md shows how to write a model.

    The module `transition_system` defines a whole system: first values, actors and transitions.
    The module `transition` defines transitions, guards and effects.
    The modules `composition` and `selection` define how a mechanism refines transitions of the kernel.
    The module `order` decides whether two refinements of a transition commute.
    The modules `mechanism`, `options` and `plans` define the declarations of a mechanism: actors, actions, options,
    limits and plans.
    The module `marks` defines typed records that mechanisms attach to stored values, such as writes.
    The modules `binding`, `calls` and `effects` resolve the parameter names of guards and effects when a model is
    built.
    The module `bound` defines functions and transitions whose parameters have been resolved to components.
    The module `state` encodes each state as one number.
    The module `stepper` evaluates a transition once for each combination of the values that it reads.
    The module `limits` finds actors that are blocked only by limits of the world, such as the number of writes.
"""

from __future__ import annotations

from .transition import Args, Branch, Changes, Component, Effect, Guard, Step, Transition, become, preset, transition
from .transition_system import TransitionSystem

__all__ = [
    "Args", "Branch", "Changes", "Component", "Effect", "Guard", "Step", "Transition", "TransitionSystem", "become",
    "preset", "transition",
]  # fmt: skip
