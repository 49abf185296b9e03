"""A standalone cluster on 127.0.0.1: a master and two workers, whose working directories and PYTHONPATHs differ."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

SECONDS = 400.0
"""For how long a daemon may start on a machine that is very busy."""
OLD_RELEASE = 'raise ImportError("this nbcc is an old release")\n'


class Cluster(NamedTuple):
    """The URL of the master, and the environment and working directory of drivers whose workers lack nbcc."""

    url: str
    environment: dict[str, str]
    driver: Path


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Start a master and two workers of one core each; they end with the context."""
    environment = without_spark()
    python = folder / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(python)], check=True)
    packages = sysconfig.get_paths()["purelib"]
    old = folder / "old"
    (old / "nbcc").mkdir(parents=True)
    (old / "nbcc" / "__init__.py").write_text(OLD_RELEASE, encoding="utf-8")
    paths = {"a": packages, "b": os.pathsep.join([str(old), packages])}
    with ExitStack() as started:
        url = started.enter_context(_process("master.Master", folder / "master", environment))(_MASTER)
        workers = []
        for name, path in paths.items():
            arguments = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / name / "work"), url]
            own = {**environment, "PYTHONPATH": path}
            workers.append(started.enter_context(_process("worker.Worker", folder / name, own, *arguments)))
        for wait_for in workers:
            wait_for(_WORKER)
        # The driver finds nbcc in its own working directory: Spark may send its PYTHONPATH to the executors.
        driver = folder / "driver"
        driver.mkdir()
        for name in ("nbcc", "pyspark_nbcc"):
            (driver / name).symlink_to(Path(__file__).absolute().parents[2] / name)
        environment |= {"PYTHONPATH": os.pathsep.join([".", packages]), "PYSPARK_PYTHON": str(python / "bin/python")}
        yield Cluster(url, environment, driver)


_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_WORKER = re.compile(r"Successfully registered with master (spark://\S+)")


@contextmanager
def _process(
    name: str, folder: Path, environment: dict[str, str], *arguments: str
) -> Iterator[Callable[[re.Pattern[str]], str]]:
    """Start a daemon of Spark. Returns a function that waits for a line of the daemon's log, and returns its group."""
    import pyspark

    folder.mkdir()
    log = folder / "log"
    command = [f"{Path(pyspark.__file__).parent}/bin/spark-class", f"org.apache.spark.deploy.{name}"]
    ports = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    with log.open("wb") as stream:
        daemon = subprocess.Popen([*command, *ports, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=stream, stderr=stream)  # fmt: skip

    def wait_for(line: re.Pattern[str]) -> str:
        until = time.monotonic() + SECONDS
        while (found := line.search(log.read_text(errors="replace"))) is None:
            assert daemon.poll() is None, log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < until, log.read_text(errors="replace")[-2000:]
            time.sleep(0.1)
        return found[1]

    try:
        yield wait_for
    finally:
        daemon.terminate()
        try:
            daemon.wait(20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def without_spark() -> dict[str, str]:
    """Return this process's environment without the settings of a session that it runs, on the local address alone."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYSPARK_", "SPARK_")) and name != "PYTHONPATH"
    }
    return {**kept, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
