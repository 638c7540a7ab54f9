"""Questions about assemblies, councils, counts and pacts of places that do not exist."""

from typing import Final

from service_tui.engine.tape.topics.names import REGIONS, TOWNS
from service_tui.engine.tape.topics.topic import DAILY, FAST, QUICK, SLOW, WEEKS, Level, Topic

POLITICS: Final = (
    Topic(
        tag="referendum",
        scopes=QUICK,
        subjects=REGIONS,
        level=Level(50, 50, 0.1, unlikely=0.93, likely=1.07, spread=0),
        words={"district": ("harbour", "river", "hill", "university", "mining", "northern")},
        questions=(
            "Will Yes lead the {subject} referendum count {at}?",
            "Will the Yes side be ahead in {subject}'s referendum count {at}?",
        ),
        criteria=(
            "YES if the last running count that the electoral office of {subject} published before "
            "{close} shows more Yes than No ballots. An exact tie is NO. Postal ballots count from "
            "the moment the office adds them."
        ),
        raises=(
            "{subject} count: Yes climbs to {reading}% as the {district} boxes report",
            "Late postal ballots in {subject} break towards Yes",
            "Observers in {subject}: most unopened boxes are from Yes country",
            "No campaign in {subject} drops its request for a recount",
        ),
        lowers=(
            "{subject} count: Yes share slips to {reading}% after the {district} boxes",
            "A bundle of 4,000 No ballots is added to the {subject} tally",
            "Turnout in Yes strongholds of {subject} was below the last vote",
            "{subject} electoral office sets aside disputed Yes ballots",
        ),
    ),
    Topic(
        tag="council",
        scopes=QUICK,
        subjects=TOWNS,
        words={
            "measure": (
                "night tram budget",
                "harbour levy",
                "market square plan",
                "cycle bridge loan",
                "quiet streets order",
                "flood wall contract",
                "heat network tender",
                "school meals scheme",
                "library hours motion",
            )
        },
        questions=(
            "Will {subject} council pass the {measure} {by}?",
            "Will the {measure} get through {subject} council {by}?",
        ),
        criteria=(
            "YES if the clerk of {subject} council records a majority for the {measure} before "
            "{close}. Amended versions count as long as the title stays. A motion that is "
            "postponed, withdrawn or tied is NO."
        ),
        raises=(
            "Two undecided councillors in {subject} will back the {measure}",
            "{subject} treasurer signs off the figures for the {measure}",
            "Costs amendment carried in {subject}: the {measure} moves to a vote",
            "Opposition benches in {subject} thin out before the {measure} is called",
        ),
        lowers=(
            "Quorum in doubt in {subject} as members leave the chamber",
            "{subject}: nine late amendments tabled to the {measure}",
            "A member of {subject}'s majority comes out against the {measure}",
            "Auditor questions what the {measure} would cost {subject}",
        ),
    ),
    Topic(
        tag="recess",
        scopes=FAST,
        subjects=REGIONS,
        questions=(
            "Will the {subject} assembly go into recess {by}?",
            "Will the speaker call a recess in {subject} {by}?",
        ),
        criteria=(
            "YES if the speaker of the {subject} assembly suspends or adjourns the sitting before "
            "{close}, as shown in the live record. A pause of the broadcast alone does not count."
        ),
        raises=(
            "Whips in {subject} ask for a pause to count heads",
            "Speaker of {subject} confers with the clerks at the table",
            "Uproar in {subject}: the speaker warns the benches a second time",
            "Stewards open the members' tea room in {subject}",
        ),
        lowers=(
            "{subject} assembly moves straight on to the next item",
            "Speaker of {subject} rules out a break before the vote",
            "Three more members put their names down to speak in {subject}",
            "Motion to adjourn voted down in {subject}",
        ),
    ),
    Topic(
        tag="division",
        scopes=FAST,
        subjects=REGIONS,
        level=Level(6, 34, 1, unlikely=0.2, likely=1.8),
        questions=(
            "Will the government of {subject} win a division by {level} votes {by}?",
            "Will a division in {subject} be carried by {level} votes or more {by}?",
        ),
        criteria=(
            "YES if the assembly of {subject} carries any division by {level} votes or more before "
            "{close}. The tellers' figure, as read out by the speaker, decides. Voice votes do not "
            "count."
        ),
        raises=(
            "Tellers in {subject} put the government's margin near {reading}",
            "Small-holders' group in {subject} crosses to the government lobby",
            "{subject} opposition lets its members vote as they please",
            "Full attendance on the government side in {subject}",
        ),
        lowers=(
            "Whips' tally in {subject} points to a margin of about {reading}",
            "Five government members in {subject} are paired and will not vote",
            "Rebels in {subject} gather in the opposition lobby",
            "{subject} clerk: the next division may be by voice only",
        ),
    ),
    Topic(
        tag="turnout",
        scopes=DAILY,
        subjects=REGIONS,
        level=Level(43, 76, 1, unlikely=0.86, likely=1.1),
        questions=(
            "Will turnout in {subject} reach {level}% {by}?",
            "Will {subject} report {level}% turnout or more {by}?",
        ),
        criteria=(
            "YES if the electoral commission of {subject} reports a turnout of at least {level}% "
            "of registered voters before {close}. The first bulletin at or above that figure "
            "decides; later corrections are ignored."
        ),
        raises=(
            "{subject} bulletin: turnout heading for {reading}%",
            "Queues around the block at polling stations in {subject}",
            "{subject} keeps polling stations open an hour longer",
            "Ferries to the outer isles of {subject} carry voters for free",
        ),
        lowers=(
            "{subject} bulletin: at this pace turnout ends near {reading}%",
            "Heavy rain empties the polling stations of {subject}",
            "Lunchtime lull in {subject} longer than at the last election",
            "Printing error holds up voting in two towns of {subject}",
        ),
    ),
    Topic(
        tag="petition",
        scopes=DAILY,
        subjects=TOWNS,
        level=Level(8_000, 90_000, 500, unlikely=0.75, likely=1.15),
        words={
            "cause": (
                "save the night ferry",
                "reopen the old baths",
                "ban leaf blowers",
                "bring back the trams",
                "keep the clock tower lit",
                "free the river path",
                "plant a town forest",
            )
        },
        questions=(
            'Will the {subject} petition to "{cause}" reach {level} names {by}?',
            'Will {level} people in {subject} sign to "{cause}" {by}?',
        ),
        criteria=(
            "YES if the public counter of the petition shows {level} or more valid signatures "
            "before {close}. The counter of {subject} town hall decides; names struck out after "
            "that time do not matter."
        ),
        raises=(
            '"{cause}": {subject} petition on course for {reading} names',
            "A choir sings for the {subject} petition in front of the town hall",
            "Local radio in {subject} reads out the petition every hour",
            "Market traders in {subject} put the petition on every stall",
        ),
        lowers=(
            '"{cause}": at this pace the {subject} list ends near {reading}',
            "{subject} town hall strikes out doubled signatures",
            "Counter-petition launched in {subject}",
            "Petition site in {subject} slow to load all morning",
        ),
    ),
    Topic(
        tag="bill",
        scopes=SLOW,
        subjects=REGIONS,
        words={
            "bill": (
                "ferry subsidy bill",
                "clean rivers act",
                "rent register bill",
                "data trust act",
                "wind coast bill",
                "small brewers act",
                "four-day school bill",
                "seed bank act",
                "night work bill",
            )
        },
        questions=(
            "Will {subject} pass the {bill} {by}?",
            "Will the {bill} clear both houses in {subject} {by}?",
        ),
        criteria=(
            "YES if both houses of {subject} have passed the {bill} in the same wording by "
            "{close}, according to the official gazette. Assent by the head of state is not "
            "needed. A bill merged into another one counts if its title survives."
        ),
        raises=(
            "Committee in {subject} sends the {bill} to the floor, 11 to 4",
            "Farmers' party of {subject} ends its resistance to the {bill}",
            "{subject} government gives the {bill} priority this session",
            "Compromise on costs: {subject} upper house warms to the {bill}",
        ),
        lowers=(
            "{subject} committee asks for a second hearing on the {bill}",
            "Coalition partner in {subject} wants the {bill} rewritten",
            "Budget office of {subject} doubles its estimate for the {bill}",
            "{subject} moves the {bill} down the order paper",
        ),
    ),
    Topic(
        tag="cabinet",
        scopes=SLOW,
        subjects=REGIONS,
        words={
            "portfolio": ("transport", "fisheries", "energy", "education", "finance", "housing")
        },
        questions=(
            "Will {subject}'s {portfolio} minister leave office {by}?",
            "Will {subject} have a new {portfolio} minister {by}?",
        ),
        criteria=(
            "YES if the {portfolio} minister of {subject} resigns, is dismissed or changes post "
            "before {close}. An announcement by the chancellery is enough, even if it takes effect "
            "later. Sick leave is NO."
        ),
        raises=(
            "Second aide of {subject}'s {portfolio} minister quits",
            "{subject} coalition partner: no confidence in the {portfolio} minister",
            "Invoices in {subject}: the {portfolio} ministry asked to explain",
            "{subject}'s premier declines to back the {portfolio} minister",
        ),
        lowers=(
            "{subject}'s premier: the {portfolio} minister stays",
            "Inquiry clears the {portfolio} ministry of {subject}",
            "{subject} opposition shelves its motion against the {portfolio} minister",
            "{portfolio} minister of {subject} given a seat on the budget board",
        ),
    ),
    Topic(
        tag="poll",
        scopes=SLOW,
        subjects=REGIONS,
        level=Level(36, 54, 1, unlikely=0.9, likely=1.06, spread=0.06),
        questions=(
            "Will any poll put {subject}'s coalition at {level}% or more {by}?",
            "Will {subject}'s governing coalition poll {level}% {by}?",
        ),
        criteria=(
            "YES if one of the four listed pollsters of {subject} publishes a national poll before "
            "{close} with the coalition parties at {level}% or more together. Shares are added as "
            "printed, without rounding again."
        ),
        raises=(
            "New {subject} poll: coalition at {reading}%",
            "Tax rebate lands well with voters in {subject}",
            "{subject}'s opposition splits over the ferry question",
            "Panel survey in {subject}: undecided voters drift to the coalition",
        ),
        lowers=(
            "{subject} poll of the week: coalition at {reading}%",
            "Row over rail fares costs the coalition support in {subject}",
            "{subject}'s new centre list takes two points from the coalition",
            "Weekly tracker in {subject}: third fall in a row for the coalition",
        ),
    ),
    Topic(
        tag="coalition",
        scopes=SLOW,
        subjects=REGIONS,
        questions=(
            "Will coalition talks in {subject} end in a deal {by}?",
            "Will the parties of {subject} sign a coalition paper {by}?",
        ),
        criteria=(
            "YES if at least two parties with a majority in {subject}'s parliament sign a "
            "coalition agreement before {close}. Initialled drafts do not count. Votes of party "
            "members afterwards do not matter."
        ),
        raises=(
            "{subject} negotiators settle the energy chapter",
            "Leaders in {subject} cancel their weekend to finish the text",
            "Greens of {subject} drop their demand for the finance post",
            "Draft of the {subject} deal sent to the party boards",
        ),
        lowers=(
            "{subject} talks break up early over pensions",
            "Party board in {subject} sends the draft back",
            "Liberals of {subject} walk out of the transport group",
            "{subject}'s president grants the parties more time",
        ),
    ),
    Topic(
        tag="strike",
        scopes=DAILY,
        subjects=TOWNS,
        words={"crew": ("ferry crews", "tram drivers", "dock workers", "teachers", "bakers")},
        questions=(
            "Will the {subject} {crew} call off their strike {by}?",
            "Will {subject}'s {crew} be back at work {by}?",
        ),
        criteria=(
            "YES if the union of the {subject} {crew} announces the end or suspension of the "
            "strike before {close}. A truce of at least one full shift counts. A court order alone "
            "is NO."
        ),
        raises=(
            "Mediator in {subject}: both sides are back at the table",
            "{subject} employers add a fifth holiday week to their offer",
            "{crew} in {subject} to vote on the new offer",
            "Pickets in {subject} shrink to a single gate",
        ),
        lowers=(
            "{crew} of {subject} turn down the night-shift clause",
            "Strike fund in {subject} topped up by a sister union",
            "{subject} employers leave the talks without a date",
            "Second depot in {subject} joins the walkout",
        ),
    ),
    Topic(
        tag="treaty",
        scopes=WEEKS,
        subjects=REGIONS,
        words={
            "pact": (
                "fisheries pact",
                "grid agreement",
                "border rail treaty",
                "visa accord",
                "river water treaty",
            )
        },
        questions=(
            "Will {subject} and {rival} sign the {pact} {by}?",
            "Will {subject} seal the {pact} with {rival} {by}?",
        ),
        criteria=(
            "YES if ministers of {subject} and {rival} sign the {pact} before {close}. A signature "
            "by exchange of letters counts. Ratification is not needed."
        ),
        raises=(
            "{subject} and {rival} agree on who pays for the {pact}",
            "Translators in {rival} start on the final text of the {pact}",
            "Date for a meeting of ministers of {subject} and {rival} is set",
            "{rival}'s parliament gives its envoy a mandate for the {pact}",
        ),
        lowers=(
            "{rival} reopens the annex on tolls in the {pact}",
            "{subject}'s envoy called home from the {pact} talks",
            "Fishermen block the harbour in protest at the {subject} pact",
            "{subject}'s court wants to look at the {pact} first",
        ),
    ),
)
"""Topics of Category.POLITICS."""
