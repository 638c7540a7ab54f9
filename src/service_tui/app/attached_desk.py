"""A desk attached to the service of another process, the owner of the same data directory."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from service_tui.app.attached import HOLDER_URL, HolderTransport, client_of_holder
from service_tui.app.data import open_beside
from service_tui.app.halts import databases, kept_halts
from service_tui.app.options import Options
from service_tui.app.orphaned_orders import take_over
from service_tui.app.renewal import renewing
from service_tui.app.succession import succeeding
from service_tui.app.vault import vault_of
from service_tui.clock import Clock
from service_tui.credentials.api_keys import ApiKeysError, stored_desk_keys
from service_tui.desk.desk import Desk
from service_tui.desk.facts import Noticed
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import DeskContext
from service_tui.desk.state import DeskState
from service_tui.signing.book import ExchangeVersion
from service_tui.signing.policy import SigningPolicy
from service_tui.storage.cached_state import read_preferences
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.wire.endpoints.desk import EVENTS


@asynccontextmanager
async def attached_parts(
    options: Options, initial: DeskState, clock: Clock, rng: random.Random
) -> AsyncGenerator[Desk]:
    """A desk on the owner's service, with its own blotter beside the owner's database.

    Without an owner it is offline; it finds the next owner, or becomes the owner.

    Yields:
        The desk.

    Raises:
        ApiKeysError: the directory has no keys yet.
    """
    api_keys = stored_desk_keys(options.data_dir)
    if api_keys is None or api_keys.agent is None:
        raise ApiKeysError(f"{options.data_dir} has no keys yet: its owner is still starting")
    transport = HolderTransport(options.data_dir)
    async with (
        open_beside(options.data_dir, clock) as data,
        succeeding(options, clock, signs=False) as succession,
        client_of_holder(transport, api_keys, clock, rng, read_only=options.read_only) as client,
    ):
        await take_over(options, data, clock)
        context = DeskContext(
            client,
            data.database,
            clock,
            new_id=lambda: f"{rng.getrandbits(128):032x}",
            rng=rng,
            listen=lambda after: client.listen(EVENTS, after=after),
            renew=renewing(options.data_dir, client, api_keys, HOLDER_URL),
            # Exits run in one place: at the owner.
            executes=False,
            halts=kept_halts(options.data_dir),
            blotters=partial(databases, options.data_dir, data.database.path),
            vault=vault_of(options),
            policy=SigningPolicy(exchange=ExchangeVersion(options.exchange)),
            notes=options.data_dir,
            holder_dir=options.data_dir,
        )
        own = read_preferences(data.database.path.with_name(DATABASE_FILE))
        state = replace(initial, preferences={**initial.preferences, **own})
        async with open_desk(state, context) as desk:
            succession.report_to(desk.ports.emit, desk.hold)
            transport.report_to(desk.ports.emit, own=lambda: succession.address)
            if unused := _unused(options):
                message = f"{unused} not used: another program owns and serves this directory"
                desk.ports.emit(Noticed("warn", message))
            yield desk


def _unused(options: Options) -> str:
    """The options that only an owner can follow."""
    options_set = {
        "--seed": options.seed is not None,
        "--history": options.history is not None,
        "--speed": options.speed is not None,
        "--plan": options.plan is not None,
        "--listen": bool(options.listen),
    }
    return ", ".join(name for name, is_set in options_set.items() if is_set)
