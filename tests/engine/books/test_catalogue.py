"""What the venues trade: ids, addresses, events, and what a name points at."""

import hashlib
from dataclasses import replace
from typing import Final

import pytest

from kit.engine.topics import TOPICS
from service_tui.engine.books import catalogue
from service_tui.engine.books.catalogue import (
    CatalogueMatch,
    Event,
    condition_of,
    event_of,
    event_url,
    has_event,
    importable_at,
    named_by,
    outside_price,
    outside_volume,
    slug_of,
    ticker_of,
    token_of,
    url_of,
)
from service_tui.engine.tape.feed import Tape
from service_tui.engine.tape.slots import IMPORT_SLOTS, numbers_at
from service_tui.signing.tokens import outcome_token
from service_tui.terms import Side, Venue
from service_tui.units import Timestamp

TAPE: Final = Tape(7, TOPICS)
ALONE: Final = TAPE.listing_of(1_000, 1_001)
OUTCOME: Final = TAPE.listing_of(1_004, 1_001)
OF_SIM: Final = replace(ALONE, home=Venue.SIM)
SHORT: Final = TAPE.listing_of(3, 108)


def middle(listing: object = ALONE) -> Timestamp:
    opens, ends = (getattr(listing, name) for name in ("opens_at", "resolves_at"))
    return Timestamp((opens + ends) / 2)


def test_a_condition_is_the_one_that_was_written_down_before() -> None:
    # Transactions in the journal name it: another one would be a condition that nobody holds.
    assert condition_of("m1") == (
        "0xa6112095fe3bd721c43da31c1e992dcea1ce986f009ab2f91e0b4613b2bbde3b"
    )


def test_a_condition_and_its_tokens_follow_from_the_market() -> None:
    condition = condition_of("m1")
    digest = hashlib.sha256(b"m1:condition").hexdigest()
    assert condition == f"0x{digest}"
    assert condition_of("m2") != condition
    raw = bytes.fromhex(condition[2:])
    for side in Side:
        for neg_risk in (True, False):
            token = outcome_token(raw, is_yes=side is Side.YES, is_neg_risk=neg_risk)
            assert token_of("m1", side, neg_risk=neg_risk) == str(token)


def test_a_question_has_a_ticker_a_slug_and_an_address_of_its_venue() -> None:
    assert ticker_of(ALONE) == "POLITICS-1000-1001"
    words = ALONE.question.lower().replace("?", "").split()
    slug = slug_of(ALONE)
    assert slug.startswith(words[0])
    assert slug.endswith("-1000-1001")
    assert url_of(ALONE) == f"https://evm-venue.example/event/{slug}"
    assert url_of(replace(ALONE, home=Venue.SOL)) == (
        "https://sol-venue.example/event/POLITICS-1000-1001"
    )
    assert url_of(OF_SIM) is None
    long = replace(ALONE, question="Will it?! " * 40)
    assert slug_of(long) == f"{('will-it-' * 40)[:100].rstrip('-')}-1000-1001"


def test_an_outcome_belongs_to_its_event() -> None:
    event = event_of(OUTCOME)
    assert event == Event(
        "event-1004-1001", event.name if event else "", event.slug if event else "",
        (1_004, 1_005, 1_006, 1_007), 1_001,
    )  # fmt: skip
    assert event is not None
    assert event.name.startswith(f"{OUTCOME.tags[1].capitalize()}, 19")
    assert event.name.endswith(" UTC")
    assert event.slug.endswith("-e1004-1001")
    assert event.slug.startswith(OUTCOME.tags[1])
    assert event_url(event, Venue.SOL) == f"https://sol-venue.example/event/{event.slug}"
    assert has_event(OUTCOME)
    for one in (ALONE, SHORT, replace(ALONE, slot=9_999)):
        assert not has_event(one)
        assert event_of(one) is None


