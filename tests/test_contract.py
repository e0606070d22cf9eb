"""The contract: the shipped registry, overlays on it, and what its checker says."""

from __future__ import annotations

import json
import tomllib
import zipfile
from pathlib import Path

import pytest

from markers import codec, contract
from markers.contract import files as registry_files
from markers.contract.book import Problem
from markers.errors import Refused
from markers.model import Family, Scope, Shape, Status, Surface
from markers.reconciler.interface import Source

CONTRACT = contract.load()
ROOT = Path(__file__).parents[1]

WRITABLE = {
    "plan-issue": "upsert",
    "session-state": "upsert",
    "design-phase-complete": "post-new",
    "experience-owner-complete": "post-new",
    "review-judge-produced": "post-new",
    "engagement-record": "post-new",
    "review-dispositions": "post-new",
    "credit-input": "post-new",
    "frame-slices": "upsert",
    "open-for-work-affirmed": "post-new",
    "completion-account": "upsert",
    "proposed-followups": "upsert",
    "design-issue": "post-new",
    "goal-halt-report": "upsert",
    "goal-run-inflight": "post-new",
    "goal-run-stage": "upsert",
    "goal-run-restart-report": "post-new",
    "goal-probe-findings": "post-new",
    "pc-emission-check-report": "upsert",
}
ONLY_RECOGNISED = {
    "frame-credit-ledger",
    "phase-containment-ledger",
    "code-review-complete",
    "first-contact-assessed",
}
INSIDE = {
    "phase-containment": {"phase-containment-ledger", "design-phase-complete", "plan-issue"},
    "judge-rulings": {"phase-containment-ledger", "plan-issue"},
    "brief_dispositions": {"phase-containment-ledger"},
    "finding_dispositions": {"design-phase-complete"},
    "frame-spine": {"plan-issue"},
    "frame-slice": {"frame-slices", "plan-issue"},
    "frame-slices-generated-at": {"frame-slices", "plan-issue"},
    "goal-contract": {"plan-issue"},
    "phase-containment-ledger-ref": {"plan-issue"},
    "pipeline-metrics": set(),
}
ELSEWHERE = {"goal-run-class", "refs-injected", "subagent-env-handshake"}
ROWS = [
    *(f"SMC-{number:02}" for number in range(1, 25)),
    *(f"STORE-{number:02}" for number in range(1, 6)),
]
WITHOUT_DURABLE_WRITE = {f"SMC-{n:02}" for n in (4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 18, 21, 22)}


def test_every_family_is_there() -> None:
    """The shipped families are those of the source contract and ours, each in its kind."""
    families = CONTRACT.families
    assert set(families) == {*WRITABLE, *ONLY_RECOGNISED, *INSIDE, *ELSEWHERE}
    assert {n: f.shape for n, f in families.items() if f.writable} == WRITABLE
    assert {f.name for f in CONTRACT.comment_families} == {*WRITABLE, *ONLY_RECOGNISED}
    scopes = (Scope.BLOCK, Scope.POINTER)
    assert {n: set(f.carriers) for n, f in families.items() if f.scope in scopes} == INSIDE


def test_every_row_is_there() -> None:
    """The rows are SMC-01 to SMC-24 and one a store; those without a durable write say why."""
    assert list(CONTRACT.rows) == ROWS
    assert {name for name, row in CONTRACT.rows.items() if row.gap} == WITHOUT_DURABLE_WRITE
    assert CONTRACT.row("SMC-04").status is Status.RETIRED


def test_statuses_and_flags() -> None:
    """The standing of the special families is what the source contract says of them."""
    families = CONTRACT.families.values()
    by_status = {status: {f.name for f in families if f.status is status} for status in Status}
    assert by_status[Status.LEGACY] == {"design-issue"}
    assert by_status[Status.RESERVED] == {"goal-run-class"}
    assert by_status[Status.RETIRED] == {"code-review-complete", "first-contact-assessed"}
    hygiene_only = {"frame-credit-ledger", "phase-containment-ledger"}
    assert by_status[Status.HYGIENE_ONLY] == hygiene_only
    assert all(CONTRACT.family(name).shape is Shape.UPSERT for name in hygiene_only)
    assert {f.name for f in families if f.deletable} == {"goal-run-stage"}
    assert {f.name for f in families if f.immutable} == {"open-for-work-affirmed"}
    assert {f.name for f in families if f.empty} == {"review-judge-produced"}


