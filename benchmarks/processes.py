"""The most memory that the processes below one have held, by program, from Linux's /proc."""

from __future__ import annotations

from pathlib import Path

PROC = Path("/proc")


def peaks(root: int) -> dict[str, int]:
    """Program (java, python…) -> MiB of the largest process below `root`; empty where there is no /proc."""
    parents: dict[int, int] = {}
    for folder in PROC.glob("[0-9]*"):
        status = _status(int(folder.name))
        if "PPid" in status:
            parents[int(folder.name)] = int(status["PPid"])
    found: dict[str, int] = {}
    for pid in parents:
        if pid != root and _is_below(pid, root, parents):
            status = _status(pid)
            name, peak = status.get("Name", "?"), int(status.get("VmHWM", "0 kB").split()[0]) // 1024
            found[name] = max(found.get(name, 0), peak)
    return found


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
