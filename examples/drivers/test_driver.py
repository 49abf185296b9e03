"""A driver in pytest. A failure prints the run, and saves it with its page in the folder `traces`."""

import sys
from pathlib import Path

from nbcc.testing import driver, machine

PROGRAM = f"{sys.executable} {Path(__file__).with_name('driver.py')}"

test_my_engine = machine(driver(PROGRAM), examples=50)
test_my_engine_in_a_small_world = machine(driver(PROGRAM), world="demo", examples=50)
