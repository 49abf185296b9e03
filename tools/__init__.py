"""What the developers of nbcc run: generated pages, soak tests. The package is not part of the
wheel.
"""
