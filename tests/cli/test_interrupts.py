"""Ctrl-C prints no traceback, whenever it comes: while processes start, while modules load, while the command ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

# Sends SIGINT to the process group, as a terminal does, at one call of a start after another. A second thread waits, as
# that of a progress bar does: it receives the signal where the main thread blocks it.
STARTS = """
import os, signal, sys, threading, time
from multiprocessing import active_children, forkserver, popen_forkserver, spawn
from nbcc.simulator.search.jobs import failed_search, processes

def work(cell):
    time.sleep(20)
    return failed_search("too late")

def interrupted(moment):
    calls = 0

    def profile(*_):
        nonlocal calls
        calls += 1
        if calls == moment:
            os.killpg(0, signal.SIGINT)
            time.sleep(0.005)

    found = processes.in_processes(work, [1], 1)
    sys.setprofile(profile)
    try:
        next(found)
    except KeyboardInterrupt:
        return not active_children()
    finally:
        sys.setprofile(None)
    return False

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, if tests were started in the background
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    start, stop, step = map(int, sys.argv[2:])
    processes._server()
    for moment in range(start, stop, step):
        if sys.argv[1] == "server":
            processes._server.cache_clear()
            forkserver._forkserver._stop()
        if not interrupted(moment):
            print(f"at call {moment}: not interrupted, or a process was left")
"""


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, env=here, start_new_session=True, text=True, capture_output=True, check=False)


@pytest.mark.parametrize(("what", "moments"), [("child", (5, 365, 3)), ("server", (10, 1400, 230))])
def test_no_moment_of_a_start_ends_in_a_traceback(tmp_path: Path, what: str, moments: tuple[int, ...]) -> None:
    script = tmp_path / "script.py"
    script.write_text(STARTS, encoding="utf-8")
    # The answer comes when all processes are gone that can write to its standard error.
    ran = run([sys.executable, str(script), what, *map(str, moments)])
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


POOL = """
import os, signal, sys, time
from multiprocessing import active_children
from nbcc.simulator.interrupts import process_pool

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with process_pool(2) as pool:
            for started in [pool.submit(time.sleep, 0.3) for _ in range(2)]:
                started.result()
            futures = [pool.submit(time.sleep, 30)]  # the other process waits for work
            os.killpg(0, signal.SIGINT)
            futures[0].result()
    except KeyboardInterrupt:
        print("interrupted", active_children())
"""


def test_a_pool_ends_at_once_and_without_a_traceback(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(POOL, encoding="utf-8")
    ran = run([sys.executable, str(script)])
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "interrupted []\n", "")


COMMAND = """
import atexit, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

class Loading:
    def find_spec(self, name, path, target=None):
        if name == sys.argv[1]:
            sys.argv[1] = ""
            interrupt()

class Finalized:
    def __del__(self):
        interrupt()

sys.meta_path.insert(0, Loading())
from nbcc.simulator.cli.start import main
if sys.argv[1] == "exit":
    atexit.register(interrupt)
if sys.argv[1] == "finalizer":
    import nbcc.simulator.cli.main as command
    run = command.run
    command.run = lambda arguments: Finalized() and run(arguments)
if sys.argv[1] == "twice":
    import nbcc.simulator.cli.main as command
    def twice(*_, **__):
        try:
            interrupt()
        finally:
            interrupt()
    command.nbcc.main = twice
main(["explore", "demo", "--promise", "SNAP"])
"""
MOMENTS = (
    "nbcc.simulator.cli.main", "click", "nbcc.simulator.cli.explore", "nbcc.simulator.specs", "nbcc.model.promises",
    "nbcc.simulator.search.jobs", "finalizer", "twice", "exit",
)  # fmt: skip


@pytest.mark.parametrize("moment", MOMENTS)
def test_no_moment_of_a_command_ends_in_a_traceback(tmp_path: Path, moment: str) -> None:
    ran = run([sys.executable, "-c", COMMAND, moment])
    assert ran.returncode == 128 + signal.SIGINT
    assert "Traceback" not in ran.stderr
    assert ran.stdout == "" or moment == "exit"
