"""The generator of instants: how long it waits, whom it refuses, clocks that are set back, and executors."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine.clock import WallClock, to_instant, to_millis
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.errors import BadInput, Conflict, Unsupported
from nbcc.engine.table import Table

from .free_tables import SCHEMA, rows

SKEW = "hoodie.time.generator.max_expected_clock_skew_ms"


class Machine:
    """A machine whose clock differs from the true time, which sleeping moves on."""

    def __init__(self, truth: list[int], ahead: int, skew_ms: int) -> None:
        self._truth, self._ahead = truth, ahead
        self.clock = WallClock(skew_ms, self._now, self._sleep)

    def _now(self) -> int:
        return (self._truth[0] + self._ahead) * 1_000_000

    def _sleep(self, seconds: float) -> None:
        self._truth[0] += round(seconds * 1000)


def made(path: Path, **options: str) -> Table:
    return Table.create(None, path, SCHEMA, record_key="id", ordering_fields="ts", buckets=1, options=options)


@pytest.mark.parametrize("skew", [1, 50, 200])
def test_a_time_is_given_when_every_clock_has_passed_it(skew: int) -> None:
    truth = [1_700_000_000_000]
    ahead, behind = Machine(truth, skew, skew), Machine(truth, 0, skew)
    taken = [machine.clock.take() for machine in (ahead, behind, ahead, behind)]
    assert taken == sorted(set(taken))


def test_clocks_that_differ_by_more_give_times_out_of_order() -> None:
    truth = [1_700_000_000_000]
    ahead, behind = Machine(truth, 60, 50), Machine(truth, 0, 50)
    assert ahead.clock.take() > behind.clock.take()


@pytest.mark.parametrize("splits", [False, True])
def test_a_clock_that_accepts_an_instant_takes_a_later_time(splits: bool) -> None:
    """Instants of every distance around the bound: none is accepted whose next time would be refused."""
    now = 1_700_000_000_000
    for ahead in range(190, 210):
        clock = WallClock(0, lambda: now * 1_000_000, splits=splits, sleep=lambda _: None)
        try:
            clock.not_before(to_instant(now + ahead))
        except Conflict:
            assert ahead > 190
            continue
        assert clock.take_unlocked() > to_instant(now + ahead)


def test_an_instant_of_the_future_is_refused_and_never_jumped_over(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    table.upsert(rows("a"))
    future = to_instant(time.time_ns() // 1_000_000 + 3_600_000)
    (tmp_path / "t/.hoodie/timeline" / f"{future}.deltacommit.requested").write_bytes(b"")
    with pytest.raises(Conflict, match=r"ms ahead of this machine's clock: set the clocks right \(they may differ by"):
        table.upsert(rows("b"))
    assert [row["id"] for row in table.snapshot().to_pylist()] == ["a"]


def test_the_skew_is_a_property_of_the_table(tmp_path: Path) -> None:
    made(tmp_path / "t", **{SKEW: "30"})
    assert f"{SKEW}=30" in (tmp_path / "t/.hoodie/hoodie.properties").read_text()
    done = Table.open(None, tmp_path / "t").upsert(rows("a"))
    assert done.completed is not None
    assert to_millis(done.completed) - to_millis(done.requested) >= 30, "the requested time was waited out"


def test_a_skew_that_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="use a whole number of milliseconds"):
        made(tmp_path / "t", **{SKEW: "soon"})
    made(tmp_path / "u", **{SKEW: "30"})
    properties = tmp_path / "u/.hoodie/hoodie.properties"
    properties.write_text(properties.read_text().replace(f"{SKEW}=30", f"{SKEW}=soon"))
    with pytest.raises(Unsupported, match="'soon' and not a whole number of milliseconds"):
        Table.open(None, tmp_path / "u")


def test_a_completion_is_later_than_its_request_of_any_process(tmp_path: Path) -> None:
    """A plan made by a machine whose clock is ahead, carried out by one whose clock is behind."""
    table = made(tmp_path / "t", **{SKEW: "100"})
    table.upsert(rows("a"))
    ahead = WallClock(0, lambda: time.time_ns() + 90_000_000)
    planner = Table(type(table.context)(
        table.context.storage, table.context.lock, ahead, table.context.names, table.context.jobs
    ), table.config)  # fmt: skip
    plan = planner.schedule_compaction()
    assert plan is not None
    done = Table.open(None, tmp_path / "t").run_compaction(plan)
    assert done is not None
    assert done.completed is not None
    assert done.completed > done.requested


def test_the_clocks_of_executors_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks that ran while all clocks were a year behind, and stood still, leave the same table."""
    table = made(tmp_path / "t")
    behind = time.time() - 366 * 86_400
    write, compact = InProcessJobs.write, InProcessJobs.compact

    def on_another_machine(method: Callable[..., Any]) -> Callable[..., Any]:
        def task(*arguments: Any) -> Any:
            with monkeypatch.context() as there:
                there.setattr(time, "time", lambda: behind)
                there.setattr(time, "time_ns", lambda: int(behind * 1e9))
                return method(*arguments)

        return task

    monkeypatch.setattr(InProcessJobs, "write", on_another_machine(write))
    monkeypatch.setattr(InProcessJobs, "compact", on_another_machine(compact))
    first, done, last = table.upsert(rows("a", "b")), table.compact(), table.upsert(rows("b", "c"))
    assert done is not None
    times = [time for each in (first, done, last) for time in (each.requested, each.completed or "")]
    assert times == sorted(times)
    assert {row["_hoodie_commit_time"] for row in table.snapshot().to_pylist()} == {first.requested, last.requested}
    names = [path.name for path in (tmp_path / "t").rglob("*") if ".log." in path.name or path.suffix == ".parquet"]
    assert all(any(each.requested in name for each in (first, done, last)) for name in names)


