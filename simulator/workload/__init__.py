"""Workload simulation: a discrete-event simulation of many writers on one table, with costs that were measured on the
engine.
"""
