"""Handlers for reactor config, watchlist, policies, labels and the circuit breaker.

Policies and names stay on this machine; the rest is the service's, and what stands on the screen is
what the service then reports.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, get_args

from pydantic import ValidationError

from service_tui.addresses import checked_address
from service_tui.client.errors import OutcomeUnknownError, RefusedError, ServiceError
from service_tui.desk.answer_check import unmet
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
from service_tui.desk.ports import Ports
from service_tui.desk.reactor.poll import ReactorWatch, seen_of
from service_tui.desk.reactor.translate import config_view
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.reactor import (
    BreakerView,
    WalletChoice,
    WalletChosen,
)
from service_tui.desk.slices.topics import Topic
from service_tui.records import fields_of_record
from service_tui.storage.errors import StorageError
from service_tui.storage.reactor import StoredReactor
from service_tui.terms import PRICE_BUFFER_MAX, WALLETS_MAX, counted
from service_tui.units import AMOUNT_MAX, ONE, Micros, decimal
from service_tui.wire.endpoints.desk import DESK_RESET_REACTOR
from service_tui.wire.endpoints.public import PATCH_REACTOR
from service_tui.wire.reactor import ReactorConfigBody, ReactorConfigPatch
from service_tui.wire.text import line

LABEL_MAX: Final = 40
"""ours: letters of a name; a row has room for about half."""

Setting = (
    SetReactorConfig | FollowWallet | UnfollowWallet | SetWalletPolicy | LabelWallet | ResetBreaker
)


SETTINGS: Final[tuple[type[Setting], ...]] = get_args(Setting)
"""The commands that `change` carries out."""


async def change(
    command: Setting, stored: StoredReactor, watch: ReactorWatch, ports: Ports
) -> None:
    """Carry out a reactor command and report the result in a notice."""
    try:
        result = await _changed(command, stored, watch, ports)
    except ValueError as error:
        ports.emit(Noticed("warn", f"{command.describe()}: {_why(error)}"))
    except OutcomeUnknownError:
        ports.emit(Noticed("bad", f"{command.describe()}: sent, no response; reloading"))
        watch.config_at = None
    except RefusedError as error:
        ports.emit(Noticed("warn", f"{command.describe()}: {error.error}", fix=error.fix))
    except (ServiceError, StorageError) as error:
        ports.emit(Noticed("bad", f"{command.describe()}: {error}"))
    else:
        ports.emit(Noticed("good", result))
    ports.refresh(Topic.REACTOR)


async def _changed(
    command: Setting, stored: StoredReactor, watch: ReactorWatch, ports: Ports
) -> str:
    """Carry out the command; the sentence that describes the result."""
    match command:
        case SetReactorConfig():
            return await _configure(command, ports)
        case FollowWallet():
            return await _follow(command, stored, ports)
        case UnfollowWallet():
            return await _unfollow(command, ports)
        case SetWalletPolicy():
            choice = replace(_choice(ports, command.address), policy=command.policy)
        case LabelWallet():
            choice = replace(_choice(ports, command.address), label=_label(command.label))
        case ResetBreaker():
            return await _reset(watch, ports)
    await _choose(choice, stored, ports)
    return command.describe()


def _why(error: ValueError) -> str:
    """Text of an error without the input: a key may have been pasted."""
    if isinstance(error, ValidationError):
        fault = error.errors(include_input=False, include_url=False, include_context=False)[0]
        return f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
    return str(error)


# -- the service's part ------------------------------------------------------------------------


async def _configure(command: SetReactorConfig, ports: Ports) -> str:
    why = next(_objections(command), "")
    if why:
        raise ValueError(why)
    wallets = None if command.wallets is None else checked(command.wallets)
    pending_count = len(ports.state().reactor.waiting)
    await _patch(
        ports,
        ReactorConfigPatch(
            wallets=wallets,
            min_size=_units(command.min_size),
            max_size=_units(command.max_size),
            mirror_fraction=command.mirror_fraction,
            daily_cap=_units(command.daily_cap),
            venue=command.venue,
            enabled=command.enabled,
            price_buffer=command.price_buffer,
        ),
    )
    if command.enabled is False and pending_count:
        return f"{command.describe()}: {counted(pending_count, 'pending signal')} skipped"
    return command.describe()


def _units(value: Micros | None) -> float | None:
    return None if value is None else decimal(value)


def _objections(command: SetReactorConfig) -> Iterator[str]:
    """Limits are written so that a number that is none fails them."""
    sizes = {"min size": command.min_size, "max size": command.max_size}
    for name, value in {**sizes, "day's cap": command.daily_cap}.items():
        if value is not None and not 0 <= int(value) <= AMOUNT_MAX * ONE:
            yield f"the {name} is 0 to one billion"
    fraction, buffer = command.mirror_fraction, command.price_buffer
    if fraction is not None and not 0 <= fraction <= 1:
        yield "the mirror fraction is 0 to 1 (100 %)"
    if buffer is not None and not 0 <= buffer <= PRICE_BUFFER_MAX:
        yield f"the price buffer is 0 to {PRICE_BUFFER_MAX} ({100 * PRICE_BUFFER_MAX:.0f} %)"


def checked(wallets: tuple[str, ...]) -> tuple[str, ...]:
    """A watchlist as it was typed, each address checked and with its checksum.

    Returns:
        The addresses in their command.

    Raises:
        ValueError: one is no address, stands there twice, or there are too many.
    """
    if len(wallets) > WALLETS_MAX:
        raise ValueError(f"at most {WALLETS_MAX} wallets can be followed")
    found = tuple(checked_address(one.strip()) for one in wallets)
    if len(set(found)) != len(found):
        raise ValueError("the list names a wallet twice")
    return found


async def _follow(command: FollowWallet, stored: StoredReactor, ports: Ports) -> str:
    address, followed = checked_address(command.address.strip()), _followed(ports)
    if address in followed:
        raise ValueError("wallet already followed")
    label = _label(command.label)
    await _patch(ports, ReactorConfigPatch(wallets=checked((*followed, address))))
    if label:
        await _choose(replace(_choice(ports, address), label=label), stored, ports)
    return command.describe()


async def _unfollow(command: UnfollowWallet, ports: Ports) -> str:
    address, followed = checked_address(command.address.strip()), _followed(ports)
    if address not in followed:
        raise ValueError("wallet not followed")
    left = tuple(one for one in followed if one != address)
    await _patch(ports, ReactorConfigPatch(wallets=left))
    return command.describe()


def _followed(ports: Ports) -> tuple[str, ...]:
    """The watchlist.

    Returns:
        Its addresses.

    Raises:
        ValueError: it was not read yet, so that a change would drop what is on it.
    """
    reactor = ports.state().reactor
    if reactor.config is None:
        raise ValueError(reactor.barred or "watchlist not loaded yet: retry in a moment")
    return reactor.config.wallets


async def _patch(ports: Ports, changes: ReactorConfigPatch) -> None:
    if ports.state().service.read_only:
        raise ValueError(READ_ONLY)
    reply = await ports.client.call(PATCH_REACTOR, body=changes)
    _emit_config(ports, reply.answer)
    if names := unmet(changes, reply.answer):
        fields = ", ".join(sorted(names)).replace("_", " ")
        raise ValueError(f"the service has another value: {fields}")


def _emit_config(ports: Ports, body: ReactorConfigBody) -> None:
    # A service may answer with nothing of it: a missing field is read.
    if "wallets" in body.model_fields_set:
        ports.emit(seen_of(body, config_view(body), ports.client.skew_s or 0.0))


async def _reset(watch: ReactorWatch, ports: Ports) -> str:
    state = ports.state()
    if state.service.read_only:
        raise ValueError(READ_ONLY)
    if state.service.embedded:
        account = state.account
        if account is None:
            raise ValueError("agent not loaded yet: retry in a moment")
        path = {"agent_id": account.agent_id}
        reply = await ports.client.call(DESK_RESET_REACTOR, path=path)
        _emit_config(ports, reply.answer)
        return "circuit breaker closed"
    # ours: the spec has no call for it. A breaker of our own counting can be reset here.
    watch.breaker_reset_at = ports.now()
    ports.emit(Changed(BreakerView()))
    return "failure count reset here; reset the service's breaker on its dashboard"


# -- this machine's part -----------------------------------------------------------------------


def _choice(ports: Ports, address: str) -> WalletChoice:
    """The operator's stored choice for a wallet.

    Returns:
        The choice, under the checksummed address.

    Raises:
        ValueError: it is no address.
    """
    wallet = checked_address(address.strip())
    return ports.state().reactor.choices.get(wallet) or WalletChoice(wallet)


def _label(text: str) -> str:
    """A name as it was typed, harmless.

    Returns:
        One line.

    Raises:
        ValueError: it is too long.
    """
    label = line(text).strip()
    if len(label) > LABEL_MAX:
        raise ValueError(f"a name has at most {LABEL_MAX} letters")
    return label


async def _choose(choice: WalletChoice, stored: StoredReactor, ports: Ports) -> None:
    await stored.choose(fields_of_record(choice))
    ports.emit(WalletChosen(choice))
