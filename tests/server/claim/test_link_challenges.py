"""Texts to sign for a wallet: single use, for a while, and so many an hour."""

import pytest

from service_tui.server.claim.link_challenges import (
    CHALLENGE_S,
    OPEN_MAX,
    IssuedChallenge,
    LinkChallenges,
)
from service_tui.units import Timestamp

NOW = Timestamp(1_800_000_000.0)


def made(challenges: LinkChallenges, nonce: str, now: Timestamp = NOW) -> IssuedChallenge:
    return challenges.make("a1", "0xabc", nonce, host="desk.example", now=now)


def test_the_text_names_wallet_agent_host_and_end() -> None:
    challenge = made(LinkChallenges(), "n1")

    assert challenge.expires_at == NOW + 300.0
    assert challenge.message == (
        "Link this wallet to your agent of desk.example.\n\n"
        "Wallet: 0xabc\nAgent: a1\nNonce: n1\nExpires: 2027-01-15T08:05:00Z\n\n"
        "This signature proves that the wallet is yours. It moves no money."
    )


def test_a_challenge_is_used_once() -> None:
    challenges = LinkChallenges()
    challenge = made(challenges, "n1")

    assert challenges.use("n1", "a1", now=NOW) == challenge
    assert challenges.use("n1", "a1", now=NOW) is None


@pytest.mark.parametrize(("after", "is_good"), [(CHALLENGE_S - 0.1, True), (CHALLENGE_S, False)])
def test_a_challenge_ends_after_five_minutes(after: float, *, is_good: bool) -> None:
    challenges = LinkChallenges()
    made(challenges, "n1")

    found = challenges.use("n1", "a1", now=Timestamp(NOW + after))

    assert (found is not None) is is_good


def test_another_agent_neither_uses_nor_ends_a_challenge() -> None:
    challenges = LinkChallenges()
    challenge = made(challenges, "n1")

    assert challenges.use("n1", "a2", now=NOW) is None
    assert challenges.use("n2", "a1", now=NOW) is None
    assert challenges.use("n1", "a1", now=NOW) == challenge


def test_of_too_many_the_oldest_goes() -> None:
    challenges = LinkChallenges()
    for number in range(OPEN_MAX + 1):
        made(challenges, f"n{number}")

    assert challenges.use("n0", "a1", now=NOW) is None
    assert challenges.use("n1", "a1", now=NOW) is not None
    assert challenges.use(f"n{OPEN_MAX}", "a1", now=NOW) is not None


def test_what_is_scarce_is_allowed_again_once_the_first_is_long_enough_ago() -> None:
    challenges = LinkChallenges()

    waits = [challenges.count("a1", 2, 60.0, now=now) for now in (0.0, 10.0, 20.0, 59.0, 60.0)]

    assert waits == [0.0, 0.0, 40.0, 1.0, 0.0]
    assert challenges.count("a1", 2, 60.0, now=61.0) == 9.0
    assert challenges.count("a2", 2, 60.0, now=61.0) == 0.0