@pytest.mark.parametrize(
    ("name", "params", "surfaces"),
    [
        ("plan-issue", {}, "issue"),
        ("engagement-record", {"phase": "plan"}, "issue"),
        ("engagement-record", {"phase": "review"}, "pull-request"),
        ("review-dispositions", {}, "pull-request"),
        ("proposed-followups", {}, "issue pull-request"),
        ("pc-emission-check-report", {}, "issue pull-request"),
    ],
)
def test_surfaces(name: str, params: dict[str, str], surfaces: str) -> None:
    """A family's surface may depend on a parameter."""
    expected = tuple(Surface(surface) for surface in surfaces.split())
    assert CONTRACT.family(name).surfaces_for(params) == expected


def test_chains_and_owners() -> None:
    """Every row names where its readers look; what is kept in two places has one owner."""
    owners = {name: row.owner for name, row in CONTRACT.rows.items() if row.owner}
    assert {owners[name] for name in ("SMC-01", "SMC-02")} == {"plan-issue"}
    assert owners["SMC-03"] == "design-issue"
    for row in CONTRACT.rows.values():
        assert row.chain, row.id
        assert {*row.chain} <= {*Source}
        assert row.owner is None or CONTRACT.family(row.owner).writable
        assert not (row.owner and row.gap)
    assert CONTRACT.row("SMC-01").chain == ("bundle", "cache", "comment")
    assert CONTRACT.row("SMC-03").chain == ("cache", "comment", "issue-body")
    assert CONTRACT.row("SMC-06").chain == ("review-comment", "pull-request-body", "cache")
    assert CONTRACT.row("SMC-05").chain == ("cache",)


def test_the_schema_knows_every_source() -> None:
    """The words of a chain are the same in the schema of rows and in the code."""
    schema = json.loads((ROOT / "registry/schemas/row.schema.json").read_text(encoding="utf-8"))
    assert schema["properties"]["chain"]["items"]["enum"] == [source.value for source in Source]


def test_the_shipped_registry_has_no_problems() -> None:
    """What a start does not check, this proves."""
    assert contract.problems() == []


def test_a_start_reads_the_same_as_a_check() -> None:
    """Reading a shipped file in two halves gives what reading it at once gives."""
    root = registry_files.shipped()
    for name, file in registry_files.listing(root.joinpath("families")).items():
        whole = registry_files.family_of(tomllib.loads(file.read_text(encoding="utf-8")))
        assert CONTRACT.families[name] == whole
        assert list(CONTRACT.families[name].payload) == list(whole.payload)
    for name, file in registry_files.listing(root.joinpath("rows")).items():
        whole_row = registry_files.row_of(tomllib.loads(file.read_text(encoding="utf-8")))
        assert CONTRACT.rows[name] == whole_row


def test_payload_fields_are_kept() -> None:
    """Validators find the fields of a payload, nested ones included."""
    fields = CONTRACT.family("engagement-record").payload["fields"]
    decisions = next(field for field in fields if field["name"] == "load_bearing_decisions")
    assert decisions["items"][0]["pattern"] == r"^[a-z][a-z0-9-]{0,62}[a-z0-9]\Z"
    assert len(CONTRACT.family("review-dispositions").payload) == 5


@pytest.mark.parametrize("field", ["payload", "surface_when"])
def test_families_are_frozen(field: str) -> None:
    """Neither a family nor its tables can be changed by whoever was handed one."""
    family = CONTRACT.family("engagement-record")
    with pytest.raises(AttributeError):
        setattr(family, field, {})
    with pytest.raises(TypeError):
        getattr(family, field)["new"] = 1


@pytest.mark.parametrize(
    ("name", "hint"), [("plan-isue", "plan-issue"), ("zzz", "registry list"), ("x" * 99, "x" * 79)]
)
def test_an_unknown_family_is_refused_with_a_hint(name: str, hint: str) -> None:
    """A slip of the finger is told what was probably meant; the echo is bounded."""
    with pytest.raises(Refused, match=hint) as caught:
        CONTRACT.family(name)
    assert caught.value.reason.code == "family-unknown"
    assert "x" * 81 not in caught.value.reason.detail


def test_an_unknown_row_is_refused() -> None:
    """A row that does not exist has its own code."""
    with pytest.raises(Refused, match="did you mean SMC-2") as caught:
        CONTRACT.row("SMC-25")
    assert caught.value.reason.code == "row-unknown"


