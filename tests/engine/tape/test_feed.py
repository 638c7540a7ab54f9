"""The tape of markets and news: what is open at any time, and the same for the same seed."""

import math
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from string import Formatter
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.engine.topics import TOPICS
from kit.examples import DEPTH, examples
from service_tui.engine.listing import Listing, NewsReport
from service_tui.engine.tape import feed as room
from service_tui.engine.tape.belief import chance_of, log_odds
from service_tui.engine.tape.feed import B_MAX, B_MIN, START_MAX, START_MIN, Tape, tape_of
from service_tui.engine.tape.questions import Wording, figure, headline, word
from service_tui.engine.tape.slots import SHARES, SLOTS, delay_of, numbers_at, times_of
from service_tui.engine.tape.topics import Level, QuestionTopic, Scope, Topics
from service_tui.terms import Category, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

SEED: Final = 7
START: Final = Timestamp(1_790_000_000.0)
HOUR_S: Final = 3_600
MONTH_S: Final = 30 * 86_400

moments = st.floats(1_600_000_000, 2_200_000_000).map(Timestamp)
seeds = st.integers(0, 2**64 - 1)
ALL_TOPICS: Final = [
    pytest.param(category, topic, id=f"{category.value}-{topic.tag}")
    for category, topics in TOPICS.table.items()
    for topic in topics
]


@cache
def many() -> tuple[Listing, ...]:
    tape = Tape(SEED, TOPICS)
    return tuple(
        tape.listing_of(slot.index, number) for slot in SLOTS for number in range(990, 1_014)
    )


def is_clean(text: str) -> bool:
    return text.isprintable() and text == text.strip() and not re.search(r"[\[\]{}<>]|  ", text)


# -- what stands when ----------------------------------------------------------------------


@pytest.mark.slow
@examples(8)
@given(seed=seeds, at=moments)
def test_at_any_time_sixty_markets_of_every_category_are_open(seed: int, at: Timestamp) -> None:
    listings = Tape(seed, TOPICS).listings_at(at)
    tradeable = [one for one in listings if at < one.resolves_at]
    assert 60 <= len(tradeable) <= 110
    assert {one.category for one in tradeable} == set(TOPICS.table)
    assert all(one.opens_at <= at < one.resolved_at for one in listings)
    assert len({one.market_id for one in listings}) == len(listings)
    assert len({one.question for one in tradeable}) == len(tradeable)
    lives = [one.resolves_at - one.opens_at for one in tradeable]
    assert min(lives) < 420
    assert max(lives) > 20 * 86_400
    assert min(one.resolves_at for one in tradeable) - at <= 300


@pytest.mark.slow
def test_a_market_stands_without_a_gap_from_its_opening_to_its_outcome() -> None:
    tape = Tape(SEED, TOPICS)
    step_s = 5
    seen: dict[str, list[int]] = {}
    known: dict[str, Listing] = {}
    for step in range(720):
        for one in tape.listings_at(Timestamp(START + step * step_s)):
            seen.setdefault(one.market_id, []).append(step)
            assert known.setdefault(one.market_id, one) == one
    for market_id, steps in seen.items():
        one = known[market_id]
        assert steps == list(range(steps[0], steps[-1] + 1))
        if steps[0] > 0:
            assert 0 <= START + steps[0] * step_s - one.opens_at < step_s
        if steps[-1] < 719:
            assert 0 < one.resolved_at - START - steps[-1] * step_s <= step_s


@pytest.mark.slow
def test_what_stands_is_the_same_whenever_it_was_asked_for_before() -> None:
    tape = Tape(SEED, TOPICS)
    first = tape.listings_at(START)
    edges = {edge for one in first for edge in (one.opens_at, one.resolves_at, one.resolved_at)}
    near = sorted(edge for edge in edges if abs(edge - START) < HOUR_S)
    # An ordinary run looks at every third edge.
    near = near[:: 3 if DEPTH == 1 else 1]
    assert len(near) > 20
    moments = [Timestamp(math.nextafter(edge, to)) for edge in near for to in (0.0, edge, math.inf)]
    alone = {at: Tape(SEED, TOPICS).listings_at(at) for at in (*moments, START)}
    for at in (*moments, *reversed(moments), START):
        assert tape.listings_at(at) == alone[at]


def test_a_market_is_listed_as_it_opens_though_nothing_has_ended() -> None:
    tape = Tape(SEED, TOPICS)
    for one in sorted(tape.next_listings(START), key=lambda one: one.opens_at)[:5]:
        assert one not in tape.listings_at(Timestamp(math.nextafter(one.opens_at, 0.0)))
        assert one in tape.listings_at(one.opens_at)


