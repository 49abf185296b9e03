"""The data path: pure functions from Arrow to Arrow, one file group at a time; nothing here knows of Spark."""
