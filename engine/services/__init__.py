"""Functions that table services share: they select the files that a plan takes, a clean deletes, or a restore
undoes.
"""
