"""The plan of a trial, as it is passed to its process."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Final

from service_tui.records import json_of, read
from service_tui.terms import Plan
from service_tui.units import Timestamp
from service_tui.version import VERSION

ROUND_MIN_S: Final = 60.0
INVENTED_BEGINS_AT: Final = 1_800_000_000.0
"""# ours: when the invented world of a trial begins, so that the same seed is the same world."""

MADE_BY: Final = f"{VERSION}, 1"
"""The program and the form of the result: one of another is made anew."""


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """One skill on one world for one period. Times are Unix seconds.

    `history` is empty for an invented world, of which `seed` says which. `every_s` is the time
    between two rounds. `skill` and `data_dir` are folders. `budget` is money a day, in units.
    `anew`: the skill is started for each round, as the desk does, though it could stay.
    `skill_hash` tells two states of a skill apart.
    """

    name: str
    slug: str
    skill: str
    skill_hash: str
    data_dir: str
    history: str
    digest: str
    seed: int
    begins_at: Timestamp
    ends_at: Timestamp
    every_s: float
    budget: float
    plan: Plan
    anew: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    made_by: str = MADE_BY

    @property
    def rounds(self) -> int:
        """Rounds of the whole period."""
        return int((self.ends_at - self.begins_at) // self.every_s)

    @property
    def key(self) -> str:
        """Names the trial: the same for the same skill, world, period and settings."""
        # Where things lie on this machine makes no other trial.
        identity = replace(self, data_dir="", skill="", name="")
        return hashlib.sha256(json.dumps(identity, default=json_of).encode()).hexdigest()[:16]

    def as_text(self) -> str:
        """The plan as it is written down."""
        return json.dumps(self, default=json_of)


def read_plan(text: str) -> TrialPlan:
    """Read a plan from its JSON."""
    return read(TrialPlan, json.loads(text))
