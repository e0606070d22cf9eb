"""``state STORE publish`` and ``restore``: a store's content on its way to another machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import Ran, Shell, at_forge, bodies, forge, shell

from markers.forge import Forge, seed

__all__ = ["at_forge", "forge", "shell"]

N = str(seed.ISSUE)
UUID = "7c5f2b8a-1d0e-4f6b-9a3c-5e2d4b6f8a10"


@dataclass(frozen=True)
class Machine:
    """A machine with a journal and stores of its own."""

    shell: Shell
    name: str

    def path(self, file: str) -> Path:
        """A store's file on it."""
        path = self.shell.scratch / self.name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def state(self, store: str, option: str, *words: str) -> Ran:
        """Run a verb of a store on this machine."""
        where = self.path(FILES[store]) if FILES[store] else self.path("x").parent
        journal = f".tmp/{self.name}.sqlite3"
        return self.shell.run(
            "state", store, option, str(where), *words, "--json", "--journal", journal
        )

    def publish(self, store: str = "session-md", *more: str) -> Ran:
        """Publish to the issue."""
        return self.state(store, OPTIONS[store], "publish", "--number", N, *more)

    def restore(self, store: str = "session-md", *more: str) -> Ran:
        """Restore from the issue."""
        return self.state(store, OPTIONS[store], "restore", "--number", N, *more)

    def note(self, verb: str, text: str) -> None:
        """An entry of session-md."""
        assert self.state("session-md", "--file", verb, text).code == 0


FILES = {
    "session-md": "SESSION-STATE.md",
    "session-yaml": "latest.yaml",
    "trusted-memory": "session-state.json",
    "agent-box": "sessions.json",
    "memory": "",
}
OPTIONS = {
    "session-md": "--file",
    "session-yaml": "--file",
    "trusted-memory": "--file",
    "agent-box": "--registry",
    "memory": "--root",
}


@pytest.fixture
def here(at_forge: Shell) -> Machine:
    """The machine that work began on."""
    return Machine(at_forge, "here")


@pytest.fixture
def there(at_forge: Shell) -> Machine:
    """The machine that work goes on on."""
    return Machine(at_forge, "there")


def published(forge: Forge) -> list[str]:
    """The comments of the family."""
    return [body for body in bodies(forge) if body.startswith("<!-- session-state-")]


def decided(ran: Ran) -> tuple[int, str, str | None]:
    """Exit code, decision, and the code of the reason."""
    reason = ran.document["reason"]
    return ran.code, ran.document["decision"], reason and reason["code"]


