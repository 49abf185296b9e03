"""Under optimistic concurrency control, a writer aborts if a conflicting write has completed since the writer began
(RFC-22).
"""
