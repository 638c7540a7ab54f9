"""What is set of the reactor: what is checked, sent, kept here, and told."""

from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from kit.samples.reactor import reactor_state, waiting
from service_tui.addresses import checksummed
from service_tui.client.errors import (
    Called,
    OutcomeUnknownError,
    RefusalReason,
    RefusedError,
    UnreachableError,
)
from service_tui.desk.changes import Changed
from service_tui.desk.commands.reactor import (
    FollowWallet,
    LabelWallet,
    ResetBreaker,
    SetReactorConfig,
    SetWalletPolicy,
    UnfollowWallet,
)
from service_tui.desk.facts import Noticed
from service_tui.desk.reactor.handlers import LABEL_MAX, change, checked
from service_tui.desk.reactor.poll import ReactorWatch, seen_of
from service_tui.desk.reactor.translate import config_view
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.reactor import (
    BreakerView,
    Policy,
    ReactorSeen,
    ReactorView,
    WalletChoice,
    WalletChosen,
)
from service_tui.desk.slices.topics import Topic
from service_tui.storage.errors import StorageError
from service_tui.storage.reactor import Row
from service_tui.terms import WALLETS_MAX, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.desk import DESK_RESET_REACTOR
from service_tui.wire.endpoints.public import PATCH_REACTOR
from service_tui.wire.reactor import ReactorConfigBody, ReactorConfigPatch

A, B, C = (checksummed("0x" + digits * 20) for digits in ("1a", "2b", "3c"))
CONFIG = ReactorConfigBody(
    wallets=(A, B), enabled=True, min_size=1.0, max_size=9.0, venue=Venue.SIM
)
CALLED = Called("PATCH", "/x")


@dataclass
class Stored:
    chosen: list[Row] = field(default_factory=list)
    problem: Exception | None = None

    async def choose(self, wallet: Row) -> None:
        if self.problem is not None:
            raise self.problem
        self.chosen.append(wallet)


class Work:
    def __init__(self, answer: Any = CONFIG, *, read_only: bool = False, **other: Any) -> None:
        state = sample_state(6)
        service = replace(state.service, read_only=read_only, embedded=other.pop("embedded", True))
        account = other.pop("account", state.account)
        reactor = ReactorView(**{"config": config_view(CONFIG), **other})
        self.on = Offline(
            replace(state, service=service, reactor=reactor, account=account),
            {PATCH_REACTOR: answer, DESK_RESET_REACTOR: answer}, skew_s=2.0,
        )  # fmt: skip
        self.stored, self.watch = Stored(), ReactorWatch(config_at=5.0)

    async def do(self, order: Any) -> tuple[str, str]:
        """Carry an order out; its notice."""
        await change(order, cast("Any", self.stored), self.watch, self.on.ports)
        assert self.on.woken == [Topic.REACTOR]
        (words,) = self.on.words
        return words

    @property
    def sent(self) -> list[Any]:
        return [one.body for one in self.on.asked]


SEEN = seen_of(CONFIG, config_view(CONFIG), 2.0)


async def test_every_setting_is_sent_in_units_and_what_is_none_stays() -> None:
    answer = ReactorConfigBody(
        wallets=(C, A), min_size=1.5, max_size=20.0, mirror_fraction=0.25, daily_cap=30.5,
        venue=Venue.EVM, enabled=True, price_buffer=0.05,
    )  # fmt: skip
    it = Work(answer)
    order = SetReactorConfig(
        wallets=(f" {C.lower()} ", A), min_size=Micros(1_500_000), max_size=Micros(20 * ONE),
        mirror_fraction=0.25, daily_cap=Micros(30_500_000), venue=Venue.EVM, enabled=True,
        price_buffer=0.05,
    )  # fmt: skip
    assert await it.do(order) == ("good", order.describe())
    assert it.sent == [
        ReactorConfigPatch(
            wallets=(C, A), min_size=1.5, max_size=20.0, mirror_fraction=0.25, daily_cap=30.5,
            venue=Venue.EVM, enabled=True, price_buffer=0.05,
        )
    ]  # fmt: skip
    assert it.on.facts[0] == seen_of(answer, config_view(answer), 2.0)
    one = Work(CONFIG)
    await one.do(SetReactorConfig(max_size=Micros(9 * ONE)))
    assert one.sent == [ReactorConfigPatch(max_size=9.0)]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"min_size": Micros(-1)}, "the min size is 0 to one billion"),
        ({"max_size": Micros(10**15 + 1)}, "the max size is 0 to one billion"),
        ({"daily_cap": Micros(-1)}, "the day's cap is 0 to one billion"),
        ({"mirror_fraction": -0.01}, "the mirror fraction is 0 to 1 (100 %)"),
        ({"mirror_fraction": 1.01}, "the mirror fraction is 0 to 1 (100 %)"),
        ({"mirror_fraction": float("nan")}, "the mirror fraction is 0 to 1 (100 %)"),
        ({"price_buffer": -0.01}, "the price buffer is 0 to 0.2 (20 %)"),
        ({"price_buffer": 0.201}, "the price buffer is 0 to 0.2 (20 %)"),
        ({"wallets": (A, A)}, "the list names a wallet twice"),
    ],
)
async def test_what_is_out_of_bounds_is_not_sent(fields: dict[str, Any], why: str) -> None:
    it = Work()
    order = SetReactorConfig(**fields)
    assert await it.do(order) == ("warn", f"{order.describe()}: {why}")
    assert it.sent == []


