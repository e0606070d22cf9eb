"""The default world: one repository with an issue and a pull request, three people and a bot.

The tokens are made up, work on a forge only, and are told to everyone.
"""

from __future__ import annotations

from .values import Kind
from .world import World

REPO = "acme/widgets"
REPO_ID = 1_296_269
ISSUE = 12
PULL = 30
BOT = "helper-bot[bot]"

USERS = (
    # login, id, association to the repository
    ("pat", 101, "OWNER"),
    ("mia", 102, "MEMBER"),
    ("lee", 103, "NONE"),
)
BOT_ID = 900

PAT_TOKEN = "forge-pat"  # noqa: S105 - made up, and told to everyone
MIA_TOKEN = "forge-mia"  # noqa: S105 - the same
LEE_TOKEN = "forge-lee"  # noqa: S105 - the same
BOT_TOKEN = "forge-bot"  # noqa: S105 - the same; an installation's: GET /user is refused to it
FORK_TOKEN = "forge-fork"  # noqa: S105 - the same; what a fork's run gets: it reads only


def populate(world: World) -> None:
    """Put the default world into an empty one."""
    world.add_repo(REPO, REPO_ID)
    for login, user_id, association in USERS:
        world.add_user(login, user_id)
        world.add_token(f"forge-{login}", login)
        world.associate(REPO, login, association)
    world.add_user(BOT, BOT_ID, bot=True, app=BOT.removesuffix("[bot]"))
    world.associate(REPO, BOT, "COLLABORATOR")
    world.add_token(BOT_TOKEN, BOT, kind=Kind.INSTALLATION)
    world.add_token(FORK_TOKEN, BOT, kind=Kind.INSTALLATION, writes=False)
    world.add_issue(REPO, ISSUE, title="Widgets squeak", body="They squeak when it is cold.")
    world.add_issue(REPO, PULL, title="Oil the widgets", body="Closes #12.", pull=True)
