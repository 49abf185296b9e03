"""A machine of named transitions: how a state is encoded, how transitions are composed, what limits a world sets.

Nothing in this package refers to a table. `transition` is what a protocol is written in, `binding` resolves its names,
`state` packs the values of components into one number, `stepper` runs transitions and remembers their results.
"""
