"""The names of modes in the bench of commits."""

from __future__ import annotations


def mode_name(decision: str, publication: str, requests: str) -> str:
    return ", ".join(each for each in (decision, publication, requests) if each != "ascending")
