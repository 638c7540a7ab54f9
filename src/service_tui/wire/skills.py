"""Skills on the wire. Source: wire reference, 3.11 and section 10."""

from typing import Annotated

from pydantic import StringConstraints

from service_tui.terms import LINE_MAX
from service_tui.wire.base import Count, Line, Prose, WireModel


class SkillsQuery(WireModel):
    """Which kind of skills."""

    category: Annotated[str, StringConstraints(min_length=1, max_length=LINE_MAX)] | None = None


class SkillBody(WireModel):
    """A strategy package. `id` and `slug` are its folder's name; clients compare the hash."""

    id: Line
    slug: Line
    name: Line
    description: Prose
    category: Line
    tags: tuple[Line, ...]
    difficulty: Line
    install: Line
    clawhub_url: Line
    requires: tuple[Line, ...]
    best_when: Line | None = None
    author: Line | None = None
    author_url: Line | None = None
    featured: bool = False
    is_official: bool = False
    tier: Line = "community"
    install_count: Count = 0
    star_count: Count = 0
    clawhub_version: Line | None = None
    content_hash: Line | None = None


class SkillsBody(WireModel):
    """The catalogue; empty where no package is installed."""

    skills: tuple[SkillBody, ...]
    total: Count
