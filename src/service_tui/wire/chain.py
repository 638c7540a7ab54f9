"""Bodies of transactions and node calls. Source: wire reference, 2.5 and 6; spec, "Redemption"."""

from typing import Annotated, Final

from pydantic import Field, JsonValue, StringConstraints, WithJsonSchema, model_serializer

from service_tui.wire.base import Count, Line, OperatorModel, WireModel

CHAIN_ID: Final = 137
"""The one chain on which we redeem and trade. Source: spec, "Venues"."""

Address = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-fA-F]{40}$")]
"""An account or a contract of the chain; in any case of its letters."""

Hash = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-fA-F]{64}$")]
"""Of a transaction, or any other 32 bytes."""

RAW_MIN: Final = 10
RAW_MAX: Final = 20_000
"""Letters of a signed transaction that are looked at. # ours: redemptions have about 700."""

HEX_MAX: Final = 100
"""Letters of an address or a figure of an unsigned transaction."""

METHOD_MAX: Final = 64
PARAMS_MAX: Final = 8
RPC_ID_MAX: Final = 2**53
"""Of one JSON-RPC call."""

BLOCK_MIN_S: Final = 0.1
BLOCK_MAX_S: Final = 600
GWEI_MIN: Final = 0.001
GWEI_MAX: Final = 10_000
DELAY_MAX: Final = 1_000
FAULTS_MAX: Final = 64
"""What a rehearsal on the simulated chain may ask for."""

SignedTx = Annotated[str, StringConstraints(min_length=RAW_MIN, max_length=RAW_MAX)]
"""0x and the bytes of a signed transaction in hex. Source: wire reference, 2.5."""


AnyJson = Annotated[JsonValue, WithJsonSchema({"description": "any JSON value"})]
"""What a node's methods take and answer: each its own."""


class UnsignedTxBody(WireModel):
    """A transaction that a wallet is asked to sign. `to` and `data` are the spec's.

    Texts are bounded, and otherwise as they were said: whoever signs decodes and checks them.
    """

    to: Annotated[str, StringConstraints(max_length=HEX_MAX)] | None = None
    data: Annotated[str, StringConstraints(max_length=RAW_MAX)] = ""
    sender: Annotated[str, StringConstraints(max_length=HEX_MAX)] | None = Field(
        default=None, validation_alias="from", serialization_alias="from"
    )
    # A number, or hex text as a node writes it.
    gas: int | Annotated[str, StringConstraints(max_length=HEX_MAX)] | None = None
    chain_id: int | Annotated[str, StringConstraints(max_length=HEX_MAX)] | None = Field(
        default=None, validation_alias="chainId", serialization_alias="chainId"
    )
    value: int | Annotated[str, StringConstraints(max_length=HEX_MAX)] | None = None
    # ours: for a list of approvals: what the transaction is for, and whether it is done already.
    about: Line = ""
    key: Line = ""
    done: bool = False


class BroadcastRequest(WireModel):
    """Payload of `POST /api/sdk/wallet/broadcast-tx`."""

    signed_tx: SignedTx


class BroadcastBody(WireModel):
    """What the relay did. A refusal is `success: false`, `error` and what to do in `fix`."""

    success: bool
    tx_hash: Line | None = None
    # `pending`, or with a hash that is known already the state it is in.
    status: Line | None = None
    error: Line | None = None
    error_code: Line | None = None
    retryable: bool = False
    fix: Line = ""
    # ours: the transaction goes to the simulated chain.
    simulated: bool = False


class RpcRequest(WireModel):
    """One JSON-RPC call. Source: wire reference, 2.5."""

    # ours: without it 2.0 is meant.
    jsonrpc: Annotated[str, StringConstraints(pattern=r"^2\.0$")] = "2.0"
    method: Annotated[str, StringConstraints(min_length=1, max_length=METHOD_MAX)]
    params: Annotated[tuple[AnyJson, ...], Field(max_length=PARAMS_MAX, strict=False)] = ()
    id: Annotated[int, Field(ge=-RPC_ID_MAX, le=RPC_ID_MAX)] | Line | None = None


class RpcErrorBody(WireModel):
    """Why the node did not answer."""

    code: int
    message: Line


class RpcBody(WireModel):
    """The node's answer: `result`, or in its place `error`."""

    jsonrpc: Line = "2.0"
    id: int | Line | None = None
    result: AnyJson = None
    error: RpcErrorBody | None = None

    @model_serializer(mode="plain")
    def _one_of_two(self) -> dict[str, AnyJson]:
        """The one that there is: a null as `result` is an answer as well."""
        answer: dict[str, AnyJson] = {"jsonrpc": self.jsonrpc, "id": self.id}
        if self.error is not None:
            answer["error"] = {"code": self.error.code, "message": self.error.message}
        else:
            answer["result"] = self.result
        return answer


class ChainBody(WireModel):
    """ours: the simulated chain as the operator sees it."""

    chain_id: Count = CHAIN_ID
    block: Count
    block_s: float
    gas_price_gwei: float
    # Blocks that the next transactions wait, and what happens to them.
    delay_blocks: Count = 0
    faults: tuple[Line, ...] = ()
    pending: Count = 0


class ChainPatch(OperatorModel):
    """ours: delays and failures on demand, for a rehearsal; null leaves a figure as it is.

    `faults` are taken one a transaction: `revert` fails it on the chain, `drop` loses it,
    `withhold` keeps its receipt back until the list is set anew.
    """

    block_s: Annotated[float, Field(ge=BLOCK_MIN_S, le=BLOCK_MAX_S)] | None = None
    gas_price_gwei: Annotated[float, Field(ge=GWEI_MIN, le=GWEI_MAX)] | None = None
    delay_blocks: Annotated[int, Field(ge=0, le=DELAY_MAX)] | None = None
    faults: (
        Annotated[
            tuple[Annotated[str, StringConstraints(pattern=r"^(ok|revert|drop|withhold)$")], ...],
            Field(max_length=FAULTS_MAX, strict=False),
        ]
        | None
    ) = None
