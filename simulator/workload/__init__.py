"""Workload simulation: a discrete-event simulation of many writers on one table, with costs measured on the engine."""
