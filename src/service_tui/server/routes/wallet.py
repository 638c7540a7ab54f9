"""Routes of the calling agent's wallets: state, linking, credentials, approvals."""

from typing import Final, NamedTuple

from service_tui.addresses import checksummed, is_address
from service_tui.engine.agents.agents import Agent
from service_tui.engine.chain.chain import GAS_GRANT, PAY_GRANT
from service_tui.engine.chain_events import CredentialsKept, WalletLinked
from service_tui.engine.linking import WalletChange
from service_tui.engine.linking import link as relinked
from service_tui.loading import imported
from service_tui.server.chain_node.contract_calls import approvals_of
from service_tui.server.claim.link_challenges import (
    DAY_S,
    HOUR_S,
    IssuedChallenge,
)
from service_tui.server.http.rates import MINUTE_S
from service_tui.server.http.refusals import denied, invalid_items, scarce
from service_tui.server.http.service import EMBEDDED_HOST, ETHEREUM, RequestContext, Routes
from service_tui.server.projections.present import OWNERSHIP, wallet_address
from service_tui.server.projections.wallet import has_credentials, versions_of, wallet_body
from service_tui.signing.approvals import APPROVAL_GAS, Approval, approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.calls import encode_call
from service_tui.signing.credentials import Credentials, credentials_signer
from service_tui.signing.errors import MalformedError
from service_tui.signing.link import message_signer
from service_tui.terms import WalletKind
from service_tui.wire.base import moment
from service_tui.wire.chain import CHAIN_ID, UnsignedTxBody
from service_tui.wire.endpoints.wallet import (
    ALLOWANCES,
    CHECK_CREDENTIALS,
    DERIVE_CREDENTIALS,
    LINK_CHALLENGE,
    LINK_WALLET,
    POST_CREDENTIALS,
    UNLINK_WALLET,
    WALLET,
)
from service_tui.wire.wallet import (
    AllowancesBody,
    AllowancesQuery,
    ChallengeBody,
    ChallengeQuery,
    CredentialsBody,
    CredentialsCheckBody,
    DeriveRequest,
    LinkBody,
    LinkRequest,
    WalletBody,
)


class Scarce(NamedTuple):
    """What an agent may ask for so often in a span of time, whatever its plan."""

    name: str
    limit: int
    span: str
    span_s: float
    path: str


# Source: wire reference, 2.5.
CHALLENGES: Final = Scarce("challenge", 5, "an hour", HOUR_S, LINK_CHALLENGE.path)
LINKS: Final = Scarce("link", 3, "a day", DAY_S, LINK_WALLET.path)
UNLINKS: Final = Scarce("unlink", 10, "an hour", HOUR_S, UNLINK_WALLET.path)
DERIVATIONS: Final = Scarce("derive", 3, "a minute", MINUTE_S, DERIVE_CREDENTIALS.path)

STALE_S: Final = 600.0
"""How old signed headers may be. # ours: the venue refuses older ones too."""

MANAGED_NEEDS_NONE: Final = "a managed wallet needs none; for an own one link it first"

MANAGED_FIX: Final = "send confirm_replace_managed true: the service stops trading by its own key"


async def read(request: RequestContext) -> WalletBody:
    """The wallet, what is in it, and what is missing before the first real trade."""
    return wallet_body(request.world, request.agent, request.service.exchange)


async def challenge(request: RequestContext) -> ChallengeBody:
    """Make a text to sign.

    Returns:
        The text, good once and for five minutes.

    Raises:
        Denied: 429 above five an hour.
    """
    address = checksummed(request.query_as(ChallengeQuery).address)
    _scarce(request, CHALLENGES)
    service = request.service
    made = service.challenges.make(
        request.agent.agent_id,
        address,
        service.new_id(),
        host=request.host or EMBEDDED_HOST,
        now=request.now,
    )
    return ChallengeBody(
        nonce=made.nonce,
        message=made.message,
        expires_at=moment(made.expires_at),
        address=made.address,
    )


def _scarce(request: RequestContext, what: Scarce) -> None:
    """Count one of something that is scarce; refuse above the limit."""
    service = request.service
    if not service.limits:
        return
    who = f"{what.name}:{request.agent.agent_id}"
    wait_s = service.challenges.count(who, what.limit, what.span_s, now=service.clock.monotonic())
    if wait_s:
        raise scarce(what.limit, what.span, wait_s, f"{service.address}{what.path}")