def test_the_venues_own_price_and_volume_are_told_where_there_is_a_venue() -> None:
    price = outside_price(7, ALONE, middle())
    assert price is not None
    assert 0 < price < 1
    assert round(price, 6) == price
    assert outside_price(7, OF_SIM, middle()) is None
    volume = outside_volume(ALONE)
    assert 2_000 <= volume <= 400_000
    assert round(volume, 2) == volume
    assert volume == pytest.approx(outside_volume(OF_SIM))
    assert volume != outside_volume(OUTCOME)


def test_an_event_and_its_addresses_are_named_as_people_write_them() -> None:
    one = replace(
        OUTCOME, question="Is it 5:0, or  (maybe) more?!", tags=("politics", "cup final", "days"),
        resolves_at=Timestamp(1_800_000_000.0),
    )  # fmt: skip
    assert slug_of(one) == "is-it-5-0-or-maybe-more-1004-1001"
    event = event_of(one)
    assert event is not None
    assert event.name == "Cup final, 2027-01-15 08:00 UTC"
    assert event.slug == "cup-final-2027-01-15-08-00-utc-e1004-1001"


def test_a_question_may_be_imported_from_its_opening_until_it_may_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(catalogue, "IMPORT_SLOTS", IMPORT_SLOTS[:1])
    monkeypatch.setattr(catalogue, "numbers_at", lambda *_: (ALONE.number,))
    opens, ends = ALONE.opens_at, ALONE.resolves_at
    for at, found in (
        (opens - 1, ()), (opens, (ALONE,)), (ends - 1, (ALONE,)), (ends, ()), (ends + 1, ()),
    ):  # fmt: skip
        assert importable_at(TAPE, Timestamp(at)) == found


@pytest.mark.slow
def test_what_may_be_imported_is_open_now() -> None:
    at = middle()
    found = importable_at(TAPE, at)
    expected = {
        (slot.index, number)
        for slot in IMPORT_SLOTS
        for number in numbers_at(7, slot, at)
        if TAPE.listing_of(slot.index, number).opens_at <= at
        and TAPE.listing_of(slot.index, number).resolves_at > at
    }
    assert {(one.slot, one.number) for one in found} == expected
    assert ALONE in found
    assert ALONE not in importable_at(TAPE, ALONE.resolves_at)
    assert ALONE in importable_at(TAPE, ALONE.opens_at)


def test_a_name_points_at_one_question_or_at_all_of_an_event() -> None:
    at = middle()
    assert named_by(TAPE, slug_of(ALONE), at) == CatalogueMatch((ALONE,), None)
    assert named_by(TAPE, ticker_of(ALONE), at) == CatalogueMatch((ALONE,), None)
    event = event_of(OUTCOME)
    assert event is not None
    then = middle(OUTCOME)
    assert named_by(TAPE, slug_of(OUTCOME), then) == CatalogueMatch((OUTCOME,), event)
    members = tuple(TAPE.listing_of(slot, 1_001) for slot in event.slots)
    assert named_by(TAPE, event.slug, then) == CatalogueMatch(members, event)


@pytest.mark.parametrize(
    "name",
    ["", "nothing", "other-words-1000-1001", "POLITICS-1000", "POLITICS-9999-5", "x-e1000-1001",
     "POLITICS-1000-0", "POLITICS-1000-999999999999", "x-e1004-1001"],
)  # fmt: skip
def test_any_other_name_points_at_nothing(name: str) -> None:
    assert named_by(TAPE, name, middle()) is None


def test_a_question_is_known_from_its_opening_on_and_only_where_a_venue_has_it() -> None:
    ticker = ticker_of(ALONE)
    assert named_by(TAPE, ticker, Timestamp(ALONE.opens_at - 1)) is None
    assert named_by(TAPE, ticker, ALONE.opens_at) is not None
    assert named_by(TAPE, ticker, Timestamp(ALONE.resolved_at + 10**6)) is not None
    at_home = TAPE.listing_of(1, 1_001)
    assert at_home.home is Venue.SIM
    assert named_by(TAPE, ticker_of(at_home), middle(at_home)) is None
    assert catalogue.HOSTS.keys() == {Venue.EVM, Venue.SOL}
