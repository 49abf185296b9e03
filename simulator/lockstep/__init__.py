"""The same interleaving on the model and on real systems, one step at a time: control, schedules, comparison."""
