"""The topics of the offline world, for worlds that a test makes by itself."""

from typing import Final

from kit.engine.many import recorded_world
from service_tui.app.histories import topics_for
from service_tui.app.topics import load_topics
from service_tui.engine.tape.topics import Topics


def _topics() -> Topics:
    recorded = recorded_world()
    return load_topics() if recorded is None else topics_for(recorded.data_dir)


TOPICS: Final[Topics] = _topics()
"""Of a run on a history they open it, too."""