def test_parse_knows_comment_families_only() -> None:
    """A comment's marker reads back whatever its status; a block or a sentinel does not."""
    for text, family in [
        ("<!-- plan-issue-12 -->", "plan-issue"),
        ("<!-- first-contact-assessed-12 -->", "first-contact-assessed"),
        ("<!-- phase-containment-ledger-12 -->", "phase-containment-ledger"),
    ]:
        marker = CONTRACT.parse(text)
        assert marker is not None
        assert (marker.family, marker.number) == (family, 12)
    for text in ["<!-- phase-containment-12 -->", "<!-- refs-injected-12 -->", "goal-run-class"]:
        assert CONTRACT.parse(text) is None


def test_blocks_for() -> None:
    """A plan may hold its spine and the ledger pointer; a completion account holds nothing."""
    names = {family.name for family in CONTRACT.blocks_for("plan-issue")}
    assert names >= {"frame-spine", "phase-containment-ledger-ref", "goal-contract"}
    assert {f.name for f in CONTRACT.blocks_for("frame-slices")} == {
        "frame-slice",
        "frame-slices-generated-at",
    }
    assert CONTRACT.blocks_for("completion-account") == ()


@pytest.mark.parametrize(
    ("line", "family"),
    [
        ("<!-- plan-issue-12 -->", "plan-issue"),
        ("<!-- plan-issue-012 -->", "plan-issue"),
        ("<!-- plan-issue-99999999999 -->", "plan-issue"),
        ("<!-- plan-issue-{ID} -->", "plan-issue"),
        ("<!-- plan-issue-{issue number} -->", "plan-issue"),
        ("<!-- plan-issue-NNN -->", "plan-issue"),
        ("<!-- plan-issue-<ID> -->", "plan-issue"),
        ("<!-- plan-issue-<the issue's number> -->", "plan-issue"),
        ("<!-- plan-issue-<%= id %> -->", "plan-issue"),
        ("<!-- plan-issue-{{ n }} -->", "plan-issue"),
        ("<!-- plan-issue-{{{n}}} -->", "plan-issue"),
        ("<!-- plan-issue-${ID} -->", "plan-issue"),
        ("<!-- plan-issue-${{ github.event.issue.number }} -->", "plan-issue"),
        ("<!-- plan-issue-$(gh issue) -->", "plan-issue"),
        ("<!-- plan-issue-$(gh issue view $(cat n) --json number) -->", "plan-issue"),
        ("<!-- plan-issue-$((n + 1)) -->", "plan-issue"),
        ("<!-- plan-issue-$ID -->", "plan-issue"),
        ("<!-- plan-issue-%s -->", "plan-issue"),
        ("<!-- plan-issue-%(number)d -->", "plan-issue"),
        ("<!-- plan-issue-[ID] -->", "plan-issue"),
        ("<!-- plan-issue-0{n} -->", "plan-issue"),
        ("<!-- engagement-record-<phase>-<ID> -->", "engagement-record"),
        ("<!-- engagement-record-$PHASE-{{ n }} -->", "engagement-record"),
        ("<!-- plan-issue-<ID -->", None),
        ("<!-- plan-issue-<!-- x --> -->", None),
        ("<!-- plan-issue-the number -->", None),
        ("<!-- plan-issue-12 --> and more", "plan-issue"),
        ("<!-- engagement-record-{phase}-{ID} -->", "engagement-record"),
        ("<!-- engagement-record-ship-12 -->", "engagement-record"),
        ("<!-- frame-credit-ledger-30 -->", "frame-credit-ledger"),
        ("<!-- code-review-complete-30 -->", "code-review-complete"),
        ("<!-- pc-emission-check-report -->", "pc-emission-check-report"),
        ("<!-- phase-containment-ledger-12 -->", "phase-containment-ledger"),
        ("<!-- frame-slices-12 -->", "frame-slices"),
        ("<!-- phase-containment-12 -->", None),
        ("<!-- phase-containment-ledger-ref: 5013464861 -->", None),
        ("<!-- frame-slices-generated-at: 2026-07-18T22:20:00Z -->", None),
        ("<!-- plan-issue- -->", None),
        ("<!-- plan-issue-12", None),
        ("<!-- my-plan-issue-12 -->", None),
        ("plan-issue-12", None),
        ("`<!-- plan-issue-12 -->`", None),
        ("<!-- an ordinary comment -->", None),
        ("", None),
    ],
)
def test_live_family(line: str, family: str | None) -> None:
    """A line that a loose reader could take for a comment's marker is recognised as one."""
    found = CONTRACT.live_family(line)
    assert (found.name if found else None) == family


