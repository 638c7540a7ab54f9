"""What is made of the wire's queue, positions and wallet."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from service_tui.desk.chain.translate import (
    BY_HAND,
    LOST,
    redemption_row,
    rows_of,
    rows_of_position,
    wallet_of_settings,
    wallet_view,
)
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.redemption import Stage
from service_tui.desk.slices.wallet import CheckView, Ownership, WalletView
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.positions import PositionBody, PositionSideBody
from service_tui.wire.redemption import RedemptionBody
from service_tui.wire.settings import SettingsBody
from service_tui.wire.wallet import RequirementBody, WalletBody


def moment(day: int) -> datetime:
    return datetime(2027, 1, day, tzinfo=UTC)


def at(day: int) -> Timestamp:
    return Timestamp(moment(day).timestamp())


# -- the queue ----------------------------------------------------------------------------------


def body(state: str = "Ready to Redeem", **other: Any) -> RedemptionBody:
    given = {
        "market_id": "m1", "side": Side.NO, "question": "Will it?", "venue": Venue.EVM,
        "shares": 12.0, "payout": 12.0, "cost": 5.0, "won": True, **other,
    }  # fmt: skip
    return RedemptionBody.model_construct(
        **{name: field.default for name, field in RedemptionBody.model_fields.items()}
        | {"state": state}
        | given
    )


TIMES = {
    "resolves_at": moment(1), "resolved_at": moment(2), "ready_at": moment(3),
    "redeemed_at": moment(4),
}  # fmt: skip


@pytest.mark.parametrize(
    ("state", "missing", "since", "in_world"),
    [
        ("Active", "", None, False),
        ("Awaiting Settlement", "", at(1), True),
        ("Ready to Redeem", "", at(3), False),
        ("Ready to Redeem", "ready_at", at(2), True),
        ("Redeemed", "", at(4), False),
        ("Redeemed", "redeemed_at", None, False),
    ],
)
def test_a_row_is_at_its_stage_since_the_moment_that_brought_it_there(
    state: str, missing: str, since: Timestamp | None, *, in_world: bool
) -> None:
    times = {name: None if name == missing else when for name, when in TIMES.items()}
    row = redemption_row(body(state, **times))
    assert (row.stage, row.since, row.in_world) == (Stage(state), since, in_world)


@pytest.mark.parametrize(
    ("state", "other", "pays"),
    [
        ("Ready to Redeem", {}, 12),
        ("Active", {"won": None, "payout": 0.0}, 12),
        ("Ready to Redeem", {"won": False, "payout": 0.0}, 0),
        ("Redeemed", {"payout": 0.0}, 0),
        ("Redeemed", {"payout": 7.0}, 7),
    ],
)
def test_a_row_brings_what_the_service_names_else_its_shares_unless_nothing_is_left(
    state: str, other: dict[str, Any], pays: int
) -> None:
    assert redemption_row(body(state, **other)).amount == pays * ONE


@pytest.mark.parametrize(
    ("state", "other", "text"),
    [
        ("Active", {"won": None}, "market open"),
        ("Awaiting Settlement", {"won": None}, "awaiting resolution: minutes to hours"),
        ("Ready to Redeem", {}, "redeem: 12.00 USDC.e to the wallet"),
        ("Ready to Redeem", {"waits_for": "gas"}, "too little gas: send POL to the wallet"),
        ("Ready to Redeem", {"waits_for": "client"}, "redeem: 12.00 USDC.e to the wallet"),
        ("Ready to Redeem", {"waits_for": "venue"}, "settling at the venue: 10 to 30 minutes"),
        ("Ready to Redeem", {"won": False}, LOST),
        ("Ready to Redeem", {"won": False, "manual": True}, LOST),
        ("Ready to Redeem", {"manual": True}, BY_HAND),
        ("Ready to Redeem", {"venue": Venue.SOL}, BY_HAND),
        ("Active", {"manual": True, "won": None}, "market open"),
        ("Redeemed", {}, "paid"),
        ("Redeemed", {"won": False, "payout": 0.0}, "done: nothing left to redeem"),
    ],
)
def test_a_row_says_what_happens_next(state: str, other: dict[str, Any], text: str) -> None:
    assert redemption_row(body(state, **other)).next_text == text


@pytest.mark.parametrize(
    ("other", "lost", "manual"),
    [
        ({}, False, False),
        ({"won": None}, False, False),
        ({"won": False}, True, False),
        ({"manual": True}, False, True),
        ({"venue": Venue.SOL}, False, True),
    ],
)
def test_a_losing_row_and_one_for_another_page_are_told_apart(
    other: dict[str, Any], *, lost: bool, manual: bool
) -> None:
    row = redemption_row(body(**other))
    assert (row.lost, row.manual, row.is_ready) == (lost, manual, not (lost or manual))


def test_a_row_has_what_signing_compares() -> None:
    named = {"condition_id": "0xc", "token_id": "77", "neg_risk": True, "tx_hash": "0xh"}
    row = redemption_row(body(**named, reported=True, simulated=True, venue=None))
    assert (row.condition_id, row.token_id, row.neg_risk, row.tx_hash) == (*named.values(),)
    assert (row.market_id, row.side, row.question, row.venue) == (
        "m1", Side.NO, "Will it?", Venue.EVM,
    )  # fmt: skip
    assert (row.shares, row.cost, row.reported, row.simulated) == (12 * ONE, 5 * ONE, True, True)
    bare = redemption_row(body())
    assert (bare.condition_id, bare.token_id, bare.tx_hash) == ("", "", "")
    assert (bare.neg_risk, bare.reported, bare.simulated) == (False, False, False)


def test_rows_that_cannot_be_used_are_counted_and_hide_none_after_them() -> None:
    rows, unusable = rows_of((body(), body("Lent"), body(market_id="m2")))
    assert ([row.market_id for row in rows], unusable) == (["m1", "m2"], 1)


# -- without a queue ----------------------------------------------------------------------------


def position(**other: Any) -> PositionBody:
    given = {
        "market_id": "m1", "question": "Will it?", "shares_no": 12.0, "cost_basis": 5.0,
        "venue": Venue.EVM, "token_id_yes": "11", "token_id_no": "22", **other,
    }  # fmt: skip
    return PositionBody(**given)


@pytest.mark.parametrize(
    ("other", "stage"),
    [
        ({}, Stage.ACTIVE),
        ({"status": "closed"}, Stage.AWAITING),
        *(({"status": word}, Stage.READY) for word in ("won", "lost", "resolved")),
        ({"redeemable": True}, Stage.READY),
        ({"lifecycle": "Awaiting Settlement", "redeemable": True}, Stage.AWAITING),
        ({"lifecycle": "redeemed"}, Stage.REDEEMED),
        ({"lifecycle": "ACTIVE", "status": "won"}, Stage.ACTIVE),
        ({"lifecycle": "lent", "status": "closed"}, Stage.AWAITING),
    ],
)
def test_a_position_is_at_the_stage_that_the_service_or_its_market_names(
    other: dict[str, Any], stage: Stage
) -> None:
    (row,) = rows_of_position(position(**other))
    assert row.stage is stage


def test_each_side_that_is_held_is_a_row_of_its_own() -> None:
    sides = tuple(
        PositionSideBody(
            side=side, shares=shares, cost_basis=cost, avg_cost=None, mark_price=0.5,
            current_value=1.0, unrealized_pnl=None, exit_value=1.0, realized_pnl=0.0,
            opened_at=moment(1),
        )
        for side, shares, cost in (("yes", 3.0, 1.0), ("no", 12.0, 4.0))
    )  # fmt: skip
    rows = [*rows_of_position(position(shares_yes=3.0, sides=sides))]
    assert [(row.side, row.shares, row.cost, row.token_id) for row in rows] == [
        (Side.YES, 3 * ONE, ONE, "11"), (Side.NO, 12 * ONE, 4 * ONE, "22"),
    ]  # fmt: skip
    # A row without sides has one cost, of all that it holds.
    (alone,) = rows_of_position(position())
    assert (alone.side, alone.cost, alone.amount) == (Side.NO, 5 * ONE, 12 * ONE)
    assert [*rows_of_position(position(venue=Venue.SIM))] == []


@pytest.mark.parametrize(
    ("status", "outcome", "lost"),
    [
        ("resolved", True, True), ("resolved", False, False), ("resolved", None, False),
        ("active", True, False), ("closed", True, False),
    ],
)  # fmt: skip
def test_a_side_is_lost_once_the_other_one_has_surely_won(
    status: str, *, outcome: bool | None, lost: bool
) -> None:
    (row,) = rows_of_position(position(status=status, outcome=outcome))
    assert (row.lost, row.amount) == (lost, 0 if lost else 12 * ONE)
    (yes,) = rows_of_position(position(status=status, outcome=outcome, shares_yes=2.0, shares_no=0))
    assert yes.lost is (status == "resolved" and outcome is False)


def test_a_position_of_a_venue_with_a_page_of_its_own_is_redeemed_there() -> None:
    (row,) = rows_of_position(position(venue=Venue.SOL, redeemable=True))
    assert (row.manual, row.next_text, row.in_world) == (True, BY_HAND, True)


@pytest.mark.parametrize(
    ("times", "since"),
    [
        ({"resolves_at": moment(1)}, at(1)),
        ({"resolves_at": moment(1), "resolved_at": moment(2)}, at(2)),
        ({}, None),
    ],
)
def test_a_position_waits_since_its_market_was_decided(
    times: dict[str, Any], since: Timestamp | None
) -> None:
    (row,) = rows_of_position(position(status="closed", **times))
    assert row.since == since
    (open_one,) = rows_of_position(position(**times))
    assert open_one.since is None


# -- the wallet ---------------------------------------------------------------------------------


KNOWN = WalletView(
    address="0xAB", key_address="0xab", approvals_at=Timestamp(7.0), gas=Micros(3),
    managed_address="0xm",
)  # fmt: skip


def wallet(**other: Any) -> WalletBody:
    given = {"wallet_address": "0xab", "wallet_ownership": "external", **other}
    return WalletBody(**given)


def need(name: Any, *, done: bool, about: str = "", fix: str = "") -> RequirementBody:
    return RequirementBody(name=name, done=done, about=about, fix=fix)


def test_the_figures_of_a_linked_wallet_are_those_of_the_service() -> None:
    view = wallet_view(
        wallet(
            usdc=2.0, native_usdc=3.0, gas=0.5, gas_needed=0.25, pol_usd=0.4, has_credentials=True,
            simulated=True, restricted=True,
        ),
        KNOWN,
    )  # fmt: skip
    assert (view.usdc, view.usdc_native, view.gas, view.gas_needed) == (
        2 * ONE, 3 * ONE, ONE // 2, ONE // 4,
    )  # fmt: skip
    assert (view.pol_price, view.has_credentials, view.simulated) == (0.4, True, True)
    assert view.restricted == "the venue rejects this wallet"
    assert (view.is_read, view.ownership, view.address, view.managed_address) == (
        True, Ownership.EXTERNAL, "0xAB", "",
    )  # fmt: skip
    # What this desk has read itself stays, as long as it is the same wallet.
    assert (view.key_address, view.approvals_at) == ("0xab", 7.0)
    other = wallet_view(wallet(wallet_address="0xcd"), KNOWN)
    assert (other.address, other.approvals, other.approvals_at) == ("0xcd", (), None)
    assert (other.pol_price, other.restricted, other.real_trading) == (None, "", False)


def test_the_wallet_of_the_service_is_none_that_this_desk_signs_for() -> None:
    view = wallet_view(wallet(wallet_ownership="native"), KNOWN)
    assert (view.ownership, view.address, view.managed_address) == (Ownership.MANAGED, "", "0xab")
    assert wallet_view(wallet(wallet_address=None), KNOWN).address == ""


def test_each_step_that_is_missing_is_named_with_what_to_do() -> None:
    checks = (
        need("enabled", done=True, about="allowed"),
        need("linked", done=False, about="never shown", fix="never shown"),
        need("gas", done=False, fix="send POL"),
        need("unrestricted", done=True, about="accepted", fix="never shown"),
    )
    view = wallet_view(wallet(checks=checks), KNOWN)
    assert view.real_trading
    assert view.served == (
        CheckView("real trades allowed", is_done=True, detail="allowed"),
        CheckView("wallet linked", is_done=False, detail="no wallet linked", fix=Fix.LINK_WALLET),
        CheckView("gas", is_done=False, detail="too little POL for gas", fix="send POL"),
        CheckView("accepted by venue", is_done=True, detail="accepted"),
    )
    missing = wallet_view(wallet(checks=(need("enabled", done=False),)), KNOWN)
    assert (missing.real_trading, missing.served[0].fix) == (False, Fix.ALLOW_REAL_TRADES)


def settings(**other: Any) -> SettingsBody:
    given = {"sdk_real_trading_enabled": False, **other}
    return SettingsBody.model_construct(
        **{name: field.default for name, field in SettingsBody.model_fields.items()} | given
    )


def test_a_service_that_tells_of_wallets_in_its_settings_alone_is_read_there() -> None:
    view = wallet_of_settings(
        settings(
            wallet_ownership="external", wallet_address="0xold", linked_wallet_address="0xab",
            polymarket_usdc_balance=2.0, polymarket_allowances_set=True,
            sdk_real_trading_enabled=True,
        ),
        replace(KNOWN, usdc_native=Micros(1), gas_needed=Micros(1), pol_price=1.0),
    )  # fmt: skip
    assert (view.ownership, view.address, view.managed_address, view.is_read) == (
        Ownership.EXTERNAL, "0xAB", "", True,
    )  # fmt: skip
    assert (view.usdc, view.usdc_native, view.gas_needed, view.pol_price) == (
        2 * ONE, None, None, None,
    )  # fmt: skip
    assert (view.real_trading, view.gas) == (True, 3)
    assert view.served == (
        CheckView("wallet linked", is_done=True, detail="external, 0xab"),
        CheckView("approvals", is_done=True, detail="given"),
        CheckView("real trades allowed", is_done=True, detail="allowed"),
    )


def test_what_such_a_service_lacks_is_named_with_what_to_do() -> None:
    view = wallet_of_settings(settings(wallet_ownership="native"), KNOWN)
    assert (view.usdc, view.address, view.managed_address) == (None, "", "")
    assert view.served == (
        CheckView("wallet linked", is_done=False, detail="no wallet", fix=Fix.LINK_WALLET),
        CheckView("approvals", is_done=False, detail="not given", fix=Fix.GIVE_APPROVALS),
        CheckView(
            "real trades allowed", is_done=False, detail="not allowed for this agent",
            fix=Fix.ALLOW_REAL_TRADES,
        ),
    )  # fmt: skip
