"""Ids of outcome tokens."""

import pytest

from service_tui.signing.errors import MalformedError
from service_tui.signing.tokens import condition_bytes, outcome_token

PUBLISHED = [
    # Market 12 of the venue's public list: the first condition of its page of examples.
    (
        "0xe3b423dfad8c22ff75c9899c4e8176f628cf4ad4caa00481764d320e7415f7a9",
        False,
        53135072462907880191400140706440867753044989936304433583131786753949599718775,
        60869871469376321574904667328762911501870754872924453995477779862968218702336,
    ),
    # A market of several outcomes, as nautilus_trader's examples name it.
    (
        "0xdd22472e552920b8438158ea7238bfadfa4f736aa4cee91a6b86c39ead110917",
        True,
        21742633143463906290569050155826241533067272736897614950488156847949938836455,
        48331043336612883890938759509493159234755048973500640148014422747788308965732,
    ),
]


@pytest.mark.parametrize(("condition", "is_neg_risk", "yes", "no"), PUBLISHED)
def test_tokens_are_those_that_the_venue_has_published(
    condition: str,
    is_neg_risk: bool,  # noqa: FBT001 - a case
    yes: int,
    no: int,
) -> None:
    found = [
        outcome_token(condition_bytes(condition), is_yes=is_yes, is_neg_risk=is_neg_risk)
        for is_yes in (True, False)
    ]
    assert found == [yes, no]


@pytest.mark.parametrize("text", ["", "0x", "0x12", "ab" * 32, "0x" + "g" * 64, "0x" + "1" * 65])
def test_what_is_no_condition_has_no_token(text: str) -> None:
    with pytest.raises(MalformedError):
        condition_bytes(text)
