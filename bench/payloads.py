"""A valid payload for each family that checks its payloads, around a text of the caller's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

HASH = "0" * 63 + "1"
_WHEN = "2026-05-01T10:00:00Z"


def payload(family: str, number: int, text: str, **params: str) -> str:
    """The smallest payload that the family's rules take, with *text* in it."""
    make = _MAKERS.get(family)
    return make(number, text, params) if make else text


def _bullets(fields: Mapping[str, object], text: str) -> str:
    return "\n".join(f"- **{key}**: {value}" for key, value in fields.items()) + f"\n\n{text}"


def _stage(number: int, text: str, _params: Mapping[str, str]) -> str:
    fields = {
        "schema_version": 1,
        "issue": number,
        "stage": "loop-launched",
        "contract_hash": HASH,
        "updated_at": _WHEN,
    }
    return _bullets(fields, text)


def _inflight(number: int, text: str, _params: Mapping[str, str]) -> str:
    fields = {
        "schema_version": 1,
        "issue": number,
        "status": "unresolved",
        "contract_hash": HASH,
        "launched_at": _WHEN,
    }
    return _bullets(fields, text)


def _restart(number: int, text: str, _params: Mapping[str, str]) -> str:
    fields = {
        "schema_version": 1,
        "issue": number,
        "worktree_path": "work/tree",
        "branch_name": "unknown",
        "cleared_at": _WHEN,
    }
    return _bullets(fields, text)


def _halt(number: int, text: str, _params: Mapping[str, str]) -> str:
    return f"""```yaml
schema_version: 1
issue: {number}
halt_reason: gate-input-needed
target_ref: null
plan_remediation: {text.strip()!r}
evidence: []
recommended_next_owner: conductor
arm: headless
stage: loop
claim_provenance: harness
budget_snapshot: {{}}
```
"""


def _followups(_number: int, text: str, _params: Mapping[str, str]) -> str:
    return f"state: proposed\n\n{text}\n```yaml\nschema_version: 1\nproposals: []\n```\n"


def _credit(_number: int, text: str, params: Mapping[str, str]) -> str:
    return f"```yaml\nport: {params['port']}\nadapter: work\nevidence: {text.strip()!r}\n```\n"


def _engagement(_number: int, text: str, params: Mapping[str, str]) -> str:
    return (
        f"{text}\n```yaml\nschema_version: 4\nphase: {params['phase']}\ncapture_session: s\n```\n"
    )


def _account(_number: int, text: str, _params: Mapping[str, str]) -> str:
    return f"{text}\nadversarial_review_ran: true\n"


_MAKERS: Mapping[str, Callable[[int, str, Mapping[str, str]], str]] = {
    "completion-account": _account,
    "credit-input": _credit,
    "engagement-record": _engagement,
    "goal-halt-report": _halt,
    "goal-run-inflight": _inflight,
    "goal-run-restart-report": _restart,
    "goal-run-stage": _stage,
    "proposed-followups": _followups,
}
