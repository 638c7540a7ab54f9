"""What the skills that come with the program believe: each idea agrees with itself."""

import runpy
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

import pytest

import service_tui
from service_tui import Idea
from service_tui.skills.package import BUNDLED
from service_tui.terms import Action, Side
from service_tui.wire.markets import HistoryPoint, MarketBody
from service_tui.wire.reactor import SignalBody


class Service:
    """One market, at a price after others, and one signal."""

    def __init__(self, now: float, before: list[float], side: Side = Side.YES) -> None:
        self._market = MarketBody.model_construct(
            id="m", current_probability=now, price_24h_ago=before[0] if before else None
        )
        self._points = [HistoryPoint.model_construct(price_yes=price) for price in before]
        self.asked: list[tuple[object, ...]] = []
        self._signal = SignalBody.model_construct(
            action=Action.BUY, side=side, taker_price=now, amount=7.0, taker_label="", tx_hash="0x",
            taker_wallet="0x12", signal_id="s", market_id="m",
        )  # fmt: skip

    def get_markets(self, **asked: object) -> list[Any]:
        self.asked.append(("markets", asked))
        return [self._market]

    def get_market_history(self, market_id: str, **asked: object) -> list[Any]:
        self.asked.append((market_id, asked))
        return self._points

    def get_signals(self) -> list[Any]:
        return [self._signal]

    def signal(self, **fields: object) -> None:
        """Have another signal."""
        self._signal = self._signal.model_copy(update=fields)

    def dismiss_signal(self, named: str) -> None:
        self.asked.append(("dismissed", named))


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