async def link(request: RequestContext) -> LinkBody:
    """Link the wallet that has signed the challenge, in the place of the one before."""
    await imported(ETHEREUM)
    sent = request.body_as(LinkRequest)
    address, world = checksummed(sent.address), request.world
    agent = request.agent
    request.service.world_store.check_whole()
    refused = _link_fault(request, sent, address)
    if refused is not None:
        return refused
    event = WalletLinked(agent.agent_id, request.now, address)
    if world.chain.wallet(address) is None:
        event = event._replace(gas=GAS_GRANT, pay=PAY_GRANT)
    changed = relinked(world, event)
    changed.events.extend(world.change(agent, {"wallet": WalletKind.EXTERNAL}, request.now))
    await request.service.world_store.commit(changed.events)
    message = "the wallet is linked: orders and redemptions are signed by its key"
    return _linked(request, message, changed)


def _link_fault(request: RequestContext, sent: LinkRequest, address: str) -> LinkBody | None:
    """Why a wallet cannot be linked; None where it can."""
    agent, chain = request.agent, request.world.chain
    made = request.service.challenges.use(sent.nonce, agent.agent_id, now=request.now)
    if made is None or made.address != address:
        return _not_linked("CHALLENGE_UNKNOWN", "no such challenge waits", "ask for a new one")
    own, known = chain.wallet_of(agent.agent_id), chain.wallet(address)
    owner = agent.agent_id if known is None else known.agent_id
    is_taken = owner != agent.agent_id and chain.linked.get(owner) == address.lower()
    for is_wrong, code, message, fix in (
        # ours: a proxy's or a Safe's signature is checked by its contract, of which there is none.
        (
            sent.signature_type != 0,
            "SIGNATURE_TYPE",
            "this service links wallets with an own key only",
            "send signature_type 0",
        ),
        (
            _signer(made, sent.signature) != address,
            "WRONG_SIGNER",
            "the signature is not that of the address",
            "sign the message as it stands, with its key",
        ),
        (
            own is None and not sent.confirm_replace_managed,
            "CONFIRM_REPLACE",
            "the agent has a managed wallet",
            MANAGED_FIX,
        ),
        (
            is_taken,
            "WALLET_TAKEN",
            "another agent has this wallet",
            "unlink it there first, or link another one",
        ),
        (own is not None and bool(chain.pending(own.address)), *BUSY),
    ):
        if is_wrong:
            return _not_linked(code, message, fix)
    _scarce(request, LINKS)
    return None


BUSY: Final = (
    "WALLET_BUSY",
    "a transaction of the linked wallet is on its way",
    "wait until it is on the chain",
)


def _signer(made: IssuedChallenge, signature: str) -> str | None:
    try:
        return message_signer(made.message, bytes.fromhex(signature.removeprefix("0x")))
    except MalformedError:
        return None


def _not_linked(code: str, error: str, fix: str) -> LinkBody:
    return LinkBody(success=False, error=error, error_code=code, fix=fix)


def _linked(request: RequestContext, message: str, changed: WalletChange) -> LinkBody:
    """The answer to a change, with what ended with the wallet that went."""
    if ended := _ended(changed):
        message = f"{message}; {ended}"
    return LinkBody(
        success=True,
        wallet_address=wallet_address(request.world, request.agent),
        wallet_ownership=OWNERSHIP[request.agent.settings.wallet],
        message=message,
    )


def _ended(changed: WalletChange) -> str:
    """How many orders and monitors ended; empty for none."""
    parts = [
        f"{count} {word}{'s'[: count != 1]} {'was' if count == 1 else 'were'} {done}"
        for count, word, done in (
            (changed.orders, "open order", "cancelled"),
            (changed.monitors, "monitor", "removed"),
        )
        if count
    ]
    return f"{' and '.join(parts)} with the wallet before" if parts else ""


async def unlink(request: RequestContext) -> LinkBody:
    """Go back to the managed wallet, and to the money and positions that it has.

    Returns:
        The managed wallet, or why it is not back.

    Raises:
        Denied: 429 above ten an hour.
    """
    _scarce(request, UNLINKS)
    world, agent = request.world, request.agent
    request.service.world_store.check_whole()
    own = world.chain.wallet_of(agent.agent_id)
    if own is not None and world.chain.pending(own.address):
        return _not_linked(*BUSY)
    changed = unlinked(request, agent)
    await request.service.world_store.commit(changed.events)
    return _linked(request, "the wallet is managed by the service", changed)


def unlinked(request: RequestContext, agent: Agent) -> WalletChange:
    """What brings an agent back to its managed wallet; nothing where it has it."""
    world = request.world
    changed = WalletChange([])
    if world.chain.wallet_of(agent.agent_id) is not None:
        changed = relinked(world, WalletLinked(agent.agent_id, request.now, ""))
    if agent.settings.wallet is not WalletKind.MANAGED:
        settings = {"wallet": WalletKind.MANAGED}
        changed.events.extend(world.change(agent, {**settings}, request.now))
    return changed


