"""The commands of `nbcc table TABLE`: one module each, with a click command called `command`."""
