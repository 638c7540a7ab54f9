"""Wallets and transactions as JSON-able values and back: their part of the snapshot."""

from service_tui.engine.chain.chain import Chain, ChainPace, Tx, Wallet
from service_tui.engine.chain_events import TxMined, TxSent
from service_tui.records import Named, fields_of_record, read


def chain_fields(chain: Chain) -> Named:
    """The chain's part of the snapshot: everything but the ledger."""
    return {
        "pace": chain.pace,
        "wallets": [
            fields_of_record(wallet) | {"approvals": sorted(wallet.approvals)}
            for wallet in chain.wallets.values()
        ],
        "linked": chain.linked,
        "txs": [[tx.sent, tx.mined] for tx in chain.txs.values()],
        "hashes": chain.hashes,
        "paid": chain.paid,
    }


def restore_chain(chain: Chain, fields: Named | None) -> None:
    """Fill the chain from a snapshot; an old snapshot has none (None) and changes nothing."""
    if fields is None:
        return
    chain.pace = read(ChainPace, fields["pace"])
    for row in fields["wallets"]:
        wallet = read(Wallet, row)
        chain.wallets[wallet.address.lower()] = wallet
    chain.linked = dict(fields["linked"])
    for sent, mined in fields["txs"]:
        tx = Tx(read(TxSent, sent), None if mined is None else read(TxMined, mined))
        chain.txs[tx.sent.tx_hash] = tx
    chain.hashes = {agent_id: dict(own) for agent_id, own in fields["hashes"].items()}
    chain.paid = dict(fields["paid"])
