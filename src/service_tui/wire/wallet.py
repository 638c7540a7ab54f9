"""Wallets and credentials on the wire. Source: wire reference, 2.5, 6.3 to 6.5."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from service_tui.wire.base import (
    MICRO,
    Amount,
    LenientModel,
    Line,
    Moment,
    OperatorModel,
    Prose,
    SentLine,
    WireModel,
)
from service_tui.wire.chain import Address, UnsignedTxBody

CREDENTIAL_MAX: Final = 256
CHALLENGE_MAX: Final = 2_000
OWNER_TYPE_MAX: Final = 2
PLAY_GAS_MAX: Final = 1_000
PLAY_PAY_MAX: Final = 1_000
PLAY_USDC_MAX: Final = 1_000_000
Secret = Annotated[str, StringConstraints(min_length=1, max_length=CREDENTIAL_MAX)]


class ChallengeQuery(WireModel):
    """Whose wallet is to be linked."""

    address: Address


class ChallengeBody(WireModel):
    """A text to sign as a personal message: good once, for five minutes."""

    nonce: Line
    # As it is to be signed, letter by letter: it is no place for a sanitiser.
    message: Annotated[str, StringConstraints(max_length=CHALLENGE_MAX)]
    expires_at: Moment
    address: Line


class LinkRequest(WireModel):
    """The signed challenge. The signature may come without its 0x."""

    address: Address
    signature: Annotated[str, StringConstraints(pattern=r"^(0x)?[0-9a-fA-F]{130}$")]
    nonce: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_\-]{1,128}$")]
    # 0 an own key, 1 a proxy, 2 a Safe.
    signature_type: Annotated[int, Field(ge=0, le=OWNER_TYPE_MAX)] = 0
    confirm_replace_managed: bool = False
    confirm_orphan_deposit_wallet: bool = False
    source: SentLine | None = None


class LinkBody(LenientModel):
    """Whether the wallet is linked; a refusal says in `error` and `fix` why and what to do."""

    success: bool
    wallet_address: Line | None = None
    wallet_ownership: Line | None = None
    message: Prose = ""
    error: Line | None = None
    error_code: Line | None = None
    fix: Prose = ""


class CredentialsCheckBody(LenientModel):
    """Whether the service can place orders at the venue for the linked wallet."""

    has_credentials: bool = False
    # ours: for which address.
    wallet_address: Line | None = None


class CredentialsRequest(WireModel):
    """Credentials of the venue that the client derived itself."""

    api_key: Secret = Field(repr=False)
    api_secret: Secret = Field(repr=False)
    api_passphrase: Secret = Field(repr=False)


class DeriveRequest(WireModel):
    """The four fields of the spec, all required: "Derive-credentials request body"."""

    poly_address: Address
    poly_signature: Annotated[str, StringConstraints(pattern=r"^0x[0-9a-fA-F]{130}$")] = Field(
        repr=False
    )
    poly_timestamp: Annotated[str, StringConstraints(pattern=r"^[0-9]{10}$")]
    poly_nonce: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,20}$")]


class CredentialsBody(LenientModel):
    """ours: what was kept. No secret is ever answered."""

    success: bool = True
    has_credentials: bool = False
    wallet_address: Line | None = None
    message: Line = ""


class AllowancesQuery(WireModel):
    """Whether to ask the chain anew, and whether to name the transactions."""

    no_cache: bool = False
    include_tx_params: bool = False
    # ours: the transactions of which generation of the exchange; without it the service's first.
    exchange_version: Literal["v1", "v2"] | None = None


class ExchangeApprovalBody(LenientModel):
    """ours: whether a generation of the exchange is approved, and which approvals it lacks."""

    approvals_set: bool = False
    missing: tuple[Line, ...] = ()


class AllowancesBody(LenientModel):
    """Which approvals an address has given. The keys are those of the wire reference, 6.5.

    Those of one generation of the exchange, and what was given for the other; `all_set` where
    either is approved whole.
    """

    all_set: bool = False
    allowances: dict[str, bool] = Field(default_factory=dict)
    # ours: everything below. With `include_tx_params` the approvals as transactions.
    address: Line | None = None
    exchange_version: Line = "v1"
    transactions: tuple[UnsignedTxBody, ...] = ()
    by_version: dict[str, ExchangeApprovalBody] = Field(
        default_factory=dict[str, ExchangeApprovalBody]
    )


class RequirementBody(LenientModel):
    """One thing that real trades need."""

    name: Literal[
        "claimed",
        "linked",
        "credentials",
        "gas",
        "collateral",
        "approvals",
        "enabled",
        "unrestricted",
    ]
    done: bool
    # One line of what it is, and one of what to do while it is missing.
    about: Line = ""
    fix: Prose = ""


class WalletBody(LenientModel):
    """ours: the wallet, what is in it, and what is missing before the first real trade."""

    wallet_address: Line | None = None
    wallet_ownership: Line = "native"
    # USDC.e that the venue takes; native USDC, which it does not; gas in POL; what pays for calls.
    usdc: Amount = 0.0
    # What version 2 of the exchange takes. It is the same play money, seen through another token.
    pusd: Amount = 0.0
    native_usdc: Amount = 0.0
    gas: Amount = 0.0
    # What one redemption costs about, in POL, and whether there is enough of it for one.
    gas_needed: Amount = 0.0
    gas_enough: bool = True
    # USD of one POL, for the price of gas in money.
    pol_usd: Amount = 0.0
    pay_usdc: Amount = 0.0
    approvals_set: bool = False
    approvals_missing: tuple[Line, ...] = ()
    # Of each generation of the exchange. Orders of both are taken; one is enough.
    by_version: dict[str, ExchangeApprovalBody] = Field(
        default_factory=dict[str, ExchangeApprovalBody]
    )
    has_credentials: bool = False
    restricted: bool = False
    exchange_version: Line = "v1"
    # Whether real trades are possible now, and what that takes, in the order to do it.
    ready: bool = False
    checks: tuple[RequirementBody, ...] = ()
    auto_redeem_paused: Line | None = None
    linked_at: Moment | None = None
    simulated: bool = False


class DeskWalletPatch(OperatorModel):
    """ours: the operator's hand in the simulated wallet; null leaves a figure as it is."""

    # POL, and play USDC of the chain on which calls are paid.
    gas: Annotated[float, Field(ge=0, le=PLAY_GAS_MAX)] | None = None
    pay_usdc: (
        Annotated[float, Field(ge=0, le=PLAY_PAY_MAX, json_schema_extra={"multipleOf": MICRO})]
        | None
    ) = None
    native_usdc: (
        Annotated[float, Field(ge=0, le=PLAY_USDC_MAX, json_schema_extra={"multipleOf": MICRO})]
        | None
    ) = None
    restricted: bool | None = None
