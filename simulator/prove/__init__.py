"""Proofs for any number of actors: relations, invariants, obligations, and their comparison with the model."""
