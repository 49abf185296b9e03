"""A schema evolver (an actor that adds columns) adds a column under the lock, and then publishes a commit without
files.
"""
