"""Proofs for any number of actors: transition relations, invariants, obligations, and their comparison with the model."""
