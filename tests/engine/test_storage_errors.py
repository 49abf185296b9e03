"""What a file system or a store raises reaches users as one typed error: the operation, the path, what to do."""

from __future__ import annotations

import errno
import os
import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa
import pytest
from obstore.exceptions import (
    BaseError,
    GenericError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnknownConfigurationKeyError,
)
from obstore.store import from_url

from nbcc import Table
from nbcc.engine.audit import why
from nbcc.engine.errors import BadInput, NbccError, StorageError
from nbcc.engine.storage import TRANSIENT, LocalStorage, NotFound, Storage, object_storage, open_storage
from nbcc.engine.storage.options import CLIENT, STORES, store_arguments
from nbcc.engine.timeline.heartbeats import StoredHeartbeats
from nbcc.simulator.cli.main import run
from tests.builders.tables import tick

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])
OPERATIONS: dict[str, Callable[[Storage], object]] = {
    "create": lambda storage: storage.put_if_absent("p/x", b"1"),
    "write": lambda storage: storage.put("p/x", b"1"),
    "read": lambda storage: storage.get("p/x"),
    "list": lambda storage: storage.list("p"),
    "delete": lambda storage: storage.delete("p/x"),
}
SECRET = "wJalrXUtnFEMI"


class PanicException(BaseException):
    """As the Rust library raises it: its class cannot be imported, and does not inherit from Exception."""


def made(folder: Path) -> Table:
    table = Table.create(None, folder, SCHEMA, record_key="id", ordering_fields="ts", buckets=1)
    table.upsert(rows())
    return table


def rows() -> pa.Table:
    return pa.table({"id": ["k"], "ts": [1]}, SCHEMA)


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException, *names: str, module: Any = os) -> None:
    def fail(*_: object, **__: object) -> Any:
        raise error

    for name in names:
        monkeypatch.setattr(module, name, fail)


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EACCES, "check the permissions"),
        (errno.EROFS, "check the permissions"),
        (errno.EIO, "check the disk"),
        (errno.EMFILE, "limit of open files"),
        (errno.ESTALE, "repair what the file system reports"),
    ],
)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_error_of_the_file_system_is_typed(
    operation: str, code: int, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = LocalStorage(tmp_path.as_uri())
    (tmp_path / "p").mkdir()
    refused = OSError(code, os.strerror(code))
    failing(monkeypatch, refused, "open")
    with pytest.raises(StorageError) as raised:
        OPERATIONS[operation](storage)
    monkeypatch.undo()
    message = str(raised.value)
    assert message.startswith(f"Asked to {operation} 'p")
    assert os.strerror(code) in message
    assert remedy in message
    assert raised.value.__cause__ is refused
    assert (raised.value.operation, raised.value.path.partition("/")[0]) == (operation, "p")
    assert isinstance(raised.value, TRANSIENT)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.path) == (message, raised.value.path)


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (GenericError("Generic S3 error: HTTP error: error sending request"), "check the address, the network"),
        (
            GenericError("Error performing GET http://127.0.0.1:9000/lake - HTTP error: builder error"),
            "allow_http=true",
        ),
        (PermissionDeniedError("lacked the necessary privileges"), "check the credentials"),
        (UnauthenticatedError("lacked valid authentication credentials"), "check the credentials"),
        (PermissionError("no"), "check the credentials"),
        (BaseError("something"), "check the address"),
        (TypeError("'float' object is not an instance of 'str'"), "correct storage_options"),
        (PanicException("Expected config prefix to start with aws_"), "correct storage_options"),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_error_of_a_store_is_typed(
    operation: str, error: BaseException, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_storage, "PAUSES", (0, 0))
    storage = open_storage("memory:///t")
    failing(monkeypatch, error, "put", "get", "list", "delete", module=obstore)
    with pytest.raises(StorageError, match=f"Asked to {operation} 'p.*{remedy}") as raised:
        OPERATIONS[operation](storage)
    assert raised.value.__cause__ is error
    assert isinstance(raised.value, TRANSIENT)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_not_the_stores(interrupt: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    storage = open_storage("memory:///t")
    failing(monkeypatch, interrupt(), "put", module=obstore)
    with pytest.raises(interrupt):
        storage.put("x", b"1")


@pytest.mark.parametrize(
    ("url", "option", "near"),
    [
        ("s3://b/t", "regio", "region"),
        ("s3://b/t", "aws_secret_key", "secret_access_key"),
        ("gs://b/t", "google_service_acount", "service_account"),
        ("az://b/t", "azure_storage_acount_name", "account_name"),
        ("https://h/t", "timout", "timeout"),
    ],
)
def test_an_option_that_the_store_does_not_have(url: str, option: str, near: str) -> None:
    """The first of these made the store's library panic. The value may be a secret, which no message shows."""
    with pytest.raises(BadInput, match=f"storage option {option!r}, .* did you mean {near!r}") as raised:
        Table.open(None, url, {option: SECRET})
    assert SECRET not in str(raised.value)


def test_an_option_with_a_value_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StorageError, match=r"open the table at s3://b/t, but the store .* storage_options"):
        Table.open(None, "s3://b/t", {"region": 3.5})
    failing(monkeypatch, PanicException("Expected config"), "from_url", module=object_storage)
    with pytest.raises(StorageError, match="the store answered: Expected config"):
        Table.open(None, "s3://b/t")


