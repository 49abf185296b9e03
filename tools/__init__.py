"""What the developers of nbcc run: generated mutants, generated pages, soak tests. Not part of the wheel."""
