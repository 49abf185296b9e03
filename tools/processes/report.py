"""The report of a run with kills."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of a run.

    `kills` maps an interrupted operation to the number of kills. `breaches` maps a promise to sentences about its
    violations.
    """

    kills: dict[str, int]
    writes: int
    acknowledged: int
    visible_unacknowledged: int
    reads: int
    compactions: int
    resumed: int
    rolled_back: int
    resent: int
    late: int
    seconds: float
    seed: int
    breaches: dict[str, list[str]] = field(default_factory=dict)
    failures: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Return whether every promise was kept and no process failed without being killed."""
        return not self.failures and not any(self.breaches.values())

    @property
    def text(self) -> str:
        """Return the verdict and the figures in a few lines."""
        total = sum(self.kills.values())
        operations = ", ".join(
            f"{count} in a {what}" if what else f"{count} at rest" for what, count in self.kills.items()
        )
        lines = [
            f"{'SURVIVED' if self.kept else 'BROKEN'}  {total} kills ({operations}), "
            f"seed {self.seed}, {self.seconds:.0f} s",
            f"  {self.writes} writes begun, {self.acknowledged} acknowledged; {self.visible_unacknowledged} became "
            f"visible that were not",
            f"  {self.compactions} compactions, {self.resumed} of them of plans whose compactor was killed; "
            f"{self.reads} snapshots",
            f"  {self.rolled_back} writes of killed processes rolled back by others, {self.resent} batches sent again; "
            f"{self.late} requests ended at the limit that a lease sets",
            f"  kept: {', '.join(name for name, found in self.breaches.items() if not found)}",
        ]
        for promise, found in self.breaches.items():
            lines += [f"  {promise} broken {len(found)} times: {sentence}" for sentence in found[:1]]
        return "\n".join([*lines, *(f"  failed, not killed: {failure}" for failure in self.failures[:5])])
