"""Commands that only look: they leave nothing behind, and print what servers say line by line."""

from __future__ import annotations

import time
from typing import Any

import pytest
from command_line import PLAN, TARGET, Shell, at_forge, bodies, forge, shell

from markers import clock
from markers.forge import Forge, seed
from markers.reading import judging

__all__ = ["at_forge", "forge", "shell"]


LOOKS = {
    ("audit", "log"): 0,
    ("audit", "show", "1"): 3,
    ("audit", "verify"): 0,
    ("audit", "verify", "--live"): 0,
    ("audit", "verify", "--head", "0" * 64): 1,
    ("audit", "export"): 0,
    ("audit", "prune", "--older-than", "1"): 0,
    ("recover",): 0,
    ("restore", "1"): 3,
    ("restore", "1", "--dry-run"): 3,
    ("read", *TARGET): 0,
    ("list", "--number", "12"): 0,
    ("doctor",): 0,
    ("write", *TARGET, "--body-file", "-", "--dry-run"): 3,
    ("write", *TARGET, "--take-over", "--body-file", "-", "--dry-run"): 3,
}


@pytest.mark.parametrize(("line", "code"), LOOKS.items(), ids=lambda value: str(value)[:40])
def test_looking_makes_no_journal(
    at_forge: Shell, forge: Forge, line: tuple[str, ...], code: int
) -> None:
    """A name that is misspelt makes neither a journal nor its locks, and is said to be new."""
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\ntheirs")
    folder = at_forge.home / "journals"
    folder.mkdir()
    at_forge.export(MARKERS_JOURNAL=str(folder / "typo.sqlite3"))
    ran = at_forge.run(*line)
    assert ran.code == code, ran
    assert list(folder.iterdir()) == []
    if line[0] in ("audit", "recover", "restore", "doctor") and line[1:2] != ("export",):
        shown = ran.text + ran.err
        assert "no journal yet" in shown or "prune" in line or "--head" in line, shown


def test_the_first_write_makes_the_journal(at_forge: Shell) -> None:
    """Who writes is recorded."""
    path = at_forge.home / "new.sqlite3"
    at_forge.export(MARKERS_JOURNAL=str(path))
    at_forge.write("text")
    assert path.exists()
    assert "no journal yet" not in at_forge.run("audit", "log").text


HOSTILE = "lee\n5000000009  <!-- plan-issue-12 -->  by pat\r\x1b[2K"


def test_a_name_breaks_no_line(at_forge: Shell, forge: Forge) -> None:
    """What a server puts into a field stays in its line."""
    stranger = forge.store.user("lee")
    assert stranger is not None
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\nours")
    planted = forge.comment(seed.REPO, seed.ISSUE, "lee", f"{PLAN}\n\ntheirs")
    forge.add_user(HOSTILE, stranger.id)
    expected = {("list", "--number", "12"): 2, ("read", *TARGET): 6, ("read", *TARGET, "--all"): 10}
    for line, count in expected.items():
        ran = at_forge.run(*line)
        lines = ran.text.splitlines()
        assert len(lines) == count, ran.text
        assert "\x1b" not in ran.text
        assert not any(each.startswith("5000000009") for each in lines), ran.text
    wrote = at_forge.run("write", *TARGET, "--body-file", at_forge.payload("more"))
    assert len(wrote.text.splitlines()) == 2
    assert f"comment {planted.id} by lee" in wrote.text


CREDIT = ("--family", "credit-input", "--param", "port=plan", "--number", str(seed.ISSUE))
BAD_CREDIT = f"<!-- credit-input-plan-{seed.ISSUE} -->\n\n```yaml\nport: plan\nadapter: x\n```\n"


def test_what_is_not_valid_is_shown_and_said(at_forge: Shell, forge: Forge) -> None:
    """``read`` and ``list`` end well, and name what the writer would refuse."""
    seen = forge.comment(seed.REPO, seed.ISSUE, "pat", BAD_CREDIT)
    ran = at_forge.run("read", *CREDIT, "--json")
    assert (ran.code, ran.document["valid"]) == (0, False)
    assert ran.document["problems"][0]["code"] == "missing"
    assert ran.document["reading"]["why"] == "malformed"
    assert list(ran.document)[-3:] == ["valid", "problems", "reading"]
    shown = at_forge.run("read", *CREDIT).text.splitlines()
    assert shown[3] == "NOT valid: 1 problem"
    assert shown[4].endswith(", rule missing]")
    assert shown[5].startswith("reading: not honoured: the credit input is malformed: ")
    listed = at_forge.run("list", "--number", "12")
    first, second = listed.text.splitlines()
    assert listed.code == 0
    assert first.endswith("  latest; NOT valid: 1 problem")
    assert second == f"  {shown[5]}"
    (entry,) = at_forge.run("list", "--number", "12", "--json").document["markers"]
    assert (entry["comment_id"], entry["valid"]) == (seen.id, False)
    assert entry["reading"] == ran.document["reading"]


