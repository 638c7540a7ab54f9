"""Stand-ins for the published contracts, for machines where npm cannot be had.

Written by hand as expressions of the EVM's own instructions, and put together here. They keep the
rules that a redemption meets (who holds what, what is paid, what is burned without a word) and
leave out the rest: one outcome in one collection, no events, no receivers. Where npm is there, the
published contracts are used, and these are compared with them.
"""

from collections.abc import Sequence
from typing import Any

from kit.oracles.calls import selector

OPS = {
    "add": 0x01,
    "mul": 0x02,
    "sub": 0x03,
    "div": 0x04,
    "lt": 0x10,
    "eq": 0x14,
    "iszero": 0x15,
    "shl": 0x1B,
    "shr": 0x1C,
    "keccak": 0x20,
    "this": 0x30,
    "caller": 0x33,
    "input": 0x35,
    "mload": 0x51,
    "mstore": 0x52,
    "sload": 0x54,
    "sstore": 0x55,
    "gas": 0x5A,
    "call": 0xF1,
    "return": 0xF3,
    "revert": 0xFD,
    "stop": 0x00,
}
JUMP_IF, LANDING, PUSH_1, PUSH_2 = 0x57, 0x5B, 0x60, 0x61

Expression = Any
"""A number, or an instruction and what it takes, first argument first."""


