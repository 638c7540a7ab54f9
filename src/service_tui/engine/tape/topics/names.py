"""Whom the questions are about: invented places, clubs, people, tokens, missions and works.

The twelve slots of a category share each pool without meeting, so a pool wants two dozen or more.
"""

from itertools import product
from typing import Final

TOWNS: Final = (
    "Port Ellery", "Brackmere", "Hollin Bay", "Tarnmoor", "Vessby", "Karrow Point", "Dunmarrow",
    "Saltreach", "Eskerly", "Quillhaven", "Marrowick", "Fennick", "Thornmouth", "Lunmouth",
    "Pellworth", "Ashgrave", "Cold Harrow", "Winterby", "Stannick", "Ravelsea", "Culverin",
    "Hestmark", "Inverlane", "Northwyke", "Torrin Ferry", "Gannet Head", "Oldmere", "Brinewick",
    "Larkstow", "Sandrigg", "Ottermouth", "Millrace", "Hawkrigg Quay", "Pinder Sound", "Ostermoor",
    "Greywater", "Bellreach", "Candlemoor", "Dray Crossing", "Farrowdale", "Glasswater",
    "Harl Vale", "Ivelstone", "Juniper Cross", "Kelder Rock", "Longmarsh", "Merrowgate",
    "Nethershaw", "Orrin Mills", "Rushholm", "Skerrow", "Tidewell", "Wrenfield",
)  # fmt: skip

REGIONS: Final = (
    "Valdria", "Kessia", "Tavland", "Orsany", "Brevonia", "Sundermark", "Halvania", "Istrand",
    "Corriland", "Mereth", "Pallonia", "Quesmar", "Rhovelle", "Skarland", "Tyrenne", "Ulmeria",
    "Varnholm", "Westrane", "Yssland", "Zerrin", "Ardovia", "Belmora", "Caldrea", "Drovany",
    "Elvaria", "Fyrmark", "Gresland", "Hesperin", "Ilmora", "Jorland", "Kvaria", "Lorvenia",
    "Mirandel", "Norrhaven", "Oltania", "Pellmark", "Rastonia",
)  # fmt: skip

TOKENS: Final = (
    "Halden", "Veyra", "Ostrik", "Quarl", "Corvane", "Brinecoin", "Skerrit", "Dravit", "Fennmark",
    "Gullcoin", "Harrowbit", "Inkwell", "Jasperic", "Kelpcoin", "Lodenum", "Mirrin", "Noctule",
    "Orlop", "Plinth", "Quoin", "Rimelight", "Sorrelcoin", "Thrumm", "Vantik", "Yarrowbit",
    "Zaffrin", "Alderbit", "Bramblecoin", "Cindral", "Dunlin", "Erminet", "Farthingale",
    "Gorsecoin", "Hearthbit", "Ivorel", "Lathecoin", "Tallowmint",
)  # fmt: skip

STORMS: Final = (
    "Ansgar", "Brielle", "Corin", "Delphine", "Elowen", "Fergal", "Griet", "Hesper", "Isolde",
    "Jorrit", "Katell", "Lorcan", "Maelle", "Nerys", "Orsolya", "Piers", "Quilla", "Rurik",
    "Saskia", "Tamsin", "Ulric", "Vesna", "Wystan", "Xanthe", "Yorick", "Ottoline", "Bertil",
    "Maren", "Zenobia",
)  # fmt: skip

_CLUB_NAMES: Final = ("Rovers", "Athletic", "Wanderers", "Albion", "Harriers", "Mariners", "Town")
_INITIALS: Final = "ABDEIJLMNRT"
_SURNAMES: Final = (
    "Vaskelin", "Brandovar", "Okonje", "Marlund", "Sestrin", "Valcorin", "Dreyfenn", "Kiriel",
    "Tamsarel", "Orlowen", "Pirsk", "Ibarrane", "Lindqvar", "Sorrento-Bey", "Achterlo", "Morikane",
    "Devranne", "Halvorek", "Nyambeko", "Castelmar", "Rosgarten", "Harunobe", "Terzin", "Wexmoor",
    "Zabrin", "Quintarra", "Endermoss", "Gallowhill", "Petrossel",
)  # fmt: skip
_CRAFT: Final = (
    "Lantern", "Petrel", "Tessera", "Kittiwake", "Windrose", "Sextant", "Curlew", "Marigold",
    "Thimble", "Farthing", "Ramshorn", "Gossamer", "Pennant",
)  # fmt: skip
_BAND_FIRST: Final = (
    "Slow", "Copper", "Paper", "Velvet", "Hollow", "Northern", "Second", "Quiet", "Amber",
    "Distant", "Crooked", "Midnight", "Static",
)  # fmt: skip
_BAND_LAST: Final = (
    "Orchard", "Harbour", "Tramline", "Cathedral", "Foxes", "Weather", "Parade", "Engines",
    "Telegraph", "Giants", "Almanac",
)  # fmt: skip
_TITLE_FIRST: Final = (
    "Salt", "Glass", "Last", "Winter", "Borrowed", "Silent", "Seventh", "Iron", "Drowned",
    "Crimson", "Patient", "Unwritten", "Distant",
)  # fmt: skip
_TITLE_LAST: Final = (
    "Ledger", "Ferry", "Orchard", "Cartographer", "Lighthouse", "Season", "Archivist", "Garden",
    "Bridge", "Tenant", "Clockmaker",
)  # fmt: skip

CLUBS: Final = tuple(
    f"{town} {name}" for name, town in product(_CLUB_NAMES, TOWNS) if " " not in town
)
PLAYERS: Final = tuple(f"{first}. {last}" for first, last in product(_INITIALS, _SURNAMES))
MISSIONS: Final = tuple(f"{craft} {number}" for number, craft in product(range(2, 9), _CRAFT))
BANDS: Final = tuple(f"{first} {last}" for last, first in product(_BAND_LAST, _BAND_FIRST))
TITLES: Final = tuple(f"The {first} {last}" for last, first in product(_TITLE_LAST, _TITLE_FIRST))
