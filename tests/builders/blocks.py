"""Blocks of log files that the engine reads and never writes."""

from __future__ import annotations

from nbcc.engine.files.log_block import ROLLBACK, BlockKind, Header, encode_block


def rollback_block(instant: str, target: str) -> bytes:
    """Return a rollback command block, which undoes the blocks of the instant `target`, as writers of table version 6
    write it.
    """
    headers = {Header.INSTANT: instant, Header.TARGET_INSTANT: target, Header.COMMAND: ROLLBACK}
    return encode_block(BlockKind.COMMAND, headers, b"")
