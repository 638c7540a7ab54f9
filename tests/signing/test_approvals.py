"""What is approved: which token, to whom, under which name."""

from dataclasses import replace

import pytest

from service_tui.signing.approvals import Approval, approvals, missing
from service_tui.signing.book import POLYGON, AddressBook, ExchangeVersion, exchange_of
from service_tui.signing.calls import UINT_MAX, Approve, SetApprovalForAll

# A book of its own, so that the lists are made here and not taken from an earlier test.
BOOK = replace(POLYGON, chain_id=31_337)


def told(approval: Approval) -> tuple[str, str]:
    """The token and who may move it, by their names in the book."""
    return str(BOOK.name_of(approval.to)), str(BOOK.name_of(approval.spender))


@pytest.mark.parametrize(
    ("exchange", "pairs"),
    [
        (
            ExchangeVersion.V1,
            [
                ("USDC (native)", "exchange v1"),
                ("USDC.e (bridged)", "exchange v1"),
                ("conditional tokens", "exchange v1"),
                ("USDC (native)", "negative-risk exchange v1"),
                ("USDC.e (bridged)", "negative-risk exchange v1"),
                ("conditional tokens", "negative-risk exchange v1"),
                ("USDC (native)", "negative-risk adapter"),
                ("USDC.e (bridged)", "negative-risk adapter"),
                ("conditional tokens", "negative-risk adapter"),
            ],
        ),
        (
            ExchangeVersion.V2,
            [
                ("pUSD", "exchange v2"),
                ("conditional tokens", "exchange v2"),
                ("pUSD", "negative-risk exchange v2 A"),
                ("conditional tokens", "negative-risk exchange v2 A"),
                ("pUSD", "negative-risk exchange v2 B"),
                ("conditional tokens", "negative-risk exchange v2 B"),
                ("pUSD", "negative-risk adapter"),
                ("conditional tokens", "negative-risk adapter"),
                ("pUSD", "fee escrow v2"),
                ("conditional tokens", "collateral adapter"),
                ("conditional tokens", "negative-risk collateral adapter"),
                ("pUSD", "collateral adapter"),
            ],
        ),
    ],
)
def test_each_generation_approves_these_tokens_to_these_contracts_in_this_order(
    exchange: ExchangeVersion, pairs: list[tuple[str, str]]
) -> None:
    assert [told(one) for one in approvals(BOOK, exchange)] == pairs


PREFIXES = {
    BOOK.usdc_native: "usdc_native",
    BOOK.usdc_bridged: "usdc_bridged",
    BOOK.pusd: "pusd",
    BOOK.conditional_tokens: "ctf",
}


@pytest.mark.parametrize("exchange", ExchangeVersion)
def test_an_approval_is_named_by_its_token_and_its_spender(exchange: ExchangeVersion) -> None:
    for one in approvals(BOOK, exchange):
        assert one.key == f"{PREFIXES[one.to]}_{one.spender.lower()}"


@pytest.mark.parametrize("exchange", ExchangeVersion)
def test_money_is_approved_without_a_bound_and_tokens_to_an_operator(
    exchange: ExchangeVersion,
) -> None:
    for one in approvals(BOOK, exchange):
        if one.to == BOOK.conditional_tokens:
            assert one.call == SetApprovalForAll(one.spender, is_approved=True)
            assert one.about == f"conditional tokens may be moved by the {told(one)[1]}"
        else:
            assert one.call == Approve(one.spender, UINT_MAX)
            assert one.about == f"{told(one)[0]} may be taken by the {told(one)[1]}"


def test_what_is_missing_is_what_the_service_does_not_call_given() -> None:
    first, second, third, *others = approvals(BOOK, ExchangeVersion.V1)
    given = {one.key: True for one in others}
    # The service writes addresses as it likes; a word that is only true-like gives nothing.
    loose: dict[str, bool] = {first.key.upper(): True, second.key: False, third.key: 1}  # pyright: ignore[reportAssignmentType]
    assert missing((first, second, third, *others), given | loose) == (second, third)
    assert missing((first, *others), given) == (first,)
    assert missing(tuple(others), given) == ()


@pytest.mark.parametrize(
    ("exchange", "token"),
    [(ExchangeVersion.V1, POLYGON.usdc_bridged), (ExchangeVersion.V2, POLYGON.pusd)],
)
def test_each_generation_trades_in_its_own_token(exchange: ExchangeVersion, token: str) -> None:
    assert POLYGON.collateral(exchange) == token


def test_every_contract_of_the_book_has_a_name_of_its_own() -> None:
    roles = [name for name in AddressBook.__slots__ if name != "chain_id"]
    named = [POLYGON.name_of(getattr(POLYGON, role)) for role in roles]
    assert None not in named
    assert len(set(named)) == len(roles) == 14
    assert POLYGON.name_of("0x" + "ab" * 20) is None
    assert POLYGON.name_of("137") is None


@pytest.mark.parametrize(
    ("text", "exchange"),
    [
        ("", ExchangeVersion.V1),
        ("  ", ExchangeVersion.V1),
        ("v1", ExchangeVersion.V1),
        (" V2\n", ExchangeVersion.V2),
    ],
)
def test_a_setting_names_a_generation(text: str, exchange: ExchangeVersion) -> None:
    assert exchange_of(text) is exchange


def test_a_setting_that_names_no_generation_says_which_there_are() -> None:
    with pytest.raises(ValueError, match=r"^the venue's exchange is v1 or v2$"):
        exchange_of("v3")