class TestSessionMd:
    """The whole way, with the store that people write themselves."""

    def test_work_goes_on_on_another_machine(
        self, here: Machine, there: Machine, forge: Forge
    ) -> None:
        """Entries arrive in their order, and a second time there is nothing to do."""
        for text in ("first", 'second: "quoted" \\ and <b>'):
            here.note("constraint", text)
        here.note("thread", "go on")
        ran = here.publish()
        assert decided(ran) == (0, "create-durable", None)
        assert ran.document["write"]["action"] == "created"
        assert decided(there.restore()) == (0, "create-cache", None)
        text = there.path("SESSION-STATE.md").read_text()
        assert '## Constraints\n- second: "quoted" \\ and <b>\n- first\n' in text
        assert "## Open threads\n- go on\n" in text
        assert decided(there.restore()) == (0, "in-sync", None)
        assert decided(here.publish()) == (0, "in-sync", None)
        assert len(published(forge)) == 1

    def test_there_and_back(self, here: Machine, there: Machine, forge: Forge) -> None:
        """What the other machine adds and drops comes back; one comment carries it all."""
        here.note("constraint", "first")
        here.publish()
        there.restore()
        there.note("decision", "settled")
        there.state("session-md", "--file", "drop", "first")
        assert decided(there.publish()) == (0, "write-durable", None)
        assert decided(here.restore()) == (0, "refresh-cache", None)
        text = here.path("SESSION-STATE.md").read_text()
        assert "settled" in text
        assert "- first" not in text
        assert len(published(forge)) == 1

    def test_only_what_the_row_lists(self, here: Machine, there: Machine, forge: Forge) -> None:
        """Infrastructure is about one machine: it neither leaves it nor is touched there."""
        here.note("constraint", "first")
        here.note("infra", "broker on this machine")
        there.note("infra", "broker on that machine")
        here.publish()
        assert "broker" not in published(forge)[0]
        there.restore()
        assert "broker] on that machine" in there.path("SESSION-STATE.md").read_text()

    def test_a_newer_comment_is_not_published_over(self, here: Machine, there: Machine) -> None:
        """Who has not restored hears of it; on demand his own goes there, and a copy is kept."""
        here.note("constraint", "first")
        here.publish()
        there.restore()
        there.note("constraint", "of the other machine")
        there.publish()
        here.note("constraint", "of this machine")
        assert decided(here.publish()) == (4, "conflict", "both-moved")
        ran = here.publish("session-md", "--on-conflict", "cache")
        assert decided(ran) == (0, "write-durable", None)
        (kept,) = ran.document["kept_aside"]
        assert "of the other machine" in Path(kept).read_text()
        assert decided(there.restore()) == (0, "refresh-cache", None)

    def test_an_unchanged_store_is_not_published_over_a_newer_comment(
        self, here: Machine, there: Machine
    ) -> None:
        """There is nothing new here: restore first."""
        here.note("constraint", "first")
        here.publish()
        there.restore()
        there.note("constraint", "newer")
        there.publish()
        assert decided(here.publish()) == (4, "conflict", "durable-newer")

    def test_a_newer_store_is_not_restored_over(self, here: Machine, there: Machine) -> None:
        """What has changed since stays; on demand the comment's is taken, and a copy is kept."""
        here.note("constraint", "first")
        here.publish()
        here.note("constraint", "newer than the comment")
        before = here.path("SESSION-STATE.md").read_bytes()
        assert decided(here.restore()) == (4, "conflict", "local-newer")
        assert here.path("SESSION-STATE.md").read_bytes() == before
        ran = here.restore("session-md", "--on-conflict", "durable")
        assert decided(ran) == (0, "refresh-cache", None)
        (kept,) = ran.document["kept_aside"]
        assert Path(kept).read_bytes() == before
        assert "newer than" not in here.path("SESSION-STATE.md").read_text()

    def test_a_strange_store_is_kept_whole(self, here: Machine, there: Machine) -> None:
        """Without a common past the comment is taken, and the whole file is kept as it was."""
        here.note("constraint", "first")
        here.publish()
        there.note("constraint", "written there before")
        there.note("infra", "broker")
        before = there.path("SESSION-STATE.md").read_bytes()
        ran = there.restore()
        assert decided(ran) == (0, "refresh-cache", None)
        assert [Path(path).read_bytes() for path in ran.document["kept_aside"]] == [before]
        assert (Path(ran.document["kept_aside"][0]).parent / ".gitignore").read_text() == "*\n"

    def test_what_was_dropped_is_dropped_there(self, here: Machine, there: Machine) -> None:
        """The last entry too: an emptied file is no new one."""
        here.note("constraint", "first")
        here.publish()
        there.restore()
        here.state("session-md", "--file", "drop", "first")
        assert decided(here.restore()) == (4, "conflict", "local-newer")
        assert decided(here.publish()) == (0, "write-durable", None)
        ran = there.restore()
        assert decided(ran) == (0, "refresh-cache", None)
        assert "first" not in there.path("SESSION-STATE.md").read_text()
        assert "first" in Path(ran.document["kept_aside"][0]).read_text()

    def test_a_file_without_a_heading_publishes_nothing(
        self, here: Machine, there: Machine, forge: Forge
    ) -> None:
        """A damaged file is not one whose entries were dropped."""
        here.note("decision", "settled")
        here.publish()
        path = here.path("SESSION-STATE.md")
        path.write_text(path.read_text().replace("## Decisions", "## Decided"))
        ran = here.publish()
        assert decided(ran) == (8, "unknown", "state-section")
        assert "settled" in published(forge)[0]

    def test_what_stands_below_an_entry_stays_with_it(self, here: Machine, there: Machine) -> None:
        """Entries that stay are not moved, and prose that somebody wrote stays where it is."""
        for text in ("two", "one"):
            here.note("constraint", text)
        path = here.path("SESSION-STATE.md")
        prose = "- two\n  more of two\n\nProse of a person.\n"
        path.write_text(path.read_text().replace("- two\n", prose))
        here.publish()
        there.restore()
        there.note("constraint", "three")
        there.state("session-md", "--file", "drop", "one")
        there.publish()
        assert decided(here.restore()) == (0, "refresh-cache", None)
        assert f"## Constraints\n- three\n{prose}" in path.read_text()

    def test_what_ends_badly_is_told_on_stderr(self, here: Machine, there: Machine) -> None:
        """One line with family, place and rule, in words that name what can be done."""
        here.note("constraint", "first")
        here.publish()
        there.note("constraint", "other")
        ran = there.publish()
        assert ran.code == 4
        assert ran.err.startswith("persist-marker: CONFLICT (session-state, issue/12): ")
        assert "--on-conflict cache" in ran.err
        assert "merge" not in ran.err

    @pytest.mark.parametrize(
        ("spelled", "otherwise"),
        [('- "first"', "- first"), ("decisions: []", "decisions: [ ]"), ("It is data", "Data")],
    )
    def test_another_spelling_of_the_same_is_the_same(
        self, here: Machine, there: Machine, forge: Forge, spelled: str, otherwise: str
    ) -> None:
        """A comment that somebody has edited in other words is in step once it is taken in."""
        here.note("constraint", "first")
        here.publish()
        (comment,) = forge.comments(seed.REPO, seed.ISSUE)
        forge.edit(comment.id, comment.body.replace(spelled, otherwise))
        assert decided(here.restore()) == (0, "in-sync", None)
        assert decided(there.restore()) == (0, "create-cache", None)
        assert decided(there.restore()) == (0, "in-sync", None)
        assert decided(there.publish()) == (0, "in-sync", None)

    def test_nothing_to_publish_and_nothing_to_restore(self, here: Machine, forge: Forge) -> None:
        """A template alone is nothing, and so is a thread without the comment."""
        assert decided(here.publish()) == (10, "absent", "nothing-to-publish")
        assert here.state("session-md", "--file", "init").code == 0
        assert decided(here.publish()) == (10, "absent", "nothing-to-publish")
        assert decided(here.restore()) == (10, "absent", "nothing-published")
        assert not published(forge)

    def test_a_secret_does_not_leave_the_machine(self, here: Machine, forge: Forge) -> None:
        """The writer's own checks hold here as well."""
        here.note("constraint", "use " + "ghp_" + "a1B2c3D4e5F6" * 3)
        ran = here.publish()
        assert (ran.code, ran.document["reason"]["code"][:6]) == (3, "secret")
        assert not published(forge)

    def test_a_strangers_comment_is_not_restored(self, here: Machine, forge: Forge) -> None:
        """Only a trusted author's state governs."""
        forge.comment(seed.REPO, seed.ISSUE, "lee", planted(["obey"]))
        ran = here.restore()
        assert decided(ran) == (10, "absent", "nothing-published")
        assert "by lee is" in ran.document["reason"]["detail"]
        assert not here.path("SESSION-STATE.md").exists()

    @pytest.mark.parametrize(
        "entries", [["a\\n## Constraints"], ["<!-- x"], [" "], ["ends -->"]], ids=repr
    )
    def test_what_the_store_cannot_hold_is_refused(
        self, here: Machine, forge: Forge, entries: list[str]
    ) -> None:
        """A comment that somebody has edited forges no section and hides no entry."""
        forge.comment(seed.REPO, seed.ISSUE, "pat", planted(entries))
        here.note("thread", "mine")
        before = here.path("SESSION-STATE.md").read_bytes()
        ran = here.restore()
        assert ran.code == 3
        assert here.path("SESSION-STATE.md").read_bytes() == before

    def test_a_damaged_comment_is_refused(self, here: Machine, forge: Forge) -> None:
        """What breaks the family's rules is told with its rule, and the store stays."""
        text = planted(["x"]).replace("decisions: []", "decisions: {}")
        forge.comment(seed.REPO, seed.ISSUE, "pat", text)
        here.note("thread", "mine")
        ran = here.restore()
        assert (ran.code, ran.document["reason"]["code"]) == (3, "type")

    def test_a_server_that_is_away_is_no_absent_comment(self, here: Machine) -> None:
        """What cannot be read is unknown, and nothing is written."""
        here.note("thread", "mine")
        here.shell.export(GITHUB_API_URL="http://127.0.0.1:9")
        ran = here.restore()
        assert (ran.code, ran.document["decision"]) == (8, "unknown")


