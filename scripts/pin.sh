#!/bin/sh
# Pin all requirements with hashes, for every platform and Python 3.11 and newer; needs uv on PATH.
# Arguments go to uv: "--upgrade" takes newer versions, without it pins that still fit are kept.
set -eu
cd "$(dirname "$0")/.."
command -v uv >/dev/null || { echo "pin: uv is not on PATH; pip install uv" >&2; exit 1; }

compile() {
    uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
        --no-emit-index-url --no-emit-find-links --custom-compile-command "make pins" "$@"
}

compile "$@" --extra dev pyproject.toml requirements/build.in --output-file requirements/dev.txt
# The same versions for those who only run it.
compile "$@" --constraints requirements/dev.txt pyproject.toml requirements/build.in \
    --output-file requirements/run.txt
# What only `make fuzz` needs, and not every platform has.
compile "$@" requirements/fuzz.in --output-file requirements/fuzz.txt
