"""Models of other systems, written against the public interface of the explorer. The models test the search against
published results.
"""
