"""A conditional put that succeeded and is answered as if it had not: by an object store, and in every operation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa
import pytest
from obstore.exceptions import GenericError

from nbcc import Table
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.errors import StorageError
from nbcc.engine.storage import Entry, Listable, NotFound, Storage, object_storage, open_storage, put_own

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])


@dataclass
class Ghost(Listable):
    """A storage whose first conditional put of each path happens, and is answered by: it exists."""

    inner: Storage
    hidden: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.inner.url

    def put_if_absent(self, path: str, data: bytes) -> bool:
        done = self.inner.put_if_absent(path, data)
        if done:
            self.hidden.append(path)
        return False

    def put(self, path: str, data: bytes) -> None:
        self.inner.put(path, data)

    def get(self, path: str) -> bytes:
        return self.inner.get(path)

    def list(self, prefix: str) -> list[Entry]:
        return self.inner.list(prefix)

    def delete(self, path: str) -> None:
        self.inner.delete(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        self.inner.delete_all(paths)


def rows(ts: int) -> pa.Table:
    return pa.table({"id": ["k"], "ts": [ts]}, SCHEMA)


@pytest.mark.parametrize("decision", ["lock", "log", "shared"])
def test_every_operation_recognises_its_own_puts(decision: str, tmp_path: Path) -> None:
    made = Table.create(
        None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1,
        options={"nbcc.decision": decision},
    )  # fmt: skip
    ghost = Ghost(made.context.storage)
    context = replace(made.context, storage=ghost, jobs=InProcessJobs(ghost, made.context.names))
    table = Table(context, made.config)
    steps: list[Callable[[], Any]] = [
        *(lambda ts=ts: table.upsert(rows(ts), batch_id=f"b{ts}") for ts in range(3)),
        table.log_compact,
        table.compact,
        lambda: table.insert_overwrite(rows(4)),
        table.savepoint,
        lambda: table.upsert(rows(5)),
        table.restore,
        table.delete_savepoint,
        lambda: table.upsert(rows(6)),
        table.compact,
        lambda: table.clean(retained=1),
        lambda: table.archive(retained=1),
    ]
    for step in steps:
        assert step() is not None
    assert table.snapshot()["ts"].to_pylist() == [6]
    states = {path.rpartition(".")[2] for path in ghost.hidden if path.startswith(".hoodie/timeline/")}
    assert {"requested", "inflight", "deltacommit", "commit", "clean", "savepoint", "restore"} <= states


def test_an_object_of_another_writer_is_not_ours(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    assert put_own(storage, "x", b"ours")
    assert put_own(storage, "x", b"ours")
    assert not put_own(storage, "x", b"theirs")
    assert storage.get("x") == b"ours"


def test_an_object_that_is_gone_when_it_is_read_is_put_again(tmp_path: Path) -> None:
    class Vanishing(Ghost):
        left = 2

        def get(self, path: str) -> bytes:
            self.left -= 1
            if self.left >= 0:
                self.inner.delete(path)
            return super().get(path)

    storage = Vanishing(open_storage(tmp_path))
    assert put_own(storage, "x", b"1")
    assert storage.hidden == ["x"] * 3
    storage.left = 100
    assert not put_own(storage, "y", b"1")


# an object store


class Bucket(BaseHTTPRequestHandler):
    """Enough of S3 for conditional puts. `script`: (status to answer, is the put carried out) for the next ones."""

    objects: dict[str, bytes]
    script: list[tuple[int, bool]]
    puts: list[str]

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.puts.append(self.path)
        taken = self.path in self.objects and self.headers.get("If-None-Match") == "*"
        status, done = self.script.pop(0) if self.script else (412 if taken else 200, not taken)
        if done:
            self.objects[self.path] = data
        self._send(b"" if status == 200 else b"<Error><Code>Scripted</Code></Error>", status)

    def do_GET(self) -> None:
        data = self.objects.get(self.path)
        self._send(b"<Error><Code>NoSuchKey</Code></Error>" if data is None else data, 404 if data is None else 200)

    def _send(self, body: bytes, status: int) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "ETag": '"e"'}.items():
            self.send_header(name, value)
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Be silent."""


@dataclass
class Served:
    """A storage on a server of these few lines, and what the server does."""

    storage: Storage
    server: Any

    def put(self, data: bytes, *script: tuple[int, bool]) -> bool:
        self.server.puts.clear()
        self.server.script[:] = script
        return self.storage.put_if_absent("x", data)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(object_storage, "PAUSES", (0, 0, 0))
    handler = type("Scripted", (Bucket,), {"objects": {}, "script": [], "puts": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    options = {
        "endpoint": f"http://127.0.0.1:{server.server_address[1]}", "region": "r", "access_key_id": "a",
        "secret_access_key": "b", "client_options": {"allow_http": True},
        "retry_config": {"max_retries": 1},
    }  # fmt: skip
    yield Served(open_storage("s3://lake/t", options), handler)
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("data", [b"ours", b""])
@pytest.mark.parametrize(
    "script",
    [
        [(500, True), (412, False)],  # done, not answered; the library's own second attempt finds it
        [(500, True), (500, False)],  # done, and never answered
        [(500, False), (500, False)],  # not done, and never answered
        [(409, False)],  # another conditional put was under way, and did not succeed
        [(409, False), (409, False)],
        [(500, False), (500, False), (409, False)],
    ],
)
def test_a_put_that_was_answered_wrongly_is_repeated_or_recognised(
    served: Served, script: list[tuple[int, bool]], data: bytes
) -> None:
    assert served.put(data, *script)
    assert served.storage.get("x") == data
    assert len(served.server.puts) <= len(script) + 1


@pytest.mark.parametrize("script", [[], [(409, False)], [(500, False), (412, False)], [(500, False), (500, False)]])
def test_an_object_of_another_writer_is_left(served: Served, script: list[tuple[int, bool]]) -> None:
    assert served.put(b"theirs")
    assert not served.put(b"ours", *script)
    assert served.storage.get("x") == b"theirs"


def test_a_store_that_never_answers_is_a_typed_error(served: Served) -> None:
    with pytest.raises(StorageError, match=r"create 'x' in the table at s3://lake/t, but the store answered: .*500"):
        served.put(b"ours", *[(500, False)] * 20)
    with pytest.raises(StorageError, match="refuses to create it 3 times and holds no such object"):
        served.put(b"ours", *[(409, False)] * 20)
    with pytest.raises(NotFound):
        served.storage.get("x")


def test_a_refusal_is_not_repeated(served: Served) -> None:
    with pytest.raises(StorageError, match=r"403 Forbidden: Scripted: check the credentials"):
        served.put(b"ours", (403, False))
    assert len(served.server.puts) == 1


def test_a_time_out_on_a_put_that_was_done_is_success(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, put = open_storage("memory:///t"), obstore.put

    def timed_out(*given: Any, **named: Any) -> Any:
        put(*given, **named)
        raise GenericError("operation timed out")

    monkeypatch.setattr(obstore, "put", timed_out)
    assert storage.put_if_absent("x", b"ours")
