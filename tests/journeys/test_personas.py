"""What people come for, by keys alone: somebody who has learned none, and somebody who knows all.

The first presses arrows, enter, esc, and keys that the screen names at that moment; what is typed
goes into a field. Each way is counted in key presses, typed letters apart.
"""

from pathlib import Path

import pytest

from kit.console.walk import Walk, walking
from service_tui.clock import ManualClock

BARE = {"up", "down", "enter", "escape"}
"""Keys that everybody tries."""

LOOKS_MAX = 40
WALLET = "0x" + "5a" * 20


class Hand:
    """Presses keys, and counts them."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.count = 0

    async def press(self, *keys: str) -> None:
        self.count += len(keys)
        await self.walk.press(*keys)

    async def type(self, text: str) -> None:
        """Type into the field that has the cursor."""
        names = {" ": "space", ".": "full_stop"}
        await self.walk.press(*(names.get(letter, letter) for letter in text))

    async def sees(self, *texts: str) -> None:
        """Wait for texts on the screen."""
        for _ in range(LOOKS_MAX):
            if all(text in self.walk.text for text in texts):
                return
            await self.walk.rest()
        missing = [text for text in texts if text not in self.walk.text]
        raise AssertionError(f"{missing} not on the screen:\n{self.walk.text}")

    def counted(self) -> int:
        """Keys since the last count."""
        count, self.count = self.count, 0
        return count


class Newcomer(Hand):
    """Knows no key: presses what the screen names, in the words in which it does."""

    async def choose(self, named: str) -> None:
        """Press a key that is on the screen as `key label`."""
        await self.sees(named)
        key = named.split(maxsplit=1)[0]
        await self.press({"*": "asterisk", "/": "slash"}.get(key, key.lower()))

    async def press(self, *keys: str) -> None:
        shown = {
            key for key in keys if key in BARE or key.upper() in self.walk.text or key in NAMED
        }
        assert shown == {*keys}
        await super().press(*keys)


NAMED = {"asterisk", "slash", *"0123456789bcwx"}
"""Keys that `choose` has seen on the screen."""


@pytest.mark.slow
async def test_a_newcomer_finds_each_way_by_arrows_and_what_the_screen_names(
    tmp_path: Path,
) -> None:
    clock, ways = ManualClock(), dict[str, int]()
    async with walking(tmp_path, clock, size=(100, 30)) as walk:
        await walk.until(lambda state: len(state.markets) > 60 and state.limits)
        hand = Newcomer(walk)
        await hand.sees("Welcome")
        await hand.press("enter")

        await hand.choose("2 markets")
        await hand.press("down", "enter")
        await hand.sees("position", "No position. b to buy", "YES, 24 h")
        await hand.press("escape")
        ways["discover"] = hand.counted()

        await hand.sees("78 of 78")
        await hand.choose("c category")
        await hand.sees("12 of 78", "category crypto")
        ways["category"] = hand.counted()

        await hand.choose("b buy")
        await hand.choose("F2 25")
        await hand.sees("max loss", "indicative quote", "enter")
        await hand.press("enter")
        await walk.until(lambda state: state.positions)
        await hand.sees("cash 9,975.00")
        ways["first buy"] = hand.counted()

        await hand.press("enter")
        await hand.press(*["down"] * 30)
        await hand.sees("resolution", "trades")
        await hand.press("escape")
        ways["research"] = hand.counted()

        await hand.choose("* star")
        await hand.choose("w starred")
        await hand.sees("1 of 78")
        await hand.choose("w starred")
        ways["watch"] = hand.counted()

        await hand.choose("1 port")
        await hand.press("enter")
        await hand.sees(
            "average", "unrealized", "Sale value = what selling all of it now would return"
        )
        ways["money"] = hand.counted()

        await hand.choose("x sell")
        await hand.choose("F4 all")
        await hand.press("enter")
        await walk.until(lambda state: not state.positions)
        await hand.press("escape")
        await hand.sees("closed 1")
        ways["sell"] = hand.counted()

        # The category is still set: nothing is found, and the screen says what leads on.
        await hand.choose("2 markets")
        await hand.choose("/ find")
        await hand.type("petrel")
        await hand.press("enter")
        await hand.sees("No market of 78 matches", "esc clears the search, esc again the filters")
        await hand.press("escape", "escape")
        await hand.sees("78 of 78")
        await hand.choose("b buy")
        await hand.press("escape")
        assert not walk.state.positions
        ways["recover"] = hand.counted()

        await hand.choose("/ find")
        await hand.type("petrel")
        await hand.press("enter")
        await hand.sees("Petrel 3 lifts off")
        assert "Sextant" not in walk.text
        ways["search"] = hand.counted()
    assert ways == {
        "discover": 5, "category": 1, "first buy": 3, "research": 32, "watch": 3, "money": 2,
        "sell": 4, "recover": 7, "search": 2,
    }  # fmt: skip


@pytest.mark.slow
async def test_an_expert_does_each_thing_in_few_keys(tmp_path: Path) -> None:
    clock, ways = ManualClock(), dict[str, int]()
    async with walking(tmp_path, clock, size=(140, 40)) as walk:
        await walk.until(lambda state: len(state.markets) > 60 and state.limits)
        hand = Hand(walk)
        await hand.press("escape")
        hand.counted()

        await hand.press("ctrl+p")
        await hand.type("sextant 7")
        await hand.press("enter")
        await hand.sees("Will Sextant 7 lift off")
        ways["straight to a market"] = hand.counted()

        await hand.press("b")
        await hand.type("25")
        await hand.press("enter")
        await walk.until(lambda state: state.positions)
        ways["order from a row"] = hand.counted()

        await hand.press("asterisk", "w")
        await hand.sees("1 of 78", "Sextant 7")
        await hand.press("w")
        ways["watchlist"] = hand.counted()

        await hand.press("1", "M")
        await hand.sees("78 of 78", "Will Sextant 7 lift off", "mark value")
        await hand.press("left_square_bracket")
        await hand.sees("at mark")
        ways["position to market and back"] = hand.counted()

        await hand.press("4", "n")
        await hand.type(WALLET)
        await hand.press("enter")
        await walk.until(lambda state: state.reactor.config and state.reactor.config.wallets)
        ways["follow a wallet"] = hand.counted()
    assert ways == {
        "straight to a market": 2, "order from a row": 2, "watchlist": 3,
        "position to market and back": 3, "follow a wallet": 3,
    }  # fmt: skip
