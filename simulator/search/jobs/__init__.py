"""Searches as jobs: one layer around the search of `explore`, for many searches at once.

A job names its world, protocol and promises. Jobs run in this process, in several processes or on a Spark cluster; a
cache continues an interrupted series. One search always runs in one process.
"""

from __future__ import annotations

from .cache import ResultCache
from .job import FAILED, Job, SearchJob, failed_search, known_promises, promises_of, transient, try_job
from .runners import in_order, on_spark, run_jobs

__all__ = [
    "FAILED", "Job", "ResultCache", "SearchJob", "failed_search", "in_order", "known_promises", "on_spark",
    "promises_of", "run_jobs", "transient", "try_job",
]  # fmt: skip
