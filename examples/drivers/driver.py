"""A driver in Python: a small table in memory, asked over a pipe (docs/drivers.md).

`nbcc check --system "python driver.py"` drives it. With the argument `requested` it slices logs by requested time,
which is wrong.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]

HELLO = {
    "name": "toy in Python",
    "operations": ["upsert", "schedule_compaction", "run_compaction"],
    "verbs": ["timeline", "slices", "rows"],
}


class Table:
    def new(self, world: Row) -> None:
        self.clock = 0
        self.instants: dict[int, Row] = {}  # by requested time
        self.logs: list[tuple[int, int, int, list[Row]]] = []  # requested time, version, file group, rows
        self.plans: dict[int, set[int]] = {}  # barrier -> file groups
        self.bases: dict[tuple[int, int], dict[str, Row]] = {}  # barrier and file group -> rows by key
        self.actors: dict[str, Row] = {}
        self.by_event_time = world["table"]["merge_mode"] == "EVENT_TIME_ORDERING"
        self.groups = range(world["table"]["buckets"] * world["table"]["partitions"])

    def completed_logs(self, group: int) -> list[tuple[int, int, int, list[Row]]]:
        logs = [(self.instants[log[0]]["completed"], *log[:2], log[3]) for log in self.logs if log[2] == group]
        return sorted((log for log in logs if log[0]), key=lambda log: log[:3])

    def slices_of(self, group: int) -> dict[int, list[Any]]:
        slices: dict[int, list[Any]]
        slices = {barrier: [] for barrier in (0, *sorted(self.plans)) if not barrier or group in self.plans[barrier]}
        for log in self.completed_logs(group):
            time = log[1] if "requested" in sys.argv else log[0]  # the planted bug
            slices[max(barrier for barrier in slices if barrier <= time)].append(log)
        return slices

    def merged(self, group: int, until: int) -> dict[str, Row]:
        done = (barrier for barrier, of in self.bases if of == group and self.instants[barrier]["completed"])
        barrier = max((barrier for barrier in done if barrier <= until), default=0)
        rows = dict(self.bases.get((barrier, group), {}))
        for completed, requested, _, records in self.completed_logs(group):
            for record in records if barrier < completed <= until else ():
                row = {**record, "requested": requested, "rank": (self.by_event_time and record["ordering"], completed)}
                rows[row["key"]] = max(rows.get(row["key"], row), row, key=lambda each: each["rank"])
        return rows

    def step(self, me: Row, verb: str, group: int = 0, version: int = 0, **_: Any) -> None:
        if verb in ("requests_instant", "schedules_plan", "takes_completion_time"):
            self.clock += 1
        if verb == "schedules_plan":
            pending = {g for plan, groups in self.plans.items() if not self.instants[plan]["completed"] for g in groups}
            self.plans[self.clock] = {g for g in self.groups if g not in pending and [*self.slices_of(g).values()][-1]}
        if verb in ("requests_instant", "schedules_plan"):
            action = "deltacommit" if verb == "requests_instant" else "compaction"
            self.instants[self.clock] = {"action": action, "state": "requested", "completed": None}
            me["instant"] = self.clock
        elif verb in ("starts_writing", "starts_plan"):
            self.instants[me["instant"]]["state"] = "inflight"
        elif verb == "writes_log":
            rows = [row for row in me["rows"] if (row["group"], row["version"]) == (group, version)]
            self.logs.append((me["instant"], version, group, rows))
        elif verb == "writes_base":
            self.bases[me["instant"], group] = self.merged(group, me["instant"])
        elif verb == "takes_completion_time":
            me["completed"] = self.clock
        elif verb == "publishes_instant":
            instant = self.instants[me["instant"]]
            instant["action"] = "commit" if instant["action"] == "compaction" else instant["action"]
            instant |= {"state": "completed", "completed": me["completed"]}

    def timeline(self) -> list[Row]:
        return [{"requested": requested, **instant} for requested, instant in sorted(self.instants.items())]

    def slices(self) -> Iterator[Row]:
        for group in self.groups:
            for barrier, logs in self.slices_of(group).items():
                base = barrier if barrier and self.instants[barrier]["completed"] else None
                if barrier or logs:
                    yield {"group": group, "barrier": barrier or None, "base": base, "logs": [log[1:3] for log in logs]}

    def rows(self, until: int | None) -> list[Row]:
        rows = [row for group in self.groups for row in self.merged(group, until or self.clock).values()]
        return sorted((row for row in rows if not row["deleted"]), key=lambda row: row["key"])


def answer(table: Table, request: Row) -> Row:
    match request:
        case {"do": "hello"}:
            return {"ok": HELLO}
        case {"do": "new", "world": world}:
            table.new(world)
        case {"do": "start", "actor": actor, "args": args}:
            table.actors[actor] = dict(args)
        case {"do": "step", "actor": actor, "action": action, "args": args}:
            table.step(table.actors[actor], action.split("_", 1)[1], **args)
        case {"do": "timeline"}:
            return {"ok": table.timeline()}
        case {"do": "slices"}:
            return {"ok": [*table.slices()]}
        case {"do": "rows", "kind": "snapshot" | "as_of", "until": until}:
            return {"ok": table.rows(until)}
        case {"do": "rows", "kind": kind}:
            return {"missing": f"{kind} read"}
    return {"ok": {}}


if __name__ == "__main__":
    the_table = Table()
    for line in sys.stdin:
        print(json.dumps(answer(the_table, json.loads(line))), flush=True)
