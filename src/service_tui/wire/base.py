"""Base classes and field types of every body on the wire."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from math import isfinite
from typing import Annotated, ClassVar, Final, cast

from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasGenerator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from service_tui.terms import ID_PATTERN, LINE_MAX, PROSE_MAX, PUBLIC_VENUES, VENUE_ALIASES, Venue
from service_tui.units import AMOUNT_MAX, Timestamp
from service_tui.wire.text import line, prose

EXPIRATION_MAX: Final = 1e11
"""The latest moment of an order or a monitor, Unix seconds."""

UNKNOWN_MAX: Final = 20
"""Unknown names of a body that are named back."""

_OF_A_VENUE: Final = re.compile(
    rf"\A({'|'.join(PUBLIC_VENUES.values())})(?=\Z|_(pnl|win_count|loss_count|win_rate)\Z)"
)
"""Fields that are one venue's block or figure. Other fields with a public name in them, such as
`polymarket_usdc_balance`, are identifiers of the interface and have one spelling everywhere."""


def _neutral(field: str) -> str:
    """A field's name with the neutral name of its venue: what is sent."""
    return _OF_A_VENUE.sub(lambda found: VENUE_ALIASES[found[1]].value, field)


def _either(field: str) -> str | AliasChoices:
    """The names under which a field is read: the neutral one and that of a public service."""
    neutral = _neutral(field)
    return field if neutral == field else AliasChoices(neutral, field)


class WireModel(BaseModel):
    """A body: frozen, unknown keys ignored, no coercion, finite numbers only."""

    sends_null: ClassVar[bool] = False
    """True if null is sent and clears the field; otherwise null means absent."""

    model_config = ConfigDict(
        frozen=True,
        # The checker of a body is made when the first such body comes: a start needs few of them.
        defer_build=True,
        extra="ignore",
        strict=True,
        allow_inf_nan=False,
        populate_by_name=True,
        alias_generator=AliasGenerator(validation_alias=_either, serialization_alias=_neutral),
    )


class OperatorModel(WireModel):
    """What the operator asks for: a misspelt field is refused, not passed over.

    ours: of an approval's `{"size": 5}` nothing would be left but the approval, at the full size.
    """

    model_config = ConfigDict(extra="forbid")


class NamingModel(WireModel):
    """A body whose unknown names are kept, so that the answer can name them."""

    has: ClassVar[str] = "setting"
    """What its fields are called in a warning."""

    sister_fields: ClassVar[Mapping[str, str]] = {}
    """Settings that another call takes: by name, that call."""

    model_config = ConfigDict(extra="allow")

    def unknown(self) -> dict[str, str]:
        """Each unread name, with the known name that it most resembles."""
        known = tuple(type(self).model_fields)
        elsewhere = {name: call for name, call in self.sister_fields.items() if name not in known}
        near: dict[str, str] = {}
        for name in list(self.model_extra or ())[:UNKNOWN_MAX]:
            found = get_close_matches(name[:LINE_MAX], (*known, *elsewhere), n=1)
            call = elsewhere.get(found[0]) if found else None
            near[name] = f"{found[0]} ({call})" if call else "".join(found)
        return near

    def warnings(self) -> tuple[str, ...]:
        """A sentence for each unread name."""
        # Source: decisions, "Unknown names in a settings body".
        return tuple(
            f"unknown {self.has} ignored: {name[:80]!r}"
            + (f", did you mean {near}?" if near else "")
            for name, near in self.unknown().items()
        )

    def sent(self) -> dict[str, object]:
        """The known names that were sent, null or not."""
        return self.model_dump(exclude_unset=True, include=set(type(self).model_fields))

    def changes(self) -> dict[str, object]:
        """What is to be changed: the known names that were sent with a value."""
        return {name: value for name, value in self.sent().items() if value is not None}


class LenientModel(WireModel):
    """An answer in which a null where none may be says nothing, so that the default counts.

    Whoever decodes it takes such nulls out. Source: wire reference, 5, "Explicit nulls".
    """


def _venue(value: object) -> object:
    """Accept the public names of the venues beside ours; strict enums want the member itself."""
    if not isinstance(value, str):
        return value
    return VENUE_ALIASES.get(value) or next((v for v in Venue if v.value == value), value)


type_venue = BeforeValidator(_venue)

AnyVenue = Annotated[Venue, type_venue]
"""A venue in any of its names. Source: wire reference, section 0."""

Line = Annotated[str, AfterValidator(line)]
"""Text of others: one harmless line of at most 200 characters."""

Prose = Annotated[str, AfterValidator(prose)]
"""Text of others: harmless, with line breaks, at most 4,000 characters."""

SentLine = Annotated[str, StringConstraints(max_length=LINE_MAX), AfterValidator(line)]
"""Text that we accept as a name: refused when too long, so that nothing is lost silently."""

SentProse = Annotated[str, StringConstraints(max_length=PROSE_MAX), AfterValidator(prose)]
"""Text that we accept as reasoning: refused when too long."""

Identifier = Annotated[
    str, StringConstraints(pattern=rf"^{ID_PATTERN}$"), Field(description="an id")
]
"""An id that is safe as one segment of a path. Source: failures, T-18."""

Amount = Annotated[
    float, Field(ge=0, le=AMOUNT_MAX, description="money or shares, units, not negative")
]
"""Money or shares, units, zero allowed."""

Money = Annotated[float, Field(ge=-AMOUNT_MAX, le=AMOUNT_MAX, description="signed, units")]
"""Signed money."""

Price = Annotated[float, Field(ge=0, le=1, description="0 to 1")]
"""A probability; 0 and 1 once an outcome is final."""

MICRO: Final = 0.000001
"""The finest amount of money or shares."""

COUNT_MAX: Final = 1_000_000_000
Count = Annotated[int, Field(ge=0, le=COUNT_MAX)]

PriceChange = Annotated[float, Field(ge=-1, le=1, description="-1 to 1")]
"""A difference of two probabilities."""

SignalValue = str | float | int
SignalData = dict[str, SignalValue]
"""Flat dict, values strings or finite numbers. Source: spec, "signal_data"."""


def _readable(value: object) -> object:
    """Signal data without the values that are neither text nor a finite number."""
    if not isinstance(value, dict):
        return value
    rows = cast("dict[object, object]", value)
    return {name: one for name, one in rows.items() if _is_signal_value(one)}


def _is_signal_value(value: object) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, str | int) and not isinstance(value, bool)


ReadSignalData = Annotated[SignalData, BeforeValidator(_readable)]
"""The same in an answer: what cannot be read of it hides no trade."""


def moment(at: Timestamp) -> datetime:
    """The wire's form of a timestamp."""
    return datetime.fromtimestamp(at, UTC)


def timestamp(at: datetime) -> Timestamp:
    """Our form of the wire's moment."""
    return Timestamp(at.timestamp())


Moment = Annotated[AwareDatetime, Field(description="ISO 8601 with a zone")]
"""ISO 8601 with a zone."""
