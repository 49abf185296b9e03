"""Defines transition systems whose actions and components have names. Nothing in this package refers to a table.

    The module `transition` defines transitions, guards and effects.
    The modules `composition` and `selection` define how mechanisms refine transitions.
    The module `order` decides which refinements commute.
    The modules `mechanism`, `options` and `plans` define what a mechanism declares: actors, actions, options, limits,
    and how plans run.
    The module `marks` defines typed records that mechanisms add to a value.
    The modules `binding`, `calls` and `effects` resolve parameter names once, when a model is built.
    The module `bound` defines the result: functions and transitions with resolved names.
    The module `state` packs states into numbers.
    The module `stepper` evaluates each transition once for each distinct footprint.
    The module `limits` finds the actors that stop only because the world limits the number of their actions.
"""
