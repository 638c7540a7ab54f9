"""The topics of the offline world, for worlds that a test makes by itself."""

from typing import Final

from service_tui.app.topics import load_topics
from service_tui.engine.tape.topics import Topics

TOPICS: Final[Topics] = load_topics()
