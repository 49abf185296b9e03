"""Variants model alternative interpretations of the RFCs, and readers of other engines. Each variant is selected by an
option of the protocol.
"""
