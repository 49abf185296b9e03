"""nbcc: a formal model, a reference simulator and a PySpark engine of Apache Hudi's completion-time timeline."""

from __future__ import annotations
