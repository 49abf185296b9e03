"""Functions shared by table services: they select the files that a compaction merges, a clean deletes, or a restore
undoes.
"""
