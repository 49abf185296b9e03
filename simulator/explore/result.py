"""What a search found, as values and as the JSON of `nbcc explore --json`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .verdict import Verdict, worst


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseResult:
    """`steps` is the length of the shortest counterexample, `trace` the counterexample (steps of the system).

    `because` is the broken promise's message, or why the verdict is not HOLDS.
    """

    name: str
    verdict: Verdict
    because: str | None = None
    trace: tuple[Any, ...] | None = None

    @property
    def steps(self) -> int | None:
        return None if self.trace is None else len(self.trace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """`actions`: action -> in how many footprints it was possible, those of each part of a search counted by itself.
    `never_false`: (action, condition) that no state
    refuted while the action's other conditions held. `untested`: promises whose `sometimes` was not reached."""

    actions: dict[str, int]
    never_false: tuple[tuple[str, str], ...]
    untested: tuple[str, ...]

    @property
    def never_taken(self) -> tuple[str, ...]:
        """Actions that the world has and that no state allowed."""
        return tuple(name for name, times in self.actions.items() if not times)

    def to_json(self) -> dict[str, Any]:
        """For `explore --json`."""
        never = [{"action": action, "condition": reason} for action, reason in self.never_false]
        return {"actions": self.actions, "never_false": never, "untested": list(self.untested)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """`distinct` states, `generated` states (the first one and every successor), `depth` in levels, as TLC counts.

    `stopped` says why the search did not see everything, None if it did. `deadlock` leads to a state in which nothing
    can happen although somebody is in the midst of an operation. `ends` are the states in which nothing can happen,
    `ends_by_budget` those of them where a limit of the world, and nothing else, keeps somebody from going on.
    """

    distinct: int
    generated: int
    depth: int
    seconds: float
    stopped: str | None = None
    promises: dict[str, PromiseResult] = field(default_factory=dict)
    deadlock: tuple[Any, ...] | None = None
    ends: int = 0
    ends_by_budget: int = 0
    canary: bool | None = None
    """Whether the canary was seen to be violated; None: there was none."""
    reductions: tuple[str, ...] = ()
    """What was reduced, in words; then `distinct` counts what was kept, and `stands_for` the states of the system."""
    stands_for: int | None = None
    coverage: Coverage | None = None
    shards: Any = None
    """After a search of the prefix: the `shards.Shard` that is left to search."""

    @property
    def verdict(self) -> Verdict:
        """The verdicts of all promises in one."""
        return worst(promise.verdict for promise in self.promises.values())

    @property
    def bound(self) -> str:
        """How far the search came."""
        part = f"stopped: {self.stopped}; " if self.stopped else ""
        whole = f" that stand for {self.stands_for:,}" if self.stands_for else ""
        return f"{part}{self.distinct:,} states{whole}, {self.generated:,} generated, depth {self.depth}"

    def to_json(self, world: str, protocol: str) -> dict[str, Any]:
        """The mapping that `explore --json` prints; a trace is a list of steps by name."""
        return {
            "format": 1,
            "world": world,
            "protocol": protocol,
            "distinct": self.distinct,
            "generated": self.generated,
            "depth": self.depth,
            "seconds": round(self.seconds, 3),
            "states_per_second": round(self.generated / self.seconds) if self.seconds > 0 else None,
            "stopped": self.stopped,
            "deadlock": _steps(self.deadlock),
            "ends": self.ends,
            "ends_by_budget": self.ends_by_budget,
            "reductions": list(self.reductions),
            "stands_for": self.stands_for,
            "coverage": self.coverage.to_json() if self.coverage else None,
            "promises": {
                name: {
                    "verdict": str(found.verdict),
                    "bound": self.bound,
                    "steps": found.steps,
                    "trace": _steps(found.trace),
                    "because": found.because,
                }
                for name, found in self.promises.items()
            },
        }


def _steps(trace: tuple[Any, ...] | None) -> list[dict[str, Any]] | None:
    if trace is None:
        return None
    return [{"actor": step.actor, "action": step.action, "args": dict(step.args)} for step in trace]
