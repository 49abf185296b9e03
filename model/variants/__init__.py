"""Variants: other interpretations of the RFCs, and the rules of other readers. Each variant is an option of the
protocol.
"""