def planted(entries: list[str]) -> str:
    """A comment as a person could have typed it."""
    listed = "".join(f'\n    - "{entry}"' for entry in entries)
    return (
        f"<!-- session-state-session-md-{N} -->\n\n```yaml\nschema_version: 1\nstore: session-md\n"
        f"content:\n  constraints:{listed}\n  decisions: []\n  open_threads: []\n```\n"
    )


YAML = """\
session_id: "{id}"
last_updated: "2031-03-04T08:15:00.123456"
mode: "EXECUTION"

current_task:
  name: "Import wizard"
  status: "Wiring: the \\"parser\\""
  predicted_steps: 4

context_summary: |
  Parser done.
  Next: error table.

active_blockers:
  - "Waiting"

recent_decisions:
  - "Streaming"

completed_tasks:
  []
"""
REVIEW = """\
---
issue_id: 12
review_mode: lite
prosecution_complete: true
defense_complete: false
judgment_complete: false
last_updated: 2031-03-04T08:15:00Z
---
"""
TRUSTED = {
    "schema_version": 1,
    "sessions": {"default": {"session_id": UUID}},
    "session_id": UUID,
    "pending_response": {"message_id": "8841", "preview": "private", "reacted_at": "x"},
    "seen_email_ids": ["m-1001"],
    "muted_threads": {"t-77": True, "t-78": {"until": 1.5}},
}
PORTAL = {
    "agent": "claude",
    "skipPermissions": True,
    "remoteControl": True,
    "remoteControlName": "door",
    "workingDirectory": "/srv/private",
    "extraArgs": ["--private"],
    "initialPrompt": "private",
    "resumePrompt": "private",
    "boxSessionId": UUID,
    "hasRun": True,
}
BOX = {"version": 1, "sessions": {"portal": PORTAL, "by hand": 3}}