def test_the_clock_of_another_machine_keeps_requests_and_completions_apart() -> None:
    there = WallClock(0, splits=True).of_another_machine(lambda: time.time_ns() + 150_000_000, 0)
    assert {to_millis(there.take_unlocked()) % 2 for _ in range(5)} == {0}
    assert {to_millis(there.take()) % 2 for _ in range(5)} == {1}


class Stepping:
    """A clock that is set back by `step_ms` after its `after`-th reading; sleeping moves it on, and is counted."""

    def __init__(self, step_ms: int, after: int) -> None:
        self.ns, self.slept, self._step, self._left = 1_700_000_000_000_000_000, 0.0, step_ms, after

    def now(self) -> int:
        self._left -= 1
        if self._left == 0:
            self.ns -= self._step * 1_000_000
        return self.ns

    def sleep(self, seconds: float) -> None:
        assert seconds < 10, "asleep with the lock held"
        self.slept += seconds
        self.ns += round(seconds * 1e9)


@pytest.mark.parametrize("skew", [0, 200])
@pytest.mark.parametrize("after", [2, 3, 4])
def test_a_clock_that_steps_back_during_the_wait_is_refused(skew: int, after: int) -> None:
    time = Stepping(20_000, after)
    with pytest.raises(Conflict, match=r"stepped back by about 20\d\d\d ms|ms ahead of this machine's clock"):
        WallClock(skew, time.now, time.sleep).take()
    assert time.slept < 1


@pytest.mark.parametrize("after", [2, 3, 4])
def test_a_small_step_is_waited_out(after: int) -> None:
    time = Stepping(150, after)
    taken = WallClock(200, time.now, time.sleep).take()
    assert taken == "20231114221320000"
    assert 0.15 <= time.slept < 1


def test_a_clock_that_does_not_move_is_not_waited_for() -> None:
    time = Stepping(0, 0)

    def sleep(seconds: float) -> None:
        time.slept += seconds

    with pytest.raises(Conflict, match="stepped back"):
        WallClock(200, time.now, sleep).take()
    assert time.slept < 2
