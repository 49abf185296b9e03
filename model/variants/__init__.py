"""Variants: interpretations of the RFCs that differ from nbcc's, and the rules of readers other than nbcc. Each variant
is an option of the protocol.
"""
