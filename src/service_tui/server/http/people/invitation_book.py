"""Invitations, with which agents register: their terms, and the check of a code."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.server.http.people.secret_keys import INVITATION_PREFIX, is_secret, new_secret
from service_tui.server.http.refusals import Denied, denied
from service_tui.storage.invitations import InvitationRecord
from service_tui.terms import Plan
from service_tui.units import Micros, Timestamp

_ASK: Final = "ask whoever runs this service for an invitation: service-tui invite"


@dataclass(frozen=True, slots=True)
class InvitationTerms:
    """What an invitation gives. `budget` is money of buys a day; `person` owns the agents."""

    uses: int
    expires_at: Timestamp
    plan: Plan | None = None
    budget: Micros | None = None
    person: str = ""


class InvitationBook:
    """The invitations of a world. Like the world it changes in memory; the caller stores a change.

    The uses of an invitation are the agents that name it: there is no counter of its own, and the
    commit of a registration is a use.
    """

    def __init__(self, records: list[InvitationRecord]) -> None:
        self._records = {record.invitation_id: record for record in records}

    @property
    def records(self) -> tuple[InvitationRecord, ...]:
        """All that were ever made, the first one first."""
        return tuple(self._records.values())

    def add(
        self, invitation_id: str, terms: InvitationTerms, by: str, at: Timestamp
    ) -> tuple[InvitationRecord, str]:
        """Create an invitation.

        Returns:
            The invitation, and its code, which is not stored.
        """
        fresh = new_secret(INVITATION_PREFIX)
        record = InvitationRecord(
            invitation_id=invitation_id,
            salt=fresh.salt,
            code_hash=fresh.digest,
            uses=terms.uses,
            plan=terms.plan,
            budget=None if terms.budget is None else int(terms.budget),
            person=terms.person,
            created_at=at,
            created_by=by,
            expires_at=terms.expires_at,
        )
        self._records[invitation_id] = record
        return record, fresh.text

    def end(self, invitation_id: str, at: Timestamp) -> InvitationRecord:
        """End an invitation: no agent can register with it any more.

        Returns:
            The invitation.

        Raises:
            Denied: 404 for no invitation.
        """
        record = self._records.get(invitation_id)
        if record is None:
            raise denied(404, "no invitation has this id", "see which there are: invite list")
        if record.ended_at is None:
            record = self._records[invitation_id] = replace(record, ended_at=at)
        return record

    def put_back(self, invitation_id: str, record: InvitationRecord | None) -> None:
        """Undo a change that could not be stored."""
        if record is None:
            self._records.pop(invitation_id, None)
        else:
            self._records[invitation_id] = record

    def find(self, invitation_id: str) -> InvitationRecord | None:
        """The invitation with this id, valid or not."""
        return self._records.get(invitation_id)

    def good(self, code: str, agents: Iterable[Agent], now: Timestamp) -> InvitationRecord:
        """The invitation of a code; raises unless an agent may register with it now.

        Returns:
            The invitation.

        Raises:
            Denied: 403 for one that is unknown, ended, expired or used up.
        """
        found = (one for one in self._records.values() if is_secret(code, one.salt, one.code_hash))
        record = next(found, None)
        if record is None:
            raise _closed("this invitation is not known here")
        if record.ended_at is not None:
            raise _closed("this invitation was ended")
        if not now < record.expires_at:
            raise _closed("this invitation has expired")
        if used(record.invitation_id, agents) >= record.uses:
            raise _closed("this invitation is used up")
        return record


def used(invitation_id: str, agents: Iterable[Agent]) -> int:
    """How many agents registered by an invitation."""
    return sum(agent.settings.invitation == invitation_id for agent in agents)


def _closed(error: str) -> Denied:
    return denied(403, error, _ASK)


def no_invitation() -> Denied:
    """The refusal of a registration without one."""
    return denied(403, "registration here needs an invitation", f"send it as 'invitation'; {_ASK}")
