"""The language of transition systems, in which actions and components have names. Nothing in this package refers to a
table.

    `transition`: Transitions, guards and effects. `composition`, `selection`: How mechanisms refine transitions. The
    module `order` decides which refinements commute. `mechanism`, `options`, `plans`: What a module declares: actors,
    actions, options, limits, and how plans run. `marks`: Typed records that mechanisms add to a value. `binding`,
    `calls`, `effects`: Resolve parameter names once, when a model is built. The module `bound` holds the result.
    `state`, `stepper`: Pack states into numbers, and evaluate transitions once for each distinct footprint. `limits`:
    Finds the actors that only a limit of the world stops.
"""
