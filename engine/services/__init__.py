"""What table services share: the files that a plan takes, a clean deletes, or a restore undoes."""
