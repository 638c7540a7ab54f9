"""A new skill to begin with: small, working, and honest."""

from pathlib import Path
from typing import Final

from service_tui.skills.install import PRIVATE, SkillRefusedError
from service_tui.skills.package import DOCUMENT, MANIFEST, is_slug

SCRIPT: Final = "run.py"

_DOCUMENT: Final = """\
---
name: {slug}
description: Buys YES, for 5.00, of a market whose price is far enough below one in five.
metadata:
  version: 0.1.0
  author: you
  displayName: {title}
  difficulty: beginner
---

# {title}

What it looks at, when it trades, and why that might be wrong.

Run it on paper first: `service-tui skills run {slug} -- --once`; with `--live` it trades.
"""

_MANIFEST: Final = """\
{{
  "requires": {{"env": ["SERVICE_API_KEY", "SERVICE_API_URL"], "pip": ["service-sdk"]}},
  "automaton": {{"managed": true, "entrypoint": "run.py"}},
  "tunables": [{{"env": "{variable}_EDGE", "type": "number", "default": 0.05, "label": "Edge"}}]
}}
"""

_SCRIPT: Final = '''\
"""{title}: an idea in a few lines. Without --live it trades on paper."""

import os
from collections.abc import Iterator

from service_tui import Idea, Rounds, ServiceClient, run_skill

SLUG = "{slug}"
EDGE = float(os.environ.get("{variable}_EDGE", "0.05"))
AMOUNT = 5.0
PAUSE_S = 60.0


def ideas(client: ServiceClient) -> Iterator[Idea]:
    for market in client.get_markets(limit=20):
        price = market.current_probability
        # The idea: prices below one in five are too low. It is a guess, not knowledge.
        if not 0.05 < price < 0.20 - EDGE:
            continue
        yield Idea(
            market.id,
            "yes",
            AMOUNT,
            reasoning=f"YES at {{price:.2f}} is below 0.20 by more than {{EDGE:.2f}}",
            signal_source="price",
            edge=0.20 - price,
            confidence=0.2,
            probability=0.2,
        )


round = Rounds(SLUG, ideas, trades=1)

if __name__ == "__main__":
    run_skill(SLUG, ideas, pause_s=PAUSE_S, trades=1)
'''


def new_skill(slug: str, parent: Path) -> Path:
    """Write a skill that works, to be changed.

    Returns:
        Its folder.

    Raises:
        SkillRefusedError: the name is no name, or the folder is there already.
    """
    if not is_slug(slug):
        raise SkillRefusedError(f"{slug[:40]!r} is not of lower-case letters, digits and -")
    folder = parent / slug
    values = {
        "slug": slug,
        "title": slug.replace("-", " ").capitalize(),
        "variable": f"SERVICE_{slug.replace('-', '_').upper()}",
    }
    try:
        folder.mkdir(mode=PRIVATE, parents=True)
        for name, text in ((DOCUMENT, _DOCUMENT), (MANIFEST, _MANIFEST), (SCRIPT, _SCRIPT)):
            (folder / name).write_text(text.format(**values), encoding="utf-8")
    except OSError as error:
        raise SkillRefusedError(f"{folder} cannot be written: {error.strerror}") from error
    return folder
