"""Redemptions and a wallet of invented positions."""

from typing import Any

from kit.samples.desk import NOW, QUESTIONS
from service_tui.desk.slices.redemption import (
    AutoView,
    CallView,
    ChainRunState,
    RedemptionRow,
    RedemptionView,
    RunProblem,
    RunView,
    Stage,
    Step,
    StepView,
)
from service_tui.desk.slices.wallet import ApprovalView, CheckView, KeyState, Ownership, WalletView
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
CONDITION = "0x" + "c0de" * 16
HASH = "0x" + "7ab3" * 16
CTF = "0x4D97DCd97eC945f40cF65F87097ACe5EA0476045"
USDC_E = "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174"


def call_of(**other: Any) -> CallView:
    given: dict[str, Any] = {
        "digest": "d1", "contract": "conditional tokens", "to": CTF, "function": "redeemPositions",
        "arguments": (
            ("collateral", f"USDC.e {USDC_E}"),
            ("parent collection", "none (all zeros)"),
            ("condition", CONDITION),
            ("index sets", "1, 2"),
        ),
        "chain_id": 137, "nonce": 41, "gas": 195_000, "fee_gwei": 60.0,
        "fee_max": Micros(11_700), "fee_money": Micros(5_800),
    }  # fmt: skip
    return CallView(**{**given, **other})


def row_of(index: int = 0, **other: Any) -> RedemptionRow:
    given: dict[str, Any] = {
        "market_id": f"evm-{index}", "question": QUESTIONS[index % len(QUESTIONS)],
        "side": Side.YES, "venue": Venue.EVM, "stage": Stage.READY, "shares": Micros(50 * ONE),
        "cost": Micros(31 * ONE), "amount": Micros(50 * ONE), "since": Timestamp(NOW - 1_800),
        "condition_id": CONDITION, "next_text": "redeem: 50.00 USDC.e to the wallet",
        "simulated": True,
    }  # fmt: skip
    return RedemptionRow(**{**given, **other})


def run_of(index: int = 0, **other: Any) -> RunView:
    given: dict[str, Any] = {
        "market_id": f"evm-{index}", "side": Side.YES, "venue": Venue.EVM,
        "question": QUESTIONS[index % len(QUESTIONS)], "state": ChainRunState.RUNNING,
        "steps": (
            StepView(Step.REQUESTED, Timestamp(NOW - 26), "service answered"),
            StepView(Step.CHECKED, Timestamp(NOW - 25), "payout 50.00, balance 50.00"),
            StepView(Step.SIGNED, Timestamp(NOW - 12), "nonce 41"),
            StepView(Step.BROADCAST, Timestamp(NOW - 11), HASH),
        ),
        "tx_hash": HASH, "call": call_of(), "amount": Micros(50 * ONE),
        "words": "waiting for the chain to confirm",
    }  # fmt: skip
    return RunView(**{**given, **other})


def redemption_of(**other: Any) -> RedemptionView:
    done = tuple(
        StepView(step, Timestamp(NOW - 7_200 + 4 * number), "") for number, step in enumerate(Step)
    )
    rows = (
        row_of(0),
        row_of(1, side=Side.NO, shares=Micros(120 * ONE), amount=Micros(120 * ONE)),
        row_of(2, amount=Micros(0), lost=True, next_text="lost: nothing to redeem"),
        row_of(
            3, stage=Stage.AWAITING, since=Timestamp(NOW - 900),
            next_text="the oracle has not settled yet",
        ),
        row_of(
            4, stage=Stage.ACTIVE, since=None, amount=Micros(80 * ONE),
            next_text="market open",
        ),
        row_of(
            5, venue=Venue.SOL, manual=True,
            next_text="by hand only: on the dashboard of sol_venue",
        ),
        row_of(6, stage=Stage.REDEEMED, since=Timestamp(NOW - 7_200), next_text="paid"),
    )  # fmt: skip
    given: dict[str, Any] = {
        "rows": rows,
        "runs": (
            run_of(0),
            run_of(
                1, side=Side.NO, state=ChainRunState.REFUSED, steps=run_of().steps[:1], tx_hash="",
                call=None, reason=RunProblem.NOT_FINAL,
                words="the venue has not finalized the market",
                fix="tried again by itself", again_at=Timestamp(NOW + 540),
            ),
            run_of(
                6, state=ChainRunState.DONE, steps=done, words="50.00 USDC.e received",
            ),
        ),
        "auto": AutoView(on_service=True, allowed=True),
        "executes": True,
    }  # fmt: skip
    return RedemptionView(**{**given, **other})


def wallet_of(**other: Any) -> WalletView:
    given: dict[str, Any] = {
        "address": ADDRESS, "key_address": ADDRESS, "key_state": KeyState.UNLOCKED,
        "key_source": "keystore", "ownership": Ownership.EXTERNAL, "usdc": Micros(214 * ONE),
        "usdc_native": Micros(0), "gas": Micros(1_840_000),
        "gas_needed": Micros(11_700),
        "approvals": (
            ApprovalView("usdc_bridged_1", "USDC.e", "V1 exchange", CTF, is_set=True),
            ApprovalView("ctf_1", "outcome tokens", "V1 exchange", CTF, is_set=True),
            ApprovalView("usdc_bridged_2", "USDC.e", "neg-risk exchange", CTF, is_set=False),
        ),
        "is_read": True, "has_credentials": True, "real_trading": True, "simulated": True,
        "served": (
            CheckView("agent claimed", is_done=True, detail="it is yours"),
            CheckView("wallet linked", is_done=True, detail="external, 0x5290…9EE7"),
            CheckView("approvals", is_done=False, detail="1 of 3 missing", fix="press A"),
            CheckView("gas", is_done=True, detail="1.84 POL, enough for 157 redemptions"),
        ),
    }  # fmt: skip
    return WalletView(**{**given, **other})
