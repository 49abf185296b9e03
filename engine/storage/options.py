"""Validates storage options: nbcc's option `durable`, and obstore's options for object stores
(docs/options.md).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, Final

from obstore import parse_scheme
from obstore.exceptions import GenericError

from ..errors import BadInput

DURABLE: Final = "durable"

_MEANINGS: Final[Mapping[str, bool]] = {"true": True, "false": False}

_S3: Final = (
    "access_key_id", "secret_access_key", "session_token", "region", "default_region", "endpoint",
    "virtual_hosted_style_request", "skip_signature", "unsigned_payload", "checksum_algorithm", "conditional_put",
    "copy_if_not_exists", "disable_tagging", "disable_bulk_delete", "request_payer", "s3_express",
    "server_side_encryption", "sse_kms_key_id", "sse_bucket_key_enabled", "sse_customer_key_base64",
    "role_arn", "role_session_name", "endpoint_url_sts", "web_identity_token_file", "metadata_endpoint",
    "imdsv1_fallback", "container_credentials_relative_uri", "container_credentials_full_uri",
    "container_authorization_token_file",
)  # fmt: skip
_GCS: Final = (
    "service_account", "service_account_key", "application_credentials", "bearer_token", "base_url", "skip_signature",
)  # fmt: skip
_AZURE: Final = (
    "account_name", "account_key", "sas_key", "token", "client_id", "client_secret", "tenant_id", "authority_host",
    "endpoint", "skip_signature", "use_azure_cli", "use_emulator", "msi_endpoint", "object_id", "msi_resource_id",
    "federated_token_file", "encryption_key", "credential_type", "container_name", "disable_tagging",
    "use_fabric_endpoint", "fabric_token_service_url", "fabric_workload_host", "fabric_session_token",
    "fabric_cluster_identifier",
)  # fmt: skip
CLIENT: Final = (
    "allow_http", "allow_invalid_certificates", "connect_timeout", "timeout", "read_timeout", "user_agent",
    "default_content_type", "default_headers", "proxy_url", "proxy_ca_certificate", "proxy_excludes",
    "root_certificate", "randomize_addresses", "http1_only", "http2_only", "http2_keep_alive_interval",
    "http2_keep_alive_timeout", "http2_keep_alive_while_idle", "pool_idle_timeout", "pool_max_idle_per_host",
)  # fmt: skip
"""Options of the HTTP client, which every store has."""

STORES: Final[Mapping[str, tuple[str, ...]]] = {"s3": _S3, "gcs": _GCS, "azure": _AZURE}
"""Kind of store -> its options, by obstore's names."""

_PREFIXES: Final = {"s3": ("aws_",), "gcs": ("google_",), "azure": ("azure_storage_", "azure_")}
_ALIASES: Final[Mapping[str, Mapping[str, str]]] = {
    "s3": {"endpoint_url": "endpoint", "token": "session_token", "endpoint_url_s3": "endpoint"},
    "gcs": {"service_account_path": "service_account"},
    "azure": {"sas_token": "sas_key", "bearer_token": "token", "access_key": "account_key", "master_key": "account_key",
              "authority_id": "tenant_id", "identity_endpoint": "msi_endpoint"},
}  # fmt: skip
_DURATION: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m)")
_PASSWORD: Final = re.compile(r"^[a-z0-9+.-]+://[^/?#]*@", re.IGNORECASE)
_UNITS: Final = {"ms": "milliseconds", "s": "seconds", "m": "minutes"}
_NESTED: Final = ("client_options", "retry_config", "credential_provider", "config")
"""Arguments of obstore that hold more than one text: from Python alone."""


def checked_options(options: object) -> dict[str, Any]:
    """Return a copy of `storage_options`; raise `BadInput` unless it maps names to values."""
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        exists = f"storage_options is {type(options).__name__}, or has a name that is not a text"
        raise BadInput("open the table's storage", exists, "give a mapping of option names to values")
    return dict(options)


def local_options(options: Mapping[str, Any]) -> bool:
    """Return the option `durable` of a local table; raise `BadInput` for any other option."""
    if unknown := sorted(set(options) - {DURABLE}):
        raise BadInput(
            f"open a local table with the storage option {unknown[0]!r}",
            f"the only storage option of a local table is {DURABLE!r}",
            "leave the others out",
        )
    return is_durable(options)


def is_durable(options: Mapping[str, Any]) -> bool:
    """Return the option `durable`, given as a bool or as the text "true" or "false"; the default is True."""
    value = options.get(DURABLE, True)
    meaning = value if isinstance(value, bool) else _MEANINGS.get(str(value).strip().lower())
    if meaning is None:
        raise BadInput(f"use the storage option {DURABLE}={value!r}", "it is true or false", "give one of the two")
    return meaning


def as_duration(value: object) -> timedelta | None:
    """Return the duration given in an option of the HTTP client, such as ``250ms``; None if the text has another form.
    """
    if isinstance(value, timedelta):
        return value
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else timedelta(**{_UNITS[found[2]]: float(found[1])})


def store_arguments(url: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `obstore.store.from_url` for these storage options. No error message contains the value
    of a secret option.

    Option names are accepted in any case, with or without the store's prefix (aws_, google_, azure_storage_). Options
    of the HTTP client are collected in `client_options`. Raises `BadInput` for an option that the store does not have,
    because obstore panics on some unknown names.
    """
    kind = _kind_of(url)
    own = STORES.get(kind, ())
    arguments: dict[str, Any] = {}
    client: dict[str, Any] = {}
    prefixes = tuple(prefix.upper() for prefix in _PREFIXES.get(kind, ()))
    for name, value in os.environ.items():  # obstore reads these variables itself
        if prefixes and name.startswith(prefixes) and _plain(name, kind) in own:
            _refuse_password("environment variable", name, value)
    for name, value in options.items():
        plain = _plain(name, kind)
        if plain in own:
            _refuse_password("storage option", name, value)
        if name in _NESTED:
            arguments[name] = value
        elif plain in own:
            arguments[plain] = value
        elif plain in CLIENT:
            client[plain] = value
        elif name != DURABLE:  # accepted without effect: every put into an object store is durable
            raise _unknown(name, plain, kind, url, (*own, *CLIENT))
    if client:
        arguments["client_options"] = {**arguments.get("client_options", {}), **client}
    return arguments


def _refuse_password(what: str, name: str, value: object) -> None:
    """Raise `BadInput` if an option of the store is an address with a user name or password."""
    if isinstance(value, str) and _PASSWORD.search(value):
        exists = "its address contains a user name or password, which errors of the HTTP client print"
        raise BadInput(f"use the {what} {name!r}", exists, "give credentials by their own options")


def _kind_of(url: str) -> str:
    try:
        return str(parse_scheme(url))
    except GenericError:
        return ""  # `from_url` refuses such a URL, and its message names the schemes


def _plain(name: str, kind: str) -> str:
    """Return an option's canonical name: lower case, with the store's prefix removed and aliases resolved."""
    plain = name.lower()
    for prefix in _PREFIXES.get(kind, ()):
        plain = plain.removeprefix(prefix)
    return _ALIASES.get(kind, {}).get(plain, plain)


def _unknown(name: str, plain: str, kind: str, url: str, known: Iterable[str]) -> BadInput:
    near = get_close_matches(plain, known, 1)
    remedy = f"did you mean {near[0]!r}" if near else "docs/options.md lists the options"
    exists = f"a store of {url.partition(':')[0]}: has no such option"
    return BadInput(f"open an object store with the storage option {name!r}", exists, remedy)
