"""Questions about prices, fees and upgrades of tokens that do not exist."""

from typing import Final

from service_tui.engine.tape.topics.names import TOKENS
from service_tui.engine.tape.topics.topic import (
    DAILY,
    FAST,
    QUICK,
    SLOW,
    WEEKS,
    Level,
    Scope,
    Topic,
)

_ALWAYS: Final = frozenset(Scope)
_NOT_WEEKS: Final = frozenset({Scope.MINUTES, Scope.HOURS, Scope.DAYS})
_VENUES: Final = ("Harbour Exchange", "Tern Street", "Northgate Spot", "Old Mint", "Fathom Board")

CRYPTO: Final = (
    Topic(
        tag="spot",
        scopes=_ALWAYS,
        subjects=TOKENS,
        level=Level(0.12, 4_200, 0, unlikely=0.95, likely=1.05, spread=0.06),
        questions=(
            "Will {subject} trade above ${level} {at}?",
            "Will {subject} be over ${level} {at}?",
        ),
        criteria=(
            "YES if the reference price of {subject} is above ${level} at {close}. The reference "
            "is the median of the last trades on five listed exchanges. If fewer than three "
            "report, the last full median counts."
        ),
        raises=(
            "{subject} bid up to ${reading} on heavy volume",
            "Large seller of {subject} pulls a wall of offers",
            "Payment app adds {subject} to its wallet",
            "Shorts in {subject} squeezed as funding turns",
            "Miners of {subject} hold back coins for a third day",
        ),
        lowers=(
            "{subject} slides to ${reading} as bids thin out",
            "Old wallet wakes up and sends {subject} to an exchange",
            "{subject} futures open at a discount",
            "Market maker in {subject} widens its quotes",
            "Foundation sells {subject} to pay its bills",
        ),
    ),
    Topic(
        tag="dip",
        scopes=_NOT_WEEKS,
        subjects=TOKENS,
        level=Level(0.12, 4_200, 0, unlikely=1.09, likely=1.004, spread=0.06),
        questions=(
            "Will {subject} dip below ${level} {by}?",
            "Will {subject} touch a price under ${level} {by}?",
        ),
        criteria=(
            "YES if {subject} trades below ${level} on any of the five listed exchanges before "
            "{close}. A single trade is enough. Trades cancelled by the exchange do not count."
        ),
        raises=(
            "Stop orders in {subject} go off, last trade ${reading}",
            "Lender calls in loans backed by {subject}",
            "{subject} bids vanish below the market",
            "Unlock of team coins weighs on {subject}",
        ),
        lowers=(
            "Buyers lift {subject} back to ${reading}",
            "Big resting bid shows up under {subject}",
            "{subject} treasury announces a buy-back",
            "Quiet tape: range of {subject} narrows",
        ),
    ),
    Topic(
        tag="pair",
        scopes=_NOT_WEEKS,
        subjects=TOKENS,
        questions=(
            "Will {subject} do better than {rival} {by}?",
            "Will {subject} gain on {rival} {by}?",
        ),
        criteria=(
            "YES if the reference price of {subject} has risen more, or fallen less, in per cent "
            "than that of {rival} between listing and {close}. Equal moves to two decimals are NO."
        ),
        raises=(
            "{subject} pulls ahead of {rival} on rising volume",
            "Funds rotate out of {rival} into {subject}",
            "Outage at {rival}'s main client",
            "{subject} pairs get lower fees at Tern Street",
        ),
        lowers=(
            "{rival} catches up with {subject}",
            "{rival} jumps on a listing rumour",
            "Profit-taking in {subject} after a strong week",
            "Bridge for {subject} paused for maintenance",
        ),
    ),
    Topic(
        tag="whale",
        scopes=QUICK,
        subjects=TOKENS,
        level=Level(4, 60, 1, unlikely=0.3, likely=0.98),
        questions=(
            "Will any {subject} transfer above ${level}M be confirmed {by}?",
            "Will anyone move more than ${level}M of {subject} {by}?",
        ),
        criteria=(
            "YES if one {subject} transaction worth more than ${level} million is in a confirmed "
            "block before {close}. Moves between wallets of one exchange count. The explorer's "
            "dollar value at that block decides."
        ),
        raises=(
            "Test payment from a whale wallet of {subject}",
            "${reading}M of {subject} sent in one go, more seems to follow",
            "Exchange announces a move of its {subject} cold wallet",
            "Three sleeping {subject} wallets sign a message",
        ),
        lowers=(
            "Whale splits {subject} into many small transfers",
            "Largest {subject} transfer of the hour only ${reading}M",
            "Exchange puts off moving its {subject} wallet",
            "{subject} mempool empty of large transfers",
        ),
    ),
    Topic(
        tag="fees",
        scopes=QUICK,
        subjects=TOKENS,
        level=Level(0.2, 9, 0.05, unlikely=1.9, likely=1.04),
        questions=(
            "Will the median fee on {subject} fall below ${level} {by}?",
            "Will a transfer on {subject} cost less than ${level} {by}?",
        ),
        criteria=(
            "YES if the median fee of one {subject} block mined before {close} is below ${level}. "
            "Blocks with fewer than 50 transactions are left out. The public explorer decides."
        ),
        raises=(
            "Median fee on {subject} down to ${reading}",
            "Mint on {subject} is over, blocks half empty",
            "Large pool on {subject} lowers its minimum fee",
            "Backlog on {subject} clears within ten blocks",
        ),
        lowers=(
            "Fee on {subject} climbs to ${reading}",
            "New game floods {subject} with transactions",
            "Two slow blocks in a row on {subject}",
            "Bots bid against each other for space on {subject}",
        ),
    ),
    Topic(
        tag="blocks",
        scopes=FAST,
        subjects=TOKENS,
        level=Level(1_200, 6_500, 50, unlikely=0.7, likely=0.985),
        questions=(
            "Will any {subject} block carry {level} transactions {by}?",
            "Will {subject} pack {level} transactions in one block {by}?",
        ),
        criteria=(
            "YES if a block of {subject} with {level} or more transactions is confirmed before "
            "{close}. Blocks that are later replaced do not count. The public explorer decides."
        ),
        raises=(
            "Last {subject} block held {reading} transactions",
            "Airdrop claim opens on {subject}",
            "{subject} mempool doubles within a minute",
            "Exchange starts paying out on {subject} in batches",
        ),
        lowers=(
            "{subject} blocks shrink to {reading} transactions",
            "Pool mines an empty {subject} block",
            "{subject} wallets show a delay; users wait",
            "Spam filter update reaches most {subject} nodes",
        ),
    ),
    Topic(
        tag="peg",
        scopes=DAILY,
        subjects=TOKENS,
        level=Level(0.985, 0.997, 0.001, unlikely=1.012, likely=1.002, spread=0),
        questions=(
            "Will the {subject} dollar slip below ${level} {by}?",
            "Will the {subject} dollar trade under ${level} {by}?",
        ),
        criteria=(
            "YES if the hourly mean price of the {subject} dollar is below ${level} in any full "
            "hour that ends before {close}. The mean is taken over three listed exchanges."
        ),
        raises=(
            "{subject} dollar quoted at ${reading} in thin trade",
            "Auditor of the {subject} dollar asks for more time",
            "Queue at the redemption desk of the {subject} dollar",
            "Pool of the {subject} dollar badly out of balance",
        ),
        lowers=(
            "{subject} dollar back at ${reading}",
            "Issuer of the {subject} dollar shows its treasury bills",
            "Arbitrage desks buy the {subject} dollar",
            "Redemptions of the {subject} dollar paid within minutes",
        ),
    ),
    Topic(
        tag="halt",
        scopes=DAILY,
        subjects=TOKENS,
        questions=(
            "Will the {subject} chain go ten minutes without a block {by}?",
            "Will {subject} stall for ten minutes or more {by}?",
        ),
        criteria=(
            "YES if two consecutive blocks of {subject} are stamped at least ten minutes apart and "
            "the later one is confirmed before {close}. Planned pauses count."
        ),
        raises=(
            "A third of {subject} validators on an old version",
            "{subject} block times double during the upgrade",
            "Data centre fire takes {subject} validators offline",
            "Developers ask {subject} node operators to stand by",
        ),
        lowers=(
            "Patched client runs on most {subject} nodes",
            "{subject} passes its load test without a gap",
            "Backup validators of {subject} take over",
            "Block times of {subject} steady at the target",
        ),
    ),
    Topic(
        tag="listing",
        scopes=SLOW,
        subjects=TOKENS,
        words={"venue": _VENUES},
        questions=(
            "Will {venue} list {subject} {by}?",
            "Will {subject} be tradeable on {venue} {by}?",
        ),
        criteria=(
            "YES if {venue} opens a spot market in {subject} before {close}. Announcements without "
            "trading do not count. Any quote currency will do."
        ),
        raises=(
            "{venue} opens deposits of {subject}",
            "{subject} wallet code spotted in {venue}'s app",
            "{venue} adds {subject} to its review list",
            "Legal opinion on {subject} reaches {venue}",
        ),
        lowers=(
            "{venue} pauses new listings, {subject} among them",
            "{venue} asks {subject} for another audit",
            "Regulator questions {venue} about tokens like {subject}",
            "{subject} left out of {venue}'s next batch",
        ),
    ),
    Topic(
        tag="upgrade",
        scopes=SLOW,
        subjects=TOKENS,
        words={"fork": ("Lantern", "Copperleaf", "Seventh Tide", "Greyhound", "Sandbar")},
        questions=(
            "Will {subject}'s {fork} upgrade go live {by}?",
            "Will {subject} activate {fork} {by}?",
        ),
        criteria=(
            "YES if the {fork} rules are active on the main network of {subject} before {close}. "
            "Activation on test networks does not count. A renamed upgrade counts if its core "
            "change is the same."
        ),
        raises=(
            "{fork} runs a week on {subject}'s test network without a fault",
            "{subject} core team sets a block number for {fork}",
            "Largest {subject} pool signals for {fork}",
            "Last open review of {subject}'s {fork} is closed",
        ),
        lowers=(
            "Bug in {fork} sends {subject}'s developers back",
            "{subject} call ends without a date for {fork}",
            "Wallet makers ask {subject} to delay {fork}",
            "Two {subject} clients disagree over a {fork} block",
        ),
    ),
    Topic(
        tag="deposits",
        scopes=SLOW,
        subjects=TOKENS,
        level=Level(40, 900, 5, unlikely=0.8, likely=0.985),
        words={"protocol": ("Quay", "Lockgate", "Orchard", "Tollhouse", "Millpond")},
        questions=(
            "Will deposits in {protocol} on {subject} pass ${level}M {by}?",
            "Will {protocol} on {subject} hold over ${level}M {by}?",
        ),
        criteria=(
            "YES if the public dashboard shows more than ${level} million deposited in {protocol} "
            "on {subject} at any daily close before {close}. Borrowed amounts are not deducted."
        ),
        raises=(
            "{protocol} on {subject} holds ${reading}M",
            "{protocol} doubles its rewards on {subject}",
            "Insurance fund covers {protocol} on {subject}",
            "Treasury of a rival protocol moves to {protocol} on {subject}",
        ),
        lowers=(
            "Withdrawals leave {protocol} on {subject} at ${reading}M",
            "{protocol} cuts its rate for {subject}",
            "Price feed of {protocol} on {subject} lags, users nervous",
            "Audit lists two findings in {protocol} on {subject}",
        ),
    ),
    Topic(
        tag="record",
        scopes=WEEKS,
        subjects=TOKENS,
        level=Level(0.3, 6_200, 0, unlikely=0.72, likely=0.98, spread=0.05),
        questions=(
            "Will {subject} set a new high above ${level} {by}?",
            "Will {subject} break its record of ${level} {by}?",
        ),
        criteria=(
            "YES if {subject} trades above ${level} on at least two of the five listed exchanges "
            "before {close}. The two trades may be on different days. Wicks on one exchange alone "
            "are NO."
        ),
        raises=(
            "{subject} at ${reading}, its record in sight",
            "Pension fund discloses a first stake in {subject}",
            "Supply of {subject} on exchanges lowest in a year",
            "{subject} cleared as collateral by a clearing house",
        ),
        lowers=(
            "{subject} back at ${reading}, further from its record",
            "Tax plan hits holders of {subject}",
            "Early backers of {subject} free to sell",
            "Rally in {subject} fades on low volume",
        ),
    ),
    Topic(
        tag="governance",
        scopes=DAILY,
        subjects=TOKENS,
        level=Level(50, 50, 0.1, unlikely=0.82, likely=1.18, spread=0),
        words={"plan": ("fee burn", "grant budget", "validator cap", "treasury swap", "inflation")},
        questions=(
            "Will {subject} holders approve the {plan} vote {by}?",
            "Will {subject}'s {plan} vote pass {by}?",
        ),
        criteria=(
            "YES if the {plan} vote of {subject} holders ends before {close} with more coins for "
            "than against and the quorum met. Votes changed at the last minute count as last cast."
        ),
        raises=(
            "{subject} {plan} vote: {reading}% in favour so far",
            "Largest delegate of {subject} votes for the {plan}",
            "Quorum within reach in {subject}'s {plan} vote",
            "Critics of {subject}'s {plan} agree to a compromise",
        ),
        lowers=(
            "{subject} {plan} vote: in favour now {reading}%",
            "Exchange votes its {subject} against the {plan}",
            "Quorum in doubt for {subject}'s {plan} vote",
            "Founder of {subject} comes out against the {plan}",
        ),
    ),
)
"""Topics of Category.CRYPTO."""
