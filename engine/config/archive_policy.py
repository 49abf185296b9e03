"""When the writers of a table archive old instants after their own writes, and how many writes stay active."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .options import ARCHIVE, AUTOMATIC, LEAST, MOST, Refusal, parsed


class ArchivePolicy(NamedTuple):
    """A writer archives once more than `most` writes are active, and leaves the newest `least`. The defaults are
    Hudi's.

    Writes with uncompacted logs also stay active, so nothing is archived without compaction.
    """

    least: int = 20
    most: int = 30

    def to_properties(self) -> dict[str, str]:
        """The policy as keys of ``hoodie.properties``."""
        return {AUTOMATIC: "true", LEAST: str(self.least), MOST: str(self.most)}


def archive_policy_of(values: Mapping[str, str], refuse: Refusal) -> ArchivePolicy | None:
    """The policy in options or properties; None, the default: writers do not archive. Raises `refuse(…)` for an invalid
    value.
    """
    given = parsed(ARCHIVE, values, refuse)
    least = given.get("least", ArchivePolicy().least)
    most = given.get("most", max(ArchivePolicy().most, least + 1))
    if least >= most:
        name = MOST if MOST in values else LEAST
        raise refuse(name, values[name], f"a number above {LEAST}, which is {least}")
    return ArchivePolicy(least, most) if given.get("automatic") else None
