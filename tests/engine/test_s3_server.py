"""Requests that the local S3 server answers for clients other than obstore, such as Hadoop's."""

from __future__ import annotations

import http.client
from xml.etree import ElementTree

import pytest

from nbcc.simulator.lockstep.s3.server import Bucket

KEYS = ("t/a.log", "t/b/1.log", "t/b/2.log", "t/b/c/3.log", "t/d.log", "t/e/4.log", "u/5.log")


def answer(bucket: Bucket, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(bucket.url.removeprefix("http://"))
    connection.request(method, f"/lake{path}", body, {name.replace("_", "-"): each for name, each in headers.items()})
    response = connection.getresponse()
    return response.status, response.read()


def test_a_body_in_signed_chunks_is_stored_without_them(bucket: Bucket) -> None:
    chunks = b"5;chunk-signature=ab\r\nhello\r\n8;chunk-signature=cd\r\n\r\n wor\r\n\r\n0;chunk-signature=ef\r\n\r\n"
    answer(bucket, "PUT", "/k", chunks, x_amz_content_sha256="STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
    assert bucket.objects["k"].data == b"hello\r\n wor\r\n"
    trailer = b"2\r\nok\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"
    answer(bucket, "PUT", "/k", trailer, x_amz_content_sha256="STREAMING-UNSIGNED-PAYLOAD-TRAILER")
    assert bucket.objects["k"].data == b"ok"


def test_a_body_without_chunks_is_stored_as_it_is(bucket: Bucket) -> None:
    answer(bucket, "PUT", "/k", b"5;\r\nhello\r\n0;\r\n\r\n", x_amz_content_sha256="UNSIGNED-PAYLOAD")
    assert bucket.objects["k"].data == b"5;\r\nhello\r\n0;\r\n\r\n"


def test_uploads_that_overlap_keep_their_parts(bucket: Bucket) -> None:
    def begun(key: str) -> str:
        _, body = answer(bucket, "POST", f"/{key}?uploads")
        return ElementTree.fromstring(body).findtext("UploadId") or ""

    def put(key: str, upload: str) -> None:
        answer(bucket, "PUT", f"/{key}?partNumber=1&uploadId={upload}", key.encode())

    first, second = begun("a"), begun("b")
    put("a", first)
    put("b", second)
    answer(bucket, "POST", f"/a?uploadId={first}")
    third = begun("c")
    answer(bucket, "POST", f"/b?uploadId={second}")
    put("c", third)
    answer(bucket, "POST", f"/c?uploadId={third}")
    assert {key: stored.data for key, stored in bucket.objects.items()} == {"a": b"a", "b": b"b", "c": b"c"}


@pytest.mark.parametrize("page", [1, 2, 1000])
def test_a_listing_with_a_delimiter_groups_deeper_keys(bucket: Bucket, page: int) -> None:
    bucket.page = page
    for key in KEYS:
        bucket.put(key, b"x")
    keys, groups, token = list[str](), list[str](), ""
    while True:
        query = f"/?list-type=2&prefix=t/&delimiter=/{token}"
        root = ElementTree.fromstring(answer(bucket, "GET", query)[1])
        found = [each.text or "" for each in root.iterfind("Contents/Key")]
        common = [each.text or "" for each in root.iterfind("CommonPrefixes/Prefix")]
        assert len(found) + len(common) <= page
        keys, groups = keys + found, groups + common
        if root.findtext("IsTruncated") != "true":
            break
        token = f"&continuation-token={root.findtext('NextContinuationToken')}"
    assert (keys, groups) == (["t/a.log", "t/d.log"], ["t/b/", "t/e/"])


def test_a_listing_without_a_delimiter_has_every_key(bucket: Bucket) -> None:
    for key in KEYS:
        bucket.put(key, b"x")
    root = ElementTree.fromstring(answer(bucket, "GET", "/?list-type=2&prefix=t/")[1])
    assert [each.text for each in root.iterfind("Contents/Key")] == list(KEYS[:-1])
    assert root.find("CommonPrefixes") is None
