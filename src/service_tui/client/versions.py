"""Asks whether an answer has changed, where the service names its version."""

import re
from dataclasses import replace
from http import HTTPStatus
from typing import Final

import httpx

from service_tui.client.keys import Key
from service_tui.client.refusals import RawAnswer
from service_tui.client.reply import SAME_LEAST, SAME_MOST

_TAG: Final = re.compile(r'"[!#-~]{1,200}"')
"""The version of an answer as a service may name it; one that is "weak" is not taken."""

Asked = tuple[str, Key | None]
"""A question: its address, and in whose name it was asked."""


class KnownVersions:
    """The last answers whose version (ETag) the service named: those that are large, a few."""

    def __init__(self) -> None:
        self._known: dict[Asked, tuple[str, bytes]] = {}

    def ask(self, request: httpx.Request, asked: Asked) -> None:
        """Ask only for what has changed, if the last answer to this question is known."""
        known = self._known.get(asked)
        if known is None:
            request.headers.pop("If-None-Match", None)
        else:
            request.headers["If-None-Match"] = known[0]

    def whole(self, asked: Asked, answer: RawAnswer) -> RawAnswer:
        """The answer with its body, which is the last one where nothing has changed."""
        known = self._known.get(asked)
        if answer.status == HTTPStatus.NOT_MODIFIED and known is not None:
            return replace(answer, status=HTTPStatus.OK.value, raw=known[1])
        tag = answer.headers.get("etag", "")
        if _TAG.fullmatch(tag) and len(answer.raw) >= SAME_LEAST:
            self._known[asked] = (tag, answer.raw)
            while len(self._known) > SAME_MOST:
                del self._known[next(iter(self._known))]
        elif known is not None:
            del self._known[asked]
        return answer
