"""What every test may rely on: the same zone of time and the same depth of calls everywhere."""

import os
import sys
import time

from kit import clock
from kit.console import idle

# Screens show local times; pictures of them must not depend on where they are taken.
os.environ["TZ"] = "UTC"
time.tzset()

clock.patch()

DEEPEST = sys.getrecursionlimit()


def pytest_runtest_setup() -> None:
    # py-evm and its curves raise it for the whole process, and then deep JSON overruns the stack.
    sys.setrecursionlimit(DEEPEST)
    # A console is seen when it has come to rest, however little of the machine it was given.
    idle.patch()
