"""What the skills that come with the program believe: each idea agrees with itself."""

import runpy
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Final

import pytest

from service_tui import Idea
from service_tui.skills.package import BUNDLED
from service_tui.terms import Action, Side


class Service:
    """One market, at a price after others, and one signal."""

    def __init__(self, now: float, before: list[float], side: Side = Side.YES) -> None:
        self._market = SimpleNamespace(
            id="m", current_probability=now, price_24h_ago=before[0] if before else None
        )
        self._points = [SimpleNamespace(price_yes=price) for price in before]
        self._signal = SimpleNamespace(
            action=Action.BUY, side=side, taker_price=now, amount=7.0, taker_label="", tx_hash="0x",
            taker_wallet="0x12", signal_id="s", market_id="m",
        )  # fmt: skip

    def get_markets(self, **_: object) -> list[Any]:
        return [self._market]

    def get_market_history(self, _: str, **__: object) -> list[Any]:
        return self._points

    def get_signals(self) -> list[Any]:
        return [self._signal]

    def dismiss_signal(self, _: str) -> None: ...


def ideas_of(slug: str, service: Service) -> list[Idea]:
    found: Iterator[Idea] = runpy.run_path(str(BUNDLED / slug / "run.py"))["ideas"](service)
    return list(found)


CASES: Final = {
    "mean-reversion up": ("mean-reversion", Service(0.60, [0.50, 0.58]), "no"),
    "mean-reversion down": ("mean-reversion", Service(0.40, [0.50, 0.42]), "yes"),
    "momentum up": ("momentum", Service(0.60, [0.50]), "yes"),
    "momentum down": ("momentum", Service(0.40, [0.50]), "no"),
    "news-follower up": ("news-follower", Service(0.56, [0.50, 0.50, 0.55, 0.56]), "yes"),
    "news-follower down": ("news-follower", Service(0.44, [0.50, 0.50, 0.45, 0.44]), "no"),
    "closing-favourite yes": ("closing-favourite", Service(0.90, []), "yes"),
    "closing-favourite no": ("closing-favourite", Service(0.10, []), "no"),
    "reactor-mirror yes": ("reactor-mirror", Service(0.30, [], Side.YES), "yes"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_skill_believes_in_its_side_by_as_much_as_its_edge(name: str) -> None:
    slug, service, side = CASES[name]
    (idea,) = ideas_of(slug, service)
    (market,) = service.get_markets()
    is_yes = side == "yes"
    believed = idea.probability if is_yes else 1 - idea.probability
    price = market.current_probability if is_yes else 1 - market.current_probability
    assert idea.side == side
    assert believed - price == pytest.approx(idea.edge)
    assert (idea.edge > 0) is (slug != "reactor-mirror")


def test_a_mirror_of_no_is_at_the_price_that_was_paid_for_it() -> None:
    (idea,) = ideas_of("reactor-mirror", Service(0.30, [], Side.NO))
    assert (idea.side, idea.probability) == ("no", pytest.approx(0.70))
    assert idea.price == pytest.approx(0.315)


@pytest.mark.parametrize(
    ("slug", "service"),
    [
        ("mean-reversion", Service(0.53, [0.50, 0.40])),
        ("mean-reversion", Service(0.97, [0.50])),
        ("mean-reversion", Service(0.60, [])),
        ("momentum", Service(0.57, [0.50])),
        ("momentum", Service(0.60, [])),
        ("news-follower", Service(0.52, [0.50, 0.50, 0.52])),
        ("news-follower", Service(0.56, [0.50, 0.53, 0.55, 0.56])),
        ("news-follower", Service(0.56, [0.50, 0.55])),
        ("closing-favourite", Service(0.84, [])),
        ("closing-favourite", Service(0.98, [])),
    ],
)
def test_a_skill_has_no_idea_where_nothing_has_happened(slug: str, service: Service) -> None:
    assert ideas_of(slug, service) == []


WHOLE: Final[dict[str, tuple[str, Service, dict[str, Any]]]] = {
    "momentum": (
        "momentum", Service(0.60, [0.50]),
        {"reasoning": "24h momentum: YES from 0.50 to 0.60", "signal_source": "24h momentum",
         "edge": 0.01, "confidence": 0.52, "probability": 0.61, "side": "yes"},
    ),
    "mean-reversion": (
        "mean-reversion", Service(0.40, [0.50, 0.42]),
        {"reasoning": "YES at 0.40 after 0.50 an hour ago: half was too much",
         "signal_source": "price history", "edge": 0.05, "confidence": 0.55,
         "probability": 0.45, "side": "yes"},
    ),
    "news-follower": (
        "news-follower", Service(0.44, [0.50, 0.50, 0.45, 0.44]),
        {"reasoning": "a step of YES by -0.06 after a quiet hour looks like news",
         "signal_source": "price step", "edge": 0.015, "confidence": 0.55,
         "probability": 0.425, "side": "no"},
    ),
    "closing-favourite": (
        "closing-favourite", Service(0.10, []),
        {"reasoning": "NO at 0.90, and it resolves within 6 hours",
         "signal_source": "time to resolution", "edge": 0.02, "confidence": 0.92,
         "probability": 0.08, "side": "no"},
    ),
    "reactor-mirror": (
        "reactor-mirror", Service(0.30, [], Side.NO),
        {"reasoning": "0x12 bought at 0.30", "signal_source": "reactor", "edge": 0.0,
         "confidence": 0.5, "probability": 0.70, "side": "no", "price": 0.315,
         "allow_rebuy": True, "more": {"tx_hash": "0x"}, "amount": 7.0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_an_idea_has_all_its_figures_and_reasons(name: str) -> None:
    slug, service, figures = WHOLE[name]
    (idea,) = ideas_of(slug, service)
    given = {"market_id": "m", "amount": 5.0, "price": None, "allow_rebuy": False, **figures}
    for field, value in given.items():
        found = getattr(idea, field)
        assert found == (pytest.approx(value) if isinstance(value, float) else value), field


@pytest.mark.parametrize(
    ("slug", "service", "count"),
    [
        ("momentum", Service(0.5801, [0.50]), 1),
        ("momentum", Service(0.57, [0.50]), 0),
        ("momentum", Service(0.10, [0.50]), 0),
        ("momentum", Service(0.90, [0.50]), 0),
        ("momentum", Service(0.60, []), 0),
        ("mean-reversion", Service(0.5401, [0.50]), 1),
        ("mean-reversion", Service(0.53, [0.50]), 0),
        ("mean-reversion", Service(0.05, [0.50]), 0),
        ("mean-reversion", Service(0.95, [0.50]), 0),
        ("mean-reversion", Service(0.60, []), 0),
        ("news-follower", Service(0.5301, [0.50, 0.5, 0.5]), 1),
        ("news-follower", Service(0.52, [0.50, 0.5, 0.5]), 0),
        ("news-follower", Service(0.60, [0.50, 0.5]), 0),
        ("news-follower", Service(0.56, [0.48, 0.50, 0.5, 0.5]), 0),
        ("news-follower", Service(0.90, [0.50, 0.5, 0.5]), 0),
        ("news-follower", Service(0.10, [0.50, 0.5, 0.5]), 0),
        ("closing-favourite", Service(0.85, []), 1),
        ("closing-favourite", Service(0.849, []), 0),
        ("closing-favourite", Service(0.97, []), 1),
        ("closing-favourite", Service(0.971, []), 0),
    ],
)
def test_an_idea_needs_its_move_and_room_on_both_sides(
    slug: str, service: Service, count: int
) -> None:
    assert len(ideas_of(slug, service)) == count


def test_a_sale_is_not_mirrored_and_an_amount_is_bounded() -> None:
    service: Any = Service(0.30, [])
    service._signal.amount = 99.0
    service._signal.taker_label = "Harbour Pilot"
    dismissed: list[str] = []
    service.dismiss_signal = dismissed.append
    (idea,) = ideas_of("reactor-mirror", service)
    assert idea.amount == 20.0
    assert idea.reasoning == "Harbour Pilot bought at 0.30"
    idea.bought()
    service._signal.signal_id = None
    ideas_of("reactor-mirror", service)[0].bought()
    assert dismissed == ["s", "0x"]
    service._signal.action = Action.SELL
    assert ideas_of("reactor-mirror", service) == []
