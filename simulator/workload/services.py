"""The simulated table services (compaction, cleaning) and readers of a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from .costs import Touched
from .rules import logs_taken
from .simulation import ACTIVE, Chosen, Events, Simulation

SAMPLES: Final = 240  # how often the log files of slices are counted in a run


def start_services(run: Simulation) -> None:
    """Start the simulated compaction, cleaning and readers, and the sampling of log files."""
    scenario = run.scenario
    if scenario.compaction.every:
        run.env.process(_compact(run))
    if scenario.cleaning.every:
        run.env.process(_clean(run))
    if scenario.reads.every:
        run.env.process(_read(run))
    run.env.process(_sample(run))


def _compact(run: Simulation) -> Events:
    """Plan and run a compaction every `every` seconds, but not before the previous compaction has ended."""
    options, table, measures = run.scenario.compaction, run.table, run.measures
    read = 0
    schedule, execute = run.program["schedule compaction"], run.program["run compaction"]
    while True:
        yield run.env.timeout(options.every)
        began = run.env.now
        taken: dict[int, int] = {}

        def choose(read: int = read) -> Chosen:
            return schedule[0], Touched(0, 0, table.commits - read)

        def make_plan(taken: dict[int, int] = taken) -> None:
            table.planned = table.commits
            for group, count in enumerate(table.logs):
                if count and (some := logs_taken(count, 0, table.has_base[group], group in table.pending)):
                    taken[group] = some
            table.pending.update(taken)

        if not (yield from run.locked(run, "compaction plans", run.times.publish, choose, make_plan)):
            continue
        read = table.commits
        if not taken:
            continue
        groups, logs = [*taken], sum(taken.values())
        merged = {group: (table.log_rows[group], table.new_rows[group]) for group in groups}
        rows = sum(table.base_rows[group] + merged[group][0] for group in groups)
        touched = Touched(len(groups), logs)
        cores = rows * run.times.compact_row + logs * run.times.compact_log
        measures.service_cores += cores
        moved = run.transfer(2 * rows, min(options.cores, len(groups)))
        yield run.env.timeout(run.requests(execute[0], touched) / options.cores + moved)
        yield run.compute(run.noisy(cores) / options.cores, options.cores)
        publication: Callable[[], Chosen] = partial(_chosen, (execute[1], touched))

        def publish(merged: dict[int, tuple[float, float]] = merged, taken: dict[int, int] = taken) -> None:
            for group, (log_rows, new_rows) in merged.items():
                table.logs[group] -= taken[group]
                table.log_rows[group] -= log_rows
                table.new_rows[group] -= new_rows
                table.base_rows[group] += new_rows
                table.has_base[group] = True
            table.pending.difference_update(merged)

        while not (yield from run.locked(run, "compactions", run.times.publish, publication, publish)):
            pass
        table.superseded_groups += len(groups)
        table.superseded_logs += logs
        yield run.env.timeout(run.requests(execute[2], touched) / options.cores)
        measures.compactions += 1
        measures.compaction_seconds += run.env.now - began


def _chosen(choice: Chosen) -> Chosen:
    return choice


def _clean(run: Simulation) -> Events:
    options, table = run.scenario.cleaning, run.table
    listed, plan, deletes, publish, after = run.program["clean"]
    while True:
        yield run.env.timeout(options.every)
        touched = Touched(table.superseded_groups, table.superseded_logs)
        if not touched.groups:
            continue
        table.superseded_groups = table.superseded_logs = 0
        yield run.env.timeout(run.requests(listed, touched))
        for stage, work in ((plan, deletes), (publish, after)):
            yield from run.locked(run, "cleans", run.times.publish, partial(_chosen, (stage, touched)))
            yield run.env.timeout(run.requests(work, touched) / options.cores)


def _read(run: Simulation) -> Events:
    options, table, measures, shape = run.scenario.reads, run.table, run.measures, run.scenario.table
    first = max(0, shape.partitions - options.partitions) * shape.buckets
    stage, read, took = run.program["snapshot"][0], 0, 0.0
    while True:
        yield run.env.timeout(max(0.0, options.every - took))
        began = run.env.now
        groups = range(first, len(table.logs))
        logs, unread = sum(table.logs[first:]), min(ACTIVE, table.commits - read)
        read = table.commits
        rows = sum(table.base_rows[first:]) + sum(table.log_rows[first:])
        touched = Touched(len(groups), logs, unread)
        cores = rows * run.times.read_row + logs * run.times.read_log
        measures.read_cores += cores
        yield run.env.timeout(run.requests(stage, touched) / options.cores + run.transfer(rows, options.cores))
        yield run.compute(cores / options.cores, options.cores)
        took = run.env.now - began
        measures.reads.append((run.env.now, took, sum(stage.count(touched).values()), cores))


def _sample(run: Simulation) -> Events:
    table = run.table
    while True:
        yield run.env.timeout(run.scenario.seconds / SAMPLES)
        used = [count for count in table.logs if count]
        total = sum(used)
        mean = total / len(used) if used else 0.0
        run.measures.logs.append((run.env.now, mean, max(used, default=0), total))
