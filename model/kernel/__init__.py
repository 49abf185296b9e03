"""RFC-66 without any mechanism. So far it holds the lock; writer, compactor, reader and slicing are still beside it.

Nothing in this package imports a mechanism: mechanisms refine the transitions of the kernel from outside.
"""