def test_new_markets_are_listed_as_old_ones_resolve() -> None:
    tape = Tape(SEED, TOPICS)
    before = {one.market_id for one in tape.listings_at(START)}
    after = {one.market_id for one in tape.listings_at(Timestamp(START + HOUR_S))}
    assert len(before - after) > 15
    assert len(after - before) > 15
    assert tape.resolved_count(START, Timestamp(START + HOUR_S)) > 100


@pytest.mark.slow
def test_any_market_is_found_at_once_whatever_was_missed() -> None:
    fresh = Tape(SEED, TOPICS)
    later = fresh.listings_at(Timestamp(START + MONTH_S))
    stepped = Tape(SEED, TOPICS)
    for day in range(31):
        stepped.listings_at(Timestamp(START + day * 86_400))
    assert stepped.listings_at(Timestamp(START + MONTH_S)) == later


@pytest.mark.slow
def test_the_same_seed_lists_the_same_world() -> None:
    assert Tape(3, TOPICS).listings_at(START) == Tape(3, TOPICS).listings_at(START)
    mine = {one.question for one in Tape(3, TOPICS).listings_at(START)}
    assert len(mine & {one.question for one in Tape(4, TOPICS).listings_at(START)}) < 5


@pytest.mark.slow
def test_listings_of_long_ago_are_the_same_again() -> None:
    tape = Tape(SEED, TOPICS)
    for hour in range(0, 120, 4):
        tape.listings_at(Timestamp(START + hour * HOUR_S))
    assert tape.listings_at(START) == Tape(SEED, TOPICS).listings_at(START)


# -- what has resolved ---------------------------------------------------------------------


@pytest.mark.slow
def test_resolved_markets_are_counted() -> None:
    tape = Tape(SEED, TOPICS)
    until = Timestamp(START + HOUR_S)
    expected: set[str] = set()
    for step in range(HOUR_S // 5):
        for one in tape.listings_at(Timestamp(START + step * 5)):
            if START < one.resolved_at <= until:
                expected.add(one.market_id)
    assert tape.resolved_count(START, until) == len(expected)


def test_spans_of_resolution_neither_overlap_nor_leave_gaps() -> None:
    tape = Tape(SEED, TOPICS)
    edges = [Timestamp(START + 60 * k) for k in range(31)]
    parts = [tape.resolved_count(since, until) for since, until in pairwise(edges)]
    assert sum(parts) == tape.resolved_count(edges[0], edges[-1])


def test_weather_takes_longest_to_confirm() -> None:
    delays: dict[float, dict[Category, float]] = {}
    for slot in SLOTS:
        delays.setdefault(slot.clock.period_s, {})[slot.category] = delay_of(slot)
    for by_category in delays.values():
        assert max(by_category.values()) == by_category[Category.WEATHER]
    for slot in SLOTS:
        assert 0 < delay_of(slot) < slot.clock.period_s / 2
    assert max(delay_of(slot) for slot in SLOTS) >= 5 * HOUR_S


# -- what a listing is ---------------------------------------------------------------------


@pytest.mark.slow
def test_liquidity_is_log_uniform_in_whole_dollars() -> None:
    liquidity = sorted(one.b / ONE for one in many())
    assert all(B_MIN <= b <= B_MAX and b == int(b) for b in liquidity)
    for share in (0.25, 0.5, 0.75):
        wanted = math.log(B_MIN) + share * math.log(B_MAX / B_MIN)
        assert math.log(liquidity[int(share * len(liquidity))]) == pytest.approx(wanted, abs=0.12)


def test_outcomes_follow_the_start_price() -> None:
    assert all(START_MIN < one.start_price < START_MAX for one in many())
    expected = sum(one.start_price for one in many())
    error = math.sqrt(sum(one.start_price * (1 - one.start_price) for one in many()))
    assert abs(sum(one.outcome for one in many()) - expected) < 4 * error


def test_an_identity_looks_random() -> None:
    shape = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}\Z")
    ids = {one.market_id for one in many()}
    assert len(ids) == len(many())
    assert all(shape.match(market_id) for market_id in ids)


def test_a_market_names_itself_by_category_topic_and_clock() -> None:
    for one in many():
        assert one.tags[0] == one.category.value
        assert one.tags[-1] == SLOTS[one.slot].clock.scope.value
        assert len(one.tags) == 3


