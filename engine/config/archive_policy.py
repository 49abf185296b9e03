"""The policy that determines when the writers of a table archive old instants, and how many writes stay active."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .options import ARCHIVE, AUTOMATIC, LEAST, MOST, Refusal, parsed


class ArchivePolicy(NamedTuple):
    """The limits of archiving: a writer archives after its own write if more than `most` writes are active, and leaves
    the newest `least` writes active. The default values are the defaults of Hudi.

    Writes with uncompacted logs also stay active, so a table without compaction archives nothing.
    """

    least: int = 20
    most: int = 30

    def to_properties(self) -> dict[str, str]:
        """Convert the policy to keys and values of ``hoodie.properties``."""
        return {AUTOMATIC: "true", LEAST: str(self.least), MOST: str(self.most)}


def archive_policy_of(values: Mapping[str, str], refuse: Refusal) -> ArchivePolicy | None:
    """Return the policy that options or properties describe; None, the default, means that writers do not archive.
    Raises the error that `refuse` returns for an invalid value.
    """
    given = parsed(ARCHIVE, values, refuse)
    least = given.get("least", ArchivePolicy().least)
    most = given.get("most", max(ArchivePolicy().most, least + 1))
    if least >= most:
        name = MOST if MOST in values else LEAST
        raise refuse(name, values[name], f"a number above {LEAST}, which is {least}")
    return ArchivePolicy(least, most) if given.get("automatic") else None
