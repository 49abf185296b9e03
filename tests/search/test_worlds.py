"""The default protocol keeps every promise in every named world. By day the sizes of core worlds are compared."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.mechanisms.endless import Endless
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Result, Verdict, explore

from .pins import SIZES, search, violated

# One world for each family of mechanisms: by day an unintended change of the model shows in their sizes.
CORE = {
    "demo", "readers", "consumers", "crash_resume", "failed_writer", "cleaning", "archiving", "restores", "replaces",
    "log_compaction", "metadata_writers", "partial_updates", "lost_lock",
}  # fmt: skip


def worlds(*, sized: bool) -> list[Any]:
    """Every world. Those that are large, or whose size is not of interest by day, wait for `make nightly`.

    Both tests of a world run in one process, so that they share its search.
    """
    return [
        pytest.param(name, marks=[
            pytest.mark.xdist_group(name),
            *([pytest.mark.nightly] if pinned.get("nightly") or (sized and name not in CORE) else []),
        ])
        for name, pinned in SIZES["worlds"].items()
    ]  # fmt: skip


@cache
def searched(name: str) -> Result:
    return search(specs.system(name))


def test_every_world_has_its_size_pinned() -> None:
    assert sorted(SIZES["worlds"]) == sorted(specs.world_names())


@pytest.mark.parametrize("name", worlds(sized=False))
def test_the_default_protocol_keeps_every_promise(name: str) -> None:
    result = searched(name)

    pinned = SIZES["worlds"][name]
    assert violated(result) == pinned.get("violated", {})
    others = {name: found for name, found in result.promises.items() if found.verdict is not Verdict.VIOLATED}
    doubtful = {promise for promise, found in others.items() if found.verdict is Verdict.UNDETERMINED}
    assert doubtful == set(pinned.get("undetermined", ()))
    verdicts = {promise: (each.verdict, each.because) for promise, each in others.items() if promise not in doubtful}
    applies = {verdict for verdict in verdicts.values() if verdict[0] is not Verdict.NOT_APPLICABLE}
    assert applies == {(Verdict.HOLDS, None)}, verdicts
    assert result.canary is True
    assert result.deadlock is None
    assert result.ends == result.ends_at_limit
    assert (result.ends == 0) == bool(specs.world(name)[Endless].endless)


@pytest.mark.parametrize("name", worlds(sized=True))
def test_the_size_is_the_pinned_one(name: str) -> None:
    pinned, result = SIZES["worlds"][name], searched(name)

    assert (result.distinct, result.generated, result.depth) == tuple(
        pinned[n] for n in ("distinct", "generated", "depth")
    )


def test_a_clean_keeps_the_inputs_of_a_pending_log_compaction_that_an_overwrite_has_hidden() -> None:
    """Searched again, without `searched`, so that the mutant `clean-forgets-planned-inputs` is seen."""
    assert violated(search(specs.system("replaces_cleaned"))) == {}


def test_serial_scheduling_loses_nothing_and_lets_a_compactor_wait_for_writers() -> None:
    world = specs.world("demo")
    serial, default = (search(Model(world, Protocol(scheduling=each))) for each in ("serial", "non_serial"))

    assert default.verdict is Verdict.HOLDS
    assert violated(serial) == {"USEFUL": 7}
    assert serial.distinct < default.distinct


@pytest.mark.parametrize(("choice", "broken"), [("any_log", 9), ("completed_before_barrier", None)])
def test_a_compactor_plans_by_its_own_choice(choice: str, broken: int | None) -> None:
    crew = World(actors={"writer": 2, "compactor": 1}, settings={"compactor": {"plan_takes": choice}})

    assert explore(Model(crew), [PROMISES["SNAP"]], reduce=True).promises["SNAP"].steps == broken
