"""Models commits that actors announce, and that one entry of the decision log decides together."""
