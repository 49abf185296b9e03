"""Mutants that survive every search are run against the engine.

The model is mutated, and the engine is unchanged. Timelines, slices and reads are compared after every step. The
comparison detects changes that no search can detect, such as the state of a pending instant.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class EngineCheck(NamedTuple):
    """Random histories of a named world, or of random worlds."""

    world: str = ""
    protocol: str = "default"
    histories: int = 20

    @property
    def where(self) -> str:
        """The check in words."""
        under = "" if self.protocol == "default" else f" under {self.protocol}"
        return (f"histories of {self.world}" if self.world else "histories of random worlds") + under

    def difference(self) -> str | None:
        """Return how the model differs from the engine in these histories; None if they agree."""
        from nbcc.simulator import specs
        from nbcc.simulator.crosscheck import coverage
        from nbcc.simulator.crosscheck.check import CheckOptions, run
        from nbcc.simulator.systems.registry import factory

        world = specs.world(self.world) if self.world else None
        options = CheckOptions(factory("engine"), specs.protocol(self.protocol), world, readers=())
        coverage.pinned.cache_clear()  # it caches the graph of a model with another mutant
        try:
            report = run(options, examples=self.histories, seed=0, shrinks=False)
        except Exception as error:  # the mutated model fails where the engine does not
            return type(error).__name__
        finally:
            coverage.pinned.cache_clear()
        return None if report.disagreement is None else "the engine disagrees"


CHECKS: Final = (
    EngineCheck(histories=60),
    *map(EngineCheck, (
        "archiving_crash", "cleaning_crash", "clustered", "columns_added_by_two", "loads", "log_compaction",
        "merged_by_function", "occ_failed", "occ_replaces", "partial_updates", "replaces", "restores_consumers",
        "restores_log_compaction", "restores_replace", "restores_rollback", "rollback_resumed", "savepoints",
        "sent_again", "skewed_clocks",
    )),
    *(EngineCheck(f"lost_lock_{world}", "decision-log") for world in ("loads", "replaces", "restores", "rollback")),
)  # fmt: skip
"""Random worlds rarely have the actors and faults of the named ones."""
