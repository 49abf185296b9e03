"""Converts errors of the file system and of the store library to `StorageError` with a remedy."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping
from typing import Any, Final

from obstore import exceptions as store

from ..errors import StorageError

TRANSIENT: Final = (OSError, store.BaseError, StorageError)
"""Errors that may not occur at the next attempt. Heartbeats and leases continue after one."""

_SPACE: Final = "free some space, and run the operation again"
_PERMISSION: Final = "check the permissions of the folder and its files, and whether it can be written at all"
_REMEDIES: Final[Mapping[int, str]] = {
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.EACCES: _PERMISSION,
    errno.EPERM: _PERMISSION,
    errno.EROFS: _PERMISSION,
    errno.EIO: "check the disk; what it holds may be damaged",
    errno.EMFILE: "raise the limit of open files",
    errno.ENFILE: "raise the limit of open files",
    errno.ENAMETOOLONG: "choose shorter names for the table's folder and partitions",
}
_CREDENTIALS: Final = "check the credentials, and whether they permit this operation"
_EXPIRED: Final = ("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired")
_RENEW: Final = (
    "the credentials have expired: open the table with new ones, or with ones that the library renews (a role, the file"
    " of a web identity, or a credential_provider)"
)
_HTTP: Final = "the endpoint is not https: set the storage option allow_http=true, or give an https endpoint"
_OPTION: Final = "correct storage_options, or the variables of the environment that configure the store"

_USER: Final = re.compile(r"(?<=://)[^/@\s]+@")
_QUERY: Final = re.compile(r"(https?://[^\s?]+)\?\S+")
_CODE: Final = re.compile(r"<Code>(\w+)</Code>")
_SHORTEST: Final = 4  # shorter values are not secrets, and replacing them would garble ordinary words
_SECRET: Final = re.compile("key|secret|token|password|credential|sas", re.IGNORECASE)


def of_file_system(operation: str, path: str, url: str, error: OSError) -> StorageError:
    reason = error.strerror or str(error) or type(error).__name__
    remedy = _REMEDIES.get(error.errno or 0, "repair what the file system reports, and run the operation again")
    exists = f"the file system answered: {reason}"
    return StorageError(asked(operation, path, url), exists, remedy, operation=operation, path=path)


def of_store(operation: str, path: str, url: str, error: BaseException, options: Mapping[str, Any]) -> StorageError:
    """Return the `StorageError` for an exception of the store library. The error text never contains credentials."""
    # First, because the store reports expired credentials as an ordinary bad request.
    expired = _code_of(error) in _EXPIRED
    if expired:
        remedy = _RENEW
    elif isinstance(error, store.PermissionDeniedError | store.UnauthenticatedError | PermissionError):
        remedy = _CREDENTIALS
    elif isinstance(error, store.UnknownConfigurationKeyError | TypeError | ValueError):
        remedy = _OPTION
    elif is_panic(error):
        remedy = f"{_OPTION}; if they are right, report this failure of the store's library"
    elif "http://" in str(error) and "builder error" in str(error):  # the HTTP client refuses before it connects
        remedy = _HTTP
    else:
        remedy = "check the address, the network and the credentials, and run the operation again"
    exists = f"the store answered: {shown(error, options)}"
    where = {"operation": operation, "path": path}
    return StorageError(asked(operation, path, url), exists, remedy, **where, unsure=not expired and _is_unsure(error))


def is_panic(error: BaseException) -> bool:
    """Return True if the exception is a panic of the store library's Rust code. `is_panic` compares the class name,
    because the class of a panic cannot be imported.
    """
    return type(error).__name__ == "PanicException"


def shown(error: BaseException, options: Mapping[str, Any]) -> str:
    """Return the first line of a store's error, without user names, signed queries, response bodies and secret option
    values.
    """
    text = str(error).partition("\n")[0]
    # The body of the response may repeat the signed request. Only its error code is safe to print.
    text = text.partition("<")[0] + _code_of(error)
    text = _QUERY.sub(r"\1", without_user(text))
    for name, value in options.items():
        if isinstance(value, str) and len(value) >= _SHORTEST and _SECRET.search(name):
            text = text.replace(value, "…")
    return " ".join(text.split()).rstrip(".:") or type(error).__name__


def _code_of(error: BaseException) -> str:
    """Return the error code in the store's response; '' if the response has none."""
    code = _CODE.search(str(error))
    return code[1] if code else ""


def without_user(url: str) -> str:
    """Return the URL without its user name and password."""
    return _USER.sub("", url)


def asked(operation: str, path: str, url: str) -> str:
    """Return the part of a `StorageError` message that names the operation and the table."""
    what = f"{path!r} in " if path else ""
    return f"{operation} {what}the table at {without_user(url)}"


def _is_unsure(error: BaseException) -> bool:
    """Return True if the store may have executed the failed request, because the response is missing or ambiguous."""
    return isinstance(error, store.GenericError | store.JoinError) or is_panic(error)
