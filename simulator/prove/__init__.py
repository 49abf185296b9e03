"""Proofs for any number of actors: transition relations, their invariants, proof obligations, and the comparison of a
relation with the model.
"""
