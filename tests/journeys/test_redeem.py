"""From a win on the simulated venue to money: unlock, look at what is signed, say yes, see it paid.

And what a whole such session leaves behind: no trace of the key or of the passphrase.
"""

import base64
import html
import json
import logging
import random
import re
import traceback
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from kit.console.session import KEY, PASSPHRASE, SIZE, WORK, Session
from kit.desk.redeeming import Won, balance, hold, settle
from kit.service.stage import first_state, open_stage
from kit.service.wallets import ready
from service_tui.console.app import ConsoleApp
from service_tui.console.screens.redemption.forms import RedeemDialog
from service_tui.console.screens.wallet.forms import NewKeyDialog, PassphraseDialog
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.credentials.wallet_keys import FOLDER, WalletKeys
from service_tui.desk.commands.wallet import KeepKey, UnlockWallet
from service_tui.desk.desk import Desk
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import DeskContext
from service_tui.desk.slices.redemption import ChainRunState, Stage
from service_tui.desk.slices.wallet import KeyState
from service_tui.desk.vault import Vault
from service_tui.signing.errors import KeyFormatError, KeystoreError


@asynccontextmanager
async def session(path: Path) -> AsyncGenerator[tuple[Session, Won]]:
    async with open_stage(path, speed=60) as stage:
        own = await ready(stage, KEY)
        held = await hold(stage, own)
        await settle(stage, held)
        around = DeskContext(
            stage.client,
            stage.database,
            stage.clock,
            lambda: f"{random.getrandbits(128):032x}",
            random.Random(2),
            vault=Vault(WalletKeys(path, work=WORK)),
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
            yield Session(app, pilot, stage, is_filmed=True), held


async def walked(walk: Session, held: Won) -> None:
    """The whole way, by keys."""
    await walk.until(lambda s: s.redemption.rows and s.wallet.key_state is KeyState.NONE)
    await walk.press("5", "W", "K")
    assert isinstance(walk.app.screen, NewKeyDialog)
    await walk.write(KEY, PASSPHRASE, PASSPHRASE)
    await walk.press("enter")
    await walk.until(lambda s: s.wallet.key_state is KeyState.UNLOCKED)
    await walk.press("U")
    await walk.until(lambda s: s.wallet.key_state is KeyState.LOCKED)
    await walk.press("U")
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
    await walk.press("0", "9", "8", "5", "W", "s", "escape", "o", "escape", "escape", "z")


@pytest.mark.slow
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
        # The blotter has a row of it, with the whole hash and the times.
        await walk.press("9")
        shown = read(walk.pictures[-1])
        for words in ("redeem", "✓ done", walk.state.redemption.run(held.key).tx_hash[:20]):
            assert words in shown


BASE_58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def base58(secret: bytes) -> str:
    number, letters = int.from_bytes(secret, "big"), ""
    while number:
        number, rest = divmod(number, len(BASE_58))
        letters = BASE_58[rest] + letters
    return letters


def shapes(secret: bytes, text: str) -> dict[str, str]:
    """A secret in every usual writing, and in halves."""
    hexed, half = secret.hex(), len(secret.hex()) // 2
    return {
        "text": text,
        "text backwards": text[::-1],
        "hex": hexed,
        "hex, first half": hexed[:half],
        "hex, second half": hexed[half:],
        "hex backwards": hexed[::-1],
        "hex of the bytes backwards": secret[::-1].hex(),
        "hex of the text": text.encode().hex(),
        "decimal": str(int.from_bytes(secret, "big")),
        "decimal, little end first": str(int.from_bytes(secret, "little")),
        "base32": base64.b32encode(secret).decode().rstrip("="),
        "base58": base58(secret),
        "base64": base64.b64encode(secret).decode().rstrip("="),
        "base64 of the text": base64.b64encode(text.encode()).decode().rstrip("="),
        "base64, url-safe": base64.urlsafe_b64encode(secret).decode().rstrip("="),
        "bytes": repr(secret)[2:-1],
        "raw bytes": secret.decode("latin-1"),
        "list of numbers": ", ".join(map(str, secret)),
        "list of numbers, close": ",".join(map(str, secret)),
        "list of hex numbers": ", ".join(map(hex, secret)),
        "url": quote(text, safe=""),
        "json": json.dumps(text)[1:-1],
        "markup": html.escape(text),
        "picture": html.escape(text).replace(" ", "&#160;"),
    }


CANARIES = {
    **{f"key, {name}": text for name, text in shapes(bytes.fromhex(KEY), KEY).items()},
    **{
        f"passphrase, {name}": text
        for name, text in shapes(PASSPHRASE.encode(), PASSPHRASE).items()
    },
}


def traces(text: str) -> list[str]:
    lowered = text.lower()
    return [name for name, canary in CANARIES.items() if canary.lower() in lowered]


def read(picture: str) -> str:
    """The letters of a picture, as a person reads them: no marks between, hard spaces plain."""
    return html.unescape(re.sub(r"<[^>]*>", "", picture)).replace("\xa0", " ")


def files_of(path: Path) -> dict[str, str]:
    """Everything that lies below a directory, byte by byte."""
    return {
        str(one.relative_to(path)): one.read_bytes().decode("latin-1")
        for one in path.rglob("*")
        if one.is_file()
    }


@pytest.mark.slow
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
            KeepKey(PASSPHRASE, KEY),
            walk.app.screen_stack,
        ))
        left["pictures"] = "\n".join(walk.pictures)
        left["what is read in them"] = "\n".join(map(read, walk.pictures))
    keys = WalletKeys(tmp_path, work=WORK)
    with pytest.raises(KeystoreError) as wrong:
        keys.opened(held.own.address, "not " + PASSPHRASE)
    with pytest.raises(KeyFormatError) as spoilt:
        keys.keep(PASSPHRASE, KEY[:-1] + "g")
    with pytest.raises(KeystoreError) as twice:
        keys.keep(PASSPHRASE, KEY)
    for name, raised in (("wrong", wrong), ("spoilt", spoilt), ("twice", twice)):
        left[name] = "".join(traceback.format_exception(raised.value)) + repr(raised.value)
    left.update(files_of(tmp_path))
    assert any(FOLDER in name for name in left)
    left["log"] = caplog.text
    left["output"] = "".join(capfd.readouterr())
    # The search reads what it ought to: screens with letters, and the key's own file.
    assert "Ready to Redeem" in left["what is read in them"]
    assert held.own.address[2:].lower() in "".join(left[name] for name in left if FOLDER in name)
    found = {where: names for where, text in left.items() if (names := traces(text))}
    assert found == {}


def test_the_search_would_find_each_of_them() -> None:
    assert all(len(canary) >= 16 for canary in CANARIES.values())
    for name, canary in CANARIES.items():
        assert name in traces(f"... {canary} ...")
    in_parts = "".join(f"<text>{html.escape(letter)}</text>" for letter in PASSPHRASE)
    assert "passphrase, text" in traces(read(in_parts.replace(" ", "&#160;")))
