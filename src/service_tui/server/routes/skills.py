"""The catalogue of skills: the packages that are installed on this machine."""

import asyncio
from typing import Final

from service_tui.server.http.service import RequestContext, Routes
from service_tui.skills.package import SkillPackage, installed
from service_tui.wire.endpoints.public import OWN_SKILLS, SKILLS
from service_tui.wire.skills import SkillBody, SkillsBody, SkillsQuery

CATEGORY: Final = "general"
DIFFICULTY: Final = "beginner"
"""Default of a package that names none. # ours: the list requires both."""


def skill_body(package: SkillPackage) -> SkillBody:
    """One package as the list shows it."""
    metadata = package.metadata
    return SkillBody(
        id=package.slug,
        slug=package.slug,
        name=package.name,
        description=package.description,
        category=metadata.get("category", CATEGORY),
        tags=tuple(tag.strip() for tag in metadata.get("tags", "").split(",") if tag.strip()),
        difficulty=metadata.get("difficulty", DIFFICULTY),
        # ours: what is listed is installed, and has no page in a registry.
        install="installed",
        clawhub_url=metadata.get("homepage", ""),
        requires=package.requires,
        best_when=metadata.get("best_when"),
        author=metadata.get("author"),
        clawhub_version=package.version,
        content_hash=package.content_hash,
    )


async def catalogue(request: RequestContext) -> SkillsBody:
    """Every installed skill, or those of one category."""
    category = request.query_as(SkillsQuery).category
    packages = await asyncio.to_thread(installed, request.service.skill_folders)
    found = tuple(
        body for body in map(skill_body, packages) if category is None or body.category == category
    )
    return SkillsBody(skills=found, total=len(found))


async def own_skills(request: RequestContext) -> SkillsBody:
    """The skills of the person, without those that come with the program."""
    packages = await asyncio.to_thread(installed, request.service.skill_folders[:1])
    return SkillsBody(skills=tuple(map(skill_body, packages)), total=len(packages))


ROUTES: Final[Routes] = {SKILLS: catalogue, OWN_SKILLS: own_skills}
