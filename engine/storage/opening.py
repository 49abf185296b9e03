"""Opens a table's storage, given the table's path or URL."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from .local_storage import LocalStorage
from .object_storage import ObjectStorage
from .options import checked_options


def open_storage(
    location: str | os.PathLike[str], options: Mapping[str, Any] | None = None
) -> LocalStorage | ObjectStorage:
    """Return the storage at `location`: a local path, or a URL (``file:``, ``s3:``, ``gs:``, ``az:``, …).

    `LocalStorage` accepts only the option `durable` (default true). All other options are passed to obstore
    (credentials, region, …). This function neither reads from the storage nor creates anything.
    """
    text = os.fspath(location)
    options = checked_options(options)
    parts = urlsplit(text)
    if parts.scheme == "file":
        return LocalStorage(_local_url(unquote(parts.path)), options)
    if "://" in text:
        return ObjectStorage(text.rstrip("/"), options)
    return LocalStorage(_local_url(text), options)


def _local_url(path: str) -> str:
    """Return the canonical URL of a local folder, which identifies the table for executors, locks and caches."""
    return Path(path).expanduser().resolve().as_uri()