WHOLE: Final = {
    "mean-reversion": (
        Service(0.60, [0.50, 0.58]),
        Idea(
            "m", "no", 5.0, "YES at 0.60 after 0.50 an hour ago: half was too much",
            "price history", edge=0.05, confidence=0.55, probability=0.55,
        ),
        [("markets", {"limit": 25, "sort": "volume"}), ("m", {"hours": 1, "interval": 5})],
    ),
    "momentum": (
        Service(0.60, [0.50]),
        Idea(
            "m", "yes", 5.0, "24h momentum: YES from 0.50 to 0.60", "24h momentum",
            edge=0.01, confidence=0.52, probability=0.61,
        ),
        [("markets", {"limit": 50, "sort": "volume"})],
    ),
    "news-follower": (
        Service(0.44, [0.51, 0.50, 0.45, 0.44]),
        Idea(
            "m", "no", 5.0, "YES fell 6 pt after a quiet hour: probably news",
            "price step", edge=0.015, confidence=0.55, probability=0.425,
        ),
        [("markets", {"limit": 25, "sort": "volume"}), ("m", {"hours": 1, "interval": 5})],
    ),
    "closing-favourite": (
        Service(0.10, []),
        Idea(
            "m", "no", 5.0, "NO at 0.90, and it resolves within 6 hours", "time to resolution",
            edge=0.02, confidence=0.92, probability=0.08,
        ),
        [("markets", {"limit": 100, "max_hours_to_resolution": 6})],
    ),
    "reactor-mirror": (
        Service(0.40, [], Side.NO),
        Idea(
            "m", "no", 7.0, "0x12 bought at 0.40", "reactor", edge=0.0, confidence=0.5,
            probability=0.60, more={"tx_hash": "0x", "signal_id": "s"}, price=0.42,
            allow_rebuy=True,
        ),
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("slug", WHOLE)
def test_an_idea_says_what_is_bought_why_and_how_sure_it_is(slug: str) -> None:
    service, wanted, asked = WHOLE[slug]
    service.asked.clear()
    (idea,) = ideas_of(slug, service)
    figures = {"edge", "confidence", "probability", "price"}
    for one in fields(Idea):
        if one.name != "bought":
            found, expected = getattr(idea, one.name), getattr(wanted, one.name)
            assert found == (pytest.approx(expected) if one.name in figures else expected), one.name
    assert service.asked == asked


@pytest.mark.parametrize(
    ("slug", "service", "count"),
    [
        # A jump, a step or a move has its size; the prices at the edges are not.
        ("mean-reversion", Service(0.50, [0.459]), 1),
        ("mean-reversion", Service(0.50, [0.461]), 0),
        ("mean-reversion", Service(0.05, [0.50]), 0),
        ("mean-reversion", Service(0.06, [0.50]), 1),
        ("momentum", Service(0.50, [0.42]), 1),
        ("momentum", Service(0.50, [0.421]), 0),
        ("momentum", Service(0.10, [0.50]), 0),
        ("momentum", Service(0.89, [0.50]), 1),
        ("news-follower", Service(0.53, [0.50, 0.52, 0.53]), 1),
        ("news-follower", Service(0.56, [0.50, 0.514, 0.55, 0.56]), 1),
        ("news-follower", Service(0.56, [0.50, 0.516, 0.55, 0.56]), 0),
        ("news-follower", Service(0.90, [0.50, 0.50, 0.50]), 0),
        ("news-follower", Service(0.89, [0.50, 0.50, 0.50]), 1),
        ("closing-favourite", Service(0.85, []), 1),
        ("closing-favourite", Service(0.849, []), 0),
        ("closing-favourite", Service(0.97, []), 1),
        ("closing-favourite", Service(0.971, []), 0),
    ],
)
def test_a_skill_stops_at_its_bounds(slug: str, service: Service, count: int) -> None:
    assert len(ideas_of(slug, service)) == count


def test_a_guess_stays_a_price() -> None:
    (high,) = ideas_of("momentum", Service(0.8999, [0.01]))
    (low,) = ideas_of("momentum", Service(0.101, [0.99]))
    assert (high.probability, low.probability) == (pytest.approx(0.98889), pytest.approx(0.0121))
    (sure,) = ideas_of("closing-favourite", Service(0.97, []))
    assert sure.confidence == pytest.approx(0.976)


def test_a_mirror_is_bounded_named_by_its_wallet_and_dismissed_once_it_is_bought() -> None:
    service = Service(0.98, [])
    service.signal(amount=99.999, taker_label="Windvane")
    (idea,) = ideas_of("reactor-mirror", service)
    assert (idea.amount, idea.price) == (20.0, 0.99)
    assert idea.reasoning == "Windvane bought at 0.98"
    idea.bought()
    service.signal(signal_id="", tx_hash="0xab", taker_wallet="0x1234567890", amount=3.456)
    service.signal(taker_label="")
    (idea,) = ideas_of("reactor-mirror", service)
    assert (idea.amount, idea.reasoning) == (3.46, "0x12345678 bought at 0.98")
    idea.bought()
    assert service.asked == [("dismissed", "s"), ("dismissed", "0xab")]
    service.signal(action=Action.SELL)
    assert ideas_of("reactor-mirror", service) == []


def test_variables_set_the_sums_and_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_MOMENTUM_MOVE", "0.5")
    monkeypatch.setenv("SERVICE_MOMENTUM_AMOUNT", "2.5")
    assert ideas_of("momentum", Service(0.60, [0.50])) == []
    (idea,) = ideas_of("momentum", Service(0.75, [0.25]))
    assert idea.amount == 2.5


@pytest.mark.parametrize("slug", WHOLE)
def test_a_skill_looks_again_after_its_own_pause(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: list[tuple[object, ...]] = []

    def run_skill(named: str, ideas: object, *, pause_s: float, trades: int = 0) -> None:
        run.append((named, callable(ideas), pause_s, trades))

    monkeypatch.setattr(service_tui, "run_skill", run_skill)
    runpy.run_path(str(BUNDLED / slug / "run.py"), run_name="__main__")
    pauses = {"mean-reversion": 30.0, "news-follower": 15.0, "reactor-mirror": 2.0}
    trades = 100 if slug == "reactor-mirror" else 0
    assert run == [(slug, True, pauses.get(slug, 60.0), trades)]
