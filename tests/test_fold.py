"""Folding: our own duplicates go, or are hidden, once the canonical holds the text."""

from __future__ import annotations

import json

import pytest
from command_line import Shell, at_forge, forge, shell
from places import Place, emulate_url, place
from worlds import ISSUE, PLAN, REPO, World, near, world

from markers import writer
from markers.forge import Forge, faults, render, seed
from markers.model import Action
from markers.writer import Fold

__all__ = ["at_forge", "emulate_url", "forge", "near", "place", "shell", "world"]

BODY = f"{PLAN}\n\nA plan.\n"
TWIN = f"{PLAN}\n\nTwin.\n"
ONE = r"/issues/comments/\d+"
HIDE = r"/graphql$"
MUTATION = (
    "mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: SPAM})"
    " { minimizedComment { isMinimized minimizedReason } } }"
)


def hidden(world: World) -> list[int]:
    """Ids of the comments that are minimised."""
    return [c.id for c in world.forge.comments(REPO, ISSUE) if c.minimized]


def warned(result: writer.WriteResult, code: str) -> list[str]:
    """The warnings of one kind."""
    return [warning for warning in result.warnings if warning.startswith(f"{code}: ")]


def entries(world: World) -> list[tuple[str, str, int | None]]:
    """Kind, action and comment of each journal entry."""
    told = [entry.record for entry in world.setup().open_journal().entries()]
    return [(record.kind.value, record.action, record.comment_id) for record in told]


class TestMinimising:
    """`--fold-extras=minimise`."""

    def test_own_duplicates_are_hidden_and_keep_their_text(self, world: World) -> None:
        """Ours are minimised as outdated; the canonical, hers and a stranger's are not."""
        first, second = world.say(BODY), world.say(TWIN)
        world.say(f"{PLAN}\n\nHers.\n", author="mia")
        world.forge.plant(REPO, ISSUE, PLAN)
        result = world.write("New.\n", fold=Fold.MINIMISE)
        assert (result.action, result.comment_id) == (Action.UPDATED, first)
        assert hidden(world) == [second]
        assert world.forge.find(second).minimized == "outdated"
        assert world.forge.find(second).body == TWIN
        assert warned(result, "folded") == [f"folded: our duplicate {second} was minimised"]

    def test_it_has_its_intent_and_outcome(self, near: World) -> None:
        """Two entries, after the update's own, and no body is kept: none was replaced."""
        near.say(BODY)
        second = near.say(TWIN)
        near.write("New.\n", fold=Fold.MINIMISE)
        assert entries(near)[2:] == [
            ("intent", "minimise", second),
            ("outcome", "minimised", second),
        ]
        journal = near.setup().open_journal()
        assert [entry.replaced for entry in journal.entries()][2:] == [None, None]
        assert journal.verify() == []

    def test_an_unchanged_write_folds_as_well(self, near: World) -> None:
        """The canonical holds the text already: then nothing but the folding is done."""
        near.say(BODY)
        second = near.say(TWIN)
        result = near.write("A plan.\n", fold=Fold.MINIMISE)
        assert (result.action, hidden(near)) == (Action.UNCHANGED, [second])

    def test_what_is_hidden_already_is_left(self, near: World) -> None:
        """The second run sends no mutation."""
        near.say(BODY)
        near.say(TWIN)
        near.write("New.\n", fold=Fold.MINIMISE)
        near.forge.forget()
        result = near.write("Newer.\n", fold=Fold.MINIMISE)
        assert near.sent == ["PATCH"]
        assert warned(result, "folded") == []

    @pytest.mark.parametrize("landed", [True, False])
    def test_a_lost_answer_is_looked_for(self, near: World, landed: bool) -> None:
        """Hidden is done; still to be seen is asked again."""
        near.say(BODY)
        second = near.say(TWIN)
        near.write("A plan.\n")
        near.forge.faults.add("POST", HIDE, faults.status(502, landed=landed))
        near.forge.forget()
        result = near.write("A plan.\n", fold=Fold.MINIMISE)
        assert hidden(near) == [second]
        assert near.sent == ["POST"] * (1 if landed else 2)
        assert len(warned(result, "folded")) == 1

    @pytest.mark.parametrize(
        "fault",
        [faults.status(404, "Not Found"), faults.status(502), faults.status(403, "Forbidden")],
        ids=["no GraphQL", "502", "403"],
    )
    def test_what_cannot_be_hidden_is_a_warning(self, near: World, fault: faults.Effect) -> None:
        """The write stands, `fold-failed` says why, and no intent stays open."""
        near.say(BODY)
        second = near.say(TWIN)
        near.write("A plan.\n")
        near.forge.faults.add("POST", HIDE, fault, times=None)
        result = near.write("New.\n", fold=Fold.MINIMISE)
        assert result.action is Action.UPDATED
        (failed,) = warned(result, "fold-failed")
        assert str(second) in failed
        assert near.setup().open_journal().open_intents() == []

    def test_without_write_access_it_is_refused(self, near: World) -> None:
        """Whoever may only comment cannot hide his own: GraphQL's words are in the warning."""
        lee = near.setup(seed.LEE_TOKEN)
        near.say(BODY, author="lee")
        near.say(TWIN, author="lee")
        result = near.write("New.\n", setup=lee, fold=Fold.MINIMISE)
        assert result.action is Action.UPDATED
        assert "correct permissions" in warned(result, "fold-failed")[0]
        assert entries(near)[-1][1] == "denied"

    def test_without_node_ids_nothing_is_sent(self, near: World) -> None:
        """A server that does not name its comments for GraphQL: a warning."""
        near.say(BODY)
        near.say(TWIN)

        def nameless(_call: object, answer: faults.Answer) -> faults.Answer:
            body = answer.body.replace(b'"node_id":"IC_', b'"node_id":"  ')
            return faults.Answer(status=answer.status, headers=answer.headers, body=body)

        near.write("A plan.\n")
        near.forge.faults.add("*", "", faults.Effect(after=nameless), times=None)
        near.forge.forget()
        result = near.write("A plan.\n", fold=Fold.MINIMISE)
        assert warned(result, "fold-failed")
        assert near.sent == []


