"""The systems that are timed, each a process of its own that times its own operations and answers over a pipe."""
