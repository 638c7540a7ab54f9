"""Questions about wind, water, heat and fog at stations that do not exist."""

from typing import Final

from service_tui.engine.tape.topics.names import STORMS, TOWNS
from service_tui.engine.tape.topics.topic import DAILY, FAST, QUICK, SLOW, WEEKS, Level, Topic

WEATHER: Final = (
    Topic(
        tag="wind",
        scopes=QUICK,
        subjects=TOWNS,
        level=Level(58, 112, 1, unlikely=0.66, likely=0.98),
        questions=(
            "Will the harbour at {subject} log gusts above {level} km/h {by}?",
            "Will {subject} lighthouse record a gust above {level} km/h {by}?",
        ),
        criteria=(
            "YES if the mast at {subject} records at least one gust above {level} km/h before "
            "{close}. Source: the port authority's one-minute log. If the mast is silent for more "
            "than half of the time, the market is NO."
        ),
        raises=(
            "{subject} mast logs {reading} km/h, its strongest gust of the watch",
            "Squall line turns towards {subject}; skippers double their moorings",
            "Ferry to {subject} cancels its next crossing as the wind freshens",
            "Pressure off {subject} falls faster than forecast",
        ),
        lowers=(
            "Wind at {subject} eases, top gust now {reading} km/h",
            "Radar: the squall line slides south of {subject}",
            "{subject} port lifts its warning for small craft",
            "Forecast office trims its gust outlook for {subject}",
        ),
    ),
    Topic(
        tag="fog",
        scopes=QUICK,
        subjects=TOWNS,
        level=Level(200, 1_500, 50, unlikely=3.4, likely=1.05),
        questions=(
            "Will visibility at {subject} airfield drop below {level} m {by}?",
            "Will fog cut {subject} airfield to less than {level} m {by}?",
        ),
        criteria=(
            "YES if the runway sensor at {subject} reports less than {level} m before {close}. One "
            "reading is enough. Reports marked as faulty by the tower are ignored."
        ),
        raises=(
            "{subject} tower reads out {reading} m and falling",
            "Sea mist creeps over the dunes at {subject}",
            "Wind dies down at {subject}; dew point almost reached",
            "First flight into {subject} diverts because of fog patches",
        ),
        lowers=(
            "Fog thins at {subject}: {reading} m at the threshold",
            "Breeze picks up across the runway at {subject}",
            "Sun breaks through over {subject} airfield",
            "{subject} tower closes its low-visibility procedure",
        ),
    ),
    Topic(
        tag="lightning",
        scopes=FAST,
        subjects=TOWNS,
        level=Level(15, 160, 5, unlikely=0.4, likely=1.3),
        questions=(
            "Will the detector at {subject} count {level} lightning strikes {by}?",
            "Will {subject} see {level} lightning strikes or more {by}?",
        ),
        criteria=(
            "YES if the detector at {subject} counts {level} or more strikes within 50 km between "
            "listing and {close}. Cloud-to-cloud flashes count. The public counter decides."
        ),
        raises=(
            "Storm cell over {subject} on course for {reading} strikes",
            "Hail reported west of {subject} as the cell grows",
            "A second cell merges with the storm at {subject}",
            "Cloud tops near {subject} climb past 12 km",
        ),
        lowers=(
            "Storm at {subject} weakens, on course for {reading} strikes",
            "Rain-cooled air cuts off the storm near {subject}",
            "The cell leaves the range of the {subject} detector",
            "A full minute without a flash over {subject}",
        ),
    ),
    Topic(
        tag="shower",
        scopes=FAST,
        subjects=TOWNS,
        questions=(
            "Will it be raining in {subject} {at}?",
            "Will the rain gauge at {subject} be ticking {at}?",
        ),
        criteria=(
            "YES if the gauge at {subject} registers at least one tick in the last full minute "
            "before {close}. Drizzle that leaves the gauge dry is NO. If the gauge is silent for "
            "technical reasons, the radar picture decides."
        ),
        raises=(
            "Radar: a shower heads straight for {subject}",
            "First drops on the market square of {subject}",
            "Cloud base over {subject} sinks by the minute",
            "Umbrellas go up in the harbour of {subject}",
        ),
        lowers=(
            "Blue sky opens upwind of {subject}",
            "Radar: the shower splits before {subject}",
            "Rain in {subject} thins to a drizzle",
            "Wind picks up and pushes the shower past {subject}",
        ),
    ),
    Topic(
        tag="rain",
        scopes=DAILY,
        subjects=TOWNS,
        level=Level(4, 32, 1, unlikely=0.5, likely=1.25),
        questions=(
            "Will {subject} get more than {level} mm of rain {by}?",
            "Will the gauge at {subject} collect over {level} mm {by}?",
        ),
        criteria=(
            "YES if the gauge at {subject} collects more than {level} mm between listing and "
            "{close}. Melted hail counts as rain. The met office's ten-minute table decides."
        ),
        raises=(
            "Rain band stalls over {subject}; models now say {reading} mm",
            "Downpour floods two underpasses in {subject}",
            "Radar: a second band lines up behind {subject}",
            "Met office moves {subject} from yellow to amber",
        ),
        lowers=(
            "Models cut {subject}'s total to {reading} mm",
            "Dry air from inland breaks up the rain near {subject}",
            "{subject} stays on the edge of the rain band",
            "Umbrellas down: a gap in the clouds reaches {subject}",
        ),
    ),
    Topic(
        tag="heat",
        scopes=DAILY,
        subjects=TOWNS,
        level=Level(17, 36, 0.5, unlikely=0.84, likely=0.985, spread=0.05),
        questions=(
            "Will {subject} pass {level} °C {by}?",
            "Will the thermometer at {subject} airfield top {level} °C {by}?",
        ),
        criteria=(
            "YES if the shaded thermometer at {subject} airfield shows more than {level} °C before "
            "{close}. One-minute means count. Values within 0.05 degrees of the mark are NO."
        ),
        raises=(
            "{subject} at {reading} °C and the cloud is burning off",
            "Warm inland wind reaches {subject} early",
            "Forecast for {subject} raised by a degree",
            "Ice cream stands open along the front in {subject}",
        ),
        lowers=(
            "Sea breeze holds {subject} at {reading} °C",
            "High cloud drifts in over {subject}",
            "Forecast for {subject} lowered by a degree",
            "Shower cools the airfield at {subject}",
        ),
    ),
    Topic(
        tag="waves",
        scopes=DAILY,
        subjects=TOWNS,
        level=Level(2.4, 8.5, 0.1, unlikely=0.6, likely=0.98),
        questions=(
            "Will the buoy off {subject} measure waves above {level} m {by}?",
            "Will waves off {subject} top {level} m {by}?",
        ),
        criteria=(
            "YES if the buoy off {subject} reports a significant wave height above {level} m "
            "before {close}. Half-hourly bulletins decide. Single rogue waves do not count."
        ),
        raises=(
            "Buoy off {subject} reads {reading} m, swell still building",
            "Long swell from the far storm arrives at {subject}",
            "Pilots suspend boarding off {subject}",
            "Surfers sent out of the water at {subject}",
        ),
        lowers=(
            "Swell off {subject} drops back to {reading} m",
            "Wind off {subject} turns offshore and flattens the sea",
            "Storm track shifts north, away from {subject}",
            "Fishing boats leave {subject} again",
        ),
    ),
    Topic(
        tag="pollen",
        scopes=DAILY,
        subjects=TOWNS,
        level=Level(60, 420, 10, unlikely=0.55, likely=0.98),
        words={"plant": ("birch", "grass", "hazel", "alder", "mugwort")},
        questions=(
            "Will the {plant} pollen count in {subject} reach {level} {by}?",
            "Will {subject} count {level} grains of {plant} pollen {by}?",
        ),
        criteria=(
            "YES if the trap on the roof of {subject} hospital reports {level} or more grains of "
            "{plant} pollen per cubic metre before {close}. Preliminary counts are enough."
        ),
        raises=(
            "Dry wind over {subject}: {plant} count at {reading}",
            "Pharmacies in {subject} report a run on eye drops",
            "{plant} in full flower on the hills above {subject}",
            "Allergy office puts {subject} on its highest level",
        ),
        lowers=(
            "{plant} count in {subject} back at {reading}",
            "Overnight rain washes the air over {subject}",
            "Cool morning keeps the {plant} closed around {subject}",
            "Wind turns: clean sea air reaches {subject}",
        ),
    ),
    Topic(
        tag="river",
        scopes=SLOW,
        subjects=TOWNS,
        level=Level(2.2, 7.8, 0.1, unlikely=0.66, likely=0.98),
        questions=(
            "Will the river at {subject} rise above {level} m {by}?",
            "Will the {subject} gauge pass {level} m {by}?",
        ),
        criteria=(
            "YES if the gauge under the old bridge at {subject} reads above {level} m before "
            "{close}. Quarter-hourly values of the river board decide. Waves from passing barges "
            "are filtered out."
        ),
        raises=(
            "River at {subject} stands at {reading} m, still rising",
            "Snowmelt upstream: crest expected at {subject} within days",
            "Weir above {subject} opened a second gate",
            "{subject} hands out sandbags in the lower town",
        ),
        lowers=(
            "Gauge at {subject} falls back to {reading} m",
            "Frost in the hills slows the flow towards {subject}",
            "Reservoir above {subject} can hold back the crest",
            "River board lowers its forecast for {subject}",
        ),
    ),
    Topic(
        tag="storm",
        scopes=SLOW,
        subjects=STORMS,
        level=Level(118, 210, 1, unlikely=0.7, likely=0.98),
        questions=(
            "Will storm {subject} reach winds of {level} km/h {by}?",
            "Will storm {subject} strengthen to {level} km/h {by}?",
        ),
        criteria=(
            "YES if an advisory of the ocean weather centre gives storm {subject} sustained winds "
            "of {level} km/h or more before {close}. Peak gusts do not count. A renamed storm "
            "keeps its market."
        ),
        raises=(
            "Advisory: storm {subject} now at {reading} km/h",
            "Eye forming: storm {subject} over very warm water",
            "Hunter aircraft finds lower pressure in {subject}",
            "Wind shear around storm {subject} fades",
        ),
        lowers=(
            "Advisory: storm {subject} back to {reading} km/h",
            "Dry air wraps into storm {subject}",
            "Storm {subject} turns over cooler water",
            "Wind shear tilts storm {subject}",
        ),
    ),
    Topic(
        tag="drought",
        scopes=SLOW,
        subjects=TOWNS,
        questions=(
            "Will {subject} stay without measurable rain until {deadline}?",
            "Will the dry spell in {subject} last until {deadline}?",
        ),
        criteria=(
            "YES if the gauge at {subject} records less than 0.2 mm on every day up to {close}. "
            "Dew and fog drip do not count. A missing day is taken from the nearest station."
        ),
        raises=(
            "High pressure over {subject} refuses to move",
            "Rain band dissolves before it reaches {subject}",
            "{subject} extends its ban on garden hoses",
            "Long-range models keep {subject} dry",
        ),
        lowers=(
            "First shower cloud for weeks seen from {subject}",
            "Models bring a front over {subject} before the deadline",
            "Humid air pools in the valley of {subject}",
            "Thunder heard in the hills behind {subject}",
        ),
    ),
    Topic(
        tag="reservoir",
        scopes=WEEKS,
        subjects=TOWNS,
        level=Level(28, 74, 1, unlikely=1.25, likely=1.015),
        questions=(
            "Will the reservoir above {subject} fall below {level}% {by}?",
            "Will {subject}'s reservoir be less than {level}% full {by}?",
        ),
        criteria=(
            "YES if the water board reports the reservoir above {subject} below {level}% of "
            "capacity before {close}. The Monday and Thursday bulletins decide."
        ),
        raises=(
            "Reservoir above {subject} down to {reading}%",
            "Farms below {subject} draw more water than planned",
            "No rain in sight for the hills around {subject}",
            "Old village wall surfaces in {subject}'s reservoir",
        ),
        lowers=(
            "Reservoir above {subject} recovers to {reading}%",
            "Two wet days fill the streams above {subject}",
            "{subject} halves the flow to its fountains",
            "Water board diverts a second stream towards {subject}",
        ),
    ),
)
"""Topics of Category.WEATHER."""
