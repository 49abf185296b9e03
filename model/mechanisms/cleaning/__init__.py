"""Cleaning deletes the files that are needed only by reads before the horizon (the oldest completion time that can be
read).
"""
