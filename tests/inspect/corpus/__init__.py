"""The corpus: kinds of damage, distinct by cause, with what `nbcc validate` and three readers say about each."""
