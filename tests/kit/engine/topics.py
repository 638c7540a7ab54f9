"""The topics of the offline world, for worlds that a test makes by itself."""

from typing import Final

from service_tui.engine.tape.topics import Topics
from service_tui.wiring.topics import load_topics

TOPICS: Final[Topics] = load_topics()
