"""What the briefing says of skills: which to try, and which are there in a newer version.

Knows installed packages. Must not know how they are run.
Used by the briefing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from service_tui.skills.package import SkillPackage
from service_tui.wire.briefing import RecommendedSkill, SkillUpdateBody

RECOMMENDED_MAX: Final = 3
"""Source: wire reference, 3.7."""

_NUMBER: Final = re.compile(r"\d{1,9}")


def recommended(
    packages: Sequence[SkillPackage], known: Mapping[str, str]
) -> tuple[RecommendedSkill, ...]:
    """Installed skills that the asker does not run."""
    # ours: those that say when they are best come first; nothing is known of what suits whom.
    fresh = [one for one in packages if one.slug not in known]
    fresh.sort(key=lambda one: ("best_when" not in one.metadata, one.slug))
    return tuple(
        RecommendedSkill(
            id=one.slug,
            name=one.name,
            install="installed",
            best_when=one.metadata.get("best_when"),
        )
        for one in fresh[:RECOMMENDED_MAX]
    )


def updates(
    packages: Sequence[SkillPackage], known: Mapping[str, str]
) -> tuple[SkillUpdateBody, ...]:
    """Skills of the asker that are installed in a newer version."""
    return tuple(
        SkillUpdateBody(slug=one.slug, current=known[one.slug], latest=one.version)
        for one in packages
        if one.slug in known and one.version and _order(one.version) > _order(known[one.slug])
    )


def _order(version: str) -> tuple[int, ...]:
    """The numbers of a version, in which newer ones are greater."""
    return tuple(int(found) for found in _NUMBER.findall(version)[:4])