class _Code:
    """Bytes, and the places that jumps still wait for."""

    def __init__(self) -> None:
        self.done = bytearray()

    def put(self, expression: Expression) -> None:
        if isinstance(expression, int):
            size = max(1, (expression.bit_length() + 7) // 8)
            self.done += bytes([PUSH_1 + size - 1]) + expression.to_bytes(size, "big")
        elif expression[0] == "if":
            self._branch(expression[1], expression[2:])
        elif expression[0] == "hash":
            self._hash(*expression[1:])
        else:
            for argument in reversed(expression[1:]):
                self.put(argument)
            self.done.append(OPS[expression[0]])

    def _branch(self, condition: Expression, body: Sequence[Expression]) -> None:
        self.put(("iszero", condition))
        self.done += bytes([PUSH_2, 0, 0, JUMP_IF])
        place = len(self.done) - 3
        for step in body:
            self.put(step)
        self.done[place : place + 2] = len(self.done).to_bytes(2, "big")
        self.done.append(LANDING)

    def _hash(self, first: Expression, second: Expression) -> None:
        """The hash of two words. Both stand on the stack before memory is touched."""
        self.put(second)
        self.put(first)
        self.done += bytes.fromhex("5f52602052") + bytes.fromhex("60405f20")


def contract(functions: dict[str, Sequence[Expression]]) -> bytes:
    """The runtime code of a contract; a call of no function of it is reverted."""
    code = _Code()
    for signature, body in functions.items():
        number = int.from_bytes(selector(signature), "big")
        code.put(("if", ("eq", ("shr", 224, ("input", 0)), number), *body, ("stop",)))
    code.put(("revert", 0, 0))
    return bytes(code.done)


def given(index: int) -> Expression:
    """An argument of the call."""
    return ("input", 4 + 32 * index)


def kept(place: Expression, change: Expression) -> Expression:
    return ("sstore", place, change)


def answer(value: Expression) -> tuple[Expression, ...]:
    return (("mstore", 0, value), ("return", 0, 32))


def unless(condition: Expression) -> Expression:
    """Revert where it does not hold."""
    return ("if", ("iszero", condition), ("revert", 0, 0))


def grown(place: Expression, by: Expression) -> Expression:
    return ("sstore", place, ("add", ("sload", place), by))


def shrunk(place: Expression, by: Expression) -> tuple[Expression, ...]:
    return (
        unless(("iszero", ("lt", ("sload", place), by))),
        ("sstore", place, ("sub", ("sload", place), by)),
    )


def purse(owner: Expression) -> Expression:
    return ("hash", owner, 0)


MONEY = contract({
    "mint(address,uint256)": [grown(purse(given(0)), given(1)), *answer(1)],
    "balanceOf(address)": answer(("sload", purse(given(0)))),
    "approve(address,uint256)": [
        kept(("hash", ("caller",), given(0)), given(1)),
        *answer(1),
    ],
    "allowance(address,address)": answer(("sload", ("hash", given(0), given(1)))),
    "transfer(address,uint256)": [
        *shrunk(purse(("caller",)), given(1)),
        grown(purse(given(0)), given(1)),
        *answer(1),
    ],
    "transferFrom(address,address,uint256)": [
        *shrunk(("hash", given(0), ("caller",)), given(2)),
        *shrunk(purse(given(0)), given(2)),
        grown(purse(given(1)), given(2)),
        *answer(1),
    ],
})

CONDITION, DENOMINATOR, PAYOUT, INPUT = 0x400, 0x420, 0x440, 0x800


def condition_of(oracle: Expression, question: Expression) -> tuple[Expression, ...]:
    """Put the id of a condition of two outcomes into its place: the hash of 84 packed bytes."""
    return (
        ("mstore", 0, ("shl", 96, oracle)),
        ("mstore", 20, question),
        ("mstore", 52, 2),
        ("mstore", CONDITION, ("keccak", 0, 84)),
    )


def numerator(condition: Expression, index: Expression) -> Expression:
    return ("hash", condition, ("add", 10, index))


def denominator(condition: Expression) -> Expression:
    return ("hash", condition, 9)


def holding(owner: Expression, index_set: Expression, place: int) -> tuple[Expression, ...]:
    """Put where an owner's token of a call's condition is counted into a place of memory."""
    return (
        ("mstore", place + 32, ("hash", given(2), index_set)),
        ("mstore", 0, ("shl", 96, given(0))),
        ("mstore", 20, ("mload", place + 32)),
        ("mstore", place, ("hash", owner, ("keccak", 0, 52))),
    )


def called(signature: str, arguments: Sequence[Expression]) -> tuple[Expression, ...]:
    """Call the collateral, and revert where it does."""
    number = int.from_bytes(selector(signature), "big")
    put = [("mstore", INPUT, ("shl", 224, number))]
    put += [("mstore", INPUT + 4 + 32 * at, value) for at, value in enumerate(arguments)]
    size = 4 + 32 * len(arguments)
    sent = ("call", ("gas",), given(0), 0, INPUT, size, INPUT, 32)
    return (*put, unless(sent))


def redeemed(entry: int) -> Expression:
    """Pay and burn one entry of the list of outcomes, where there is one."""
    index_set = ("input", 4 + 32 * (5 + entry))
    place = 0x480
    worth = (
        "mul",
        ("sload", ("mload", place)),
        ("sload", numerator(given(2), ("sub", index_set, 1))),
    )
    return (
        "if",
        ("lt", entry, given(4)),
        *holding(("caller",), index_set, place),
        ("mstore", PAYOUT, ("add", ("mload", PAYOUT), ("div", worth, ("mload", DENOMINATOR)))),
        ("sstore", ("mload", place), 0),
    )


TOKENS = contract({
    "prepareCondition(address,bytes32,uint256)": [unless(("eq", given(2), 2))],
    "reportPayouts(bytes32,uint256[])": [
        *condition_of(("caller",), given(0)),
        unless(("eq", given(2), 2)),
        unless(("iszero", ("sload", denominator(("mload", CONDITION))))),
        kept(numerator(("mload", CONDITION), 0), given(3)),
        kept(numerator(("mload", CONDITION), 1), given(4)),
        kept(denominator(("mload", CONDITION)), ("add", given(3), given(4))),
    ],
    "payoutDenominator(bytes32)": answer(("sload", denominator(given(0)))),
    "payoutNumerators(bytes32,uint256)": answer(("sload", numerator(given(0), given(1)))),
    "getCollectionId(bytes32,bytes32,uint256)": answer(("hash", given(1), given(2))),
    "getPositionId(address,bytes32)": [
        ("mstore", 0, ("shl", 96, given(0))),
        ("mstore", 20, given(1)),
        *answer(("keccak", 0, 52)),
    ],
    "balanceOf(address,uint256)": answer(("sload", ("hash", given(0), given(1)))),
    "setApprovalForAll(address,bool)": [
        kept(("hash", ("caller",), ("shl", 96, given(0))), given(1))
    ],
    "isApprovedForAll(address,address)": answer((
        "sload",
        ("hash", given(0), ("shl", 96, given(1))),
    )),
    "splitPosition(address,bytes32,bytes32,uint256[],uint256)": [
        *called("transferFrom(address,address,uint256)", [("caller",), ("this",), given(4)]),
        *holding(("caller",), 1, 0x480),
        grown(("mload", 0x480), given(4)),
        *holding(("caller",), 2, 0x480),
        grown(("mload", 0x480), given(4)),
    ],
    "redeemPositions(address,bytes32,bytes32,uint256[])": [
        ("mstore", DENOMINATOR, ("sload", denominator(given(2)))),
        unless(("mload", DENOMINATOR)),
        ("mstore", PAYOUT, 0),
        redeemed(0),
        redeemed(1),
        (
            "if",
            ("mload", PAYOUT),
            *called("transfer(address,uint256)", [("caller",), ("mload", PAYOUT)]),
        ),
    ],
})