# -- words ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_texts_are_clean_and_short() -> None:
    for one in many():
        assert is_clean(one.question)
        assert len(one.question) <= 120
        assert one.question.startswith("Will ")
        assert one.question.endswith("?")
        assert is_clean(one.criteria)
        assert 2 <= len(re.findall(r"(?<! [A-Z])\.(?: |$)", one.criteria)) <= 3
        assert one.criteria.startswith("YES if ")
        for report in one.news:
            assert is_clean(report.headline)
            assert len(report.headline) <= 160
            assert report.headline[0] == report.headline[0].upper()


def test_questions_hardly_ever_come_twice() -> None:
    assert len({one.question for one in many()}) > 0.99 * len(many())


@pytest.mark.parametrize(("category", "topic"), ALL_TOPICS)
def test_every_text_of_a_topic_fits_with_its_longest_words(
    category: Category, topic: QuestionTopic
) -> None:
    longest = {gap: max(words, key=len) for gap, words in topic.words.items()}
    subject = max(topic.subjects, key=len)
    dates = {"by": "by 18:00 UTC on 21 Nov", "at": "at 18:00 UTC on 21 Nov"}
    gaps = {
        **longest,
        **dates,
        "deadline": "18:00 UTC on 21 Nov",
        "close": "18:00 UTC on 21 September 2026",
        "subject": subject,
        "rival": subject,
        "level": "4,500,000",
        "reading": "4,500,000",
    }
    assert len(topic.subjects) >= 2 * SHARES, category
    for text in topic.questions:
        assert len(text.format_map(gaps)) <= 120
        names = {name for _, name, _, _ in Formatter().parse(text)}
        assert "subject" in names
        assert names & {"by", "at", "deadline"}
    for text in (*topic.raises, *topic.lowers):
        assert len(text.format_map(gaps)) <= 160
        names = {name for _, name, _, _ in Formatter().parse(text)}
        assert names & {"subject", "rival"}, text
        assert not names & {"by", "at", "close", "deadline", "level"}
        assert topic.level is not None or "reading" not in names
    assert "{close}" in topic.criteria
    assert len(set(topic.raises) & set(topic.lowers)) == 0
    assert min(len(topic.raises), len(topic.lowers)) >= 4


def test_every_clock_of_every_category_has_several_topics() -> None:
    for topics in TOPICS.table.values():
        for scope in Scope:
            assert sum(scope in topic.scopes for topic in topics) >= 4


def test_no_two_slots_of_a_category_ask_about_one_subject_of_a_topic() -> None:
    shares: dict[tuple[str, str], set[int]] = {}
    for slot in SLOTS:
        if slot.category is Category.WEATHER:
            for number in range(40):
                said = word(TOPICS, slot, number, seed=1, closes=START)
                about = said.topic.tag, said.gaps["subject"]
                shares.setdefault(about, set()).add(slot.share)
    assert len(shares) > 2 * SHARES
    assert {about for about, found in shares.items() if len(found) > 1} == set()


def test_the_deadline_in_the_text_is_the_one_of_the_market() -> None:
    slot = SLOTS[0]
    closes = Timestamp(1_795_003_500.0)
    fast = word(TOPICS, slot, 5, seed=1, closes=closes)
    assert "12:05 UTC" in fast.question
    assert "12:05 UTC on 18 November 2026" in fast.criteria
    slow = next(slot for slot in SLOTS if slot.clock.scope is Scope.WEEKS)
    assert "18 November" in word(TOPICS, slow, 5, seed=1, closes=closes).question


def test_markets_end_on_whole_minutes() -> None:
    for one in many():
        assert one.resolves_at % SLOTS[one.slot].clock.grain_s == 0


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (41_273, 0, "41,300"),
        (0.08234, 0, "0.0823"),
        (412.7, 0, "413"),
        (9.996, 0, "10.00"),
        (31.26, 0.5, "31.5"),
        (0.9934, 0.001, "0.993"),
        (4_730, 50, "4,750"),
        (6.4, 1, "6"),
    ],
)
def test_figures_are_round_as_people_write_them(value: float, step: float, text: str) -> None:
    assert figure(value, step) == text


# -- news ----------------------------------------------------------------------------------


def test_news_comes_in_order_and_in_time_to_trade_on() -> None:
    counts = {len(one.news) for one in many()}
    assert counts == set(range(6))
    for one in many():
        times = [report.at for report in one.news]
        assert times == sorted(times)
        assert all(one.opens_at < at < one.resolves_at for at in times)


