"""Proofs for any number of actors: transition relations, invariants, proof obligations, and the comparison with the
model.
"""
