"""``latest.yaml`` in forms that its owner never writes: nothing of them is blank in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from command_line import Ran, Shell, shell
from hypothesis import given
from hypothesis import strategies as st

from markers.caches.session_yaml import unread
from markers.caches.session_yaml_form import LEAST_STEPS, MOST_STEPS, State, read, write

__all__ = ["shell"]

SAID = ("--mode", "M", "--task", "T", "--status", "S", "--summary", "X")


def left(shell: Shell, text: str) -> Path:
    """The file as somebody left it."""
    path = shell.top / ".agent/sessions/latest.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def state(shell: Shell, *words: str) -> Ran:
    """One verb, with JSON."""
    return shell.run("state", "session-yaml", *words, "--json")


@pytest.mark.parametrize(
    ("task", "name", "status", "steps", "more"),
    [
        ("{name: N}", "N", "", 0, ""),
        ("{name: \"a, b: {c}\", status: 'it''s', predicted_steps: 4}", "a, b: {c}", "it's", 4, ""),
        ('{"name": "N","status":"S"}', "N", "S", 0, ""),
        ("{\n  name: N,\n  status: two words,\n  }", "N", "two words", 0, ""),
        ("{name: it's, status: don't}", "it's", "don't", 0, ""),
        ("{name: N, owner: me}", "N", "", 0, "owner: me"),
        ("{}", "", "", 0, ""),
    ],
)
def test_yaml_d4_a_task_between_braces(
    task: str, name: str, status: str, steps: int, more: str
) -> None:
    """A mapping of texts in one line is read as YAML has it."""
    found = read(f"mode: M\ncurrent_task: {task}\nactive_blockers:\n  - b\n")
    assert (found.task, found.status, found.predicted_steps) == (name, status, steps)
    assert (found.task_more, found.unread, found.blockers) == (more, (), ("b",))


@given(st.dictionaries(st.sampled_from(["name", "status", "x-y"]), st.text(max_size=8)))
def test_yaml_d4_braces_are_read_as_yaml_reads_them(task: dict[str, str]) -> None:
    """Whatever a YAML library writes in quotes between braces comes back, or is told."""
    flow = yaml.safe_dump(task, default_flow_style=True, default_style='"', width=10**6)
    found = read(f"mode: M\ncurrent_task: {flow}")
    assert (found.task, found.status) == (task.get("name", ""), task.get("status", ""))
    assert found.unread == ()


UNREAD = [
    "current_task: {name: N, more: [1]}",
    "current_task: {name: N, more: {a: b}}",
    "current_task: {name: N",
    "current_task: {name: N} # c",
    "current_task: {name: N, name: O}",
    "current_task: {name: N # c\n  }",
    "current_task: {just words}",
    "current_task: just words",
    "current_task:\n  name: N\n  predicted_steps: many",
    f"current_task:\n  name: N\n  predicted_steps: {MOST_STEPS + 1}",
    "current_task:\n  - name: N",
    "mode: again",
    "? a\n: b",
    "stray words",
]


@pytest.mark.parametrize("line", UNREAD)
def test_yaml_d3_what_cannot_be_read_is_told_and_kept(shell: Shell, line: str) -> None:
    """Readers warn; the next write keeps the lines as comments and a copy of the file, once."""
    before = f"mode: M\n{line}\n"
    path = left(shell, before)
    for verb in ("boot", "show"):
        (warning,) = state(shell, verb).document["warnings"]
        assert "cannot be read" in warning
    done = state(shell, "update", *SAID).document
    assert Path(done["kept"]).read_text() == before
    assert any("cannot be read" in each for each in done["warnings"])
    lost = [each.strip() for each in line.removeprefix("current_task:").split("\n")]
    read_all_the_same = {"name: N"} if "steps" in line else set()
    assert all(each in path.read_text() for each in {*lost} - read_all_the_same)
    again = state(shell, "update", *SAID, "--add-blocker", "b").document
    assert (again["kept"], again["warnings"]) == (None, [])
    assert state(shell, "boot").document["warnings"] == []
    assert len(list(path.parent.glob("*.corrupt-*"))) == 1


@pytest.mark.parametrize("quote", ['"', "'"])
def test_yaml_d3_keys_in_quotes(quote: str) -> None:
    """A key is the same with quotes around it, in the first column and below a task."""
    keys = ("mode", "context_summary", "active_blockers", "current_task", "name", "status")
    text = 'mode: "M"\ncontext_summary: |\n  long\n  text\nactive_blockers:\n  - "b"\n'
    text += 'current_task:\n  name: "N"\n  status:"S"\nx-theirs: 1\n'.replace('s:"', 's: "')
    spelt = text
    for key in keys:
        spelt = spelt.replace(f"{key}:", f"{quote}{key}{quote}:")
    assert read(spelt) == read(text)
    assert read(spelt).unread == ()


def test_yaml_d3_keys_in_quotes_end_a_quote_that_was_left_open() -> None:
    """The next known key ends a text that nobody closed, in quotes as without."""
    text = 'mode: "cut off\n"current_task":\n  "name": "cut\n  "status": "S"\n'
    found = read(text)
    assert (found.mode, found.task, found.status) == ("cut off", "cut", "S")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("mode: Plan # c", "Plan # c"),
        ("mode: Plan #c", "Plan #c"),
        ('mode: "Plan" # c', "Plan"),
        ("mode: 'Plan' # c", "Plan"),
    ],
)
def test_yaml_c_a_comment_behind_a_text(line: str, said: str) -> None:
    """Without quotes it is part of the text, as for the original; behind quotes it is none."""
    assert read(line).mode == said
    assert read(line.replace("mode: ", "active_blockers:\n  - ")).blockers == (said,)


@pytest.mark.parametrize("steps", [LEAST_STEPS, -1, 0, MOST_STEPS])
def test_yaml_02_steps_that_are_taken_are_read_back(shell: Shell, steps: int) -> None:
    """The option takes what the reader reads, up to its bounds."""
    done = state(shell, "update", *SAID, "--predicted-steps", str(steps))
    assert done.code == 0
    assert state(shell, "show").document["state"]["predicted_steps"] == steps
    assert read(write(State(predicted_steps=steps))).predicted_steps == steps


@pytest.mark.parametrize("steps", [LEAST_STEPS - 1, MOST_STEPS + 1, "9" * 5000, "many"])
def test_yaml_02_steps_beyond_are_usage(shell: Shell, steps: object) -> None:
    """What would not be read back is not taken."""
    assert state(shell, "update", *SAID, "--predicted-steps", str(steps)).code == 2


def test_yaml_the_sentence_of_what_is_unread() -> None:
    """It counts the lines and shows the first."""
    assert unread(State()) == ""
    assert unread(State(unread=("# a", "# b"))) == "2 lines of it cannot be read, the first: a"
