"""A table in an object store, played by a server of a few lines: inspected as one on a disk, by the same requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pyarrow as pa
import pytest

from nbcc.engine.audit import CountingStorage, inspect, why
from nbcc.engine.storage import open_storage
from nbcc.engine.table import Table

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64())])


class _Bucket(BaseHTTPRequestHandler):
    """As much of S3 as a reader needs: ListObjectsV2 and GetObject of the files below `root`."""

    root: Path
    asked: list[str]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        self.asked.append(self.path)
        if "list-type" in query:
            self._send(self._listing(query.get("prefix", [""])[0]).encode())
            return
        file = self.root / unquote(url.path).removeprefix("/lake/")
        if file.is_file():
            self._send(file.read_bytes())
        else:
            self._send(b"<Error><Code>NoSuchKey</Code></Error>", 404)

    def _listing(self, prefix: str) -> str:
        found = [path for path in sorted(self.root.rglob("*")) if path.is_file()]
        keys = [(path.relative_to(self.root).as_posix(), path.stat().st_size) for path in found]
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>2026-01-01T00:00:00Z</LastModified><ETag>e</ETag>"
            f"<Size>{bytes_}</Size></Contents>" for key, bytes_ in keys if key.startswith(prefix)
        )  # fmt: skip
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"

    def _send(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", "e")
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Be silent."""


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[str]]]:
    handler = type("Bucket", (_Bucket,), {"root": tmp_path, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_address[1]}")
    settings = {"ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "REGION": "r", "ALLOW_HTTP": "true"}
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    yield lambda: handler.asked
    server.shutdown()


def test_a_table_in_an_object_store_reads_as_on_a_disk(bucket: Callable[[], list[str]], tmp_path: Path) -> None:
    table = Table.create(None, tmp_path / "own", SCHEMA, record_key="id", ordering_fields="ts", partition_by="part")
    table.upsert(pa.table({"id": ["k1", "k2"], "part": ["a", "b"], "ts": [1, 2]}, schema=SCHEMA))
    table.compact()
    table.upsert(pa.table({"id": ["k1"], "part": ["a"], "ts": [3]}, schema=SCHEMA))
    there = CountingStorage(open_storage("s3://lake/own"))
    here = CountingStorage(open_storage(tmp_path / "own"))
    found = inspect(there)
    assert replace(found, url="") == replace(inspect(here), url="")
    assert (there.listings, there.objects_listed, there.reads) == (here.listings, here.objects_listed, here.reads)
    assert there.listings + there.reads == len(bucket())
    assert found.url == "s3://lake/own"
    assert len(found.slices) == 4
    assert why(there, "k1").groups[0].row == {"id": "k1", "part": "a", "ts": 3}
