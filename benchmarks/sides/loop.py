"""A JSON object a line in, a JSON object a line out. Only the standard library: Hudi's environment runs it, too."""

from __future__ import annotations

import json
import os
import sys
import time


def serve(side: object) -> None:
    """Answer requests ``{"do": method, ...}`` until the input ends: seconds that it took, and its answer.

    Whatever else wants to write to standard output (the JVM does) writes to standard error instead.
    """
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        run = getattr(side, request.pop("do"))
        try:
            began = time.perf_counter()
            answer = run(**request)
            said = {"seconds": time.perf_counter() - began, "answer": answer}
        except Exception as error:  # the one who asked tells it
            said = {"error": f"{type(error).__name__}: {error}"[:2000]}
        answers.write(json.dumps(said) + "\n")