def _pattern(template: str) -> str:
    parts = re.split(r"\{\w+\}", template.replace("s's ", "s' "))
    return ".+".join(re.escape(part) for part in parts).replace("'s\\ ", "'s?\\ ")


@pytest.mark.slow
def test_headlines_say_which_way_the_chance_moved() -> None:
    for one in many()[::3]:
        slot = SLOTS[one.slot]
        topic = word(TOPICS, slot, one.number, seed=SEED, closes=one.resolves_at).topic
        for report in one.news:
            lines = topic.raises if report.jump > 0 else topic.lowers
            patterns = [re.compile(_pattern(line), re.IGNORECASE) for line in lines]
            assert any(one.fullmatch(report.headline) for one in patterns), report.headline


def test_a_line_of_news_states_its_jump_as_prices() -> None:
    tape = Tape(SEED, TOPICS)
    for one in many()[::7]:
        items = tape.news(one, one.opens_at, one.resolves_at)
        assert [item.at for item in items] == [report.at for report in one.news]
        for item in items:
            assert item.market_id == one.market_id
            assert (item.price_after - item.price_before) * item.jump >= 0
            odds = [math.log(p / (1 - p)) for p in (item.price_before, item.price_after)]
            if max(abs(x) for x in odds) < 7:
                assert odds[1] - odds[0] == pytest.approx(item.jump)


def test_spans_of_news_neither_overlap_nor_leave_gaps() -> None:
    tape = Tape(SEED, TOPICS)
    one = next(one for one in many() if len(one.news) == 5)
    at = one.news[2].at
    early = tape.news(one, one.opens_at, at)
    late = tape.news(one, at, one.resolves_at)
    assert len(early) == 3
    assert len(late) == 2
    assert tape.news(replace(one, news=()), one.opens_at, one.resolves_at) == ()


def test_figures_in_headlines_come_nearer_as_yes_comes_nearer() -> None:
    slot = next(slot for slot in SLOTS if slot.category is Category.WEATHER)
    number = next(
        number
        for number in range(20)
        if word(TOPICS, slot, number, seed=1, closes=START).topic.tag == "fog"
    )
    wording = word(TOPICS, slot, number, seed=1, closes=START)
    shown = [
        int(re.sub(r"\D", "", headline(wording, rising=True, chance=chance, turn=0)))
        for chance in (0.1, 0.5, 0.9)
    ]
    assert shown[0] > shown[1] > shown[2] >= wording.level


@pytest.mark.slow
def test_levels_lie_on_both_sides_of_what_is_usual_for_the_subject() -> None:
    asked: dict[tuple[str, str], list[Wording]] = {}
    for slot in SLOTS:
        for number in range(200):
            one = word(TOPICS, slot, number, seed=4, closes=START)
            if one.topic.level is not None and one.topic.level.spread:
                asked.setdefault((one.topic.tag, one.gaps["subject"]), []).append(one)
    often = [found for found in asked.values() if len(found) >= 12]
    assert often
    for found in often:
        level = found[0].topic.level
        assert level is not None
        lowest, highest = min(one.level for one in found), max(one.level for one in found)
        # Wider than one side alone, and never wider than both.
        assert 1.0 + level.spread < highest / lowest <= (1.0 + level.spread) / (1.0 - level.spread)


def test_a_slot_never_asks_about_the_same_topic_twice_running() -> None:
    for slot in SLOTS:
        topics = [
            word(
                TOPICS, slot, number, seed=9, closes=times_of(9, slot, number).resolves_at
            ).topic.tag
            for number in range(1_000, 1_009)
        ]
        assert all(one != two for one, two in pairwise(topics))