@pytest.mark.parametrize(
    ("line", "block"),
    [
        ("<!-- frame-spine", "frame-spine"),
        ("<!-- frame-spine -->", "frame-spine"),
        ("<!-- frame-spine spine_schema_version: 2", "frame-spine"),
        ("<!-- frame-slice", "frame-slice"),
        ("<!-- judge-rulings", "judge-rulings"),
        ("<!-- goal-contract", "goal-contract"),
        ("<!-- pipeline-metrics", "pipeline-metrics"),
        ("<!-- phase-containment-12 -->", "phase-containment"),
        ("<!-- phase-containment-{ID} -->", "phase-containment"),
        ("<!-- /phase-containment-12 -->", "phase-containment"),
        ("<!-- phase-containment-ledger-ref: 5013464861 -->", "phase-containment-ledger-ref"),
        ("<!-- frame-slices-generated-at: 2026-07-18T22:20:00Z -->", "frame-slices-generated-at"),
        ("<!-- frame-slices-generated-at: <stamp> -->", "frame-slices-generated-at"),
        ("<!-- phase-containment-<ID> -->", "phase-containment"),
        ("brief_dispositions:", "brief_dispositions"),
        ("finding_dispositions:", "finding_dispositions"),
        ("finding_dispositions: see above", None),
        ("<!-- phase-containment-ledger-12 -->", None),
        ("<!-- frame-slices-12 -->", None),
        ("<!-- frame-spineless", None),
        ("-->", None),
        ("<!--", None),
    ],
)
def test_live_block(line: str, block: str | None) -> None:
    """A line that opens or closes a block, or is a pointer, is recognised; a comment's is not."""
    found = CONTRACT.live_block(line)
    assert (found.name if found else None) == block


def test_live_family_knows_every_marker_it_could_be_shown() -> None:
    """Every derived marker is live, and so is every template as the documents print it."""
    for family in CONTRACT.comment_families:
        params = {param.name: param.values[0] for param in family.params}
        marker = codec.derive(family, 12, params)
        assert CONTRACT.live_family(marker.text) is family
        assert CONTRACT.live_family(family.template) is family


NOTE = """
name = "team-note"
marker = "<!-- team-note-{kind}-{ID} -->"
status = "active"
scope = "comment"
shape = "upsert"
surface = ["issue"]
rows = ["TEAM-01"]

[surface_when.kind]
night = "pull-request"

[params.kind]
values = ["day", "night"]
"""
ROW = """
id = "TEAM-01"
shape = "notes of the team"
status = "active"
families = ["team-note"]
fungibility = "yes"

[[survival]]
label = "durable"
when = "always"
"""


def overlay(root: Path, files: dict[str, str | bytes]) -> Path:
    """A directory with these files."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


GOOD = {"families/team-note.toml": NOTE, "rows/TEAM-01.toml": ROW}


def test_an_overlay_adds_families_and_rows(tmp_path: Path) -> None:
    """What an overlay adds stands beside the shipped contract."""
    loaded = contract.load([overlay(tmp_path, GOOD)])
    assert loaded.row("TEAM-01").families == ("team-note",)
    marker = codec.derive(loaded.family("team-note"), 12, {"kind": "night"})
    assert loaded.parse(marker.text) == marker
    assert loaded.live_family("<!-- team-note-{kind}-007 -->") is loaded.family("team-note")
    assert set(loaded.families) == {*CONTRACT.families, "team-note"}


def test_an_overlay_may_come_as_an_archive(tmp_path: Path) -> None:
    """Files are read through the resource interface, so that a zip file will do."""
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
        for name, text in GOOD.items():
            archive.writestr(name, text)
    with zipfile.ZipFile(tmp_path / "more.zip") as archive:
        assert "team-note" in contract.load([zipfile.Path(archive)]).families


def test_an_overlay_may_replace_by_saying_so(tmp_path: Path) -> None:
    """A taken name is replaced only by a file that says replaces = true."""
    text = NOTE.replace("team-note", "plan-issue").replace('rows = ["TEAM-01"]', "replaces = true")
    loaded = contract.load([overlay(tmp_path, {"families/plan-issue.toml": text})])
    assert loaded.family("plan-issue").template == "<!-- plan-issue-{kind}-{ID} -->"


def test_a_later_overlay_may_replace_an_earlier_ones_family(tmp_path: Path) -> None:
    """Overlays are laid one over the other in the order given."""
    first = overlay(tmp_path / "1", GOOD)
    again = {"families/team-note.toml": "replaces = true\n" + NOTE.replace("upsert", "post-new")}
    loaded = contract.load([first, overlay(tmp_path / "2", again)])
    assert loaded.family("team-note").shape is Shape.POST_NEW


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    """A README, a hidden file or something at the top level is none of the loader's business."""
    extra = {"README.md": "x", "secrets.toml": "=", "families/.x.toml": "=", "families/README": "="}
    assert contract.check(overlay(tmp_path, {**GOOD, **extra})) == []


