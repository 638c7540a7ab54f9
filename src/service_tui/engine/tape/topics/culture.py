"""Questions about stages, auctions, charts and screens that do not exist."""

from typing import Final

from service_tui.engine.tape.topics.names import BANDS, PLAYERS, TITLES, TOWNS
from service_tui.engine.tape.topics.topic import DAILY, DAYS, FAST, QUICK, SLOW, WEEKS, Level, Topic

CULTURE: Final = (
    Topic(
        tag="stream",
        scopes=QUICK,
        subjects=BANDS,
        level=Level(6_000, 240_000, 0, unlikely=0.82, likely=1.12),
        questions=(
            "Will {subject}'s live stream have {level} viewers {at}?",
            "Will {level} people watch {subject} live {at}?",
        ),
        criteria=(
            "YES if the counter on the live stream of {subject} shows {level} or more viewers at "
            "{close}. If the stream has ended by then, the market is NO. A frozen counter is read "
            "one minute later."
        ),
        raises=(
            "{subject} stream at {reading} viewers",
            "Surprise guest joins {subject} on stage",
            "Clip of {subject}'s opening song spreads fast",
            "Platform puts {subject} on its front page",
        ),
        lowers=(
            "{subject} stream at {reading} viewers, some leave",
            "Sound drops out on {subject}'s stream",
            "{subject} play a long new song nobody knows",
            "Rival concert starts while {subject} tune up",
        ),
    ),
    Topic(
        tag="auction",
        scopes=QUICK,
        subjects=TOWNS,
        level=Level(900, 64_000, 0, unlikely=0.6, likely=0.97),
        words={
            "lot": (
                "brass orrery",
                "signed manuscript",
                "ship's clock",
                "silk kimono",
                "tin robot",
                "portrait of a lady",
                "walnut cello",
                "box of letters",
                "amber chess set",
            )
        },
        questions=(
            "Will the {lot} at the {subject} sale fetch ${level} {by}?",
            "Will bids for the {lot} in {subject} reach ${level} {by}?",
        ),
        criteria=(
            "YES if a bid of ${level} or more for the {lot} is accepted in {subject} before "
            "{close}. The hammer price without premium decides. A withdrawn lot is NO."
        ),
        raises=(
            "Bidding on the {lot} in {subject} at ${reading}",
            "Two telephones compete for the {lot} in {subject}",
            "Museum seen in the room for {subject}'s {lot}",
            "Expert confirms the origin of the {lot} in {subject}",
        ),
        lowers=(
            "{lot} in {subject} pauses at ${reading}",
            "A telephone bidder gives up on {subject}'s {lot}",
            "Crack found in the {lot}, {subject} house admits",
            "Half-empty room in {subject} as the {lot} comes up",
        ),
    ),
    Topic(
        tag="stage",
        scopes=QUICK,
        subjects=BANDS,
        questions=(
            "Will {subject} be on stage {by}?",
            "Will {subject} start their set {by}?",
        ),
        criteria=(
            "YES if {subject} have begun their first song before {close}, as seen on the festival "
            "camera. Sound checks and greetings do not count."
        ),
        raises=(
            "Roadies of {subject} leave the stage, lights go down",
            "{subject} seen walking from the tour bus",
            "Support act plays its last song before {subject}",
            "Intro tape of {subject} heard over the speakers",
        ),
        lowers=(
            "Drum kit of {subject} still in its cases",
            "Festival moves {subject} back behind the fireworks",
            "Guitar tech of {subject} swaps an amplifier",
            "Shower over the field: covers on {subject}'s stage",
        ),
    ),
    Topic(
        tag="clip",
        scopes=QUICK,
        subjects=TITLES,
        level=Level(80_000, 4_500_000, 0, unlikely=0.8, likely=1.1),
        questions=(
            'Will the trailer of "{subject}" pass {level} views {by}?',
            'Will "{subject}" get to {level} trailer views {by}?',
        ),
        criteria=(
            'YES if the official trailer of "{subject}" shows {level} or more views before '
            "{close}. Copies by others do not count. The counter as displayed decides, rounding "
            "included."
        ),
        raises=(
            '"{subject}" trailer takes off, on course for {reading} views',
            'Lead actor posts about "{subject}"',
            'A dance from "{subject}" is being copied everywhere',
            '"{subject}" trailer recommended to all of the platform',
        ),
        lowers=(
            '"{subject}" trailer cools, on course for {reading} views',
            'Studio pulls the trailer of "{subject}" for a subtitle error',
            'Views of "{subject}" corrected for bots',
            'Bigger premiere takes the spotlight off "{subject}"',
        ),
    ),
    Topic(
        tag="quiz",
        scopes=FAST,
        subjects=PLAYERS,
        level=Level(9, 9, 1, unlikely=0.5, likely=1.5, spread=0),
        questions=(
            "Will {subject} still be in the quiz final {at}?",
            "Will {subject} survive the quiz round that ends {at}?",
        ),
        criteria=(
            "YES if {subject} has not been eliminated from the live quiz final by {close}. A tie "
            "that is still being played counts as surviving. The host's word decides."
        ),
        raises=(
            "{subject} answers on opera without blinking",
            "{subject} at {reading} points, still has both jokers",
            "Favourite falls over a geography question; {subject} moves up",
            "Host: {subject} fastest on the buzzer tonight",
        ),
        lowers=(
            "{subject} uses the last joker",
            "{subject} stuck at {reading} points",
            "Wrong flag: {subject} drops to the bottom of the table",
            "Sudden-death round announced for {subject}",
        ),
    ),
    Topic(
        tag="show",
        scopes=DAILY,
        subjects=PLAYERS,
        words={"show": ("Stars on Stilts", "Big Kiln", "Song Harbour", "Nation of Bakers")},
        questions=(
            'Will {subject} survive the next "{show}" vote {by}?',
            'Will {subject} stay in "{show}" {by}?',
        ),
        criteria=(
            'YES if {subject} is announced before {close} as staying in "{show}". Withdrawal for '
            "any reason is NO. If no vote is announced by then, the market is NO."
        ),
        raises=(
            '"{show}" jury gives {subject} full marks in rehearsal',
            'Bookings for {subject} fan buses to "{show}" double',
            '{subject} tops the early app vote of "{show}"',
            'Rival of {subject} in "{show}" pulls a muscle',
        ),
        lowers=(
            '{subject} forgets the words in the "{show}" rehearsal',
            '"{show}" jury splits over {subject}',
            '{subject} near the bottom of the "{show}" app vote',
            'Old interview haunts {subject} before "{show}"',
        ),
    ),
    Topic(
        tag="festival",
        scopes=DAILY,
        subjects=TOWNS,
        level=Level(94, 94, 0.1, unlikely=0.88, likely=1.05, spread=0),
        words={"art": ("jazz", "kite", "puppet", "poetry", "organ", "street food")},
        questions=(
            "Will the {subject} {art} festival sell out {by}?",
            "Will tickets for {subject}'s {art} festival run out {by}?",
        ),
        criteria=(
            "YES if the organisers of the {subject} {art} festival announce before {close} that "
            "all day tickets are gone. Returned tickets afterwards do not matter."
        ),
        raises=(
            "{subject} {art} festival: {reading}% of tickets gone",
            "Extra trains to the {subject} {art} festival announced",
            "Headliner confirmed for {subject}'s {art} festival",
            "Weekend camping at the {subject} {art} festival is full",
        ),
        lowers=(
            "{subject} {art} festival: sales slow at {reading}% of tickets",
            "{subject} adds 800 day tickets for the {art} festival",
            "Headliner leaves the bill of {subject}'s {art} festival",
            "Rain forecast for the {subject} {art} festival",
        ),
    ),
    Topic(
        tag="speedrun",
        scopes=DAILY,
        subjects=TITLES,
        level=Level(24, 170, 0.5, unlikely=1.06, likely=1.005, spread=0.02),
        questions=(
            'Will anyone speedrun "{subject}" in under {level} minutes {by}?',
            'Will a speedrun of "{subject}" beat {level} minutes {by}?',
        ),
        criteria=(
            'YES if the leaderboard of the game "{subject}" shows a verified run below {level} '
            "minutes that ended before {close}. Verification may follow within a day. Assisted "
            "runs are excluded."
        ),
        raises=(
            'Runner finishes "{subject}" in {reading} minutes',
            'New shortcut found in the third act of "{subject}"',
            '"{subject}" marathon: two runners ahead of record pace',
            'Record holder of "{subject}" announces an all-night stream',
        ),
        lowers=(
            'Best try at "{subject}" today: {reading} minutes',
            'Moderators ban the new shortcut in "{subject}"',
            'Record pace in "{subject}" lost at the bridge',
            'Top runner of "{subject}" rests a sore wrist',
        ),
    ),
    Topic(
        tag="chart",
        scopes=SLOW,
        subjects=BANDS,
        level=Level(1, 1, 1, unlikely=14, likely=1.6, spread=0),
        words={"song": ("Tidewater", "Eleven Bells", "Cold Coffee", "Kites", "Long Way Down")},
        questions=(
            'Will "{song}" by {subject} top the singles chart {by}?',
            'Will {subject} reach number one with "{song}" {by}?',
        ),
        criteria=(
            'YES if "{song}" by {subject} is number one in any weekly singles chart published '
            "before {close}. Midweek updates do not count. Remixes count if the chart merges them."
        ),
        raises=(
            '"{song}" by {subject} climbs to number {reading} at midweek',
            'Film uses "{song}" by {subject} in its last scene',
            'Radio puts {subject} in heavy rotation with "{song}"',
            '{subject} perform "{song}" on the late show',
        ),
        lowers=(
            '"{song}" by {subject} slips to number {reading} at midweek',
            'Surprise album crowds out "{song}" by {subject}',
            'Streaming of "{song}" by {subject} flat this week',
            'Vinyl of "{song}" by {subject} delayed at the plant',
        ),
    ),
    Topic(
        tag="film",
        scopes=DAYS,
        subjects=TITLES,
        level=Level(3, 68, 0.5, unlikely=0.75, likely=1.08),
        questions=(
            'Will "{subject}" take ${level}M at the box office {by}?',
            'Will the film "{subject}" earn ${level}M {by}?',
        ),
        criteria=(
            'YES if the distributors of "{subject}" report takings of ${level} million or more '
            "before {close}. Previews count. Estimates decide if final figures are not out."
        ),
        raises=(
            'Analysts now see "{subject}" at ${reading}M',
            'Late shows of "{subject}" added in forty towns',
            'Exit polls: audiences give "{subject}" top marks',
            'School holidays begin; families queue for "{subject}"',
        ),
        lowers=(
            'Analysts cut "{subject}" to ${reading}M',
            'Second-day takings of "{subject}" down by a third',
            'Cinemas move "{subject}" to smaller screens',
            'Sunny weekend keeps people away from "{subject}"',
        ),
    ),
    Topic(
        tag="prize",
        scopes=WEEKS,
        subjects=TITLES,
        words={
            "prize": ("Ellery Prize", "Golden Inkwell", "Northern Novel Award", "Saltreach Medal")
        },
        questions=(
            'Will "{subject}" win the {prize} {by}?',
            'Will the {prize} go to "{subject}" {by}?',
        ),
        criteria=(
            'YES if the jury of the {prize} names "{subject}" as winner before {close}. A shared '
            "prize counts. A longlist or shortlist does not."
        ),
        raises=(
            '"{subject}" makes the shortlist of the {prize}',
            'Juror of the {prize} praises "{subject}" on air',
            '{prize}: main rival of "{subject}" is ruled out on a technicality',
            'Bookmakers shorten the odds on "{subject}"',
        ),
        lowers=(
            'Critic accuses "{subject}" of borrowing a chapter',
            '{prize} jury adds a late entry that rivals "{subject}"',
            'Author of "{subject}" skips the {prize} reading',
            '{prize} jury said to favour a first novel over "{subject}"',
        ),
    ),
    Topic(
        tag="museum",
        scopes=SLOW,
        subjects=TOWNS,
        level=Level(4_000, 96_000, 500, unlikely=0.85, likely=1.06),
        words={"theme": ("Glass", "Maps", "Toys", "Lace", "Clocks", "Whales", "Neon")},
        questions=(
            'Will the "{theme}" show in {subject} draw {level} visitors {by}?',
            'Will {level} people see "{theme}" at {subject} museum {by}?',
        ),
        criteria=(
            'YES if {subject} museum reports {level} or more visitors to "{theme}" since its '
            "opening before {close}. School classes count by head. The weekly bulletin decides."
        ),
        raises=(
            'Queues for "{theme}": {subject} on course for {reading} visitors',
            '{subject} museum opens "{theme}" until midnight',
            'Cruise ships add {subject} and its "{theme}" show',
            'A children\'s programme sends families to "{theme}" in {subject}',
        ),
        lowers=(
            'Quiet days for "{theme}": {subject} on course for {reading} visitors',
            'Main hall of "{theme}" in {subject} closed for repairs',
            "Road works cut {subject} museum off from the bus",
            'Loan of the best piece of "{theme}" leaves {subject} early',
        ),
    ),
    Topic(
        tag="casting",
        scopes=SLOW,
        subjects=TITLES,
        words={"role": ("lead", "villain", "narrator", "director", "composer")},
        questions=(
            'Will the {role} of the series "{subject}" be named {by}?',
            'Will "{subject}" announce its {role} {by}?',
        ),
        criteria=(
            'YES if the makers of the series "{subject}" name the {role} in a statement before '
            "{close}. Leaks and denials do not count. A provisional name counts."
        ),
        raises=(
            'Makers of "{subject}" invite the press to the harbour studio',
            'Contract for the {role} of "{subject}" is signed, trade paper says',
            'Costume fittings begin for "{subject}"',
            'Teaser poster of "{subject}" leaves a gap for the {role}',
        ),
        lowers=(
            'Favourite for {role} of "{subject}" takes another job',
            'Filming of "{subject}" put back by a month',
            'Makers of "{subject}" split over the {role}',
            'Budget talks hold up the {role} of "{subject}"',
        ),
    ),
)
"""Topics of Category.CULTURE."""
