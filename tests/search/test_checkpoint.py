"""A search that stopped at a bound goes on from its file, and finds what a search in one piece finds."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from examples.hudi_v5 import Constants, HudiV5
from nbcc.model.machine import Guard, TransitionSystem, transition
from nbcc.model.promises import PROMISES
from nbcc.model.promises.writers import CANARY
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Result, explore
from nbcc.simulator.search.locks import LockLimits, NumberedLockModel, StorageLockModel

EVERY = list(PROMISES.values())


def pieces(file: Path, world: str, protocol: str, reduce: bool, first: int) -> tuple[Result, Result]:
    """The search stopped beyond `first` states, and the one that goes on."""
    found = []
    for bound in (first, None):
        system: Any = specs.system(world, protocol)
        found.append(explore(system, EVERY, canary=CANARY, max_states=bound, reduce=reduce, checkpoint=file))
    return found[0], found[1]


@pytest.mark.parametrize("reduce", [True, False])
@pytest.mark.parametrize("first", [20, 100])
@pytest.mark.parametrize("protocol", ["default", "completion-outside-lock"])
def test_a_search_in_two_pieces_is_a_search(tmp_path: Path, protocol: str, first: int, reduce: bool) -> None:
    file = tmp_path / "kept"
    stopped, rest = pieces(file, "demo", protocol, reduce, first)
    whole = explore(specs.system("demo", protocol), EVERY, canary=CANARY, reduce=reduce)

    assert stopped.stopped == f"more than {first} distinct states"
    assert replace(rest, seconds=0) == replace(whole, seconds=0)
    assert not file.exists()


def test_another_search_does_not_go_on_from_it(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    explore(specs.system("demo"), EVERY, max_states=20, checkpoint=file)
    with pytest.raises(ValueError, match="was written by another search, or by other code"):
        explore(specs.system("demo", "single-listing"), EVERY, checkpoint=file)


@pytest.mark.parametrize("content", [b"", b"nothing", pickle.dumps({}), pickle.dumps([Path("x")])])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "kept"
    file.write_bytes(content)
    with pytest.raises(ValueError, match="is not a search checkpoint; name another file, or delete it"):
        explore(specs.system("demo"), checkpoint=file)


class Spinning(TransitionSystem):
    """`a` goes round as long as `b` has not begun; nothing requires that `b` goes on."""

    def __init__(self) -> None:
        still, on = Guard("not begun", lambda b: b == 0), Guard("not there", lambda own: own < 50)
        spins = transition("spins", "a", guards=[still], effect=lambda own: {"own": 1 - own})
        goes = transition("goes", "b", guards=[on], effect=lambda own: {"own": own + 1})
        super().__init__({"a": 0, "b": 0}, [spins, goes], {"one": ("a",), "other": ("b",)})

    def identity(self) -> str:
        return "spinning"


class Arrives(NamedTuple):
    name: str = "ARRIVES"
    kind: str = "run"

    def sometimes(self, system: Any, state: Any) -> bool:
        return True

    def outstanding(self, system: Any, state: Any) -> dict[str, str]:
        return {} if system.component(state, "b") == 50 else {"b": "b does not arrive"}

    def limited(self, system: Any, state: Any) -> str:
        return ""

    def fair(self, system: Any, step: Any) -> bool:
        return bool(step.actor == "a")


def test_what_went_round_before_the_stop_is_judged_after_it(tmp_path: Path) -> None:
    """The check of acyclicity uses the observed effects of rows; a continued search does not know all of them."""
    file = tmp_path / "kept"
    explore(Spinning(), [Arrives()], max_states=20, checkpoint=file)
    found = explore(Spinning(), [Arrives()], checkpoint=file).promises["ARRIVES"]

    assert found == explore(Spinning(), [Arrives()]).promises["ARRIVES"]
    assert found.because == "a run can repeat its last 2 steps permanently, and b does not arrive"


def test_a_model_outside_of_nbcc_continues_too(tmp_path: Path) -> None:
    file = tmp_path / "search"

    def search(operations: int, most: int | None = None) -> int:
        system = HudiV5(Constants(operations=operations))
        return explore(system, HudiV5.promises, max_states=most, checkpoint=file).distinct

    search(2, 3_000)
    assert file.exists()
    with pytest.raises(ValueError, match="was written by another search"):
        search(3)
    assert search(2) == 5_271
    assert not file.exists()


@pytest.mark.parametrize("kind", [StorageLockModel, NumberedLockModel])
def test_a_search_of_a_lock_continues_in_another_process(tmp_path: Path, kind: Any) -> None:
    """There the model is another object."""
    file = tmp_path / "search"
    narrow, wide = LockLimits(ticks=1, faults=0, crashes=0), LockLimits(ticks=2, faults=0, crashes=0)

    def search(limits: LockLimits, most: int | None = None) -> int:
        return explore(kind(limits), kind.promises, max_states=most, checkpoint=file).distinct

    search(narrow, 20)
    with pytest.raises(ValueError, match="was written by another search"):
        search(wide)
    assert search(narrow) == explore(kind(narrow)).distinct
