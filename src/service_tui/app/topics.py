"""The topics of the offline world, read from the package's data: one TOML file a category."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any, Final

from service_tui.engine.tape.topics import Level, QuestionTopic, Scope, Topics
from service_tui.terms import Category

FOLDER: Final = "data/topics"
ORDER: Final = (
    Category.POLITICS,
    Category.SPORTS,
    Category.WEATHER,
    Category.CRYPTO,
    Category.SCIENCE,
    Category.CULTURE,
)


@cache
def load_topics() -> Topics:
    """The subjects of the offline world's markets.

    The order of the files, of the topics in a file and of the names in a pool is part of the world:
    a market that is open today reads the same tomorrow.
    """
    pools = _pools(_read("names"))
    return Topics({
        category: tuple(_topic(table, pools) for table in _read(category.value)["topic"])
        for category in ORDER
    })


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("service_tui").joinpath(FOLDER, f"{name}.toml").read_text("utf-8"))


def _topic(table: Mapping[str, Any], pools: Mapping[str, tuple[str, ...]]) -> QuestionTopic:
    level = table.get("level")
    return QuestionTopic(
        tag=table["tag"],
        scopes=frozenset(Scope(clock) for clock in table["clocks"]),
        subjects=pools[table["subjects"]],
        questions=tuple(table["questions"]),
        criteria=table["criteria"],
        raises=tuple(table["raises"]),
        lowers=tuple(table["lowers"]),
        level=None if level is None else Level(**level),
        words={gap: tuple(text) for gap, text in table.get("words", {}).items()},
    )


def _pools(names: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """The possible subjects of a question, by the name of the pool.

    Half of the pools are made of two parts. The part that changes last comes first in `product`, so
    that neighbours, which go to one slot, differ.
    """
    whole = {name: tuple(names[name]) for name in ("towns", "regions", "tokens", "storms")}
    towns = [town for town in names["towns"] if " " not in town]
    made = {
        "clubs": (f"{town} {name}" for name, town in product(names["club_names"], towns)),
        "players": (
            f"{initial}. {last}" for initial, last in product(names["initials"], names["surnames"])
        ),
        "missions": (f"{craft} {number}" for number, craft in product(range(2, 9), names["craft"])),
        "bands": (f"{a} {b}" for b, a in product(names["band_last"], names["band_first"])),
        "titles": (f"The {a} {b}" for b, a in product(names["title_last"], names["title_first"])),
    }
    return whole | {name: tuple(pool) for name, pool in made.items()}
