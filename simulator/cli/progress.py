"""Shows progress bars on standard error if it is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, int, int], None]


@contextmanager
def on_stderr() -> Iterator[Progress]:
    """Yield a function that shows progress; its parameters are the name of the work, the number of finished parts, and
    their total. The progress bar appears when the yielded function is first called, and disappears at the end of the
    `with` block.
    """
    if not sys.stderr.isatty():
        yield lambda what, done, of: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        tasks = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            if done % max(1, min(100, total // 100)) == 0 or done + 1 >= total:
                bar.update(tasks[what], completed=done + 1, total=total)

        yield show