@pytest.mark.parametrize(
    "fields",
    [
        {"min_size": Micros(0)}, {"max_size": Micros(10**15)}, {"daily_cap": Micros(0)},
        {"mirror_fraction": 0.0}, {"mirror_fraction": 1.0}, {"price_buffer": 0.0},
        {"price_buffer": 0.2}, {"wallets": ()},
    ],
)  # fmt: skip
async def test_the_bounds_themselves_are_sent(fields: dict[str, Any]) -> None:
    it = Work(ReactorConfigBody())
    await it.do(SetReactorConfig(**fields))
    assert len(it.sent) == 1


async def test_turning_it_off_says_how_many_signals_are_skipped() -> None:

    state = reactor_state(6)
    signals = (waiting(1, state), waiting(2, state))
    off = CONFIG.model_copy(update={"enabled": False})
    for enabled, tail in ((False, ": 2 pending signals skipped"), (True, "")):
        it = Work(off if not enabled else CONFIG, signals=signals)
        order = SetReactorConfig(enabled=enabled)
        assert await it.do(order) == ("good", f"{order.describe()}{tail}")
    it = Work(off)
    assert await it.do(SetReactorConfig(enabled=False)) == ("good", "turn the reactor off")


async def test_another_value_of_the_service_is_shown_and_named() -> None:
    it = Work(CONFIG.model_copy(update={"min_size": 2.0, "max_size": 8.0}))
    order = SetReactorConfig(min_size=Micros(ONE), max_size=Micros(9 * ONE))
    why = "the service has another value: max size, min size"
    assert await it.do(order) == ("warn", f"{order.describe()}: {why}")
    assert isinstance(it.on.facts[0], ReactorSeen)
    bare = Work(ReactorConfigBody())
    await bare.do(SetReactorConfig(enabled=True))
    assert not isinstance(bare.on.facts[0], ReactorSeen)


@pytest.mark.parametrize(
    ("error", "words", "forgets"),
    [
        (OutcomeUnknownError("no answer", CALLED), ("bad", "sent, no response; reloading"), True),
        (UnreachableError("away", CALLED), ("bad", "away (PATCH /x)"), False),
    ],
)
async def test_a_lost_answer_has_the_config_read_anew(
    error: Exception, words: tuple[str, str], *, forgets: bool
) -> None:
    it = Work(error)
    tone, text = words
    assert await it.do(SetReactorConfig(enabled=True)) == (tone, f"turn the reactor on: {text}")
    assert it.watch.config_at == (None if forgets else 5.0)


async def test_a_refusal_is_told_with_its_fix() -> None:
    it = Work(RefusedError(RefusalReason("too many", "drop one", ""), CALLED, status=400))
    await it.do(SetReactorConfig(enabled=True))
    assert it.on.told == [Noticed("warn", "turn the reactor on: too many", fix="drop one")]


ORDERS = (
    SetReactorConfig(enabled=True), FollowWallet(C), UnfollowWallet(A), ResetBreaker(),
)  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
async def test_a_read_only_desk_sends_nothing(order: Any) -> None:
    it = Work(read_only=True)
    assert await it.do(order) == ("warn", f"{order.describe()}: {READ_ONLY}")
    assert it.sent == []


# -- the watchlist --------------------------------------------------------------------------------


async def test_a_wallet_is_followed_behind_the_others_and_named_once_it_is() -> None:
    it = Work(CONFIG.model_copy(update={"wallets": (A, B, C)}))
    order = FollowWallet(f" {C.lower()} ", " ada ")
    assert await it.do(order) == ("good", order.describe())
    assert it.sent == [ReactorConfigPatch(wallets=(A, B, C))]
    assert it.stored.chosen == [{"address": C, "label": "ada", "policy": Policy.ASK.value}]
    assert WalletChosen(WalletChoice(C, "ada")) in it.on.facts
    nameless = Work(CONFIG.model_copy(update={"wallets": (A, B, C)}))
    await nameless.do(FollowWallet(C, "  "))
    assert nameless.stored.chosen == []


async def test_a_wallet_that_the_service_did_not_take_is_not_named() -> None:
    it = Work(CONFIG)
    tone, _ = await it.do(FollowWallet(C, "ada"))
    assert (tone, it.stored.chosen) == ("warn", [])


