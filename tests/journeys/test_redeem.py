"""From a win on the simulated venue to money: unlock, look at what is signed, say yes, see it paid.

And what a whole such session leaves behind: no trace of the key or of the passphrase.
"""

import asyncio
import base64
import logging
import random
import traceback
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import pytest
from textual.pilot import Pilot

from desk.redeeming import Won, balance, hold, settle
from service_tui.console.app import ConsoleApp
from service_tui.console.dialogs.confirm import ARMED_AFTER_S
from service_tui.console.dialogs.passphrase import PassphraseDialog, SecretInput
from service_tui.console.dialogs.redeem import RedeemDialog
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.commands_wallet import KeepKey, UnlockWallet
from service_tui.desk.desk import Desk
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import Surroundings
from service_tui.desk.records_redemption import ChainRunState, Stage
from service_tui.desk.records_wallet import KeyState
from service_tui.desk.state import DeskState
from service_tui.desk.vault import Vault
from service_tui.signing.errors import KeystoreError
from service_tui.wiring.wallet_keys import FOLDER, WalletKeys
from support import Stage as Setting
from support import first_state, open_stage
from wallets import KEYS, ready

SIZE = (120, 40)
PASSPHRASE = "correct horse & battery staple"  # noqa: S105 - a canary
WORK = 2**4


@dataclass
class Session:
    """A console on a desk whose key lies encrypted on the disk, and what was seen of it."""

    app: ConsoleApp
    pilot: Pilot[int]
    stage: Setting
    pictures: list[str] = field(default_factory=list)

    @property
    def state(self) -> DeskState:
        return self.app.desk_state

    async def until(self, is_so: Callable[[DeskState], object]) -> DeskState:
        for _ in range(400):
            if is_so(self.state):
                await self.pilot.pause()
                return self.state
            await self.stage.clock.advance(0.25)
            await self.stage.database.write(lambda _: None)
            await asyncio.to_thread(int)
            await asyncio.sleep(0.005)
        raise AssertionError("the console never showed the wanted state")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause(0.05)
        self.pictures.append(self.app.export_screenshot())

    async def write(self, text: str) -> None:
        line = self.app.screen.query_one(SecretInput)
        line.value = text
        await self.pilot.pause()
        self.pictures.append(self.app.export_screenshot())


@asynccontextmanager
async def session(path: Path) -> AsyncGenerator[tuple[Session, Won]]:
    async with open_stage(path, speed=60) as stage:
        own = await ready(stage)
        held = await hold(stage, own)
        await settle(stage, held)
        keys = WalletKeys(path, work=WORK)
        keys.keep(PASSPHRASE, KEYS[0])
        around = Surroundings(
            stage.client,
            stage.database,
            stage.clock,
            lambda: f"{random.getrandbits(128):032x}",
            random.Random(2),
            vault=Vault(keys),
        )
        known = replace(first_state(), preferences={"welcome": "seen"})

        @asynccontextmanager
        async def desk() -> AsyncGenerator[Desk]:
            async with open_desk(known, around) as opened:
                yield opened

        app = ConsoleApp(
            open_desk=desk,
            initial=known,
            now=stage.clock.now,
            themes=load_themes(shipped_folder()),
            log_path="log",
        )
        async with app.run_test(size=SIZE) as pilot:
            yield Session(app, pilot, stage), held


