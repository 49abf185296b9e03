"""Proofs for any number of actors: first-order transition relations with inductive invariants, checked by z3 and
compared with the model.
"""
