"""The names of modes in the bench of commits."""

from __future__ import annotations


def mode_name(decision: str, publication: str, requests: str) -> str:
    """Return the name of a mode."""
    return ", ".join(each for each in (decision, publication, requests) if each != "ascending")


def mode_of(name: str) -> str:
    """Return the name of a mode with its requests; an engine without that option requests under the lock."""
    return name if "_" in name else f"{name}, under_lock"
