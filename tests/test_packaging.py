"""What users install: the wheel, built from the sdist, against the tree it came from."""

from __future__ import annotations

import email
import importlib.metadata
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import markers

ROOT = Path(__file__).parents[1]
DATA = (".toml", ".json")
LIMIT = 60


def run(*argv: str | Path, cwd: Path) -> str:
    """Run a program to its end and give back what it printed."""
    ran = subprocess.run(
        [str(arg) for arg in argv], cwd=cwd, capture_output=True, text=True, timeout=LIMIT
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is, or would be, in the repository: nothing else may be needed to build."""
    target = tmp_path_factory.mktemp("source")
    names = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in names.splitlines():
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist as ``build`` does, without network."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source, cwd=out)
    assert len(list(out.glob("*.tar.gz"))) == 1
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    """The files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def metadata(wheel: Path, names: list[str]) -> Message:
    """The wheel's METADATA."""
    (name,) = [name for name in names if name.endswith(".dist-info/METADATA")]
    with zipfile.ZipFile(wheel) as archive:
        return email.message_from_bytes(archive.read(name))


def expected(source: Path) -> set[str]:
    """What the tree says that the wheel must hold."""
    code = {str(p.relative_to(source)) for p in (source / "markers").rglob("*.py")}
    registry = {
        f"markers/{p.relative_to(source)}"
        for p in (source / "registry").rglob("*")
        if p.suffix in (".py", *DATA)
    }
    return code | registry | {"markers/py.typed"}


def test_wheel_holds_the_tree_and_nothing_else(source: Path, names: list[str]) -> None:
    """Every module and registry file is in the wheel; tests, docs and tools are not."""
    packed = {name for name in names if ".dist-info/" not in name}
    assert packed == expected(source)


def test_wheel_has_one_importable_name(names: list[str]) -> None:
    """The wheel puts ``markers`` into an environment, and no generic name beside it."""
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"markers"}


def test_metadata_says_what_is_true(metadata: Message, names: list[str]) -> None:
    """Name, version, Python, licence and description are as the tree has them."""
    assert metadata["Name"] == "handoff-markers"
    assert metadata["Version"] == markers.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    payload = metadata.get_payload(decode=True)
    assert isinstance(payload, bytes)
    assert payload.decode("utf-8") == (ROOT / "README.md").read_text(encoding="utf-8")


def test_declared_dependencies_are_satisfied(metadata: Message) -> None:
    """What the wheel asks for is what the tests ran with."""
    requirements = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
    needed = [r for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})]
    assert needed
    for requirement in needed:
        assert importlib.metadata.version(requirement.name) in requirement.specifier


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed ``persist-marker`` in a fresh environment, its dependencies lent by ours."""
    home = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=home)
    packages = run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home
    ).strip()
    # A .pth line adds a folder without reading that folder's own .pth files, so the editable
    # install of the checkout stays out.
    lent = sysconfig.get_path("purelib")
    (Path(packages) / "lent.pth").write_text(f"{lent}\n", encoding="utf-8")
    return home / "bin" / "persist-marker"


def test_installed_command_runs_outside_the_checkout(command: Path, tmp_path: Path) -> None:
    """The installed command knows its version and finds its registry to be sound."""
    where = "import markers; print(markers.__file__)"
    assert str(ROOT) not in run(command.parent / "python", "-c", where, cwd=tmp_path)
    assert markers.__version__ in run(command, "--version", cwd=tmp_path)
    run(command, "registry", "check", cwd=tmp_path)
