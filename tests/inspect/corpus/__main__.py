"""`python -m tests.inspect.corpus`: asks the readers about every kind of damage again, and writes record and page."""

from .answers import record

record()