@pytest.mark.slow
def test_a_market_stands_from_its_opening_until_its_outcome_is_told() -> None:
    tape = Tape(SEED, TOPICS)
    one = tape.listing_of(SLOTS[len(SLOTS) // 2].index, 1_000)
    for at, stands in (
        (math.nextafter(one.opens_at, 0), False),
        (one.opens_at, True),
        (math.nextafter(one.resolved_at, 0), True),
        (one.resolved_at, False),
    ):
        assert (one in tape.listings_at(Timestamp(at))) is stands


# -- one market, in full -------------------------------------------------------------------


def test_a_market_of_a_seed_is_the_same_in_every_release() -> None:
    assert Tape(SEED, TOPICS).listing_of(3, 108) == Listing(
        market_id="d4686d07-b25c-46e7-af6a-e7d29232c8d9",
        slot=3,
        number=108,
        category=Category.POLITICS,
        question="Will Bellreach's dock workers be back at work by 01:05 UTC?",
        criteria=(
            "YES if the union of the Bellreach dock workers announces the end or suspension of the "
            "strike before 01:05 UTC on 19 January 1970. A truce of at least one full shift "
            "counts. A court order alone is NO."
        ),
        tags=("politics", "strike", "hours"),
        b=Micros(2_883 * ONE),
        start_price=Probability(0.31131580324555946),
        opens_at=Timestamp(1541722.6320704964),
        resolves_at=Timestamp(1559100.0),
        resolved_at=Timestamp(1560252.0),
        outcome=True,
        strength=1.151798878882731,
        news=(
            NewsReport(
                at=Timestamp(1544600.5474886238),
                jump=pytest.approx(0.4676645717333192),
                headline="Dock workers in Bellreach to vote on the new offer",
            ),
            NewsReport(
                at=Timestamp(1545452.8541875498),
                jump=pytest.approx(-0.1693307753662622),
                headline="Second depot in Bellreach joins the walkout",
            ),
            NewsReport(
                at=Timestamp(1546897.4537407684),
                jump=pytest.approx(-0.37473280802773595),
                headline="Dock workers of Bellreach turn down the night-shift clause",
            ),
        ),
        home=Venue.EVM,
        subject="Bellreach",
    )


def test_a_market_with_a_figure_and_a_date_is_worded_the_same_in_every_release() -> None:
    tape = Tape(SEED, TOPICS)
    said = [tape.listing_of(slot, number) for slot, number in ((34, 1), (46, 2), (1_004, 3))]
    assert [(one.question, one.subject, one.home) for one in said] == [
        (
            "Will the dry spell in Stannick last until 13 January?",
            "Stannick",
            Venue.SOL,
        ),
        (
            "Will Halden set a new high above $5,090 by 17 January?",
            "Halden",
            Venue.SOL,
        ),
        (
            "Will the parties of Ardovia sign a coalition paper by 12:00 UTC on 12 Jan?",
            "Ardovia",
            Venue.SOL,
        ),
    ]


def test_the_lines_of_a_market_come_from_their_times_with_the_prices_around_them() -> None:
    one = Tape(SEED, TOPICS).listing_of(3, 108)
    first, second, third = one.news
    items = Tape.news(one, first.at, third.at)
    assert [(item.market_id, item.at, item.headline, item.jump) for item in items] == [
        (one.market_id, line.at, line.headline, line.jump) for line in (second, third)
    ]
    for item in items:
        after = log_odds(one, item.at)
        assert item.price_after == chance_of(after)
        assert item.price_before == chance_of(after - item.jump)


def test_a_market_is_found_by_its_id_while_it_stands() -> None:
    tape = Tape(SEED, TOPICS)
    one = tape.listing_of(1_003, 40)
    assert tape.find(one.market_id, one.opens_at) is one
    assert tape.find(one.market_id, Timestamp(one.opens_at - 60 * 86_400)) is None
    assert tape.find("nobody", one.opens_at) is None


def test_the_next_markets_are_those_of_the_timetable_that_open_later() -> None:
    following = Tape(SEED, TOPICS).next_listings(START)
    assert {(one.slot, one.number) for one in following} == {
        (slot.index, number)
        for slot in SLOTS
        for number in numbers_at(SEED, slot, START)
        if times_of(SEED, slot, number).opens_at > START
    }
    assert len(following) > 20


def test_a_market_that_opens_now_is_none_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "SLOTS", SLOTS[:3])
    tape = Tape(SEED, TOPICS)
    first = min(tape.next_listings(START), key=lambda one: one.opens_at)
    assert first not in tape.next_listings(first.opens_at)
    assert first in tape.next_listings(Timestamp(first.opens_at - 0.5))
    assert first in tape.listings_at(first.opens_at)


def test_a_name_that_ends_in_s_takes_the_short_possessive() -> None:
    level = None
    topic = QuestionTopic(
        tag="rain", scopes=frozenset({Scope.DAYS}), subjects=("Dees",), questions=("Will it?",),
        criteria="YES.", raises=("{subject}'s rain, {rival}'s sun",), lowers=("down",), level=level,
    )  # fmt: skip
    wording = Wording("?", "YES.", ("rain",), topic, {"subject": "Dees", "rival": "Ash"}, 0.0)
    assert headline(wording, rising=True, chance=0.5, turn=0) == "Dees' rain, Ash's sun"


def test_a_question_names_a_rival_that_is_somebody_else() -> None:
    topic = QuestionTopic(
        tag="cup", scopes=frozenset(Scope),
        subjects=tuple(f"S{number}" for number in range(SHARES)),
        questions=("{subject} before {rival}?",), criteria="{rival}, {by}, {at}: {close}.",
        raises=("up",), lowers=("down",), level=None,
    )  # fmt: skip
    topics = Topics(dict.fromkeys(Category, (topic,)))
    closes = Timestamp(1_800_003_600.0)
    said = {
        word(topics, slot, number, seed=SEED, closes=closes).question
        for slot in SLOTS[:12]
        for number in range(6)
    }
    pairs = [question.removesuffix("?").split(" before ") for question in said]
    assert len(pairs) > SHARES
    assert all(
        subject != rival and {subject, rival} <= {*topic.subjects} for subject, rival in pairs
    )
    criteria = {
        slot.clock.scope: word(topics, slot, 1, seed=SEED, closes=closes).criteria.partition(", ")[
            2
        ]
        for slot in SLOTS
    }
    close = "09:00 UTC on 15 January 2027."
    assert criteria == {
        Scope.MINUTES: f"by 09:00 UTC, at 09:00 UTC: {close}",
        Scope.HOURS: f"by 09:00 UTC, at 09:00 UTC: {close}",
        Scope.DAYS: f"by 09:00 UTC on 15 Jan, at 09:00 UTC on 15 Jan: {close}",
        Scope.WEEKS: f"by 15 January, on 15 January: {close}",
    }


def test_nothing_but_what_opened_and_is_not_confirmed_stands() -> None:
    tape = Tape(SEED, TOPICS)
    standing = {(one.slot, one.number) for one in tape.listings_at(START)}
    expected = {
        (slot.index, number)
        for slot in SLOTS
        for number in numbers_at(SEED, slot, START)
        if times_of(SEED, slot, number).opens_at <= START
        and times_of(SEED, slot, number).resolved_at > START
    }
    assert standing == expected


def test_a_tape_is_shared_by_the_worlds_of_a_seed() -> None:
    tape = tape_of(SEED, TOPICS)
    assert tape.seed == SEED
    assert tape_of(SEED, TOPICS) is tape
    assert tape.listing_of(3, 108) == Tape(SEED, TOPICS).listing_of(3, 108)


@pytest.mark.parametrize(("chance", "reading"), [(0.0, "10.0"), (0.5, "15.0"), (1.0, "20.0")])
@pytest.mark.parametrize(
    ("turn", "line"), [(0, "Up {} at Dee"), (1, "High {} at Dee"), (2, "Up {} at Dee")]
)
def test_a_headline_takes_its_turn_and_puts_the_figure_by_the_chance(
    chance: float, reading: str, turn: int, line: str
) -> None:
    level = Level(low=1.0, high=9.0, step=0.5, unlikely=0.5, likely=1.0)
    topic = QuestionTopic(
        tag="rain",
        scopes=frozenset({Scope.DAYS}),
        subjects=("Dee",),
        questions=("Will it?",),
        criteria="YES.",
        raises=("up {reading} at {subject}", "high {reading} at {subject}"),
        lowers=("down {reading} at {subject}",),
        level=level,
    )
    wording = Wording("Will it?", "YES.", ("rain",), topic, {"subject": "Dee"}, 20.0)
    assert headline(wording, rising=True, chance=chance, turn=turn) == line.format(reading)
    down = headline(wording, rising=False, chance=chance, turn=turn)
    assert down == f"Down {reading} at Dee"


def test_topics_are_told_apart_by_category_and_clock() -> None:
    def topic(tag: str, *scopes: Scope) -> QuestionTopic:
        return QuestionTopic(tag, frozenset(scopes), ("Dee",), (), "", (), ())

    fog, rain = topic("fog", Scope.DAYS), topic("rain", Scope.DAYS, Scope.WEEKS)
    vote = topic("vote", Scope.WEEKS)
    table = {Category.WEATHER: (rain, fog), Category.POLITICS: (vote,)}
    topics = Topics(table)
    assert topics.table is table
    assert topics.of(Category.WEATHER, Scope.DAYS) == (rain, fog)
    assert topics.of(Category.WEATHER, Scope.WEEKS) == (rain,)
    assert topics.of(Category.WEATHER, Scope.HOURS) == ()
    assert topics.of(Category.POLITICS, Scope.WEEKS) == (vote,)
