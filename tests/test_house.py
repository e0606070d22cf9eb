"""The rules of the house: layers, public names, sizes, reasons, and what no file may carry."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter import cli as import_linter

import markers

ROOT = Path(__file__).parents[1]
PACKAGE = sorted((ROOT / "markers").rglob("*.py"))
CODE = [*PACKAGE, *sorted((ROOT / "bench").rglob("*.py")), *sorted((ROOT / "scripts").glob("*.py"))]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MAX_LINES = 350
MAX_FUNCTION = 40
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def tracked() -> list[Path]:
    """All files that are, or would be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions of a module, methods and inner ones included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, FUNCTIONS):
            yield node


def name_of(path: Path) -> str:
    """The path as a reader of the checkout would write it."""
    return str(path.relative_to(ROOT))


def test_imports_point_down_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every import contract of pyproject.toml is kept."""
    monkeypatch.chdir(ROOT)
    assert import_linter.lint_imports(config_filename="pyproject.toml", no_cache=True) == 0


PUBLIC = """
Absent Account Action Comment Conflict Denied Family Incomplete Marker MarkersError NotVerified
ReadResult Reason Refused Repo Row Scope Shape Status Surface Thread Unavailable Unknown Withdrawn
WriteResult __version__ derive inert load normalise parse sha256
"""


def test_public_names_are_pinned() -> None:
    """The public names are these and no others, sorted, and each can be loaded."""
    assert markers.__all__ == PUBLIC.split() == sorted(PUBLIC.split())
    for name in markers.__all__:
        assert getattr(markers, name) is not None
    assert set(markers.__all__) <= set(dir(markers))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        markers.nothing  # noqa: B018 - asking is the point


def test_import_is_light() -> None:
    """``import markers`` loads none of its own modules and none of its dependencies."""
    script = (
        "import sys; import markers; heavy = ('markers.', 'httpx', 'click', 'tenacity'); "
        "print([name for name in sys.modules if name.startswith(heavy)])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ran.stdout.strip() == "[]"


def exported(path: Path) -> list[str] | None:
    """What a module's ``__all__`` lists; None where it has none."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            return list(ast.literal_eval(node.value))
    return None


def test_every_all_is_sorted() -> None:
    """Where a module lists what it exports, the list is sorted and without twins."""
    for path in CODE:
        names = exported(path)
        assert names is None or names == sorted(set(names)), name_of(path)


def test_modules_stay_small() -> None:
    """No module is longer than 350 lines: past that there is a second job inside."""
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in CODE}
    assert {name: n for name, n in lengths.items() if n > MAX_LINES} == {}


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body without its docstring."""
    first = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - first[0].lineno + 1 if first else 0


def test_functions_stay_small() -> None:
    """No function body is longer than 40 lines."""
    long = {
        f"{name_of(path)}:{function.name}": body_lines(function)
        for path in CODE
        for function in functions(path)
        if body_lines(function) > MAX_FUNCTION
    }
    assert long == {}


def test_every_test_states_its_rule() -> None:
    """Every test has a docstring: the rule that it shows, in one sentence."""
    silent = [
        f"{name_of(path)}:{function.name}"
        for path in TESTS
        for function in functions(path)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]
    assert silent == []


SWITCHED_OFF = re.compile(r"# (?:noqa|type: ignore)")
WITH_REASON = re.compile(r"# (?:noqa: [A-Z0-9, ]+|type: ignore\[[a-z, -]+\])\W+\w")


def unexplained(path: Path) -> list[str]:
    """Lines that switch a check off with a reason neither behind it nor on the line above."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        line.strip()
        for above, line in zip(["", *lines], lines, strict=False)
        if SWITCHED_OFF.search(line) and not WITH_REASON.search(line)
        if not above.lstrip().startswith("#")
    ]


def test_every_ignore_has_its_reason() -> None:
    """A lint rule that is switched off says why, in pyproject.toml and in the code."""
    config = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    codes = re.findall(r'^ +"[A-Z]+[0-9]*",.*$', config, re.MULTILINE)
    assert codes
    assert [line for line in codes if " # " not in line] == []
    bare = [f"{name_of(path)}: {line}" for path in [*CODE, *TESTS] for line in unexplained(path)]
    assert bare == []


FORBIDDEN = {
    "a package registry's host": "|".join(
        ("py" + r"pi\.org", "python" + "hosted", r"registry\." + "npm", r"deb\." + "debian")
    ),
    "a path of one machine": r"(?<![\w.~}])/(?:home|Users|root|work)/[\w.]",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_carries(what: str) -> None:
    """What belongs to one machine, or to whoever serves packages, is in no file."""
    pattern = re.compile(FORBIDDEN[what])
    found = [
        f"{name_of(path)}: {match[0]}"
        for path in tracked()
        if (match := pattern.search(path.read_text(encoding="utf-8", errors="replace")))
    ]
    assert found == []


def test_version_has_its_changelog() -> None:
    """The version that the package names has a section in the changelog."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(markers.__version__)}\]", changelog, re.MULTILINE)


def pins(name: str) -> dict[str, list[str]]:
    """Each pinned requirement, spelled as in the file, with its hashes."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    split = [line.split(" --hash=", 1) for line in lines]
    return {line[0].strip(): re.findall(r"sha256:[0-9a-f]{64}", line[-1]) for line in split}


@pytest.mark.parametrize("name", ["run.txt", "dev.txt", "fuzz.txt"])
def test_requirements_are_pinned_with_hashes(name: str) -> None:
    """Each requirement has one exact version and its hashes; no address of a registry."""
    found = pins(name)
    assert found
    for requirement, hashes in found.items():
        assert re.match(r"[a-z0-9-]+==\S+( ;|$)", requirement), requirement
        assert hashes, requirement
    assert "://" not in (ROOT / "requirements" / name).read_text(encoding="utf-8")


def test_pins_cover_what_the_project_declares() -> None:
    """A dependency of pyproject.toml that is not pinned would be missed by the set-up."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    run = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    dev = [*run, *project["project"]["optional-dependencies"]["dev"]]
    for name, declared in (("run.txt", run), ("dev.txt", dev)):
        pinned = {requirement.split("==")[0] for requirement in pins(name)}
        wanted = {re.split(r"[<>=!~\[; ]", line)[0].lower() for line in declared}
        assert wanted <= pinned, name