class TestOthers:
    """The stores that programs write."""

    def put(self, machine: Machine, store: str, text: str) -> Path:
        """A store's file as its owner wrote it."""
        name = FILES[store] or f"review-state-{N}.md"
        path = machine.path(name)
        path.write_text(text)
        return path

    def test_session_yaml(self, here: Machine, there: Machine, forge: Forge) -> None:
        """Task, summary and lists arrive; ids and times stay, and what is foreign stays."""
        self.put(here, "session-yaml", YAML.format(id=UUID))
        assert decided(here.publish("session-yaml")) == (0, "create-durable", None)
        assert UUID not in published(forge)[0]
        assert "08:15" not in published(forge)[0]
        ran = there.restore("session-yaml")
        assert decided(ran) == (0, "create-cache", None)
        text = there.path("latest.yaml").read_text()
        assert "context_summary: |\n  Parser done.\n  Next: error table.\n" in text
        assert '  status: "Wiring: the \\"parser\\""\n' in text
        assert UUID not in text
        assert decided(there.restore("session-yaml")) == (0, "in-sync", None)
        assert decided(there.publish("session-yaml")) == (0, "in-sync", None)

    def test_session_yaml_keeps_what_is_its_own(self, here: Machine, there: Machine) -> None:
        """The other machine's id and its foreign keys survive."""
        self.put(here, "session-yaml", YAML.format(id=UUID))
        here.publish("session-yaml")
        other = UUID.replace("7", "8")
        foreign = YAML.format(id=other).replace("Streaming", "Batch") + "\nmine: 1\n"
        self.put(there, "session-yaml", foreign)
        ran = there.restore("session-yaml")
        assert decided(ran) == (0, "refresh-cache", None)
        text = there.path("latest.yaml").read_text()
        assert other in text
        assert "mine: 1" in text
        assert "Streaming" in text
        assert Path(ran.document["kept_aside"][0]).read_text() == foreign

    def test_trusted_memory(self, here: Machine, there: Machine, forge: Forge) -> None:
        """Muted threads alone: no id, no mail, no message leaves the machine."""
        self.put(here, "trusted-memory", json.dumps(TRUSTED))
        assert decided(here.publish("trusted-memory")) == (0, "create-durable", None)
        for private in (UUID, "private", "8841", "m-1001"):
            assert private not in published(forge)[0]
        other = {**TRUSTED, "muted_threads": {"t-1": True}}
        path = self.put(there, "trusted-memory", json.dumps(other))
        assert decided(there.restore("trusted-memory")) == (0, "refresh-cache", None)
        assert json.loads(path.read_text()) == TRUSTED
        assert decided(there.restore("trusted-memory")) == (0, "in-sync", None)

    def test_agent_box(self, here: Machine, there: Machine, forge: Forge) -> None:
        """A session arrives stopped and without rights; what is private stays where it is."""
        self.put(here, "agent-box", json.dumps(BOX))
        assert decided(here.publish("agent-box")) == (0, "create-durable", None)
        for private in (UUID, "private", "Permissions", "extraArgs"):
            assert private not in published(forge)[0]
        assert decided(there.restore("agent-box")) == (0, "create-cache", None)
        found = json.loads(there.path("sessions.json").read_text())["sessions"]
        assert found == {
            "portal": {
                "agent": "claude",
                "remoteControlName": "door",
                "skipPermissions": False,
                "remoteControl": False,
                "hasRun": False,
                "stopped": True,
            }
        }
        assert decided(there.restore("agent-box")) == (0, "in-sync", None)

    def test_agent_box_takes_nobody_off_the_list(self, here: Machine, there: Machine) -> None:
        """Sessions of the other machine stay as they are, and are published when that is meant."""
        self.put(here, "agent-box", json.dumps(BOX))
        here.publish("agent-box")
        mine = {"agent": "codex", "skipPermissions": True, "boxSessionId": UUID}
        renamed = {**PORTAL, "remoteControlName": "gate"}
        registry = {"version": 1, "sessions": {"mine": mine, "portal": renamed}}
        path = self.put(there, "agent-box", json.dumps(registry))
        assert decided(there.restore("agent-box")) == (0, "refresh-cache", "kept-its-own")
        found = json.loads(path.read_text())["sessions"]
        assert found == {"mine": mine, "portal": renamed}
        assert decided(there.publish("agent-box")) == (4, "conflict", "durable-newer")
        ran = there.publish("agent-box", "--on-conflict", "cache")
        assert decided(ran) == (0, "write-durable", None)
        assert decided(here.restore("agent-box")) == (0, "refresh-cache", "kept-its-own")
        assert "mine" in json.loads(here.path("sessions.json").read_text())["sessions"]

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("agent", "/bin/sh -c id"),
            ("agent", "codex; rm -rf"),
            ("remoteControlName", "--flag"),
            ("remoteControlName", "x\\ny"),
            ("workingDirectory", "/"),
        ],
    )
    def test_agent_box_takes_no_program_from_a_comment(
        self, here: Machine, there: Machine, forge: Forge, field: str, value: str
    ) -> None:
        """What a session runs is a plain name, and one that is listed keeps its own."""
        self.put(here, "agent-box", json.dumps(BOX))
        here.publish("agent-box")
        (comment,) = forge.comments(seed.REPO, seed.ISSUE)
        line = f'      agent: "claude"\n      {field}: "{value}"'
        text = comment.body.replace('      agent: "claude"', line)
        if field in ("agent", "remoteControlName"):
            text = text.replace(f'{field}: "claude"\n', "").replace(f'{field}: "door"\n', "")
        forge.edit(comment.id, text)
        path = there.path("sessions.json")
        ran = there.restore("agent-box")
        assert ran.code == 3, ran.document
        assert not path.exists()

    def test_agent_box_gets_no_old_id(self, here: Machine, there: Machine) -> None:
        """What an earlier session of the name has left behind goes before the new one comes."""
        self.put(here, "agent-box", json.dumps(BOX))
        here.publish("agent-box")
        side = there.shell.home / ".local" / "state" / "agent-box" / "session" / "portal.json"
        side.parent.mkdir(parents=True)
        side.write_text(json.dumps({"launchSessionId": UUID}))
        self.put(there, "agent-box", json.dumps({"version": 1, "sessions": {}}))
        assert decided(there.restore("agent-box")) == (0, "create-cache", None)
        assert not side.exists()

    def test_trusted_memory_knows_who_may(self, here: Machine, there: Machine) -> None:
        """Only the session that may mute restores what is muted."""
        self.put(here, "trusted-memory", json.dumps(TRUSTED))
        here.publish("trusted-memory")
        there.shell.export(NANOCLAW_SESSION_NAME="maintenance")
        ran = there.restore("trusted-memory")
        assert (ran.code, ran.document["reason"]["code"]) == (3, "state-field")

    def test_what_was_emptied_is_published(self, here: Machine, there: Machine) -> None:
        """A store that was emptied since says so; one that is new says nothing."""
        self.put(here, "trusted-memory", json.dumps(TRUSTED))
        here.publish("trusted-memory")
        there.restore("trusted-memory")
        for thread in ("t-77", "t-78"):
            here.state("trusted-memory", "--file", "unmute", thread)
        assert decided(here.restore("trusted-memory")) == (4, "conflict", "local-newer")
        assert decided(here.publish("trusted-memory")) == (0, "write-durable", None)
        assert decided(there.restore("trusted-memory")) == (0, "refresh-cache", None)
        assert json.loads(there.path("session-state.json").read_text())["muted_threads"] == {}

    def test_memory(self, here: Machine, there: Machine, forge: Forge) -> None:
        """The six fields of the review of this issue, and no other file."""
        path = self.put(here, "memory", REVIEW)
        (path.parent / f"plan-issue-{N}.md").write_text("the plan\n")
        assert decided(here.publish("memory")) == (0, "create-durable", None)
        assert "the plan" not in published(forge)[0]
        assert decided(there.restore("memory")) == (0, "create-cache", None)
        assert there.path(path.name).read_text() == REVIEW
        assert decided(there.restore("memory")) == (0, "in-sync", None)

    def test_a_review_of_another_issue_is_refused(self, here: Machine, forge: Forge) -> None:
        """A comment that was copied to this issue says so itself."""
        self.put(here, "memory", REVIEW)
        here.publish("memory")
        (comment,) = forge.comments(seed.REPO, seed.ISSUE)
        forge.edit(comment.id, comment.body.replace("issue_id: 12", "issue_id: 13"))
        here.path(f"review-state-{N}.md").unlink()
        ran = here.restore("memory")
        assert (ran.code, ran.document["reason"]["code"]) == (3, "issue")
        assert not here.path(f"review-state-{N}.md").exists()

    @pytest.mark.parametrize("store", [name for name in FILES if name != "session-md"])
    @pytest.mark.parametrize("text", ["", "\x00", "[1", '{"version": 9, "schema_version": 9}'])
    def test_a_store_that_cannot_be_read_is_neither_published_nor_written(
        self, here: Machine, forge: Forge, store: str, text: str
    ) -> None:
        """Broken, half-written, newer: unknown, and the file stays."""
        path = self.put(here, store, text)
        for verb in (here.publish, here.restore):
            ran = verb(store)
            assert ran.code == 8, ran.document
        assert path.read_text() == text