@pytest.mark.parametrize("below", ["", "families/"])
def test_a_checkout_may_add_families(tmp_path: Path, below: str) -> None:
    """A stranger's checkout may bring families, in the directory or in its families/."""
    text = NOTE.replace('rows = ["TEAM-01"]', "")
    root = overlay(tmp_path, {f"{below}team-note.toml": text})
    assert "team-note" in contract.load(families_only=[root]).families


@pytest.mark.parametrize(
    ("files", "file", "key"),
    [
        ({"plan-issue.toml": "replaces = true\n"}, "plan-issue.toml", "replaces"),
        ({"team-note.toml": 'cache = "/etc/passwd"\n'}, "team-note.toml", "cache"),
        (
            {"team-note.toml": 'steps = ["plan-issue-write-back-preserve"]\n'},
            "team-note.toml",
            "steps",
        ),
        ({"team-note.toml": "", "rows/TEAM-01.toml": ROW}, "TEAM-01.toml", ""),
    ],
    ids=["replaces", "cache", "steps", "rows"],
)
def test_a_checkout_may_do_nothing_else(
    tmp_path: Path, files: dict[str, str], file: str, key: str
) -> None:
    """It may not replace, name a cache path, have steps that edit comments, or bring rows."""
    text = NOTE.replace('rows = ["TEAM-01"]', "")
    full = {
        name: content
        if name.startswith("rows/")
        else content + text.replace("team-note", name[:-5])
        for name, content in files.items()
    }
    found = contract.problems(families_only=[overlay(tmp_path, full)])
    told = [p for p in found if p.file.endswith(file) and p.key == key]
    assert len(told) == 1
    assert "a checkout may not" in told[0].reason


@pytest.mark.parametrize(
    ("scope", "marker"),
    [
        ("block", "status: ..."),
        ("block", "<!-- note ... -->"),
        ("pointer", "<!-- note: {ID} -->"),
        ("name-only", "note"),
    ],
)
def test_a_checkout_may_bring_comments_alone(tmp_path: Path, scope: str, marker: str) -> None:
    """A block of a stranger's would be refused in the comments of the families that ship."""
    text = (
        f'name = "team-note"\nmarker = "{marker}"\nstatus = "active"\nscope = "{scope}"\n'
        'carriers = ["plan-issue"]\n'
    )
    found = contract.problems(families_only=[overlay(tmp_path, {"team-note.toml": text})])
    (told,) = [problem for problem in found if problem.key == "scope"]
    assert told.reason.startswith("a checkout may only bring families of scope comment, since")


def test_a_directory_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    """A mistyped directory is not an empty overlay."""
    gone = tmp_path / "gone"
    for found in (contract.check(gone), contract.problems(families_only=[gone])):
        assert [problem.file for problem in found] == [str(gone)]


def family(text: str = NOTE, **changes: str | None) -> str:
    """The sample family with top-level keys set to other TOML values, or left out."""
    for key, value in changes.items():
        lines = [line for line in text.splitlines() if not line.startswith(f"{key} =")]
        text = "\n".join(([f"{key} = {value}"] if value is not None else []) + lines)
    return text