class TestBoth:
    """Whichever way, nothing is lost by it."""

    @pytest.mark.parametrize("fold", Fold)
    def test_a_duplicate_edited_meanwhile_is_left(self, near: World, fold: Fold) -> None:
        """Somebody writes to it between our look and the folding: it stays as it is."""
        near.say(BODY)
        second = near.say(TWIN)
        edited = f"{PLAN}\n\nA human was here.\n"
        near.forge.on_request("PATCH", ONE, lambda _c: near.forge.edit(second, edited), landed=True)
        result = near.write("New.\n", fold=fold)
        assert near.forge.find(second).body == edited
        assert hidden(near) == []
        assert "edited meanwhile" in warned(result, "fold-failed")[0]

    @pytest.mark.parametrize("fold", Fold)
    def test_a_duplicate_gone_meanwhile_is_no_extra(self, near: World, fold: Fold) -> None:
        """Somebody deletes it first: nothing is sent, nothing is reported left."""
        near.say(BODY)
        second = near.say(TWIN)
        near.forge.on_request("PATCH", ONE, lambda _c: near.forge.delete(second), landed=True)
        result = near.write("New.\n", fold=fold)
        assert (result.extras, near.sent) == ((), ["PATCH"])

    @pytest.mark.parametrize("fold", Fold)
    def test_the_last_one_is_never_folded(self, near: World, fold: Fold) -> None:
        """Somebody deletes the canonical meanwhile: its duplicate governs now, and stays."""
        first = near.say(BODY)
        second = near.say(TWIN)
        near.clock.sleep(3600)
        near.forge.on_request("PATCH", ONE, lambda _c: near.forge.delete(first), landed=True)
        result = near.write("New.\n", fold=fold)
        assert near.carrying() == [second]
        assert hidden(near) == []
        assert "which it doubled" in warned(result, "fold-failed")[0]

    @pytest.mark.parametrize("fold", Fold)
    def test_a_dry_run_says_what_would_become_of_it(self, near: World, fold: Fold) -> None:
        """`would-fold` names each, and nothing is sent."""
        near.say(BODY)
        second = near.say(TWIN)
        planned = near.write("New.\n", fold=fold, dry_run=True)
        done = {Fold.DELETE: "deleted", Fold.MINIMISE: "minimised"}[fold]
        assert warned(planned, "would-fold") == [
            f"would-fold: our duplicate {second} would be {done}"
        ]
        assert near.sent == []

    @pytest.mark.parametrize("fold", Fold)
    def test_records_are_never_folded(self, near: World, fold: Fold) -> None:
        """Earlier records of a post-new family are no duplicates."""
        record = {"family": "design-phase-complete"}
        near.write("One.\n", **record)
        near.write("Two.\n", fold=fold, **record)
        assert len(near.bodies()) == 2
        assert hidden(near) == []

    def test_a_conflict_folds_nothing(self, near: World) -> None:
        """The canonical does not hold the text: the duplicates stay."""
        near.say(BODY)
        near.say(TWIN)
        near.fails("New.\n", expect="0" * 64, fold=Fold.DELETE)
        assert near.sent == []

    def test_a_delete_of_unknown_outcome_stays_open_for_the_next_write(self, near: World) -> None:
        """The answer is lost and nothing can be read: a warning now, settled by the next write."""
        first = near.say(BODY)
        near.say(TWIN)
        near.write("A plan.\n")
        near.forge.faults.add("DELETE", ONE, faults.reset(landed=True))
        silent = near.forge.faults.add("GET", ONE, faults.status(502), times=None, after=2)
        result = near.write("A plan.\n", fold=Fold.DELETE)
        assert warned(result, "fold-failed")
        (intent,) = near.setup().open_journal().open_intents()
        assert intent.record.action == "delete"
        silent.off()
        near.write("Newer.\n")
        assert near.setup().open_journal().open_intents() == []
        assert near.carrying() == [first]


