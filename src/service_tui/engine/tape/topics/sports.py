"""Questions about matches, races and transfers of clubs and players that do not exist."""

from typing import Final

from service_tui.engine.tape.topics.names import BANDS, CLUBS, PLAYERS, TOWNS
from service_tui.engine.tape.topics.topic import (
    DAILY,
    DAYS,
    FAST,
    HOURLY,
    QUICK,
    SLOW,
    WEEKS,
    Level,
    Topic,
)

SPORTS: Final = (
    Topic(
        tag="football",
        scopes=FAST,
        subjects=CLUBS,
        questions=(
            "Will {subject} score against {rival} {by}?",
            "Will {rival} concede to {subject} {by}?",
        ),
        criteria=(
            "YES if the match centre credits {subject} with at least one goal between listing and "
            "{close}. Own goals by {rival} count for {subject}. If play stops for good, the market "
            "is NO."
        ),
        raises=(
            "{subject} win their third corner in a row against {rival}",
            "{rival} down to ten after a second yellow card",
            "{subject} hit the post; {rival} cannot clear their lines",
            "Penalty check under way for {subject}",
            "{rival}'s keeper needs treatment after a collision",
        ),
        lowers=(
            "{subject} lose their striker to a knee injury",
            "{rival} put eleven behind the ball and slow the game",
            "Goal by {subject} ruled out for offside",
            "{rival} hold the ball at {subject}'s corner flag",
            "Double save keeps {subject} out",
        ),
    ),
    Topic(
        tag="tennis",
        scopes=QUICK,
        subjects=PLAYERS,
        questions=(
            "Will {subject} break {rival}'s serve {by}?",
            "Will {subject} take a service game off {rival} {by}?",
        ),
        criteria=(
            "YES if {subject} wins at least one game on {rival}'s serve between listing and "
            "{close}, as scored by the umpire. Tie-breaks do not count. A retirement by {rival} is "
            "NO."
        ),
        raises=(
            "{rival} double-faults twice: break points for {subject}",
            "{rival} calls the physio for a shoulder",
            "{subject} reads the second serve of {rival} better and better",
            "Wind picks up on court and troubles {rival}'s ball toss",
        ),
        lowers=(
            "{rival} serves four aces in one game against {subject}",
            "{subject} wastes three break points",
            "Roof closed: faster court helps the serve of {rival}",
            "{subject} slips at the baseline and limps to the chair",
        ),
    ),
    Topic(
        tag="darts",
        scopes=FAST,
        subjects=PLAYERS,
        questions=(
            "Will {subject} throw a 180 against {rival} {by}?",
            "Will {subject} hit a maximum against {rival} {by}?",
        ),
        criteria=(
            "YES if {subject} scores 180 with three darts between listing and {close}, as called "
            "by the referee. Throws of {rival} do not count. Practice throws do not count."
        ),
        raises=(
            "{subject} opens the leg with 140 and 140",
            "{subject}'s first two darts sit in the treble again",
            "Crowd stamps its feet: {subject} averages 104 against {rival}",
            "{rival} misses doubles; the leg goes on for {subject}",
        ),
        lowers=(
            "{subject} drifts to the five twice in a row",
            "{rival} closes the leg in twelve darts",
            "{subject} steps off the board and changes flights",
            "Break called on stage after a spilled drink near {subject}",
        ),
    ),
    Topic(
        tag="basketball",
        scopes=QUICK,
        subjects=CLUBS,
        words={"guard": ("point guard", "centre", "captain", "sixth man")},
        questions=(
            "Will {subject} lead {rival} {at}?",
            "Will {subject} be ahead of {rival} {at}?",
        ),
        criteria=(
            "YES if {subject} have more points than {rival} on the official scoreboard at {close}. "
            "A level score is NO. If the game has ended, the final score decides."
        ),
        raises=(
            "{subject} answer with a 9-0 run against {rival}",
            "Fourth foul for {rival}'s {guard}",
            "{subject}'s {guard} back on the floor",
            "{rival} call their last time-out to stop {subject}",
        ),
        lowers=(
            "{rival} sink three from the corner in a row",
            "{subject}'s {guard} heads to the bench with a twisted ankle",
            "{rival} win every rebound under {subject}'s board",
            "Technical foul against {subject}'s bench",
        ),
    ),
    Topic(
        tag="cup",
        scopes=DAILY,
        subjects=CLUBS,
        questions=(
            "Will {subject} knock {rival} out of the cup {by}?",
            "Will {subject} beat {rival} in the cup {by}?",
        ),
        criteria=(
            "YES if {subject} go through against {rival} before {close}, extra time and penalties "
            "included. A walkover counts. A match that is not finished by then is NO."
        ),
        raises=(
            "{rival} rest five regulars for the tie with {subject}",
            "{subject} sell out their end; a special ferry is laid on",
            "First-choice keeper of {rival} fails a late fitness test",
            "{subject}'s captain trains without a bandage",
        ),
        lowers=(
            "Fever in the {subject} squad before the tie",
            "{rival} get their top scorer back from suspension",
            "Heavy pitch suits {rival}, says {subject}'s coach",
            "{subject}'s team bus stuck behind a landslip",
        ),
    ),
    Topic(
        tag="goals",
        scopes=HOURLY,
        subjects=CLUBS,
        level=Level(2, 5, 1, unlikely=1, likely=1, spread=0.2),
        questions=(
            "Will {subject} v {rival} have {level} goals or more {by}?",
            "Will {subject} v {rival} bring at least {level} goals {by}?",
        ),
        criteria=(
            "YES if {subject} and {rival} have scored {level} or more goals together before "
            "{close}. Goals from the start of the match count, extra time included, shoot-outs "
            "not."
        ),
        raises=(
            "Early goal in {subject} v {rival} opens the game up",
            "{rival} switch to three forwards against {subject}",
            "Both centre-halves of {subject} booked",
            "Rain makes the ball skid at {subject} v {rival}",
        ),
        lowers=(
            "{subject} bring on a fifth defender against {rival}",
            "Swirling wind spoils the passing at {subject} v {rival}",
            "Both keepers save one-on-ones in {subject} v {rival}",
            "{rival}'s playmaker taken off against {subject}",
        ),
    ),
    Topic(
        tag="cycling",
        scopes=DAILY,
        subjects=TOWNS,
        level=Level(4, 4, 0.1, unlikely=0.2, likely=1.8, spread=0),
        questions=(
            "Will a breakaway rider win the stage to {subject} {by}?",
            "Will the break survive on the road to {subject} {by}?",
        ),
        criteria=(
            "YES if the stage to {subject} is won before {close} by a rider who was ahead of the "
            "main field with 20 km to go. Race radio decides who was ahead. A stage cut short on "
            "the road is NO."
        ),
        raises=(
            "Gap of {reading} minutes on the road to {subject}",
            "Sprinters' teams look at each other on the way to {subject}",
            "Crosswind splits the field before {subject}",
            "Leaders work well together on the climb above {subject}",
        ),
        lowers=(
            "Field closes to {reading} minutes before {subject}",
            "Puncture in the leading group outside {subject}",
            "Two teams take up the chase towards {subject}",
            "Headwind on the last straight into {subject}",
        ),
    ),
    Topic(
        tag="chess",
        scopes=DAILY,
        subjects=PLAYERS,
        questions=(
            "Will {subject} v {rival} end in a draw {by}?",
            "Will {subject} and {rival} split the point {by}?",
        ),
        criteria=(
            "YES if the game between {subject} and {rival} is drawn before {close} by agreement, "
            "repetition or rule. An adjourned or unfinished game is NO. The arbiter's sheet "
            "decides."
        ),
        raises=(
            "Queens are off in {subject} v {rival}",
            "Engines call it level after move 31 of {subject} v {rival}",
            "{rival} offers a draw; {subject} thinks for ten minutes",
            "Opposite bishops on the board of {subject} and {rival}",
        ),
        lowers=(
            "{subject} sacrifices a knight on the king's wing",
            "{rival} has four minutes left for fifteen moves",
            "Sharp opening: {subject} v {rival} leaves theory on move 9",
            "A free pawn on the sixth rank for {subject}",
        ),
    ),
    Topic(
        tag="track",
        scopes=DAILY,
        subjects=TOWNS,
        level=Level(14.2, 18.4, 0.1, unlikely=1.05, likely=1.004, spread=0.01),
        questions=(
            "Will anyone lap the {subject} velodrome in under {level} s {by}?",
            "Will a flying lap at {subject} dip under {level} s {by}?",
        ),
        criteria=(
            "YES if the timekeepers at {subject} velodrome record a flying lap below {level} "
            "seconds before {close}. Training laps with official timing count. Wind-assisted laps "
            "do not exist indoors."
        ),
        raises=(
            "Fastest lap at {subject} so far: {reading} s",
            "Warm, thin air in the {subject} velodrome: riders smile",
            "Favourite changes to a bigger gear at {subject}",
            "Track at {subject} swept and dried for the evening session",
        ),
        lowers=(
            "Best of the session at {subject} only {reading} s",
            "Favourite at {subject} sits out the second run",
            "Doors left open: cold air slows the boards at {subject}",
            "Crash in the third bend at {subject} delays the runs",
        ),
    ),
    Topic(
        tag="tickets",
        scopes=DAYS,
        subjects=CLUBS,
        level=Level(9_000, 58_000, 500, unlikely=0.82, likely=1.06),
        questions=(
            "Will {subject} sell {level} tickets for their home match {by}?",
            "Will {level} people buy tickets to see {subject} {by}?",
        ),
        criteria=(
            "YES if {subject} announce {level} or more tickets sold for their next home match "
            "before {close}. Season tickets count once. Free tickets for schools do not count."
        ),
        raises=(
            "{subject} on course to sell {reading} tickets",
            "Away fans ask {subject} for a second block",
            "{subject}'s derby win brings a rush to the ticket office",
            "Sunshine forecast for {subject}'s home match",
        ),
        lowers=(
            "At this pace {subject} will sell {reading} tickets",
            "Kick-off of {subject}'s home match moved to Monday night",
            "{subject} close the east stand for repairs",
            "Supporters of {subject} call for a boycott over prices",
        ),
    ),
    Topic(
        tag="coach",
        scopes=SLOW,
        subjects=CLUBS,
        questions=(
            "Will {subject} part with their head coach {by}?",
            "Will {subject} have a new head coach {by}?",
        ),
        criteria=(
            "YES if {subject} announce before {close} that their head coach leaves, whoever wanted "
            "it. A caretaker counts as a new coach. Suspensions by the league are NO."
        ),
        raises=(
            "{subject} board called to an extra meeting",
            "Players of {subject} complain about training, radio says",
            "Fourth defeat in a row for {subject}",
            "Coach of {subject} leaves the press room after one question",
        ),
        lowers=(
            "{subject} chair: we will not change coach in mid-season",
            "Late winner gives {subject}'s coach breathing space",
            "{subject} let the coach choose two new players",
            "Captain of {subject}: the dressing room backs the coach",
        ),
    ),
    Topic(
        tag="squad",
        scopes=DAYS,
        subjects=CLUBS,
        words={"injury": ("hamstring", "knee", "shoulder", "ankle", "calf")},
        questions=(
            "Will {subject}'s captain return from {injury} trouble {by}?",
            "Will {subject} name their injured captain in the squad {by}?",
        ),
        criteria=(
            "YES if {subject} name their captain in a match squad before {close}. A place on the "
            "bench is enough. Friendly matches do not count."
        ),
        raises=(
            "Captain of {subject} back in full training",
            "Scan shows the {injury} healed, {subject} say",
            "{subject} physio: a place on the bench is possible",
            "Captain of {subject} seen running stairs without tape",
        ),
        lowers=(
            "Captain of {subject} stops training after ten minutes",
            "{subject} will not rush their captain's {injury}",
            "{subject} sign a stand-in for their captain",
            "Second opinion sought on the {injury} of {subject}'s captain",
        ),
    ),
    Topic(
        tag="transfer",
        scopes=SLOW,
        subjects=CLUBS,
        words={"role": ("goalkeeper", "centre-half", "left winger", "playmaker", "striker")},
        questions=(
            "Will {subject} sign a new {role} {by}?",
            "Will {subject} announce a {role} {by}?",
        ),
        criteria=(
            "YES if {subject} announce the signing of a {role} before {close}, on loan or for "
            "good. Youth contracts do not count. The position named in the club's own statement "
            "decides."
        ),
        raises=(
            "A {role} lands at the airport with {subject}'s sporting director",
            "{subject} agree a fee for their {role}",
            "{subject} clear shirt number for a {role}, shop leaks",
            "Medical booked: {subject} close in on a {role}",
        ),
        lowers=(
            "{subject}'s first choice as {role} extends elsewhere",
            "Bank asks {subject} for a new guarantee",
            "{subject} promote a {role} from the youth team",
            "Talks over a {role} stall, {subject} say",
        ),
    ),
    Topic(
        tag="league",
        scopes=WEEKS,
        subjects=CLUBS,
        words={"league": ("Northern League", "Coastal Division", "Lakes Championship")},
        questions=(
            "Will {subject} top the {league} {at}?",
            "Will {subject} be first in the {league} {at}?",
        ),
        criteria=(
            "YES if {subject} stand first in the published table of the {league} at {close}. Goal "
            "difference separates level teams. Matches under protest count as played."
        ),
        raises=(
            "{subject} win away and go two points clear",
            "Rivals of {subject} drop points at home",
            "{subject}'s match in hand moved forward",
            "League rejects the protest against {subject}",
        ),
        lowers=(
            "{subject} held at home in the last minute",
            "Points deduction for {subject} under review",
            "Chasing pack behind {subject} wins across the board",
            "{subject}'s top scorer out for the month",
        ),
    ),
    Topic(
        tag="sailing",
        scopes=WEEKS,
        subjects=BANDS,
        level=Level(30, 30, 1, unlikely=0.1, likely=1.9, spread=0),
        questions=(
            'Will the yacht "{subject}" lead the ocean race {at}?',
            'Will "{subject}" be ahead in the ocean race {at}?',
        ),
        criteria=(
            'YES if "{subject}" has the smallest distance to the finish in the last position '
            "report before {close}. Yachts that retired are left out. A tie within one mile is NO."
        ),
        raises=(
            '"{subject}" finds the trade wind: {reading} miles made on the fleet in a day',
            'Leader ahead of "{subject}" loses a spinnaker',
            '"{subject}" takes the inside of the low',
            'Skipper of "{subject}": boat in one piece, crew rested',
        ),
        lowers=(
            '"{subject}" parked in a calm, the fleet sails around it',
            'Rudder trouble on board "{subject}"',
            '"{subject}" picks the wrong side of the high',
            'Jury gives "{subject}" a two-hour penalty',
        ),
    ),
)
"""Topics of Category.SPORTS."""
