"""Advice on the wire. Source: spec, "Versioning"; wire reference, 2.1."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator
from pydantic.config import JsonDict

from service_tui.wire.base import Line, Prose, SentLine, SentProse, WireModel
from service_tui.wire.text import prose

TURNS_MAX = 10
MESSAGE_MAX = 2_000


class TurnBody(WireModel):
    """One turn of a conversation about a problem."""

    role: SentLine = ""
    content: SentProse


_ONE_OF_THE_TWO: JsonDict = {
    "anyOf": [
        {
            "properties": {"error_text": {"type": "string", "minLength": 1}},
            "required": ["error_text"],
        },
        {"properties": {"message": {"type": "string", "minLength": 1}}, "required": ["message"]},
    ]
}


class TroubleshootRequest(WireModel):
    """An error as it was met, or a question in plain English; one of the two is needed."""

    model_config = ConfigDict(json_schema_extra=_ONE_OF_THE_TWO)

    error_text: SentProse | None = None
    message: (
        Annotated[str, StringConstraints(max_length=MESSAGE_MAX), AfterValidator(prose)] | None
    ) = None
    conversation: Annotated[tuple[TurnBody, ...], Field(max_length=TURNS_MAX)] | None = None

    @model_validator(mode="after")
    def _one_at_least(self) -> Self:
        """Want an error or a question."""
        if not (self.error_text or self.message):
            raise ValueError("give error_text, or message")
        return self


class TroubleshootBody(WireModel):
    """What to do. `matched` is false where the text names no error that is known here."""

    matched: bool
    fix: Prose
    source: Line | None = None


class VersionQuery(WireModel):
    """The version of the client library that asks."""

    sdk_version: (
        Annotated[str, StringConstraints(pattern=r"^[0-9]{1,4}(\.[0-9]{1,6}){0,3}$")] | None
    ) = None


class VersionBody(WireModel):
    """Whether that version is good enough, and for what it is too old."""

    status: Literal["ok", "deprecated", "blocked"]
    message: Line