# -- credentials ---------------------------------------------------------------------------


async def check_credentials(request: RequestContext) -> CredentialsCheckBody:
    """Whether the service can place orders at the venue."""
    return CredentialsCheckBody(
        has_credentials=has_credentials(request.world, request.agent),
        wallet_address=wallet_address(request.world, request.agent),
    )


async def post_credentials(request: RequestContext) -> CredentialsBody:
    """Take credentials that the client derived; the simulated venue knows no others."""
    return await _keep(request, "client")


async def derive_credentials(request: RequestContext) -> CredentialsBody:
    """Derive credentials from headers that the linked wallet has signed.

    Returns:
        That there are credentials now.

    Raises:
        Denied: 403 for another address than the account's, 400 for a wrong or old signature and for
            a managed wallet, 429 above three a minute.
    """
    _scarce(request, DERIVATIONS)
    await imported(ETHEREUM)
    sent = request.body_as(DeriveRequest)
    wallet = request.world.chain.wallet_of(request.agent.agent_id)
    own = wallet_address(request.world, request.agent) or ""
    if wallet is None and sent.poly_address.lower() == own.lower():
        raise denied(400, "the service holds the key of this wallet", MANAGED_NEEDS_NONE)
    if wallet is None or wallet.address.lower() != sent.poly_address.lower():
        raise denied(
            403,
            "poly_address is not the wallet_address of this account",
            "link the wallet first, then sign with its key",
        )
    fields = Credentials(
        sent.poly_address,
        sent.poly_signature,
        sent.poly_timestamp,
        sent.poly_nonce,
    )
    try:
        signer = credentials_signer(fields)
    except MalformedError:
        signer = ""
    if signer != wallet.address:
        raise denied(400, "the signature is not that of poly_address", "sign the headers again")
    if abs(int(sent.poly_timestamp) - request.now) > STALE_S:
        raise denied(400, "the signed time is too far from now", "set the clock, and sign again")
    return await _keep(request, "headers")


async def _keep(request: RequestContext, how: str) -> CredentialsBody:
    world, agent = request.world, request.agent
    request.service.world_store.check_whole()
    wallet = world.chain.wallet_of(agent.agent_id)
    if wallet is None:
        raise denied(400, "no wallet is linked", MANAGED_NEEDS_NONE)
    kept = CredentialsKept(agent.agent_id, request.now, wallet.address, how)
    await request.service.world_store.commit(world.note(kept))
    return CredentialsBody(
        has_credentials=True, wallet_address=wallet.address, message="the credentials are kept"
    )


# -- approvals -----------------------------------------------------------------------------


async def allowances(request: RequestContext) -> AllowancesBody:
    """Which approvals an address has given.

    Returns:
        One entry an approval; with `include_tx_params` the transactions as well.

    Raises:
        Denied: 422 for no address.
    """
    text, query = request.path["address"], request.query_as(AllowancesQuery)
    exchange = ExchangeVersion(query.exchange_version or request.service.exchange)
    if not is_address(text):
        message = "an address is 0x and 40 hex digits"
        raise invalid_items([(("path", "address"), message, "string_pattern_mismatch")])
    address = checksummed(text)
    given = approvals_of(request.world, address)
    required = approvals(POLYGON, exchange)
    if query.include_tx_params:
        await imported(ETHEREUM)
        transactions = tuple(_approval_tx(one, address, given) for one in required)
    else:
        transactions = ()
    by_version = versions_of(given)
    return AllowancesBody(
        all_set=any(one.approvals_set for one in by_version.values()),
        # ours: those of the other generation as well, as they are given; what is not there is not.
        allowances={one.key: one.key in given for one in required}
        | {
            one.key: True
            for each in ExchangeVersion
            for one in approvals(POLYGON, each)
            if one.key in given
        },
        by_version=by_version,
        address=address,
        exchange_version=exchange.value,
        transactions=transactions,
    )


def _approval_tx(approval: Approval, address: str, given: set[str]) -> UnsignedTxBody:
    """The transaction by which a wallet gives an approval."""
    return UnsignedTxBody(
        to=approval.to,
        data="0x" + encode_call(approval.call).hex(),
        sender=address,
        gas=APPROVAL_GAS,
        chain_id=CHAIN_ID,
        about=approval.about,
        key=approval.key,
        done=approval.key in given,
    )


ROUTES: Final[Routes] = {
    WALLET: read,
    LINK_CHALLENGE: challenge,
    LINK_WALLET: link,
    UNLINK_WALLET: unlink,
    CHECK_CREDENTIALS: check_credentials,
    POST_CREDENTIALS: post_credentials,
    DERIVE_CREDENTIALS: derive_credentials,
    ALLOWANCES: allowances,
}
