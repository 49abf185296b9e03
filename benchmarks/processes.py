"""The memory of a process and of those below it, and the busy cores of the machine, from Linux's /proc."""

from __future__ import annotations

import os
from pathlib import Path

PROC = Path("/proc")


def peaks(root: int) -> dict[str, int]:
    """Program (java, python…) -> MiB of the largest process below `root`; empty where there is no /proc."""
    found: dict[str, int] = {}
    for pid in _family(root) - {root}:
        status = _status(pid)
        name = status.get("Name", "?")
        found[name] = max(found.get(name, 0), _mebibytes(status, "VmHWM"))
    return found


def held(root: int) -> int:
    """MiB that `root` and the processes below it hold now; 0 where there is no /proc."""
    return sum(_mebibytes(_status(pid), "VmRSS") for pid in _family(root))


def busy() -> float:
    """Core-seconds in which the machine's cores have worked since it started; 0 where there is no /proc."""
    try:
        user, nice, system = (int(jiffies) for jiffies in (PROC / "stat").read_text("utf-8").split()[1:4])
    except OSError:
        return 0.0
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def _family(root: int) -> set[int]:
    parents: dict[int, int] = {}
    for folder in PROC.glob("[0-9]*"):
        status = _status(int(folder.name))
        if "PPid" in status:
            parents[int(folder.name)] = int(status["PPid"])
    return {pid for pid in parents if _is_below(pid, root, parents)}


def _mebibytes(status: dict[str, str], name: str) -> int:
    return int(status.get(name, "0 kB").split()[0]) // 1024


def _is_below(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != root:
        pid = parents[pid]
    return pid == root


def _status(pid: int) -> dict[str, str]:
    try:
        lines = (PROC / str(pid) / "status").read_text("utf-8").splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
