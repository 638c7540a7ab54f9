"""The operators of a world: the owner of its data directory, and people added later."""

from dataclasses import dataclass, replace
from typing import Final

from service_tui.folding import looks_of
from service_tui.server.http.people.secret_keys import is_secret, new_secret
from service_tui.server.http.refusals import denied
from service_tui.storage.people import PersonRecord
from service_tui.terms import PERSON_KEY_PREFIX, PersonRole
from service_tui.units import Timestamp

OWNER: Final = "owner"
"""Name of whoever has the operator's key of the data directory; no row, no end."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who calls: the name under which changes are kept, and what it may do."""

    name: str
    role: PersonRole

    def reaches(self, role: PersonRole) -> bool:
        """True if this person may do what needs `role`."""
        return self.role.reaches(role)


THE_OWNER: Final = Person(OWNER, PersonRole.OWNER)


class Roster:
    """The people of a world. Like the world it changes in memory first; the caller writes it."""

    def __init__(self, records: list[PersonRecord]) -> None:
        self._records = {record.name: record for record in records}

    @property
    def records(self) -> tuple[PersonRecord, ...]:
        """Everybody who was ever added, in the order of their coming."""
        return tuple(self._records.values())

    def by_key(self, key: str) -> Person | None:
        """The person of a key; None for an ended or an unknown key."""
        # ours: every hash is tried, because the key does not say whose it is; people are dozens.
        for record in self._records.values():
            if record.ended_at is None and is_secret(key, record.salt, record.key_hash):
                return Person(record.name, PersonRole(record.role))
        return None

    def add(self, name: str, role: PersonRole, by: Person, at: Timestamp) -> tuple[str, str]:
        """Take a person in.

        Returns:
            The name, and the key, which is kept nowhere.

        Raises:
            Denied: 409 for a name that somebody has or had.
        """
        # ours: also of ended ones, or who comes later would own their agents; by how they look,
        # or two people would be the same in the audit log.
        taken = {looks_of(one) for one in (OWNER, *self._records)}
        if looks_of(name) in taken:
            raise denied(409, f"the name {name!r} is or was given", "choose another name")
        fresh = new_secret(PERSON_KEY_PREFIX)
        self._records[name] = PersonRecord(name, role, fresh.salt, fresh.digest, at, by.name)
        return name, fresh.text

    def change_role(self, name: str, role: PersonRole) -> PersonRecord:
        """Give a person another role; Denied as `of`."""
        return self._keep(replace(self.of(name), role=role))

    def renew(self, name: str) -> tuple[PersonRecord, str]:
        """Give a person a new key, the old one opens nothing any more; Denied as `of`."""
        fresh = new_secret(PERSON_KEY_PREFIX)
        record = replace(self.of(name), salt=fresh.salt, key_hash=fresh.digest)
        return self._keep(record), fresh.text

    def end(self, name: str, at: Timestamp) -> PersonRecord:
        """Let a person's key open nothing any more; Denied as `of`."""
        return self._keep(replace(self.of(name), ended_at=at))

    def of(self, name: str) -> PersonRecord:
        """The person of a name.

        Returns:
            The record.

        Raises:
            Denied: 409 for the owner of the data directory, 404 for nobody, 409 for an ended one.
        """
        if name == OWNER:
            fix = "the key lies in the data directory: move it away and start again for a new one"
            raise denied(409, "the owner has no row: the data directory names the owner", fix)
        record = self._records.get(name)
        if record is None:
            raise denied(404, f"nobody is called {name!r}", "see who there is: people list")
        if record.ended_at is not None:
            raise denied(409, f"{name!r} was ended", "add a person under another name")
        return record

    def put_back(self, name: str, record: PersonRecord | None) -> None:
        """Take a change back that was not written."""
        if record is None:
            self._records.pop(name, None)
        else:
            self._records[name] = record

    def find(self, name: str) -> PersonRecord | None:
        """The record of a name, ended or not."""
        return self._records.get(name)

    def _keep(self, record: PersonRecord) -> PersonRecord:
        self._records[record.name] = record
        return record
