"""Laws of the simulation that hold for all calibrated times, and small cases with a known answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nbcc.simulator.workload.costs import Calibration, calibration
from nbcc.simulator.workload.measures import Measures
from nbcc.simulator.workload.run import simulate
from nbcc.simulator.workload.scenario import (
    LockOptions,
    Mode,
    PlannedBatch,
    RandomCrashes,
    Reads,
    Scenario,
    Service,
    TableLoad,
    WriterLoad,
)
from nbcc.simulator.workload.summary import bottleneck, falls_behind, figures, percentile, warnings

TIMES: Calibration = replace(calibration(), noise=0.0)
ONE_GROUP = TableLoad(partitions=1, buckets=1)


def scenario(*writers: WriterLoad, hours: float = 0.5, store: str = "s3", **other: object) -> Scenario:
    whole = Scenario(name="test", hours=hours, store=store, writers=writers)
    return replace(whole, **{"table": ONE_GROUP, **other})  # type: ignore[arg-type]


def run(case: Scenario, mode: Mode = "nbcc", seed: int = 1) -> Measures:
    return simulate(case, mode, TIMES, seed)


def test_a_seed_reproduces_a_run_and_another_seed_differs() -> None:
    case = scenario(WriterLoad("w", 4, every=20, arrival="poisson"), compaction=Service(every=120))
    assert figures([run(case)]) == figures([run(case)])
    assert figures([run(case)]) != figures([run(case, seed=2)])


@pytest.mark.parametrize("mode", ["nbcc", "occ", "single"])
def test_every_batch_commits_once_and_all_rows_arrive(mode: Mode) -> None:
    case = scenario(WriterLoad("w", 3, every=60, rows=500), hours=1.0)
    measures = run(case, mode)
    assert measures.batches == 180
    assert len(measures.latency) >= 179
    assert measures.rows == 500 * measures.commits if mode != "single" else measures.rows >= 500 * 179
    assert 0 < measures.lock_busy < measures.seconds


def test_nbcc_aborts_nothing_where_occ_aborts_half() -> None:
    """Two writers that always write the same file group, and whose writes always overlap."""
    case = scenario(WriterLoad("w", 2, arrival="continuous", compute=30.0), hours=2.0)
    assert run(case).aborted == 0
    occ = run(case, "occ")
    assert occ.conflicts == occ.aborted
    assert 0.4 < occ.conflicts / (occ.conflicts + occ.commits) < 0.6


def test_occ_aborts_nothing_where_no_writes_share_a_group() -> None:
    case = scenario(WriterLoad("w", 4, arrival="continuous", choice="own"), table=TableLoad(4, 2), hours=0.2)
    assert run(case, "occ").aborted == 0


def test_the_skew_wait_bounds_the_commits_of_a_table() -> None:
    """Each commit waits for the clocks twice, under the lock, so no number of writers exceeds this rate."""
    case = scenario(WriterLoad("w", 50, arrival="continuous", choice="own"), table=TableLoad(50, 1), hours=0.1)
    fast = replace(case, lock=LockOptions(skew=0.0))
    slow = run(case)
    bound = 1 / (2 * case.lock.skew)
    assert slow.commits / slow.seconds < bound < 3
    assert run(fast).commits > 1.2 * slow.commits


def test_waits_for_the_lock_end_after_its_wait_time() -> None:
    case = scenario(WriterLoad("w", 60, arrival="continuous", choice="own"), table=TableLoad(60, 1), hours=0.2)
    assert run(replace(case, lock=LockOptions(wait=600.0))).lock_timeouts == 0
    assert run(replace(case, lock=LockOptions(wait=5.0))).lock_timeouts > 0


def test_writers_end_after_the_attempts_that_they_have_begun() -> None:
    """As the real writers of the comparison do: no attempt begins after `ends`, and each one that has begun ends."""
    case = scenario(WriterLoad("w", 3, arrival="continuous", compute=20.0, ends=600.0), hours=0.5)
    measures = run(case)
    assert measures.batches == measures.commits == len(measures.latency)
    assert 600 / 25 < measures.commits / 3 < 600 / 20


def test_zookeeper_serves_waiting_writers_in_order() -> None:
    case = scenario(WriterLoad("w", 20, arrival="continuous", choice="own"), table=TableLoad(20, 1), hours=0.3)
    queue = run(replace(case, lock=LockOptions("zookeeper")))
    lease = run(replace(case, lock=LockOptions("lease")))
    assert max(queue.latency) < 1.5 * percentile(queue.latency, 50)
    assert max(lease.latency) > 2 * percentile(lease.latency, 50)
    assert queue.lock_polls == 0 < lease.lock_polls


def test_compaction_bounds_the_logs_of_a_slice() -> None:
    case = scenario(WriterLoad("w", 2, every=20), hours=1.0)
    never, often = run(case), run(replace(case, compaction=Service(every=120)))
    assert never.logs[-1][3] > 300
    assert max(sample[2] for sample in often.logs) <= 16
    assert often.compactions >= 25
    assert sum(read[2] for read in often.reads) < sum(read[2] for read in never.reads)


def test_a_crash_under_the_lock_blocks_others_until_the_lease_ends() -> None:
    base = scenario(WriterLoad("w", 5, arrival="continuous", choice="own"), table=TableLoad(5, 1), hours=1.0)
    crashing = replace(base, crashes=RandomCrashes(every=300, restart=10))
    short, long = (run(replace(crashing, lock=LockOptions(lease=lease))) for lease in (30.0, 300.0))
    assert short.crashes > 10
    assert run(base).crashes == 0
    assert long.lock_by["crashed holders"] > short.lock_by["crashed holders"] > 0
    assert long.commits < short.commits < run(base).commits


def test_a_long_timeline_is_listed_in_pages() -> None:
    """An object store returns 1,000 objects for a LIST. Instants of uncompacted writes stay on the timeline."""
    case = scenario(WriterLoad("w", 1, every=10, rows=10), hours=4.0, reads=Reads(0.0))
    never, often = run(case), run(replace(case, compaction=Service(every=600)))
    assert never.requests["list"] > often.requests["list"] - 20 * often.compactions + 1000
    assert percentile(never.latency[-50:], 50) > 1.3 * percentile(often.latency[-50:], 50)


def test_cleaning_and_a_decision_log_send_more_requests() -> None:
    case = scenario(WriterLoad("w", 1, every=30), compaction=Service(every=120))
    plain = run(case).requests.total()
    assert run(replace(case, cleaning=Service(every=300))).requests.total() > plain
    assert run(replace(case, lock=LockOptions(decision="log"))).requests.total() > plain


def test_a_recorded_workload_keeps_its_arrivals_and_its_data_phases() -> None:
    lanes = tuple(tuple(PlannedBatch(60.0 * n, 100, (0,), took=5.0) for n in range(10)) for _ in range(2))
    measures = run(scenario(recorded=lanes, hours=0.5))
    assert measures.commits == 20
    assert min(measures.latency) > 5.0
    single = run(scenario(recorded=lanes, hours=0.5), "single")
    assert single.commits == 10
    assert min(single.latency) > 5.0, "two batches of 5 s, on the cores of two writers"
    assert run(scenario(recorded=lanes, hours=0.5), "occ").conflicts > 0


def test_the_bottleneck_is_the_lock_if_it_is_held_most_of_the_time() -> None:
    crowd = scenario(WriterLoad("w", 50, every=5, choice="own"), table=TableLoad(50, 1), hours=0.1)
    runs = [run(crowd)]
    assert bottleneck(runs, crowd).startswith("the lock is held 100 % of the time; the skew wait is ")
    assert "fall behind" in falls_behind(runs, "nbcc")
    alone = scenario(WriterLoad("w", 1, every=60, compute=20.0))
    assert bottleneck([run(alone)], alone).startswith("data takes")
    assert falls_behind([run(alone)], "nbcc") == ""
    pair = scenario(WriterLoad("w", 2, arrival="continuous", compute=30.0))
    assert "end in a conflict" in bottleneck([run(pair, "occ")], pair)


def test_a_scenario_outside_the_calibration_is_warned_of() -> None:
    inside = scenario(WriterLoad("w", 2, rows=1000), store="local", lock=LockOptions("file"), reads=Reads(0.0))
    assert warnings(inside, TIMES) == []
    outside = scenario(WriterLoad("w", 9, rows=1_000_000), lock=LockOptions("zookeeper"))
    assert len(warnings(outside, TIMES)) == 4
