"""Checks of generated mutants: what no search of the model sees may show beside the engine.

The engine is as it is and the model is changed: timelines, slices and reads are compared after every step, so that a
mutant shows in what a search never looks at, the state of a pending instant or the name of an action.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Played(NamedTuple):
    """A check of a world of specs by name, or of worlds that it draws itself."""

    world: str = ""
    protocol: str = "default"
    histories: int = 20

    @property
    def where(self) -> str:
        """In words."""
        under = "" if self.protocol == "default" else f" under {self.protocol}"
        return (f"histories of {self.world}" if self.world else "histories of random worlds") + under

    def disagrees(self) -> str | None:
        """How the model differs from the engine in these histories; None if it does not."""
        from nbcc.simulator import specs
        from nbcc.simulator.crosscheck import coverage
        from nbcc.simulator.crosscheck.check import CheckOptions, run
        from nbcc.simulator.systems.registry import factory

        world = specs.world(self.world) if self.world else None
        setting = CheckOptions(factory("engine"), specs.protocol(self.protocol), world, readers=())
        coverage.pinned.cache_clear()  # what its model remembers was found in another model
        try:
            report = run(setting, examples=self.histories, seed=0, shrinks=False)
        except Exception as error:  # the model fails where the engine goes on
            return type(error).__name__
        finally:
            coverage.pinned.cache_clear()
        return None if report.found is None else "the engine disagrees"


CHECKS: Final = (
    Played(histories=60),
    *map(Played, (
        "archiving_crash", "cleaning_crash", "clustered", "columns_added_by_two", "loads", "log_compaction",
        "merged_by_function", "occ_failed", "occ_replaces", "partial_updates", "replaces", "restores_consumers",
        "restores_log_compaction", "restores_replace", "restores_rollback", "rollback_resumed", "savepoints",
        "sent_again", "skewed_clocks",
    )),
    *(Played(f"lost_lock_{world}", "decision-log") for world in ("loads", "replaces", "restores", "rollback")),
)  # fmt: skip
"""Worlds that a check draws by itself have neither of these actors and faults, or hardly ever."""
