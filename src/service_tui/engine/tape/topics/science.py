"""Questions about launches, detectors, digs and trials that do not exist."""

from typing import Final

from service_tui.engine.tape.topics.names import MISSIONS, TOWNS
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

_NOT_MINUTES: Final = frozenset({Scope.HOURS, Scope.DAYS, Scope.WEEKS})

SCIENCE: Final = (
    Topic(
        tag="docking",
        scopes=FAST,
        subjects=MISSIONS,
        level=Level(120, 120, 1, unlikely=3.4, likely=0.1, spread=0),
        questions=(
            "Will {subject} dock with the station {by}?",
            "Will {subject} complete its docking {by}?",
        ),
        criteria=(
            "YES if mission control confirms soft capture of {subject} before {close}. Hard mating "
            "may follow later. An approach that is broken off and repeated counts if capture comes "
            "in time."
        ),
        raises=(
            "{subject} holds {reading} m from the port, all lights green",
            "Crew reports a clear view of {subject}'s docking target",
            "{subject} is go for the final approach",
            "Drift of {subject} corrected with a single pulse",
        ),
        lowers=(
            "{subject} backs off to {reading} m after a sensor warning",
            "Flight director asks for another poll on {subject}",
            "Thruster on {subject} shows a high temperature",
            "Sun glare blinds the docking camera of {subject}",
        ),
    ),
    Topic(
        tag="meteors",
        scopes=QUICK,
        subjects=TOWNS,
        level=Level(12, 140, 1, unlikely=0.5, likely=1.25),
        questions=(
            "Will the sky camera at {subject} count {level} meteors {by}?",
            "Will {subject} observatory log {level} meteors {by}?",
        ),
        criteria=(
            "YES if the all-sky camera at {subject} counts {level} or more meteors between listing "
            "and {close}. Satellites are removed by the software. Its public counter decides."
        ),
        raises=(
            "{subject} camera ticks faster, on course for {reading} meteors",
            "Bright fireball lights up the dome at {subject}",
            "Clouds part over {subject} observatory",
            "Stream peaks early, {subject} astronomers say",
        ),
        lowers=(
            "{subject} camera slows, on course for {reading} meteors",
            "Thin cloud drifts over {subject} observatory",
            "Moonrise brightens the sky at {subject}",
            "Dew on the dome at {subject}; heater switched on",
        ),
    ),
    Topic(
        tag="detector",
        scopes=QUICK,
        subjects=TOWNS,
        level=Level(240, 2_400, 10, unlikely=0.9, likely=1.08),
        words={"particle": ("muon", "neutrino", "kaon", "cosmic-ray")},
        questions=(
            "Will the {subject} detector log {level} {particle} events {by}?",
            "Will the {particle} counter at {subject} reach {level} {by}?",
        ),
        criteria=(
            "YES if the online counter of the {subject} detector shows {level} or more {particle} "
            "events since listing before {close}. Events removed later by analysis still count."
        ),
        raises=(
            "{subject} detector picks up, on course for {reading} {particle} events",
            "Beam at {subject} stronger than planned",
            "Third module of the {subject} detector back online",
            "Shift leader at {subject} skips the calibration run",
        ),
        lowers=(
            "{subject} detector falls behind, on course for {reading} {particle} events",
            "Beam at {subject} lost for a moment",
            "High-voltage trip in one sector at {subject}",
            "Calibration run takes data time at {subject}",
        ),
    ),
    Topic(
        tag="geyser",
        scopes=QUICK,
        subjects=TOWNS,
        level=Level(93, 93, 0.1, unlikely=0.8, likely=1.0, spread=0),
        questions=(
            "Will the {subject} geyser erupt {by}?",
            "Will the great geyser at {subject} go off {by}?",
        ),
        criteria=(
            "YES if the live camera at {subject} shows a column of at least five metres before "
            "{close}. Splashing over the rim does not count. If the camera fails, the ranger's log "
            "decides."
        ),
        raises=(
            "Water in the {subject} vent at {reading} °C",
            "Tremor meter at the {subject} geyser starts to climb",
            "First splashes over the rim at {subject}",
            "Ranger moves visitors back from the {subject} geyser",
        ),
        lowers=(
            "{subject} vent cools to {reading} °C",
            "Pool at the {subject} geyser drains again",
            "Tremor near {subject} dies away",
            "Side vent at {subject} lets off steam, pressure falls",
        ),
    ),
    Topic(
        tag="launch",
        scopes=_NOT_MINUTES,
        subjects=MISSIONS,
        questions=(
            "Will {subject} lift off {by}?",
            "Will the {subject} probe be launched {by}?",
        ),
        criteria=(
            "YES if the rocket carrying {subject} leaves the pad before {close}. What happens "
            "after lift-off does not matter. An abort with engines running is NO unless a later "
            "attempt succeeds in time."
        ),
        raises=(
            "Weather for {subject} now 80% favourable",
            "{subject} rolls out to the pad on time",
            "Range clears the sea lane for {subject}",
            "Leak repaired: fuelling of {subject} goes on",
        ),
        lowers=(
            "Valve on {subject}'s upper stage needs a closer look",
            "High-altitude wind above limits for {subject}",
            "Fishing boat strays into the hazard zone of {subject}",
            "{subject} team asks for one more review",
        ),
    ),
    Topic(
        tag="flare",
        scopes=DAILY,
        subjects=TOWNS,
        words={"region": ("4127", "4131", "4140", "4152", "4166")},
        questions=(
            "Will {subject} observatory log an M-class flare {by}?",
            "Will the Sun fire an M-class flare seen from {subject} {by}?",
        ),
        criteria=(
            "YES if the X-ray monitor that {subject} observatory publishes reaches class M1.0 or "
            "above before {close}. The peak of the one-minute curve decides."
        ),
        raises=(
            "{subject}: sunspot group {region} has grown tangled",
            "C9 flare recorded at {subject}, just short of M",
            "{subject} sees new flux emerge near group {region}",
            "Radio noise at {subject} rises sharply",
        ),
        lowers=(
            "{subject}: group {region} is decaying",
            "Group {region} rotates out of {subject}'s view",
            "X-ray curve at {subject} flat for hours",
            "{subject} duty officer lowers the flare odds",
        ),
    ),
    Topic(
        tag="quake",
        scopes=DAILY,
        subjects=TOWNS,
        level=Level(2.4, 4.6, 0.1, unlikely=0.6, likely=0.97),
        questions=(
            "Will a quake of magnitude {level} or more hit near {subject} {by}?",
            "Will {subject} record a magnitude {level} quake {by}?",
        ),
        criteria=(
            "YES if the seismic service lists a quake of magnitude {level} or more within 60 km of "
            "{subject} before {close}. Preliminary magnitudes count once a person has confirmed "
            "them."
        ),
        raises=(
            "Swarm near {subject}: strongest so far {reading}",
            "Tilt meters at {subject} show swelling ground",
            "{subject} seismologists put up two extra stations",
            "Wells around {subject} run cloudy",
        ),
        lowers=(
            "Swarm near {subject} fades, latest {reading}",
            "Tilt at {subject} levels off",
            "{subject} seismologists: no sign of a larger shock",
            "Quiet night on the drums at {subject}",
        ),
    ),
    Topic(
        tag="fusion",
        scopes=DAILY,
        subjects=TOWNS,
        level=Level(40, 900, 5, unlikely=0.7, likely=0.985),
        questions=(
            "Will the {subject} reactor hold a plasma for {level} s {by}?",
            "Will {subject} keep its plasma burning for {level} s {by}?",
        ),
        criteria=(
            "YES if the {subject} reactor holds one plasma for at least {level} seconds before "
            "{close}. The shot log of the laboratory decides. Shots with external heating count."
        ),
        raises=(
            "Longest shot at {subject} so far: {reading} s",
            "New wall tiles at {subject} stay cool",
            "{subject} adds a fourth shift of shots",
            "Control software at {subject} tames the edge waves",
        ),
        lowers=(
            "Shot at {subject} breaks off after {reading} s",
            "Vacuum leak keeps {subject} idle",
            "{subject} coil runs warm, power reduced",
            "Grid operator limits {subject}'s evening shots",
        ),
    ),
    Topic(
        tag="rover",
        scopes=DAILY,
        subjects=MISSIONS,
        level=Level(30, 420, 5, unlikely=0.6, likely=1.15),
        questions=(
            "Will rover {subject} drive more than {level} m {by}?",
            "Will {subject} cover {level} m of crater floor {by}?",
        ),
        criteria=(
            "YES if the wheel counter of {subject} grows by more than {level} m between listing "
            "and {close}. Data may arrive up to an hour later. Slipping on the spot is deducted."
        ),
        raises=(
            "Plan for {subject} now foresees {reading} m",
            "Clear path: {subject} sees firm ground ahead",
            "Dust blown off {subject}'s solar panels",
            "{subject} uses its own navigation for the first time this week",
        ),
        lowers=(
            "Plan for {subject} cut to {reading} m",
            "{subject} stops to drill a promising rock",
            "Soft sand slows {subject}",
            "Relay orbiter of {subject} misses a pass",
        ),
    ),
    Topic(
        tag="dig",
        scopes=SLOW,
        subjects=TOWNS,
        words={
            "find": ("burial chamber", "ship timber", "mosaic floor", "coin hoard", "rune stone")
        },
        questions=(
            "Will the dig at {subject} report a {find} {by}?",
            "Will archaeologists at {subject} announce a {find} {by}?",
        ),
        criteria=(
            "YES if the team at {subject} announces a {find} in its diary or to the press before "
            "{close}. Fragments count if the team uses the word itself. Finds by amateurs nearby "
            "do not count."
        ),
        raises=(
            "Ground radar shows straight edges under {subject}",
            "{subject} team fences off its third trench",
            "A specialist for such finds travels to {subject}",
            "Dark layer in the {subject} trench: hopes of a {find}",
        ),
        lowers=(
            "Groundwater floods the main trench at {subject}",
            "{subject} anomaly turns out to be a drain",
            "Permit for the {subject} dig runs short",
            "Rain stops work at {subject}",
        ),
    ),
    Topic(
        tag="telescope",
        scopes=SLOW,
        subjects=MISSIONS,
        words={"goal": ("first light", "an exomoon", "water vapour", "a radio burst")},
        questions=(
            "Will the {subject} telescope report {goal} {by}?",
            "Will astronomers with {subject} announce {goal} {by}?",
        ),
        criteria=(
            "YES if the {subject} team publishes a notice or preprint that claims {goal} before "
            "{close}. The claim need not be confirmed by others. Talks without a text are NO."
        ),
        raises=(
            "{subject} team books a press room",
            "Mirror of {subject} aligned better than required",
            "Second night of good data from {subject}",
            "Rival group points its dish where {subject} looks",
        ),
        lowers=(
            "{subject} goes into safe mode",
            "Stray light found in {subject}'s camera",
            "{subject} schedule gives way to a comet",
            "Data link to {subject} down to half speed",
        ),
    ),
    Topic(
        tag="trial",
        scopes=WEEKS,
        subjects=MISSIONS,
        words={"illness": ("hay fever", "migraine", "gout", "asthma", "sleep apnoea")},
        questions=(
            "Will the {subject} trial against {illness} meet its goal {by}?",
            "Will the {illness} drug in trial {subject} beat placebo {by}?",
        ),
        criteria=(
            "YES if the sponsor of trial {subject} reports before {close} that the main endpoint "
            "against {illness} was met. Interim results count if the trial is stopped early for "
            "benefit. No report is NO."
        ),
        raises=(
            "Safety board lets trial {subject} go on unchanged",
            "{subject} enrols its last patient early",
            "Smaller {illness} study points the same way as {subject}",
            "Sponsor of {subject} orders a second production line",
        ),
        lowers=(
            "Two sites of trial {subject} report late data",
            "{illness} patients in {subject} drop out more than planned",
            "Sponsor of {subject} changes its statistician",
            "A drug like that of {subject} fails against {illness} elsewhere",
        ),
    ),
    Topic(
        tag="replication",
        scopes=SLOW,
        subjects=TOWNS,
        words={"claim": ("warm superconductor", "memory crystal", "cold plasma", "quantum clock")},
        questions=(
            "Will a second lab reproduce {subject}'s {claim} result {by}?",
            "Will the {claim} result from {subject} be repeated {by}?",
        ),
        criteria=(
            "YES if a laboratory without ties to {subject} publishes a preprint before {close} "
            "that reproduces the main figure of the {claim} paper. Partial agreement is NO."
        ),
        raises=(
            "Sample from {subject} behaves as claimed in a visitor's lab",
            "{subject} shares its raw data on the {claim}",
            "Second group says its run of {subject}'s {claim} looks good",
            "Known sceptic travels to {subject} and leaves impressed",
        ),
        lowers=(
            "First attempt to repeat {subject}'s {claim} finds nothing",
            "{subject} corrects a figure in the {claim} paper",
            "Supplier of {subject}'s material cannot deliver",
            "Journal asks {subject} for more measurements",
        ),
    ),
)
"""Topics of Category.SCIENCE."""
