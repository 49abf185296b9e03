"""Models of other systems, written against the public interface of the explorer. They calibrate the search."""
