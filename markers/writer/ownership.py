"""Whose comment it is, where that decides what GitHub lets us do and what our own text is worth.

What may live here: telling an edit that GitHub refuses for being another account's, and refusing
to write where the user's settings distrust the account that would.  What may not: any write.
"""

from __future__ import annotations

from ..errors import Denied, Gone, Refused
from ..model import Account, Comment
from ..selection import is_mine, spelled
from .call import Call

_MAY_BE_OWNERSHIP = frozenset({"permission", "forbidden", "not-found", "gone"})
"""Codes of a refusal that another account's comment explains; GitHub says 403 or hides by 404."""


def require_heard(call: Call) -> None:
    """Refuse to write as an account that the settings distrust: each run would write anew.

    Who we are is asked again before a memory refuses.
    """
    trust, memory = call.setup.trust, call.memory
    if not trust.distrusted or not trust.distrusts(memory.me()):
        return
    me = memory.me(fresh=True)
    if me is not None and trust.distrusts(me):
        raise unheard(me)


def unheard(me: Account) -> Refused:
    """The refusal to write what would never govern."""
    return Refused(
        "self-distrusted",
        f"your settings distrust {me.login} (id {me.id}), and that is who this token writes as: "
        f"nothing of it would ever govern; take -user:{me.id} out of trust, or use another "
        "account's token",
    )


def is_foreign(call: Call, target: Comment, error: Denied) -> bool:
    """Whether a refused edit may be refused for being another account's comment."""
    fits = error.reason.code in _MAY_BE_OWNERSHIP
    return fits and not is_mine(target, call.memory.me())


def foreign(call: Call, target: Comment, error: Denied) -> Denied:
    """The refusal of an edit of another account's comment: whose it is, and the two ways on."""
    author = target.author
    assert author is not None  # noqa: S101 - a deleted author is not trusted: none is edited
    answer = f"GitHub does not let this token change it: {error}"
    if isinstance(error, Gone):
        answer = "GitHub shows it, but to a change says that it is not there (404)"
    words = spelled(call.setup.trust.without(author.id))
    return Denied(
        "foreign-comment",
        f"comment {target.id} is by {author.login} (id {author.id}), and {answer}. Nothing was "
        "written. Either its owner or a maintainer deletes it, or you distrust that account, so "
        "that a comment of your own governs, with this line in your own settings file: "
        f'trust = "{words}" (or for once MARKERS_TRUST={words})',
    )
