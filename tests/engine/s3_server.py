"""An S3 server in memory on 127.0.0.1: objects with ETags, conditional puts, and answers that fail on demand.

It speaks as much of S3 as obstore asks for: ListObjectsV2 in pages, GetObject, HeadObject, PutObject with If-None-Match
and If-Match, DeleteObject and DeleteObjects. Signatures are not checked.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape

PAGE = 1000
"""How many keys a listing returns at a time, as S3 does."""


class Stored(NamedTuple):
    """One version of an object."""

    data: bytes
    tag: str
    modified: float


class Request(NamedTuple):
    """A request as it arrived: its method and the key that it names ('' for a listing)."""

    method: str
    key: str


@dataclass
class Fault:
    """What the server does to `times` requests of `method` whose key ends with `end`, after the next `spared` of them.

    refuse    carry the request out, and answer 412
    lose      carry the request out, and close the connection without an answer
    conflict  change nothing, and answer 409
    fail      change nothing, and answer 400
    """

    kind: Literal["refuse", "lose", "conflict", "fail"]
    end: str
    method: str = "PUT"
    times: int = 1
    spared: int = 0


@dataclass
class Bucket:
    """The objects of one server, by key; what was asked of it, the faults to come, and how long a listing takes."""

    url: str = ""
    objects: dict[str, Stored] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    listing_seconds: float = 0.0
    changing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def options(self) -> dict[str, Any]:
        """The `storage_options` of a table `s3://lake/…` on this server."""
        return {
            "endpoint": self.url, "access_key_id": "test", "secret_access_key": "test", "region": "r",
            "client_options": {"allow_http": True},
        }  # fmt: skip

    def asked(self, method: str, end: str) -> int:
        """How many requests of `method` there were for keys that end so."""
        return sum(request.method == method and request.key.endswith(end) for request in self.requests)

    def put(self, key: str, data: bytes, absent: bool = False, tag: str | None = None) -> str | None:
        """Store an object, on condition that it is `absent` or has that `tag`; its new tag, None if it is not so."""
        with self.changing:
            there = self.objects.get(key)
            if (absent and there is not None) or (tag is not None and (there is None or there.tag != tag)):
                return None
            stored = Stored(data, f'"{hashlib.md5(data).hexdigest()}-{len(self.requests)}"', time.time())
            self.objects[key] = stored
            return stored.tag

    def delete(self, key: str) -> None:
        """Remove an object, which need not exist."""
        with self.changing:
            self.objects.pop(key, None)

    def page(self, prefix: str, after: str, size: int) -> tuple[list[tuple[str, Stored]], bool]:
        """The next `size` objects below a prefix, by key, and whether there are more."""
        with self.changing:
            found = sorted(item for item in self.objects.items() if item[0].startswith(prefix) and item[0] > after)
        return found[:size], len(found) > size

    def fault(self, request: Request) -> str:
        """What to do to this request; '' for most."""
        with self.changing:
            for fault in self.faults:
                if not fault.times or fault.method != request.method or not request.key.endswith(fault.end):
                    continue
                if not fault.spared:
                    fault.times -= 1
                    return fault.kind
                fault.spared -= 1
        return ""


class _Handler(BaseHTTPRequestHandler):
    """One connection to the bucket."""

    bucket: Bucket
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        query = self._query()
        if "list-type" in query:
            self._list(query)
            return
        self._noted()
        there = self.bucket.objects.get(self._key())
        if there is None:
            self._send(404, b"<Error><Code>NoSuchKey</Code></Error>")
        else:
            self._send(200, there.data, there)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        fault = self.bucket.fault(self._noted())
        if fault in ("conflict", "fail"):
            code = "ConditionalRequestConflict" if fault == "conflict" else "InvalidRequest"
            self._send(409 if fault == "conflict" else 400, f"<Error><Code>{code}</Code></Error>".encode())
            return
        absent, tag = self.headers.get("If-None-Match") == "*", self.headers.get("If-Match")
        done = self.bucket.put(self._key(), data, absent, tag)
        if fault == "lose":
            self.close_connection = True
        elif done is None or fault == "refuse":
            self._send(412, b"<Error><Code>PreconditionFailed</Code></Error>")
        else:
            self._send(200, b"", tag=done)

    def do_DELETE(self) -> None:
        self._noted()
        self.bucket.delete(self._key())
        self._send(204)

    def do_POST(self) -> None:
        """DeleteObjects."""
        body = ElementTree.fromstring(self.rfile.read(int(self.headers["Content-Length"])))
        keys = [each.text or "" for each in body.iter() if each.tag.rpartition("}")[2] == "Key"]
        for key in keys:
            self.bucket.requests.append(Request("DELETE", key))
            self.bucket.delete(key)
        deleted = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
        self._send(200, f"<DeleteResult>{deleted}</DeleteResult>".encode())

    def _list(self, query: dict[str, list[str]]) -> None:
        self.bucket.requests.append(Request("LIST", ""))
        after = query.get("continuation-token", query.get("start-after", [""]))[0]
        time.sleep(self.bucket.listing_seconds)
        found, more = self.bucket.page(query.get("prefix", [""])[0], after, int(query.get("max-keys", [PAGE])[0]))
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{_moment(stored.modified)}</LastModified>"
            f"<ETag>{escape(stored.tag)}</ETag><Size>{len(stored.data)}</Size></Contents>" for key, stored in found
        )  # fmt: skip
        token = f"<NextContinuationToken>{escape(found[-1][0])}</NextContinuationToken>" if more else ""
        head = f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}"
        self._send(200, f"<ListBucketResult>{head}{contents}</ListBucketResult>".encode())

    def _query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.path).query)

    def _key(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix("/lake/")

    def _noted(self) -> Request:
        request = Request(self.command, self._key())
        self.bucket.requests.append(request)
        return request

    def _send(self, status: int, body: bytes = b"", stored: Stored | None = None, tag: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if tag := stored.tag if stored else tag:
            self.send_header("ETag", tag)
        if stored:
            self.send_header("Last-Modified", formatdate(stored.modified, usegmt=True))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"


@contextmanager
def s3_server() -> Iterator[Bucket]:
    """A server with an empty bucket `lake`, for as long as the block runs."""
    bucket = Bucket()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"bucket": bucket}))
    server.daemon_threads = True
    bucket.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()
