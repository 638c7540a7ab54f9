"""The chain of a snapshot: every field comes back."""

import json

from kit.engine.bare import AT, bare_world
from service_tui.engine.chain.chain import Chain, ChainPace, Tx, Wallet
from service_tui.engine.chain_events import (
    CallKind,
    ChainCall,
    PlannedOutcome,
    TxMined,
    TxSent,
    TxStatus,
    WalletLinked,
)
from service_tui.engine.codec import events as codec
from service_tui.engine.codec.chain import chain_fields, restore_chain
from service_tui.units import Micros, Timestamp

ADDRESS, OTHER = "0x" + "Ab" * 20, "0x" + "Cd" * 20


def tx(tx_hash: str, nonce: int) -> TxSent:
    call = ChainCall(CallKind.REDEEM_ADAPTER, "0xc", (3, 4), "ctf_x", "ctf_y")
    return TxSent(
        tx_hash, "ada", AT, ADDRESS, nonce, "0xto", call, 5, 6, 7, PlannedOutcome.DROP, "0xold"
    )


def made() -> Chain:
    chain = bare_world("ada", "bea").chain
    chain.pace = ChainPace(
        block_s=5.0, gas_price=11, delay_blocks=12, base_at=Timestamp(AT - 13), base_block=14,
        faults=(PlannedOutcome.REVERT, PlannedOutcome.WITHHOLD), shown_at=Timestamp(AT - 15),
    )  # fmt: skip
    chain.apply(WalletLinked("ada", AT, ADDRESS, 16))
    chain.apply(WalletLinked("bea", AT, OTHER, 17))
    # A wallet that is linked no more is still known.
    chain.apply(WalletLinked("bea", AT, ""))
    chain.wallets[ADDRESS.lower()] = Wallet(
        ADDRESS, "ada", AT, gas=16, nonce=18, native_usdc=Micros(19), restricted=True,
        approvals={"b", "a"}, credentials_at=Timestamp(AT + 20),
    )  # fmt: skip
    mined = TxMined("0x1", "ada", AT, TxStatus.FAILED, 21, 22, 23, Micros(24), "why")
    chain.txs = {"0x1": Tx(tx("0x1", 1), mined), "0x2": Tx(tx("0x2", 2))}
    chain.hashes = {"ada": {"h1": AT, "h2": Timestamp(AT + 1)}, "bea": {"h3": AT}}
    chain.paid = {"p:1": Timestamp(AT + 2)}
    return chain


def test_every_field_of_the_chain_comes_back() -> None:
    chain = made()
    again = bare_world("ada", "bea").chain
    restore_chain(again, json.loads(codec.dumps(chain_fields(chain))))
    for name in ("pace", "wallets", "linked", "txs", "hashes", "paid"):
        assert getattr(again, name) == getattr(chain, name), name
    assert again.wallet_of("ada") == chain.wallets[ADDRESS.lower()]
    assert again.wallet_of("bea") is None


def test_an_older_snapshot_leaves_the_chain_as_it_is() -> None:
    chain = made()
    restore_chain(chain, None)
    assert chain.wallet_of("ada") is not None
    assert len(chain.txs) == 2
