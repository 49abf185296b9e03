"""Archiving: old completed instants move from the active timeline to the archived one, an LSM tree of its own."""
