"""One JSON object per line in, one per line out. Standard library only, because Hudi's environment runs it, too."""

from __future__ import annotations

import json
import os
import sys
import time


def serve(side: object) -> None:
    """Answer each request ``{"do": method, ...}`` with its seconds and its result, until the input ends.

    Other output to standard output, such as the JVM's, goes to standard error.
    """
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        run = getattr(side, request.pop("do"))
        try:
            began = time.perf_counter()
            answer = run(**request)
            reply = {"seconds": time.perf_counter() - began, "answer": answer}
        except Exception as error:  # the requesting process reports it
            reply = {"error": f"{type(error).__name__}: {error}"[:2000]}
        answers.write(json.dumps(reply) + "\n")
