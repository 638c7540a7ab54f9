"""What is wrong with a folder that is no skill."""


class NotASkillError(ValueError):
    """A folder without a document that names the skill it holds."""