@pytest.mark.parametrize(
    ("order", "why"),
    [
        (FollowWallet(A.lower()), "wallet already followed"),
        (UnfollowWallet(C), "wallet not followed"),
        (FollowWallet(C, "x" * (LABEL_MAX + 1)), f"a name has at most {LABEL_MAX} letters"),
    ],
)
async def test_what_cannot_be_followed_or_left_is_said(order: Any, why: str) -> None:
    it = Work()
    assert await it.do(order) == ("warn", f"{order.describe()}: {why}")
    assert it.sent == []


async def test_a_wallet_is_left_and_the_others_stay_in_their_order() -> None:
    it = Work(CONFIG.model_copy(update={"wallets": (B,)}))
    assert (await it.do(UnfollowWallet(f" {A.lower()}")))[0] == "good"
    assert it.sent == [ReactorConfigPatch(wallets=(B,))]


@pytest.mark.parametrize(
    ("barred", "why"),
    [("", "watchlist not loaded yet: retry in a moment"), ("no plan", "no plan")],
)
async def test_a_watchlist_that_was_not_read_is_not_overwritten(barred: str, why: str) -> None:
    for order in (FollowWallet(C), UnfollowWallet(A)):
        it = Work(config=None, barred=barred)
        assert await it.do(order) == ("warn", f"{order.describe()}: {why}")
        assert it.sent == []


def test_a_watchlist_is_checked_as_a_whole() -> None:
    assert checked((f" {A.lower()}", B)) == (A, B)
    many = tuple("0x" + f"{number:040x}" for number in range(1, WALLETS_MAX + 2))
    assert len(checked(many[:-1])) == WALLETS_MAX
    with pytest.raises(ValueError, match=f"at most {WALLETS_MAX} wallets"):
        checked(many)
    with pytest.raises(ValueError, match="twice"):
        checked((A, A.lower()))
    with pytest.raises(ValueError):  # noqa: PT011 - the sentence is that of addresses
        checked(("0x12",))


# -- this machine's part --------------------------------------------------------------------------


async def test_a_policy_and_a_name_are_kept_beside_what_was_chosen_before() -> None:
    before = {A: WalletChoice(A, "old", Policy.OFF)}
    policy = Work(choices=before)
    order = SetWalletPolicy(f" {A.lower()}", Policy.AUTO, "old")
    assert await policy.do(order) == ("good", order.describe())
    assert policy.stored.chosen == [{"address": A, "label": "old", "policy": "auto"}]
    assert policy.on.facts[0] == WalletChosen(WalletChoice(A, "old", Policy.AUTO))
    assert policy.sent == []
    name = Work(choices=before)
    await name.do(LabelWallet(A, " new\x1b[2J "))
    assert name.stored.chosen == [{"address": A, "label": "new", "policy": "off"}]
    fresh = Work()
    await fresh.do(SetWalletPolicy(B, Policy.AUTO))
    assert fresh.stored.chosen == [{"address": B, "label": "", "policy": "auto"}]


async def test_a_name_may_have_its_most_letters_and_no_more() -> None:
    it = Work()
    await it.do(LabelWallet(A, "x" * LABEL_MAX))
    assert it.stored.chosen[0]["label"] == "x" * LABEL_MAX
    long = Work()
    await long.do(LabelWallet(A, "x" * (LABEL_MAX + 1)))
    assert long.stored.chosen == []


async def test_what_the_disk_refuses_is_said_and_not_shown() -> None:
    it = Work()
    it.stored.problem = StorageError("disk full")
    order = SetWalletPolicy(A, Policy.AUTO)
    assert await it.do(order) == ("bad", f"{order.describe()}: disk full")
    assert len(it.on.facts) == 1


# -- the breaker ----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_breaker_of_the_embedded_service_is_closed_there_for_this_agent() -> None:
    it = Work()
    assert await it.do(ResetBreaker()) == ("good", "circuit breaker closed")
    assert it.on.asked == [Asked(DESK_RESET_REACTOR, path={"agent_id": "a-1"})]
    assert it.on.facts[0] == SEEN
    assert it.watch.breaker_reset_at == 0
    unknown = Work(account=None)
    why = "agent not loaded yet: retry in a moment"
    assert await unknown.do(ResetBreaker()) == ("warn", f"reset the circuit breaker: {why}")


async def test_the_breaker_of_another_service_is_counted_from_now_on() -> None:
    it = Work(embedded=False, breaker=BreakerView(failures=3))
    words = "failure count reset here; reset the service's breaker on its dashboard"
    assert await it.do(ResetBreaker()) == ("good", words)
    assert (it.watch.breaker_reset_at, it.sent) == (NOW, [])
    assert it.on.facts[0] == Changed(BreakerView())