def test_warnings_leave_it_valid(at_forge: Shell, forge: Forge) -> None:
    """They are counted as what they are, and the line of the reading follows."""
    forge.comment(seed.REPO, seed.ISSUE, "pat", "<!-- completion-account-12 -->\n\nall done")
    shown = at_forge.run("read", "--family", "completion-account", "--number", "12").text
    assert "\nvalid, with 1 warning\n" in shown
    assert "\nreading: unasserted, says comment " in shown
    assert "valid" not in at_forge.run("list", "--number", "12").text


def listed(shell: Shell, number: int = seed.ISSUE) -> list[str]:
    """The lines of ``list`` for people."""
    return shell.run("list", "--number", str(number)).text.splitlines()


RUN = "<!-- goal-run-inflight-12 -->\n\n- **status**: "


def test_list_contradicts_no_reading(at_forge: Shell, forge: Forge) -> None:
    """A void record affirms nothing, and the latest run does not hold the lock: both are told."""
    affirmed = "<!-- open-for-work-affirmed-12 -->\n\n"
    voided = forge.comment(seed.REPO, seed.ISSUE, "pat", f"{affirmed}x")
    while forge.edit(voided.id, f"{affirmed}y").updated_at == voided.created_at:
        time.sleep(0.05)
    holder = forge.comment(seed.REPO, seed.ISSUE, "pat", f"{RUN}unresolved")
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"{RUN}adopted")
    forge.comment(seed.REPO, seed.ISSUE, "pat", "<!-- design-phase-complete-12 -->\n\ndone")
    lines = listed(at_forge)
    assert [line for line in lines if "governs" in line] == lines[:1]
    assert any(line.startswith(str(holder.id)) and "  earlier record" in line for line in lines)
    readings = [line.strip() for line in lines if line.startswith("  reading: ")]
    assert len(readings) == 2
    assert f"held by comment {holder.id} (unresolved)" in " ".join(readings)
    assert "not affirmed: no lawful record; 1 record void, as edited" in " ".join(readings)
    assert sum("  latest" in line for line in lines) == 2


def test_list_says_which_markers_belong_elsewhere(at_forge: Shell, forge: Forge) -> None:
    """Another number, or another kind of thread: neither governs anything here."""
    forge.comment(seed.REPO, seed.PULL, "pat", "<!-- plan-issue-30 -->\n\nx")
    forge.comment(seed.REPO, seed.PULL, "pat", PLAN)
    lines = [line for line in listed(at_forge, seed.PULL) if not line.startswith("  ")]
    for line, why in zip(
        lines,
        (
            f"{PLAN} belongs on number 12, not on acme/widgets#30",
            "acme/widgets#30 is a pull request; <!-- plan-issue-30 --> belongs on an issue",
        ),
        strict=True,
    ):
        assert line.endswith(f"  does not count here; {why}; NOT valid: 1 problem")


def test_the_account_that_is_read_is_not_the_one_that_is_written(
    at_forge: Shell, forge: Forge
) -> None:
    """``read`` shows the canonical one, and says that the verdict is the last one's, and why."""
    head = "<!-- completion-account-12 -->\n\nadversarial_review_ran: "
    first = forge.comment(seed.REPO, seed.ISSUE, "pat", f"{head}no")
    last = forge.comment(seed.REPO, seed.ISSUE, "mia", f"{head}yes")
    shown = at_forge.run("read", "--family", "completion-account", "--number", "12").text
    assert f"comment {first.id} " in shown.splitlines()[0]
    assert (
        f"reading: ran, says comment {last.id} by mia, the last of 2 candidates, which is the one "
        f"that is read; a write changes the first one, comment {first.id}\n"
    ) in shown


