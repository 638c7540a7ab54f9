"""Draws are counted, not kept: the same key gives the same numbers in every release."""

import pytest

from service_tui.engine.tape import draws as room
from service_tui.engine.tape.draws import Draws, mix, normal, quantile, unit


def test_a_stream_gives_its_numbers_in_turn() -> None:
    draws = Draws(3, 4)
    assert draws.unit() == pytest.approx(0.3771699994638151)
    assert draws.normal() == pytest.approx(0.5191460318968507)
    assert draws.between(2, 5) == pytest.approx(3.3248652060866877)
    assert draws.below(1_000) == 126
    assert draws.pick("abcdefgh") == "f"


def test_a_stream_begins_at_the_first_draw_of_its_key() -> None:
    key = mix(3, 4)
    draws = Draws(3, 4)
    assert [draws.unit(), draws.normal(), draws.unit()] == [
        unit(key, 1), normal(key, 2), unit(key, 3)
    ]  # fmt: skip


def test_a_draw_lies_between_its_ends_wherever_it_is_taken() -> None:
    draws = [unit(11, count) for count in range(2_000)]
    assert 0 < min(draws) < 0.01
    assert 0.99 < max(draws) < 1
    assert sum(draws) / len(draws) == pytest.approx(0.5, abs=0.02)
    assert [normal(11, count) for count in range(9)] == [quantile(one) for one in draws[:9]]
    stream = Draws(8)
    assert all(-3 < stream.between(-3, 2) < 2 for _ in range(200))
    assert {stream.below(3) for _ in range(100)} == {0, 1, 2}
    assert {stream.pick("abc") for _ in range(100)} == set("abc")


def test_the_least_draw_is_more_than_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "bits", lambda *_: 0)
    assert 0 < unit(1, 1) < 1e-15
    assert Draws(1).unit() == unit(1, 1)
    assert Draws(1).pick("ab") == "a"


def test_a_draw_is_a_function_of_key_and_count() -> None:
    assert unit(5, 3) == pytest.approx(0.23270916567746186, abs=1e-15)
    assert normal(5, 3) == pytest.approx(-0.7299539532791337, abs=1e-15)
    assert mix(1, 2, 3) == 15_020_427_595_393_229_491