async def walked(walk: Session, held: Won) -> None:
    """The whole way, by keys."""
    await walk.until(lambda s: s.redemption.rows and s.wallet.key_state is KeyState.LOCKED)
    await walk.press("5", "W", "U")
    assert isinstance(walk.app.screen, PassphraseDialog)
    await walk.write("a wrong passphrase")
    await walk.press("enter")
    state = await walk.until(lambda s: s.wallet.problem)
    assert state.wallet.key_state is KeyState.LOCKED
    await walk.press("U")
    await walk.write(PASSPHRASE)
    await walk.press("enter")
    await walk.until(lambda s: s.wallet.key_state is KeyState.UNLOCKED)
    await walk.press("escape")
    await walk.until(lambda s: s.redemption.row(held.key).stage is Stage.READY)
    await walk.press("t")
    dialog = walk.app.screen
    assert isinstance(dialog, RedeemDialog)
    await walk.until(lambda s: (run := s.redemption.run(held.key)) is not None and run.call)
    await walk.press("enter")
    await walk.pilot.pause(2 * ARMED_AFTER_S)
    assert walk.app.screen is dialog
    await walk.press("y")
    await walk.until(lambda s: s.redemption.run(held.key).state is ChainRunState.DONE)
    await walk.until(lambda s: s.redemption.row(held.key).stage is Stage.REDEEMED)
    await walk.press("0", "9", "8", "5")


async def test_a_win_becomes_cash(tmp_path: Path) -> None:
    async with session(tmp_path) as (walk, held):
        before = balance(walk.stage)
        due = (
            walk.stage.world.venues
            .account(walk.stage.agent_id, held.market.listing.home)
            .holdings[held.market.market_id]
            .position.shares(held.side)
        )
        await walked(walk, held)
        assert balance(walk.stage) == before + due


def shapes(secret: bytes, text: str) -> dict[str, str]:
    """A secret in every usual writing."""
    hexed = secret.hex()
    return {
        "text": text,
        "hex": hexed,
        "hex, upper case": hexed.upper(),
        "hex with 0x": f"0x{hexed}",
        "decimal": str(int.from_bytes(secret, "big")),
        "base64": base64.b64encode(secret).decode().rstrip("="),
        "base64 of the text": base64.b64encode(text.encode()).decode().rstrip("="),
        "base64, url-safe": base64.urlsafe_b64encode(secret).decode().rstrip("="),
        "bytes": repr(secret)[2:-1],
        "list of numbers": ", ".join(map(str, secret)),
        "url": quote(text, safe=""),
        "backwards": hexed[::-1],
    }


CANARIES = {
    **{f"key, {name}": text for name, text in shapes(bytes.fromhex(KEYS[0]), KEYS[0]).items()},
    **{
        f"passphrase, {name}": text
        for name, text in shapes(PASSPHRASE.encode(), PASSPHRASE).items()
    },
}


def traces(text: str) -> list[str]:
    # The test's key is a small number: its plain digits stand everywhere.
    return [
        name
        for name, canary in CANARIES.items()
        if len(canary) >= 8 and canary.lower() in text.lower() and name != "key, decimal"
    ]


def files_of(path: Path) -> dict[str, str]:
    """Everything that lies below a directory, byte by byte."""
    return {
        str(one.relative_to(path)): one.read_bytes().decode("latin-1")
        for one in path.rglob("*")
        if one.is_file()
    }


async def test_a_session_leaves_no_trace_of_key_or_passphrase(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    left: dict[str, str] = {}
    async with session(tmp_path) as (walk, held):
        await walked(walk, held)
        left["state"] = repr(walk.state)
        left["commands"] = repr((
            UnlockWallet(PASSPHRASE),
            KeepKey(PASSPHRASE, KEYS[0]),
            walk.app.screen_stack,
        ))
        left["pictures"] = "\n".join(walk.pictures)
    try:
        WalletKeys(tmp_path, work=WORK).opened(held.own.address, "not " + PASSPHRASE)
    except KeystoreError as error:
        left["traceback"] = "".join(traceback.format_exception(error)) + repr(error)
    left.update(files_of(tmp_path))
    assert any(FOLDER in name for name in left)
    left["log"] = caplog.text
    left["output"] = "".join(capfd.readouterr())
    assert "Ready to Redeem" in left["pictures"] or "Redeemed" in left["pictures"]
    found = {where: names for where, text in left.items() if (names := traces(text))}
    assert found == {}


def test_the_search_would_find_each_of_them() -> None:
    for name, canary in CANARIES.items():
        if name != "key, decimal" and len(canary) >= 8:
            assert name in traces(f"... {canary} ...")
