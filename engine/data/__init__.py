"""The data path: functions from Arrow to Arrow, one file group at a time. No module imports Spark."""
