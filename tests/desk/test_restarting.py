"""A loop that failed is begun again, later each time, and its fault is told without values."""

from pathlib import Path

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import sample_state
from service_tui.desk.restarting import (
    AGAIN_MAX_S,
    AGAIN_S,
    STEADY_S,
    fault_text,
    keep_running,
)
from service_tui.units import NotMicrosError, micros


class Loop:
    """Fails as often as told, each time after it ran for so long."""

    def __init__(self, on: Offline, *ran_s: float) -> None:
        self.on = on
        self.ran_s = list(ran_s)
        self.began: list[float] = []
        self.slept: list[float] = []
        on.clock.sleep = self.sleep  # type: ignore[method-assign]

    async def sleep(self, delay_s: float) -> None:
        self.slept.append(delay_s)
        self.on.clock.set(self.on.clock.now() + delay_s)

    async def begin(self) -> None:
        self.began.append(self.on.clock.monotonic())
        if not self.ran_s:
            return
        self.on.clock.set(self.on.clock.now() + self.ran_s.pop(0))
        raise ValueError("a secret value")


async def test_a_loop_is_begun_again_after_a_pause_that_doubles_up_to_a_bound() -> None:
    on = Offline(sample_state(6))
    loop = Loop(on, *[0.0] * 9)
    await keep_running("news", loop.begin, on.ports)
    assert loop.slept == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0, 300.0]
    assert (AGAIN_S, AGAIN_MAX_S) == (5.0, 300.0)
    assert len(loop.began) == 10
    assert [tone for tone, _ in on.words] == ["bad"] * 9
    first, second = on.words[0][1], on.words[1][1]
    assert first.startswith("news: a fault in the program (ValueError at restarting.py:")
    assert first.endswith("); restarting in 5 s")
    assert second.endswith("); restarting in 10 s")
    assert not any("secret" in text for _, text in on.words)


@pytest.mark.parametrize(("ran_s", "pause_s"), [(STEADY_S - 0.1, 20.0), (STEADY_S, 5.0)])
async def test_after_a_minute_without_a_fault_the_pause_is_short_again(
    ran_s: float, pause_s: float
) -> None:
    on = Offline(sample_state(6))
    loop = Loop(on, 0.0, 0.0, ran_s)
    await keep_running("news", loop.begin, on.ports)
    assert loop.slept == [5.0, 10.0, pause_s]


async def test_a_loop_that_ends_is_not_begun_again_and_tells_nothing() -> None:
    on = Offline(sample_state(6))
    loop = Loop(on)
    await keep_running("news", loop.begin, on.ports)
    assert (len(loop.began), loop.slept, on.facts) == (1, [], [])


def test_a_fault_is_told_by_its_kind_and_its_last_place_in_the_program() -> None:
    with pytest.raises(NotMicrosError) as caught:
        micros(1e30)
    line = caught.value.__traceback__.tb_next.tb_lineno  # type: ignore[union-attr]
    assert fault_text(caught.value) == f"a fault in the program (NotMicrosError at units.py:{line})"


def test_a_fault_of_elsewhere_names_the_last_place_of_all() -> None:
    here = Path(__file__).name
    with pytest.raises(KeyError) as caught:
        {}["secret"]
    assert fault_text(caught.value).startswith(f"a fault in the program (KeyError at {here}:")
    assert fault_text(ValueError("x")) == "a fault in the program (ValueError)"


def test_of_a_group_the_first_fault_is_told() -> None:
    inner = ExceptionGroup("inner", [TypeError("a"), KeyError("b")])
    group = ExceptionGroup("outer", [inner, OSError("c")])
    assert fault_text(group) == "a fault in the program (TypeError)"
