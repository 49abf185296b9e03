"""A machine of named transitions. Nothing in this package refers to a table.

    `transition`: the language of a protocol: transitions, guards, effects.
    `composition`, `selection`: how mechanisms refine transitions; order: which refinements commute.
    `mechanism`, `options`, `plans`: what a module declares: actors, actions, options, limits, how plans run.
    `marks`: typed records that mechanisms add to a value.
    `binding`, `calls`, `effects`: parameter names resolved once, when a model is built; bound: the result.
    `state`, `stepper`: states packed into numbers; transitions run once per distinct footprint.
    `limits`: which actors only a limit of the world stops.
"""
