#!/bin/sh
# Install what the tests call as witnesses: GitHub's gh, PostgreSQL, and npm's emulate below .venv/node.
#
# It never fails: what cannot be had here is named, and the tests that need it are skipped and
# counted. An attempt is not repeated while nothing has changed; "scripts/witnesses.sh again" does.
set -u
cd "$(dirname "$0")/.." || exit 0

lock=requirements/node
home=.venv/node
stamp=.venv/.witnesses

# Debian keeps the server's programs off the PATH.
servers=/usr/lib/postgresql
policy=${POLICY_RC_D:-/usr/sbin/policy-rc.d}

say() { printf 'setup: %s\n' "$1" >&2; }
have() {
    command -v "$1" >/dev/null 2>&1 && return 0
    [ "$1" = postgres ] || return 1
    for program in "$servers"/*/bin/postgres; do [ ! -x "$program" ] || return 0; done
    return 1
}

# Whatever changes here is a reason to try anew.
state() {
    cksum "$lock/package-lock.json"
    for name in gh node npm postgres; do have "$name" && echo "$name" || echo "no $name"; done
    [ -f "$home/node_modules/emulate/dist/index.js" ] || echo "no emulate"
}

bounded() {
    seconds=$1
    shift
    if have timeout; then timeout "$seconds" "$@"; else "$@"; fi
}

# Debian and Ubuntu, as root: all that is missing, in one go, without what is only recommended.
from_apt() {
    missing=
    for pair in gh:gh node:nodejs npm:npm postgres:postgresql; do
        have "${pair%%:*}" || missing="$missing ${pair##*:}"
    done
    [ -n "$missing" ] || return 0
    if ! have apt-get || [ "$(id -u)" != 0 ]; then
        say "for all tests install$missing (Debian, Ubuntu: sudo apt-get install$missing)"
        return 0
    fi
    say "installing$missing for the tests; this is done once"
    apt="apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=60"
    export DEBIAN_FRONTEND=noninteractive
    # Without a network, package lists of an earlier day may still do.
    bounded 120 $apt update >/dev/null 2>&1 || :
    # The tests start a server of their own; Debian's must not be started by being installed.
    held=
    if ! [ -e "$policy" ] && printf '#!/bin/sh\nexit 101\n' >"$policy" 2>/dev/null; then
        trap 'rm -f "$policy"; exit 130' INT TERM
        chmod 755 "$policy"
        held=yes
    fi
    for package in $missing; do
        bounded 600 $apt install -y --no-install-recommends "$package" >/dev/null 2>&1 ||
            say "$package could not be installed; the tests that need it are skipped"
    done
    [ -z "$held" ] || rm -f "$policy"
    trap - INT TERM
}

# The lock file has a hash for each package and no address: npm asks the registry that you set up.
from_npm() {
    have node && have npm || return 0
    if cmp -s "$lock/package-lock.json" "$home/package-lock.json" &&
        [ -f "$home/node_modules/emulate/dist/index.js" ]; then
        return 0
    fi
    rm -rf "$home"
    mkdir -p "$home" && cp "$lock/package.json" "$lock/package-lock.json" "$home" || return 0
    say "installing emulate from npm for the tests; this is done once"
    bounded 120 npm ci --prefix "$home" --ignore-scripts --no-audit --no-fund --fetch-retries=1 \
        --fetch-timeout=30000 --loglevel=error >/dev/null 2>&1 && return 0
    rm -rf "$home"
    say "npm could not install emulate; the tests that need it are skipped"
}

[ "${1:-}" != again ] || rm -f "$stamp"
if [ "$(state)" != "$(cat "$stamp" 2>/dev/null)" ]; then
    from_apt
    from_npm
    state >"$stamp"
fi
exit 0
