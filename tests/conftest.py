"""What every test may rely on: the same zone of time everywhere."""

import os
import time

# Screens show local times; pictures of them must not depend on where they are taken.
os.environ["TZ"] = "UTC"
time.tzset()
