"""Skipping: what is missing is counted and said, what is installed is used."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from witnesses import ROOT, WITNESSES

LOCK = ROOT / "requirements" / "node" / "package-lock.json"
DEBIAN = Path("/usr/lib/postgresql")
USED = re.compile(r"needs\(\"([a-z]+)\"\)")
SUITE = '''
import pytest

@pytest.mark.needs("gh")
def test_one():
    {body}

@pytest.mark.needs("recordings")
@pytest.mark.parametrize("n", range(3))
def test_two(n):
    """Says nothing."""
'''


def run(
    folder: Path, path: str, body: str = "pass", **env: str
) -> subprocess.CompletedProcess[str]:
    """A run of pytest with this plugin, where *path* has the commands."""
    (folder / "test_suite.py").write_text(SUITE.format(body=body), encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "witnesses", "-p", "no:cacheprovider", "-q"],
        cwd=folder,
        env={"PATH": path, "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT}", **env},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def with_gh(tmp_path: Path) -> str:
    """A PATH with something called gh on it."""
    command = tmp_path / "bin" / "gh"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n", encoding="utf-8")
    command.chmod(0o755)
    return str(command.parent)


def test_what_is_missing_is_counted(tmp_path: Path) -> None:
    """Each reason once, with its number and how to get what is missing; the run passes."""
    ran = run(tmp_path, "/nowhere")
    assert ran.returncode == 0, ran.stdout
    assert "1 skipped: gh is not here: install" in ran.stdout
    assert "3 skipped: recordings is not here: set RECORDED_DIR" in ran.stdout


def test_nothing_skipped_is_said(tmp_path: Path, with_gh: str) -> None:
    """A full run says so."""
    ran = run(tmp_path, with_gh, RECORDED_DIR="anywhere")
    assert (ran.returncode, "nothing was skipped" in ran.stdout) == (0, True), ran.stdout


def test_skipping_what_is_installed_fails(tmp_path: Path, with_gh: str) -> None:
    """A test that skips itself although its witness is here fails the run."""
    ran = run(tmp_path, with_gh, "pytest.skip('no mood')", RECORDED_DIR="anywhere")
    assert ran.returncode == 1
    assert "test_one was skipped although all that it needs is installed" in ran.stdout


def test_what_is_installed_is_seen() -> None:
    """The plugin's view against plain facts: no witness is here and passes for missing."""
    node = ROOT / ".venv" / "node" / "node_modules" / "emulate" / "package.json"
    facts = {
        "flock": bool(shutil.which("flock")),
        "gh": sys.platform == "linux" and bool(shutil.which("gh")),
        "emulate": bool(shutil.which("node")) and node.exists(),
        "postgres": bool(shutil.which("postgres") or list(DEBIAN.glob("*/bin/postgres"))),
        "recordings": bool(os.environ.get("RECORDED_DIR")),
    }
    assert {name: it.there() for name, it in WITNESSES.items()} == facts


def test_every_witness_is_called() -> None:
    """Each witness of the table has tests that need it, and no test needs another."""
    suite = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("*.py")]
    named = {name for text in suite for name in USED.findall(text)}
    assert named == set(WITNESSES)


def test_node_packages_are_locked_by_hash() -> None:
    """Each package has one version and its hash, and no address of a registry."""
    packages = json.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    assert packages.pop("")["dependencies"] == {"emulate": "0.11.2"}
    assert packages["node_modules/emulate"]["version"] == "0.11.2"
    for package in packages.values():
        assert package["integrity"].startswith("sha512-")
        assert "resolved" not in package


def test_the_installed_emulate_is_the_locked_one() -> None:
    """What the tests speak to has the version that the lock file names."""
    node = ROOT / ".venv" / "node" / "node_modules" / "emulate" / "package.json"
    if node.exists():
        assert json.loads(node.read_text(encoding="utf-8"))["version"] == "0.11.2"


def sandbox(folder: Path) -> Path:
    """A checkout with nothing in it but what the witnesses' script reads."""
    for name in ("scripts/witnesses.sh", "requirements/node"):
        target = folder / "checkout" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, target)
    (folder / "checkout" / ".venv").mkdir()
    return folder / "checkout"


