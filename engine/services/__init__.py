"""Functions shared by table services. They select the files that a compaction merges, a clean deletes, or a restore
undoes.
"""
