"""Functions shared by table services. These functions select the files that a compaction merges, a clean deletes, or a
restore undoes.
"""
