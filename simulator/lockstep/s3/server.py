"""An in-memory S3 server on 127.0.0.1, with ETags, conditional puts and faults on demand.

The server implements the requests that the client library obstore sends, including conditional puts, paginated listings
and multipart uploads, and those that Hadoop's client sends for a table of Apache Hudi. Signatures are not checked.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from .faults import Fault, Meeting, Request, Stored

_CODES: Final = {
    "conflict": (409, "ConditionalRequestConflict"),
    "fail": (400, "InvalidRequest"),
    "forbid": (403, "AccessDenied"),
    "slow": (503, "SlowDown"),
    "expire": (400, "ExpiredToken"),
    "refuse": (412, "PreconditionFailed"),
}


@dataclass
class Bucket:
    """The state of one server: objects by key, past requests, and pending faults.

    `page` is the maximum number of keys on one page of a listing. `latency_seconds` is the delay of every request;
    `listing_seconds` is an additional delay of every listing.
    """

    url: str = ""
    objects: dict[str, Stored] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    meetings: list[Meeting] = field(default_factory=list)
    latency_seconds: float = 0.0
    listing_seconds: float = 0.0
    stall_seconds: float = 1.0
    page: int = 1000
    changing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def options(self) -> dict[str, Any]:
        """The `storage_options` of a table `s3://lake/…` on this server."""
        return {**self.texts, "client_options": {"allow_http": True}}

    @property
    def texts(self) -> dict[str, str]:
        """The storage options of this server as flat strings, for a Spark data source or the command line."""
        return {"endpoint": self.url, "access_key_id": "test", "secret_access_key": "s3cr3t", "region": "r"}

    def asked(self, method: str, end: str) -> int:
        """Return the number of past requests with the HTTP method `method` and a key that ends with `end`."""
        return sum(request.method == method and request.key.endswith(end) for request in self.requests)

    @property
    def sent(self) -> list[Request]:
        """Past requests. A request that deletes several keys is one request, as in the bill of S3."""
        return [request for request in self.requests if not request.is_further_key]

    def depth(self) -> int:
        """Return the length of the longest chain of requests in which each request began after the previous one was
        answered.
        """
        count, until = 0, 0.0
        # By end, as in interval scheduling: the request that ends first leaves most room for the others of the chain.
        for request in sorted(self.sent, key=lambda each: each.ended):
            if request.began >= until:
                count, until = count + 1, request.ended
        return count

    def put(self, key: str, data: bytes, absent: bool = False, tag: str | None = None) -> str | None:
        """Store an object and return its new ETag.

        If `absent` is True, an existing object is not replaced (If-None-Match). If `tag` is given, an object is
        replaced only if its current ETag is `tag` (If-Match). Returns None if the object was not stored.
        """
        with self.changing:
            there = self.objects.get(key)
            if (absent and there is not None) or (tag is not None and (there is None or there.tag != tag)):
                return None
            # The number of requests makes the ETag new even if the bytes are not: If-Match must see every replacement.
            stored = Stored(data, f'"{hashlib.md5(data).hexdigest()}-{len(self.requests)}"', time.time())
            self.objects[key] = stored
            return stored.tag

    def delete(self, key: str) -> None:
        """Delete an object, which need not exist."""
        with self.changing:
            self.objects.pop(key, None)

    def listed(
        self, prefix: str, after: str, size: int, delimiter: str = ""
    ) -> tuple[list[tuple[str, Stored | None]], bool]:
        """Return the next `size` objects below a prefix, sorted by key, and whether more objects follow.

        If a delimiter is given, the keys that contain it after the prefix are grouped: one entry, without an object,
        for each common beginning up to the delimiter.
        """
        with self.changing:
            # Copied under the lock, and put together without it: another thread may put an object at any time.
            found = sorted(item for item in self.objects.items() if item[0].startswith(prefix) and item[0] > after)
        entries: dict[str, Stored | None] = {}
        for key, stored in found:
            end = key.find(delimiter, len(prefix)) if delimiter else -1
            if end < 0:
                entries[key] = stored
            # A group before `after` was on an earlier page, although some of its keys are after it.
            elif (group := key[: end + len(delimiter)]) > after:
                entries[group] = None
        return [*entries.items()][:size], len(entries) > size

    def fault(self, request: Request) -> str:
        """Return the kind of fault that applies to a request, or '' if none applies."""
        with self.changing:
            for fault in self.faults:
                if not fault.is_for(request):
                    continue
                if not fault.spared:
                    fault.times -= 1
                    return fault.kind
                fault.spared -= 1
        return ""


class _Handler(BaseHTTPRequestHandler):
    bucket: Bucket
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    _request: Request
    _fault: str

    def do_GET(self) -> None:
        query = self._query()
        listing = "list-type" in query
        # S3 has no such method: a listing is a GET, which faults and counts must not confuse with one of an object.
        if self._begins("LIST" if listing else self.command, query.get("prefix", [""])[0] if listing else None):
            return
        if listing:
            self._list(query)
            return
        there = self.bucket.objects.get(self._key())
        if there is None:
            self._send(404, b"<Error><Code>NoSuchKey</Code></Error>")
        else:
            self._send_object(there)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_PUT(self) -> None:
        # Read before a fault is applied: a client that is still sending would not see the answer.
        data = self._body()
        if self._begins():
            return
        query = self._query()
        if "uploadId" in query:
            # An object appears when its upload is completed, so a part changes nothing that another client sees.
            self.bucket.uploads[query["uploadId"][0]][int(query["partNumber"][0])] = data
            self._send(200, tag='"part"')
            return
        done = self.bucket.put(
            self._key(), data, self.headers.get("If-None-Match") == "*", self.headers.get("If-Match")
        )
        if done is None:
            self._send(412, b"<Error><Code>PreconditionFailed</Code></Error>")
        else:
            self._request.stored = done
            self._send(200, tag=done)

    def do_DELETE(self) -> None:
        if self._begins():
            return
        self.bucket.delete(self._key())
        self._send(204)

    def do_POST(self) -> None:
        body, query = self._body(), parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        if "delete" in query:
            self._delete_all(body)
        elif not self._begins():
            if "uploads" in query:
                upload = uuid4().hex
                self.bucket.uploads[upload] = {}
                self._send(200, f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId>"
                           "</InitiateMultipartUploadResult>".encode())  # fmt: skip
            else:
                parts = self.bucket.uploads.pop(query["uploadId"][0])
                tag = self.bucket.put(self._key(), b"".join(parts[number] for number in sorted(parts)))
                self._send(200, f"<CompleteMultipartUploadResult><ETag>{escape(tag or '')}</ETag>"
                           "</CompleteMultipartUploadResult>".encode())  # fmt: skip

    def _delete_all(self, body: bytes) -> None:
        keys = [each.text or "" for each in ElementTree.fromstring(body).iter() if each.tag.rpartition("}")[2] == "Key"]
        if self._begins("DELETE", keys[0] if keys else ""):
            return
        began = self._request.began
        # One request deletes many objects. Each key has an entry, so that tests find the key that they ask for.
        self.bucket.requests += [Request("DELETE", key, began, began, is_further_key=True) for key in keys[1:]]
        for key in keys:
            self.bucket.delete(key)
        deleted = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
        self._send(200, f"<DeleteResult>{deleted}</DeleteResult>".encode())

    def _list(self, query: dict[str, list[str]]) -> None:
        after = query.get("continuation-token", query.get("start-after", [""]))[0]
        # Before the objects are looked at: a slow listing still shows what was put while it waited.
        time.sleep(self.bucket.listing_seconds)
        size = min(self.bucket.page, int(query.get("max-keys", [self.bucket.page])[0]))
        found, more = self.bucket.listed(query.get("prefix", [""])[0], after, size, query.get("delimiter", [""])[0])
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{_moment(stored.modified)}</LastModified>"
            f"<ETag>{escape(stored.tag)}</ETag><Size>{len(stored.data)}</Size></Contents>"
            if stored else f"<CommonPrefixes><Prefix>{escape(key)}</Prefix></CommonPrefixes>" for key, stored in found
        )  # fmt: skip
        token = f"<NextContinuationToken>{escape(found[-1][0])}</NextContinuationToken>" if more else ""
        head = f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}"
        self._send(200, f"<ListBucketResult>{head}{contents}</ListBucketResult>".encode())

    def _body(self) -> bytes:
        data = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        return _without_chunks(data) if self.headers.get("x-amz-content-sha256", "").startswith("STREAMING-") else data

    def _query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.path).query)

    def _key(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix("/lake/")

    def _begins(self, method: str | None = None, key: str | None = None) -> bool:
        method, key = method or self.command, self._key() if key is None else key
        self._request = Request(method, key, time.monotonic())
        self._request.is_conditional = "If-None-Match" in self.headers or "If-Match" in self.headers
        self._request.is_part = "Range" in self.headers or "uploadId=" in self.path
        with self.bucket.changing:
            self.bucket.requests.append(self._request)
            joined = [meeting for meeting in self.bucket.meetings if meeting.join(self._request)]
        # After the lock is released, or no other request could arrive at the meeting.
        for meeting in joined:
            meeting.wait()
        self._fault = self._request.fault = self.bucket.fault(self._request)
        # These faults lie about the answer, so the request is carried out first.
        if self._fault in ("", "refuse", "lose", "stall"):
            return False
        self._send(200)
        return True

    def _send_object(self, stored: Stored) -> None:
        size, wanted = len(stored.data), re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if wanted is None:
            self._send(200, stored.data, stored)
            return
        first, last = int(wanted[1]), min(int(wanted[2]), size - 1)
        self._send(206, stored.data[first : last + 1], stored, part=f"bytes {first}-{last}/{size}")

    def _send(
        self, status: int, body: bytes = b"", stored: Stored | None = None, tag: str | None = None, part: str = ""
    ) -> None:
        time.sleep(self.bucket.latency_seconds + (self.bucket.stall_seconds if self._fault == "stall" else 0))
        # Before the bytes are sent: a client may begin its next request before this thread goes on.
        self._request.ended = time.monotonic()
        if self._fault in ("lose", "drop"):
            self.close_connection = True
            return
        if self._fault in _CODES:
            status, code = _CODES[self._fault]
            body, stored, tag = f"<Error><Code>{code}</Code></Error>".encode(), None, None
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if tag := stored.tag if stored else tag:
            self.send_header("ETag", tag)
        if stored:
            self.send_header("Last-Modified", formatdate(stored.modified, usegmt=True))
        if part:
            self.send_header("Content-Range", part)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


def _without_chunks(body: bytes) -> bytes:
    """Return the content of a body in the encoding aws-chunked. AWS's Java clients send it when the connection is not
    encrypted: chunks, each after a line with its size and signature, then a chunk of size 0 and trailers.
    """
    content, place = b"", 0
    while size := int(body[place : (line := body.index(b"\r\n", place))].partition(b";")[0], 16):
        content += body[line + 2 : line + 2 + size]
        place = line + 2 + size + 2
    return content


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"


class _Server(ThreadingHTTPServer):
    """A server with one thread for each connection. Connection errors are ignored, because clients may close
    connections early.
    """

    # A client keeps its connection open: a test that has ended must not wait for it.
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None: ...


@contextmanager
def s3_server() -> Iterator[Bucket]:
    """Run a server with an empty bucket `lake` within the context."""
    bucket = Bucket()
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"bucket": bucket}))
    bucket.url = f"http://127.0.0.1:{server.server_address[1]}"
    # `shutdown` waits for the loop of the server, and half a second is its usual turn.
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()
