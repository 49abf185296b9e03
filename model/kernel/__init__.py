"""RFC-66 as transitions: clock and lock, timeline, writer, compactor, reader, slicing, merging, reads and planning.

Nothing in this package imports a mechanism. Mechanisms refine the transitions of the kernel from outside.
"""
