"""Test vectors: tables in folders with the reads of each and the right answers, for any engine (docs/vectors.md)."""