def test_all_has_the_reading_that_read_has(at_forge: Shell, forge: Forge) -> None:
    """Also where no comment carries the marker, and the answer lies in the interim form."""
    of = ("--family", "open-for-work-affirmed", "--number", "12")
    line = "**Open-for-work affirmation (interim form, issue 957 Amendment 8) - issue 12**"
    forge.comment(seed.REPO, seed.ISSUE, "pat", line)
    alone, every = at_forge.run("read", *of, "--json"), at_forge.run("read", *of, "--all", "--json")
    assert (alone.code, every.code) == (10, 10)
    assert every.document["reading"] == alone.document["reading"]
    assert every.document["reading"]["affirmed"] is True
    assert "; affirmed since " in every.err
    forge.comment(seed.REPO, seed.ISSUE, "pat", "<!-- open-for-work-affirmed-12 -->\n\nx")
    alone, every = at_forge.run("read", *of, "--json"), at_forge.run("read", *of, "--all", "--json")
    assert every.document["reading"] == alone.document["reading"]
    assert every.document["markers"][0]["reading"] == alone.document["reading"]


def test_what_was_not_judged_ends_with_7(
    at_forge: Shell, forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No half answer is printed as one; the document has the comment all the same."""

    def slowly(*_given: Any) -> Any:
        clock.sleep(200)
        return ()

    monkeypatch.setattr(judging, "judge", slowly)
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\nplan")
    seen = forge.comment(seed.REPO, seed.ISSUE, "pat", BAD_CREDIT)
    with clock.use(clock.FakeClock()):
        ran = at_forge.run("read", *CREDIT, "--json")
    assert (ran.code, ran.document["action"]) == (7, "unavailable")
    assert ran.document["reason"]["code"] == ran.document["reading"]["broken"] == "not-judged"
    assert (ran.document["comment_id"], ran.document["body"]) == (seen.id, BAD_CREDIT)
    assert "--deadline" in ran.err


def test_what_is_absent_has_its_reading(at_forge: Shell, forge: Forge) -> None:
    """Exit code 10, and the answer is in the document and in the line on stderr."""
    line = "**Open-for-work affirmation (interim form, issue 957 Amendment 8) - issue 12**"
    interim = forge.comment(seed.REPO, seed.ISSUE, "pat", f"{line}\n\n> as it said")
    ran = at_forge.run("read", "--family", "open-for-work-affirmed", "--number", "12", "--json")
    assert (ran.code, ran.document["action"]) == (10, "absent")
    assert ran.document["reading"]["affirmed"] is True
    assert (ran.document["valid"], ran.document["comment_id"]) == (None, None)
    assert f" by comment {interim.id}" in ran.err


def test_a_replaced_body_is_shown_in_its_lines(at_forge: Shell) -> None:
    """``audit show`` sets a body off, each of its lines harmless."""
    for text in ("one\n\ttwo\n", "next\n"):
        at_forge.write(text)
    entries = at_forge.run("audit", "log", "--json").document["entries"]
    seq = next(str(each["seq"]) for each in entries if each["replaced"])
    lines = at_forge.run("audit", "show", seq).text.splitlines()
    at = lines.index("body:")
    assert lines[at + 1 : at + 4] == [f"  {PLAN}", "  ", "  one"]
    assert lines[at + 4] == "  \\ttwo"
    assert at_forge.run("audit", "show", seq, "--body").text == f"{PLAN}\n\none\n\ttwo\n"


def test_restore_of_another_repository(at_forge: Shell, forge: Forge) -> None:
    """--repo that is not the entry's is refused before anything is looked at."""
    for text in ("one", "two"):
        at_forge.write(text)
    entries = at_forge.run("audit", "log", "--json").document["entries"]
    seq = next(str(each["seq"]) for each in entries if each["replaced"])
    host = at_forge.env["GITHUB_API_URL"].removeprefix("http://")
    for other in ("acme/other", f"{host}/acme/other"):
        forge.forget()
        ran = at_forge.run("--repo", other, "restore", seq, "--json")
        assert (ran.code, ran.document["reason"]["code"]) == (3, "other-repo"), ran
        assert "acme/widgets" in ran.err
        assert "acme/other" in ran.err
        assert not forge.counts
    for same in ("acme/widgets", "ACME/Widgets", f"{host}/acme/widgets"):
        ran = at_forge.run("restore", seq, "--repo", same, "--json", "--dry-run")
        assert ran.code == 0, ran
    assert "two" in bodies(forge)[0]
