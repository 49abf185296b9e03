"""Archiving moves old completed instants from the active timeline to the archive, an LSM tree."""
