"""What the ``gh`` command has stored: its hosts and its tokens.

What may live here: reading gh's hosts file and running gh.  What may not: deciding what is used
(``auth``).  Without gh, or when it fails, there is nothing stored; one that does not answer may
have something.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from ..errors import Unavailable
from ..programs import Silent, answer
from .auth import ENTERPRISE_TOKENS, GITHUB_TOKENS

TIMEOUT = 10.0
"""Seconds that gh may take: a locked key ring waits for ever."""


def stored_hosts(env: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts in gh's ``hosts.yml``: its top-level keys; nothing else of it is looked at."""
    import yaml

    try:
        data = yaml.safe_load((_config_dir(env) / "hosts.yml").read_bytes())
    except (OSError, yaml.YAMLError, ValueError, RecursionError):
        return ()
    return tuple(key for key in data if isinstance(key, str)) if isinstance(data, dict) else ()


def _config_dir(env: Mapping[str, str]) -> Path:
    """Where gh keeps its files, in gh's own order."""
    if env.get("GH_CONFIG_DIR"):
        return Path(env["GH_CONFIG_DIR"])
    if env.get("XDG_CONFIG_HOME"):
        return Path(env["XDG_CONFIG_HOME"]) / "gh"
    return Path(env.get("HOME") or "/") / ".config" / "gh"


def stored_token(host: str, env: Mapping[str, str], *, seconds: float = TIMEOUT) -> str | None:
    """The token that gh has stored for *host*; raises ``Unavailable`` (``gh``) after *seconds*.

    gh is not shown the token variables: it would answer with one of them, by its own idea of which
    host it is for.
    """
    command = shutil.which("gh", path=env.get("PATH") or "")
    if command is None:
        return None
    hidden = {*GITHUB_TOKENS, *ENTERPRISE_TOKENS}
    seconds = min(TIMEOUT, seconds)
    try:
        code, told = answer(
            [command, "auth", "token", f"--hostname={host}"],
            env={name: value for name, value in env.items() if name not in hidden},
            seconds=seconds,
        )
    except OSError:
        return None
    except Silent:
        raise Unavailable(
            "gh",
            f"gh was asked for the token for {host} and did not answer within {seconds:.3g} s (is "
            "its key ring locked?): see what 'gh auth token' does, or set the token's variable",
        ) from None
    token = told.decode("utf-8", "replace").strip()
    return token if code == 0 and token else None
