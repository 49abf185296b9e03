"""Variants model other interpretations of the RFCs than nbcc's, and readers other than nbcc. Each variant is selected
by an option of the protocol.
"""
