"""Invitations by which agents register."""

from dataclasses import asdict, dataclass, field
from typing import Final

from service_tui.storage.db.statements import columns, replacing
from service_tui.storage.world_database import WorldDatabase, WriteConnection

_KEEP: Final = replacing("invitations")
_ALL: Final = f"SELECT {columns('invitations')} FROM invitations ORDER BY created_at, invitation_id"  # noqa: S608 - names of ours


@dataclass(frozen=True, slots=True)
class InvitationRecord:
    """An invitation as the database has it. `budget` is in micros a day, None for no budget."""

    invitation_id: str
    salt: str = field(repr=False)
    code_hash: str = field(repr=False)
    uses: int
    plan: str | None
    budget: int | None
    person: str
    created_at: float
    created_by: str
    expires_at: float
    ended_at: float | None = None


def read_invitations(database: WorldDatabase) -> list[InvitationRecord]:
    """All of them, the first one first. Blocks."""
    return [InvitationRecord(*row) for row in database.rows(_ALL, {})]


def keep_invitation(connection: WriteConnection, record: InvitationRecord) -> None:
    """Write an invitation, new or changed, within the caller's transaction."""
    connection.execute(_KEEP, asdict(record))
