"""Time that is kept back from sessions, as a view. Loaded where there is a session."""

from service_tui.desk.slices.research import HoldoutView, JudgedView
from service_tui.notes.holdouts import Holdout
from service_tui.notes.notebook import Config
from service_tui.units import Timestamp
from service_tui.wire.text import line


def holdout_view(holdout: Holdout, config: Config) -> HoldoutView | None:
    """What is kept back from a session, with its figures once it was judged; None of nothing."""
    judged = holdout.judgement_of(config)
    if judged is None and not holdout.lab:
        return None
    parts = () if judged is None else (("baseline", judged.baseline), ("best", judged.best))
    return HoldoutView(
        line(holdout.history),
        Timestamp(holdout.until),
        Timestamp(holdout.ends_at),
        tuple(
            JudgedView(
                name,
                figures.run,
                figures.logged,
                figures.known.get(holdout.metric),
                figures.held_back.get(holdout.metric),
            )
            for name, figures in parts
        ),
        () if judged is None else tuple(map(line, judged.troubles)),
    )