def install(checkout: Path, path: str, *words: str) -> str:
    """Run the script where *path* has the commands; it never fails; the answer is what it says."""
    done = subprocess.run(
        ["/bin/sh", checkout / "scripts" / "witnesses.sh", *words],
        env={"PATH": path, "POLICY_RC_D": str(checkout / "policy-rc.d")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "")
    return done.stderr


def commands(folder: Path, *names: str, **scripts: str) -> str:
    """A PATH with these commands of the system and these made-up ones."""
    home = folder / "commands"
    home.mkdir()
    for name in ("cat", "cksum", "cmp", "cp", "dirname", "id", "mkdir", "rm", *names):
        found = shutil.which(name)
        assert found is not None
        (home / name).symlink_to(found)
    for name, text in scripts.items():
        (home / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (home / name).chmod(0o755)
    return str(home)


def test_set_up_without_apt_says_what_to_install(tmp_path: Path) -> None:
    """Where it cannot install, it says once what is missing, and does not fail."""
    checkout, path = sandbox(tmp_path), commands(tmp_path, postgres="")
    assert "install gh nodejs npm" in install(checkout, path)
    assert install(checkout, path) == ""
    assert "install gh nodejs npm" in install(checkout, path, "again")


def test_set_up_without_network_goes_on(tmp_path: Path) -> None:
    """An npm that fails leaves nothing half-made; it is not asked again until something changes."""
    log = tmp_path / "asked"
    npm = f'echo "$@" >>{log}; exit 1'
    path = commands(tmp_path, gh="", node="", postgres="", npm=npm)
    checkout = sandbox(tmp_path)
    assert "npm could not install emulate" in install(checkout, path)
    assert not (checkout / ".venv" / "node").exists()
    assert install(checkout, path) == ""
    assert len(log.read_text().splitlines()) == 1
    (tmp_path / "commands" / "gh").unlink()
    assert "install gh" in install(checkout, path)
    assert len(log.read_text().splitlines()) == 2


def test_set_up_installs_once(tmp_path: Path) -> None:
    """What npm installed stays; npm gets the lock file and may run no script of a package."""
    log = tmp_path / "asked"
    made = "node_modules/emulate/dist"
    fake = f'echo "$@" >>{log}; mkdir -p "$3/{made}"; : >"$3/{made}/index.js"'
    path = commands(tmp_path, gh="", node="", postgres="", npm=fake)
    checkout = sandbox(tmp_path)
    assert "installing emulate" in install(checkout, path)
    (line,) = log.read_text().splitlines()
    assert line.startswith("ci --prefix .venv/node --ignore-scripts ")
    assert install(checkout, path) == ""
    assert install(checkout, path, "again") == ""
    assert len(log.read_text().splitlines()) == 1


def as_root(folder: Path, **scripts: str) -> str:
    """A PATH by which the user is root, and nothing outside *folder* is touched."""
    path = commands(folder, "chmod", **scripts)
    (folder / "commands" / "id").unlink()
    (folder / "commands" / "id").write_text("#!/bin/sh\necho 0\n", encoding="utf-8")
    (folder / "commands" / "id").chmod(0o755)
    return path


def test_set_up_as_root_asks_apt(tmp_path: Path) -> None:
    """As root what is missing comes from apt, each package by itself; a failure is named."""
    log = tmp_path / "asked"
    fake = f'echo "$@" >>{log}; case "$*" in *" npm") exit 1;; esac'
    path = as_root(tmp_path, **{"apt-get": fake, "node": "", "postgres": ""})
    told = install(sandbox(tmp_path), path)
    assert "installing gh npm" in told
    assert "npm could not be installed" in told
    assert [line.split()[-1] for line in log.read_text().splitlines()] == ["update", "gh", "npm"]


def test_set_up_starts_no_service(tmp_path: Path) -> None:
    """While packages are installed no service may start; what said so is gone afterwards."""
    checkout = sandbox(tmp_path)
    seen = tmp_path / "seen"
    policy = checkout / "policy-rc.d"
    fake = f'[ "$*" != "${{*%install*}}" ] && {policy}; echo $? >>{seen}'
    path = as_root(tmp_path, **{"apt-get": fake, "node": "", "npm": "exit 1", "postgres": ""})
    assert "installing gh" in install(checkout, path)
    assert seen.read_text(encoding="utf-8").split() == ["1", "101"]
    assert not policy.exists()