@pytest.mark.parametrize("kind", [*STORES, "client"])
def test_every_option_of_a_store_is_documented_and_exists(kind: str) -> None:
    """The library refuses the name of an option that it does not have; the values here are not valid."""
    page = Path(__file__).parents[2].joinpath("docs/options.md").read_text()
    [part] = [part for part in page.split("\n### ")[1:] if part.startswith(f"`{kind}`")]
    rows = [row.split("|")[1] for row in part.splitlines() if row.startswith("| `")]
    documented = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    names = STORES.get(kind, CLIENT)
    assert sorted(documented) == sorted(names)
    url = {"s3": "s3://b/t", "gcs": "gs://b/t", "azure": "az://b/t", "client": "s3://b/t"}[kind]
    assert [name for name in names if "key" in _refusal(url, store_arguments(url, {name: "x"}))] == []


def _refusal(url: str, arguments: dict[str, Any]) -> str:
    """Which part of the arguments the library refuses: the key, the value, or nothing."""
    try:
        from_url(url, **{"account_name": "x", **arguments} if url.startswith("az") else arguments)
    except Exception as unfit:
        return "key" if isinstance(unfit, UnknownConfigurationKeyError) or "Invalid key" in str(unfit) else "value"
    return ""


def test_an_option_in_any_spelling_of_its_name() -> None:
    assert store_arguments("s3://b/t", {"AWS_REGION": "r", "aws_allow_http": "true", "endpoint_url": "http://h"}) == {
        "region": "r", "endpoint": "http://h", "client_options": {"allow_http": "true"},
    }  # fmt: skip
    given = {"client_options": {"timeout": "1s"}, "allow_http": True, "durable": "true"}
    assert store_arguments("s3://b/t", given) == {"client_options": {"timeout": "1s", "allow_http": True}}


def test_what_is_absent_stays_not_found(tmp_path: Path) -> None:
    for storage in (open_storage(tmp_path), open_storage("memory:///")):
        with pytest.raises(NotFound) as raised:
            storage.get("p/x")
        assert not isinstance(raised.value, NbccError)


def test_no_message_shows_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    message = (
        f"Generic S3 error: Error performing GET https://u:{SECRET}@h/b/x?X-Amz-Signature={SECRET} in 1 ms - Server "
        f"returned 403 Forbidden: <Error><Code>SignatureDoesNotMatch</Code><Key>{SECRET}</Key></Error> {SECRET}\n\n"
        f"Debug source:\n{SECRET}"
    )
    options = {"aws_secret_access_key": SECRET, "region": "r"}
    storage = open_storage(f"s3://user:{SECRET}@b/t", options)
    failing(monkeypatch, GenericError(message), "get", module=obstore)
    monkeypatch.setattr(type(storage), "_reach", lambda self: None)
    with pytest.raises(StorageError, match=r"h/b/x in 1 ms .* SignatureDoesNotMatch") as raised:
        storage.get("x")
    assert SECRET not in str(raised.value)
    failing(monkeypatch, GenericError(f"the secret {SECRET} is wrong"), "get", module=obstore)
    with pytest.raises(StorageError, match="the secret … is wrong"):
        storage.get("x")
    assert SECRET not in repr(storage)


