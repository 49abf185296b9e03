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

    @property
    def verdict(self) -> Verdict:
        """The verdicts of all promises in one."""
        return worst(promise.verdict for promise in self.promises.values())

    @property
    def bound(self) -> str:
        """How far the search came."""
        part = f"stopped: {self.stopped}; " if self.stopped else ""
        return f"{part}{self.distinct:,} states, {self.generated:,} generated, depth {self.depth}"

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