def test_every_server_takes_the_write(place: Place) -> None:
    """Where there is no GraphQL, folding is a warning; elsewhere the duplicate is hidden."""
    place.say(f"{place.plan}\n\nOne.\n")
    second = place.say(f"{place.plan}\n\nTwo.\n")
    result = place.write("New.\n", fold=Fold.MINIMISE)
    assert result.action is Action.UPDATED
    told = {comment["id"]: comment.get("minimized") for comment in place.told()}
    if place.server == "emulate":
        assert warned(result, "fold-failed")
    else:
        assert told[second] == {"reason": "outdated"}


@pytest.mark.parametrize(
    ("words", "left", "hides"),
    [
        (["--fold-extras"], 1, False),
        (["--fold-extras=delete"], 1, False),
        (["--fold-extras", "minimise"], 2, True),
        (["--fold-extras=minimise"], 2, True),
    ],
)
def test_the_option_with_and_without_a_value(
    at_forge: Shell, forge: Forge, words: list[str], left: int, hides: bool
) -> None:
    """Without a value it deletes, and the option behind it is not taken for one."""
    for text in ("one", "two"):
        forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\n{text}", at=forge.clock() - 600)
    path = at_forge.payload("new")
    target = ("--family", "plan-issue", "--number", str(seed.ISSUE))
    ran = at_forge.run("write", *target, "--body-file", path, *words, "--json")
    assert ran.code == 0, ran.err
    there = forge.comments(seed.REPO, seed.ISSUE)
    assert (len(there), bool(there[-1].minimized)) == (left, hides)


def test_another_word_is_a_usage_error(at_forge: Shell) -> None:
    """Only the two ways are known."""
    assert at_forge.write("new", "--fold-extras=hide").code == 2


class Killed(BaseException):
    """The writer's process dies: nothing of it runs any more."""


@pytest.mark.parametrize("landed", [True, False])
def test_recover_settles_a_minimising_that_was_killed(near: World, landed: bool) -> None:
    """Killed around the request: landed or not, as GitHub shows it, and nothing is sent."""

    def die(_call: object) -> None:
        raise Killed

    near.say(BODY)
    second = near.say(TWIN)
    near.forge.on_request("POST", HIDE, die, landed=landed)
    with pytest.raises(Killed):
        near.write("A plan.\n", setup=near.setup(seed.PAT_TOKEN), fold=Fold.MINIMISE)
    near.forge.forget()
    (settled,) = writer.recover(near.setup())
    assert settled.outcome == ("landed" if landed else "not-landed")
    assert (near.sent, bool(hidden(near))) == ([], landed)
    assert entries(near)[-1] == ("outcome", "minimised" if landed else "not-landed", second)
    again = near.write("A plan.\n", fold=Fold.MINIMISE)
    assert (again.action, hidden(near)) == (Action.UNCHANGED, [second])


class TestForge:
    """The forge hides comments as GitHub does."""

    def ask(self, forge: Forge, token: str, **variables: object) -> dict[str, object]:
        """One mutation as gh sends it, with the id as a variable."""
        body = json.dumps({"query": MUTATION, "variables": variables}).encode()
        headers = {"Authorization": f"Bearer {token}", "User-Agent": "test"}
        answer = forge.handle("POST", "/graphql", headers, body)
        assert answer.status == 200
        found = json.loads(answer.body)
        assert isinstance(found, dict)
        return found

    def test_whoever_may_write_may_hide(self, forge: Forge) -> None:
        """By the node id that REST gives; the reason is GitHub's spelling of the classifier."""
        node = render.node_id("IC", forge.comment(seed.REPO, seed.ISSUE, "lee", "Buy!").id)
        told = self.ask(forge, seed.PAT_TOKEN, id=node)
        assert told == {
            "data": {
                "minimizeComment": {
                    "minimizedComment": {"isMinimized": True, "minimizedReason": "spam"}
                }
            }
        }

    @pytest.mark.parametrize(
        ("token", "node", "kind"),
        [
            (seed.LEE_TOKEN, None, "FORBIDDEN"),
            (seed.FORK_TOKEN, None, "FORBIDDEN"),
            (seed.PAT_TOKEN, "IC_nonsense", "NOT_FOUND"),
            (seed.PAT_TOKEN, render.node_id("IC", 1), "NOT_FOUND"),
        ],
    )
    def test_a_no_is_a_200_with_errors(
        self, forge: Forge, token: str, node: str | None, kind: str
    ) -> None:
        """Null where the answer would be, and the comment stays to be seen."""
        made = forge.comment(seed.REPO, seed.ISSUE, "lee", "Buy!")
        told = self.ask(forge, token, id=node or render.node_id("IC", made.id))
        assert told["data"] == {"minimizeComment": None}
        assert kind in json.dumps(told["errors"])
        assert forge.find(made.id).minimized is None