def test_an_address_with_a_password_is_refused_without_showing_it() -> None:
    """The HTTP client prints the address in its errors, and a traceback prints those."""
    with pytest.raises(BadInput, match="'endpoint_url', but its address contains a user name or password") as raised:
        open_storage("s3://b/t", {"endpoint_url": f"http://u:{SECRET}@127.0.0.1:1"})
    assert SECRET not in str(raised.value)
    assert open_storage("s3://b/t", {"endpoint_url": "http://127.0.0.1:1/a@b", "allow_http": "true"})


def test_an_endpoint_with_a_password_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://u:{SECRET}@127.0.0.1:1")
    with pytest.raises(BadInput, match="environment variable 'AWS_ENDPOINT_URL', but its address contains") as raised:
        open_storage("s3://b/t", {"region": "r"})
    assert SECRET not in str(raised.value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert open_storage("s3://b/t", {"allow_http": "true"})
    assert open_storage("gs://b/t"), "variables of another store do not matter"


@pytest.mark.parametrize("error", [StorageError("write x", "no answer", "try again"), OSError("no answer")])
def test_heartbeats_survive_it(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = open_storage(tmp_path)
    heartbeats = StoredHeartbeats(storage, interval=0.01, misses=1_000_000)
    heartbeats.start(tick(1))
    beats: list[Exception | None] = [error, error, None]
    put, enough = LocalStorage.put, __import__("threading").Event()

    def flaky(self: LocalStorage, path: str, data: bytes) -> None:
        if beats and (failure := beats.pop(0)):
            raise failure
        put(self, path, data)
        enough.set()

    monkeypatch.setattr(LocalStorage, "put", flaky)
    assert enough.wait(10)
    heartbeats.stop(tick(1))


def test_a_write_whose_archiving_fails_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"hoodie.archive.automatic": "true", "hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "2"}
    table = Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", options=options)
    rename = os.rename

    def fail(stage: str, name: str, **given: int) -> None:
        if name.endswith(".parquet"):
            raise OSError(errno.ENOSPC, "No space left on device")
        rename(stage, name, **given)

    monkeypatch.setattr(os, "rename", fail)

    def beat_again() -> None:
        for _ in range(5):
            table.upsert(rows())
            table.compact()

    with pytest.warns(UserWarning, match=r"the write is complete, but .* No space left on device"):
        beat_again()
    assert table.snapshot().num_rows == 1


def test_why_does_not_take_a_failing_disk_for_an_empty_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hidden file that cannot be understood holds nothing; one that could not be read may hold anything."""
    table = made(tmp_path / "t")
    table.compact()
    table.upsert(rows())
    left = next(path for path in (tmp_path / "t").iterdir() if ".log." in path.name)
    other = left.name.replace(left.name.split("_")[1].split(".")[0], tick(1))
    (tmp_path / "t" / other).write_bytes(left.read_bytes())
    get = LocalStorage.get

    def fail(self: LocalStorage, path: str) -> bytes:
        if path == other:
            raise StorageError("read it", "the disk failed", "replace it")
        return get(self, path)

    monkeypatch.setattr(LocalStorage, "get", fail)
    with pytest.raises(StorageError):
        why(table.context.storage, "k")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO])
def test_a_command_says_it_in_one_line_and_could_not_run(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path / "t").upsert(rows())
    failing(monkeypatch, OSError(code, os.strerror(code)), "link")
    assert run(["table", str(tmp_path / "t"), "compact"]) == 4
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert message.startswith("Error: Asked to create '.hoodie/timeline/")
    assert os.strerror(code) in message


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_table_that_may_not_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path / "t")
    (tmp_path / "t/.hoodie/hoodie.properties").chmod(0)
    assert run(["inspect", str(tmp_path / "t")]) == 4
    assert "check the permissions" in capsys.readouterr().err
