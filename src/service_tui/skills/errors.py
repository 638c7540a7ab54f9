"""The error of a folder that is not a skill."""


class NotASkillError(ValueError):
    """A folder without a document that names the skill it holds."""