CASES: dict[str, tuple[dict[str, str | bytes], str, str, str]] = {
    "TOML": ({"families/team-note.toml": "name = \nx"}, "team-note", "", "line 1"),
    "duplicate key": (
        {"families/team-note.toml": 'name = "a"\nname = "b"'},
        "team-note",
        "",
        "TOML",
    ),
    "not UTF-8": ({"families/team-note.toml": b"\xff\xfe"}, "team-note", "", "utf-8"),
    "too deep": ({"families/team-note.toml": "a = " + "[" * 9999}, "team-note", "", "TOML"),
    "unknown key": (
        {"families/team-note.toml": family(colour='"red"')},
        *("team-note", "colour", "unknown key"),
    ),
    "unknown key of a param": (
        {"families/team-note.toml": NOTE + 'valeus = ["x"]'},
        *("team-note", "params.kind.valeus", "unknown key"),
    ),
    "unknown key of a row": (
        {"rows/TEAM-01.toml": "colour = 1\n" + ROW},
        *("TEAM-01", "colour", "unknown key"),
    ),
    "an unknown source": (
        {"rows/TEAM-01.toml": 'chain = ["memory"]\n' + ROW},
        *("TEAM-01", "chain[0]", "bundle"),
    ),
    "a local copy without an owner": (
        {"rows/TEAM-01.toml": 'chain = ["cache", "comment"]\ncaches = ["a-{ID}.md"]\n' + ROW},
        *("TEAM-01", "owner", "is missing"),
    ),
    "an owner of another row": (
        {"rows/TEAM-01.toml": 'owner = "plan-issue"\n' + ROW},
        *("TEAM-01", "owner", "'plan-issue' is none"),
    ),
    "a cache that is nowhere": (
        {"rows/TEAM-01.toml": 'chain = ["cache"]\n' + ROW},
        *("TEAM-01", "caches", "is missing"),
    ),
    "a store that is not named": (
        {"rows/TEAM-01.toml": 'chain = ["store"]\n' + ROW},
        *("TEAM-01", "store", "is missing"),
    ),
    "fields of no store": (
        {"rows/TEAM-01.toml": 'publishes = ["decisions"]\n' + ROW},
        *("TEAM-01", "store", "publishes names"),
    ),
    "missing key": (
        {"families/team-note.toml": family(marker=None)},
        *("team-note", "marker", "missing"),
    ),
    "missing when": (
        {"rows/TEAM-01.toml": ROW.replace('when = "always"', "")},
        *("TEAM-01", "survival[0].when", "missing"),
    ),
    "wrong type": (
        {"families/team-note.toml": family(empty='"yes"')},
        *("team-note", "empty", "boolean"),
    ),
    "a date": (
        {"families/team-note.toml": family(notes="2026-08-15")},
        *("team-note", "notes", "without control"),
    ),
    "a terminal escape": (
        {"families/team-note.toml": family(notes='"\\u001b[2J"')},
        *("team-note", "notes", "without control"),
    ),
    "unknown status": (
        {"families/team-note.toml": family(status='"old"')},
        *("team-note", "status", "retired"),
    ),
    "value that is no slug": (
        {"families/team-note.toml": NOTE.replace('"day"', '"Day"')},
        *("team-note", "params.kind.values[0]", "single hyphens"),
    ),
    "survival label": (
        {"rows/TEAM-01.toml": ROW.replace('"durable"', '"session"')},
        *("TEAM-01", "survival[0].label", "survival label"),
    ),
    "survival surface on per-process": (
        {"rows/TEAM-01.toml": ROW.replace('"durable"', '"per-process:hooks"')},
        *("TEAM-01", "survival[0].label", "survival label"),
    ),
    "fungibility": (
        {"rows/TEAM-01.toml": ROW.replace('"yes"', '"partial"')},
        *("TEAM-01", "fungibility", "partial - "),
    ),
    "file name": ({"families/note.toml": NOTE}, "note", "name", "named 'note'"),
    "row file name": ({"rows/TEAM-00.toml": ROW}, "TEAM-00", "id", "named 'TEAM-00'"),
    "duplicate name": (
        {"families/zz.toml": NOTE},
        *("zz", "name", "team-note.toml calls itself"),
    ),
    "taken name": (
        {"families/plan-issue.toml": family(name='"plan-issue"')},
        *("plan-issue", "name", "taken"),
    ),
    "taken row": (
        {"rows/SMC-01.toml": ROW.replace("TEAM-01", "SMC-01")},
        *("SMC-01", "id", "taken"),
    ),
    "replaces nothing": (
        {"families/team-note.toml": family(replaces="true")},
        *("team-note", "replaces", "no 'team-note'"),
    ),
    "marker's form": (
        {"families/team-note.toml": family(marker='"<!--team-{kind}-{ID}-->"')},
        *("team-note", "marker", "form"),
    ),
    "marker with --": (
        {"families/team-note.toml": family(marker='"<!-- team--{kind}-{ID} -->"')},
        *("team-note", "marker", "form"),
    ),
    "placeholder's form": (
        {"families/team-note.toml": family(marker='"<!-- team-{kind}-{Id} -->"')},
        *("team-note", "marker", "form"),
    ),
    "two numbers": (
        {"families/team-note.toml": family(marker='"<!-- team-{kind}-{ID}-{PR} -->"')},
        *("team-note", "marker", "more than one"),
    ),
    "undeclared param": (
        {"families/team-note.toml": family(marker='"<!-- team-{kind}-{mood}-{ID} -->"')},
        *("team-note", "marker", "{mood}"),
    ),
    "unused param": (
        {"families/team-note.toml": NOTE + "[params.mood]"},
        *("team-note", "params.mood", "0 times"),
    ),
    "param twice": (
        {"families/team-note.toml": family(marker='"<!-- team-{kind}-{kind} -->"')},
        *("team-note", "params.kind", "2 times"),
    ),
    "param named number": (
        {"families/team-note.toml": NOTE.replace("kind", "number")},
        *("team-note", "params.number", "may not be named"),
    ),
    "two readings": (
        {
            "families/team-note.toml": family(marker='"<!-- team-{a}-{b}-{ID} -->"').partition(
                "[surface_when"
            )[0]
            + "[params.a]\n[params.b]"
        },
        *("team-note", "marker", "two ways"),
    ),
    "surface_when of no param": (
        {"families/team-note.toml": NOTE.replace("[surface_when.kind]", "[surface_when.mood]")},
        *("team-note", "surface_when.mood", "not a param"),
    ),
    "surface_when of no value": (
        {"families/team-note.toml": NOTE.replace("night =", "noon =")},
        *("team-note", "surface_when.kind.noon", "not a value"),
    ),
    "surface_when of no surface": (
        {"families/team-note.toml": NOTE.replace("pull-request", "wiki")},
        *("team-note", "surface_when.kind.night", "wiki"),
    ),
    "no surface": (
        {"families/team-note.toml": family(surface=None)},
        *("team-note", "surface", "missing"),
    ),
    "surface of a pointer": (
        {"families/team-note.toml": family(scope='"pointer"', shape=None)},
        *("team-note", "surface", "only a comment"),
    ),
    "shape of a pointer": (
        {"families/team-note.toml": family(scope='"pointer"', surface=None)},
        *("team-note", "shape", "only a comment"),
    ),
    "no gap": (
        {"families/team-note.toml": family(status='"retired"')},
        *("team-note", "gap", "must say why"),
    ),
    "carriers of a comment": (
        {"families/team-note.toml": family(carriers='["plan-issue"]')},
        *("team-note", "carriers", "only blocks"),
    ),
    "unknown carrier": (
        {"families/team-note.toml": family(scope='"pointer"', carriers='["plan-isue"]')},
        *("team-note", "carriers[0]", "no family 'plan-isue'"),
    ),
    "a block as carrier": (
        {"families/team-note.toml": family(scope='"pointer"', carriers='["frame-spine"]')},
        *("team-note", "carriers[0]", "not a comment family"),
    ),
    "unknown row": (
        {"families/team-note.toml": family(rows='["TEAM-01", "TEAM-09"]')},
        *("team-note", "rows[1]", "no row 'TEAM-09'"),
    ),
    "row that does not name the family": (
        {"rows/TEAM-01.toml": ROW.replace("team-note", "plan-issue")},
        *("team-note", "rows[0]", "does not name team-note"),
    ),
    "unknown family": (
        {"rows/TEAM-01.toml": ROW.replace('"team-note"', '"team-note", "teem"')},
        *("TEAM-01", "families[1]", "no family 'teem'"),
    ),
    "family that does not name the row": (
        {"families/team-note.toml": family(rows="[]")},
        *("TEAM-01", "families[0]", "does not name TEAM-01"),
    ),
    "row without durable write": (
        {"rows/TEAM-01.toml": family(ROW, families=None)},
        *("TEAM-01", "gap", "must say why"),
    ),
    "unknown validator": (
        {"families/team-note.toml": family(validator='"engagement-recrod"')},
        *("team-note", "validator", "did you mean engagement-record?"),
    ),
    "unknown step": (
        {"families/team-note.toml": family(steps='["proposed-followups-state", "mine"]')},
        *("team-note", "steps[1]", "none of the name 'mine'"),
    ),
    "unknown reader": (
        {"families/team-note.toml": family(reader='"spines"')},
        *("team-note", "reader", "did you mean spine?"),
    ),
    "unknown schema": (
        {"families/team-note.toml": family(schema='"credit-inputs.schema.json"')},
        *("team-note", "schema", "did you mean credit-input.schema.json?"),
    ),
    "a path as schema": (
        {"families/team-note.toml": family(schema='"../x.schema.json"')},
        *("team-note", "schema", "name of a file in schemas/"),
    ),
    "fenced-yaml without schema": (
        {"families/team-note.toml": family(validator='"fenced-yaml"')},
        *("team-note", "schema", "is missing"),
    ),
    "schema of a pointer, without validator": (
        {"families/team-note.toml": family(scope='"pointer"', schema='"credit-input.schema.json"')},
        *("team-note", "validator", "is missing"),
    ),
    "collision with a shipped family": (
        {
            "families/team-note.toml": family(marker='"<!-- credit-input-plan-{ID} -->"').partition(
                "[surface_when"
            )[0]
        },
        *("team-note", "marker", "credit-input, such as '<!-- credit-input-plan-1 -->'"),
    ),
    "collision with a block": (
        {
            "families/team-note.toml": family(marker='"<!-- frame-spine -->"').partition(
                "[surface_when"
            )[0]
        },
        *("team-note", "marker", "frame-spine"),
    ),
    "collision within the overlay": (
        {
            "families/zz.toml": family(
                name='"zz"', marker='"<!-- team-note-day-{ID} -->"', rows="[]"
            ).partition("[surface_when")[0]
        },
        *("zz", "marker", "team-note"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_problem_is_told_with_file_key_and_reason(tmp_path: Path, case: str) -> None:
    """Whoever edits a registry file learns where and what; nothing else is blamed on that key."""
    files, file, key, reason = CASES[case]
    found = contract.check(overlay(tmp_path, {**GOOD, **files}))
    told = [p for p in found if Path(p.file).stem == file and p.key == key]
    assert len(told) == 1, found
    assert reason in told[0].reason
    assert len(told[0].reason) <= 200
    assert str(tmp_path) in str(told[0])


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    """One run of the checker is enough, however many files are wrong."""
    files = {
        "families/a.toml": "name = 1\ncolour = 2",
        "families/b.toml": "=",
        "rows/TEAM-01.toml": ROW.replace('"durable"', '"gap"'),
    }
    found = contract.check(overlay(tmp_path, files))
    assert {(Path(p.file).name, p.key) for p in found} >= {
        ("a.toml", "name"),
        ("a.toml", "colour"),
        ("a.toml", "marker"),
        ("b.toml", ""),
        ("TEAM-01.toml", "survival[0].label"),
    }


def test_loading_refuses_with_the_first_problem(tmp_path: Path) -> None:
    """A command does not run on a contract that is wrong; it names one problem and counts."""
    root = overlay(tmp_path, {"families/a.toml": "name = 1", "families/b.toml": "="})
    with pytest.raises(Refused, match=r"a\.toml: .*\(and \d more\)") as caught:
        contract.load([root])
    assert caught.value.reason.code == "registry"


def test_a_whole_registry_is_judged_alone(tmp_path: Path) -> None:
    """A directory with the schema of families is a registry, no overlay that takes all names."""
    root = registry_files.shipped()
    copy = {
        f"{folder}/{file.name}": file.read_bytes()
        for folder in ("families", "rows", "schemas")
        for file in root.joinpath(folder).iterdir()
    }
    assert contract.check(overlay(tmp_path, copy)) == []
    (tmp_path / "rows" / "SMC-17.toml").unlink()
    assert [(Path(p.file).stem, p.key) for p in contract.check(tmp_path)] == [
        ("credit-input", "rows[0]")
    ]


def test_a_problem_reads_as_one_line() -> None:
    """File, key and reason, as compilers print them; no empty part."""
    assert str(Problem("a.toml", "name", "is wrong")) == "a.toml: name: is wrong"
    assert str(Problem("a.toml", "", "is wrong")) == "a.toml: is wrong"


def test_a_start_parses_only_what_is_asked_for(tmp_path: Path) -> None:
    """Looking one family up does not read the others: a broken one is not noticed."""
    overlay(tmp_path, {"a.toml": NOTE, "b.toml": "="})
    shelf = registry_files.Shelf(registry_files.listing(tmp_path), registry_files.shipped_family)
    assert (list(shelf), len(shelf)) == (["a", "b"], 2)
    assert isinstance(shelf["a"], Family)
    assert shelf["a"] is shelf["a"]
