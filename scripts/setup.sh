#!/bin/sh
# Make .venv ready: "scripts/setup.sh run" to use the command, "scripts/setup.sh dev" to test it.
#
# Needs Python 3.11 or newer; what is ready already is left alone, without any network. For testing,
# gh, Node and npm's emulate are installed as well where that is possible (see witnesses.sh).
# PYTHON=/path/to/python3 picks the interpreter; otherwise the newest suitable one on PATH is taken.
set -eu
cd "$(dirname "$0")/.."

want=${1:-run}
venv=.venv

say() { printf 'setup: %s\n' "$1" >&2; }
fail() { say "$1"; exit 1; }

version_of() {
    "$1" -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit(1); print("%d.%d" % v[:2])' 2>/dev/null
}

# Tested versions first; a version manager's stand-in that cannot run does not answer and is passed over.
find_python() {
    if [ -n "${PYTHON:-}" ]; then
        version_of "$PYTHON" >/dev/null || fail "PYTHON=$PYTHON is not a Python 3.11 or newer"
        echo "$PYTHON"
        return
    fi
    for name in python3.13 python3.12 python3.11 python3 python3.14; do
        if version_of "$name" >/dev/null; then
            echo "$name"
            return
        fi
    done
    fail "no Python 3.11 or newer on PATH; install one (Debian, Ubuntu: apt-get install python3 python3-venv)"
}

# Debian and Ubuntu ship Python without ensurepip; a package of its own holds it.
add_ensurepip() {
    package="python$1-venv"
    command -v apt-get >/dev/null || fail "Python $1 lacks ensurepip; install a complete Python 3.11 or newer"
    [ "$(id -u)" = 0 ] || fail "Python $1 lacks ensurepip; run: sudo apt-get install $package"
    say "installing $package, which Python $1 lacks"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends "$package"; } >/dev/null ||
        fail "$package could not be installed (see above)"
}

# What .venv was made from; any difference means that it is set up again.
fingerprint() {
    pwd
    "$venv/bin/python" -V
    cksum "requirements/$1.txt" pyproject.toml
}

ready() {
    [ -x "$venv/bin/python" ] && [ -f "$venv/.ready-$1" ] || return 1
    [ -z "${PYTHON:-}" ] || [ "$(version_of "$PYTHON")" = "$(version_of "$venv/bin/python")" ] || return 1
    [ "$(fingerprint "$1" 2>/dev/null)" = "$(cat "$venv/.ready-$1")" ]
}

usable() {
    [ "$(version_of "$venv/bin/python")" = "$1" ] && "$venv/bin/python" -m pip --version >/dev/null 2>&1
}

make_venv() {
    python=$(find_python)
    version=$(version_of "$python")
    if usable "$version"; then
        return
    fi
    "$python" -c 'import ensurepip, venv' 2>/dev/null || add_ensurepip "$version"
    say "making $venv with Python $version"
    "$python" -m venv --clear "$venv" || fail "Python $version could not make $venv"
}

install() {
    say "installing the pinned requirements ($want); this is done once"
    pip="$venv/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-input"
    $pip --require-hashes -r "requirements/$want.txt" || fail "the requirements could not be installed (see above)"
    $pip --no-deps --no-build-isolation -e . || fail "the project could not be installed (see above)"
    rm -f "$venv/.ready-run" "$venv/.ready-dev"
    fingerprint "$want" >"$venv/.ready-$want"
}

[ -f "requirements/$want.txt" ] || fail "usage: scripts/setup.sh run|dev"
# What tests need includes what the command needs.
if ! ready dev && ! { [ "$want" = run ] && ready run; }; then
    make_venv
    install
fi
# What else the tests can use; without it they are fewer, so that this fails nothing.
[ "$want" = run ] || scripts/witnesses.sh
