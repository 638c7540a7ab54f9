"""What a snapshot holds of the reactor comes back with every field."""

from dataclasses import asdict

from service_tui.engine.reactor.wallet_records import WalletPosition, WalletRecord
from service_tui.records import read
from service_tui.units import Micros, Timestamp


def test_the_record_of_a_wallet_comes_back_whole() -> None:
    held = {
        "yes": WalletPosition(yes=Micros(1), yes_cost=Micros(2)),
        "no": WalletPosition(no=Micros(3), no_cost=Micros(4)),
        "both": WalletPosition(Micros(5), Micros(6), Micros(7), Micros(8)),
    }
    record = WalletRecord(9, Micros(10), 11, 12, Micros(-13), Timestamp(14.5), held)
    assert read(WalletRecord, asdict(record)) == record
    assert [*read(WalletRecord, asdict(record)).held] == ["yes", "no", "both"]
    assert read(WalletRecord, asdict(WalletRecord())) == WalletRecord()
