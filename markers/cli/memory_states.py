"""``review-state`` and ``release-hygiene`` below ``state memory``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from .. import clock
from ..caches import memory
from ..caches.release_hygiene import LEVELS
from ..caches.review_state import MODES
from .common import MarkerCommand, MarkerGroup, documented
from .memory_files import (
    CALL,
    EXITS,
    Said,
    file_of,
    hygiene_key,
    id_option,
    place_of,
    session_option,
)
from .output import Answer
from .stored import told

if TYPE_CHECKING:
    from ..caches.engine import Cabinet, Updated
    from ..caches.json_text import JsonText
    from ..caches.review_state import ReviewState
    from ..paths import Place

_REVIEW, _HYGIENE = "review-state", "release-hygiene"
_boolean = click.Choice(["true", "false"])
_level = click.Choice(LEVELS)


@click.group(
    _REVIEW,
    cls=MarkerGroup,
    short_help="How far a review has come before its pull request.",
    **documented(example=f"{CALL} review-state show --id 12", exits=EXITS),
)
def review() -> None:
    """Read and write the six fields of review-state-N.md (row SMC-05)."""


@review.command(
    "show",
    cls=MarkerCommand,
    short_help="Show the state.",
    **documented(example=f"{CALL} review-state show --id 12", exits=EXITS),
)
@id_option
@click.pass_context
def review_show(context: click.Context, /, number: int) -> Answer:
    """Print the six fields; whatever deviates from them is no state, and the stages run again."""
    place = place_of(context, _REVIEW, Said(numbers=(number,)))
    seen = _review(context, number, place).look()
    state = None if seen.value is None else seen.value.document()
    return told(
        context,
        place,
        lines=_lines(state) or ["no state: the missing stages run again"],
        warnings=[] if state or seen.condition == "missing" else [seen.why],
        condition=seen.condition.value,
        state=state,
    )


@review.command(
    "set",
    cls=MarkerCommand,
    short_help="Change what is named, and nothing else.",
    **documented(
        example=f"{CALL} review-state set --id 12 --prosecution-complete true", exits=EXITS
    ),
)
@id_option
@click.option("--review-mode", type=click.Choice(MODES), help="How thorough it is (full).")
@click.option("--prosecution-complete", type=_boolean, help="Whether that stage is done (false).")
@click.option("--defense-complete", type=_boolean, help="Whether that stage is done (false).")
@click.option("--judgment-complete", type=_boolean, help="Whether that stage is done (false).")
@click.pass_context
def review_set(
    context: click.Context, /, number: int, review_mode: str | None, **stages: str | None
) -> Answer:
    """Write the state; of a file that is no state a copy is kept, and a new one is begun."""
    from ..caches.review_state import changed

    place = place_of(context, _REVIEW, Said(numbers=(number,)))
    said = {stage: None if word is None else word == "true" for stage, word in stages.items()}
    now = clock.iso(clock.now())
    done = _review(context, number, place).update(
        lambda state: changed(state, mode=review_mode, stages=said, now=now)
    )
    return _updated(context, place, done, state=done.value.document())


def _review(context: click.Context, number: int, place: Place) -> Cabinet[ReviewState]:
    from ..caches.engine import Cabinet
    from ..caches.review_state import ReviewCodec

    file = file_of(context, _REVIEW, place)
    return Cabinet(memory.store(_REVIEW), ReviewCodec(number), file)


@click.group(
    _HYGIENE,
    cls=MarkerGroup,
    short_help="Which version step the edits of a session ask for.",
    **documented(example=f"{CALL} release-hygiene show", exits=EXITS),
)
def hygiene() -> None:
    """Read and write the release decision that all worktrees share (row SMC-12).

    It is found by session, else branch, else commit.
    """


@hygiene.command(
    "show",
    cls=MarkerCommand,
    short_help="Show the decision.",
    **documented(example=f"{CALL} release-hygiene show", exits=EXITS),
)
@session_option
@click.pass_context
def hygiene_show(context: click.Context, /, session: str | None) -> Answer:
    """Print the decision, and by which key it was found."""
    place = place_of(context, _HYGIENE, Said(session=session))
    seen = _hygiene(context, place).look()
    state = None if seen.value is None else dict(seen.value.value)
    return told(
        context,
        place,
        lines=_lines(state) or ["nothing is decided"],
        warnings=[] if state or seen.condition == "missing" else [seen.why],
        condition=seen.condition.value,
        strategy=hygiene_key(context, session).strategy,
        state=state,
    )


@hygiene.command(
    "set",
    cls=MarkerCommand,
    short_help="Note what is proposed, chosen or touched.",
    **documented(example=f"{CALL} release-hygiene set --chosen minor", exits=EXITS),
)
@session_option
@click.option("--proposed", type=_level, help="The step that is proposed (patch).")
@click.option("--chosen", type=_level, help="The step that the user chose.")
@click.option("--touched", multiple=True, metavar="NAME", help="A file of the release; repeatable.")
@click.pass_context
def hygiene_set(
    context: click.Context,
    /,
    session: str | None,
    proposed: str | None,
    chosen: str | None,
    touched: tuple[str, ...],
) -> Answer:
    """Change what is named; touched files add up."""
    from ..caches.deferral import require_line
    from ..caches.release_hygiene import decided

    place = place_of(context, _HYGIENE, Said(session=session))
    strategy = hygiene_key(context, session).strategy
    files = [require_line(name) for name in touched]
    done = _hygiene(context, place).update(
        lambda document: decided(
            document, proposed=proposed, chosen=chosen, strategy=strategy, touched=files
        )
    )
    return _updated(context, place, done, strategy=strategy, state=dict(done.value.value))


def _hygiene(context: click.Context, place: Place) -> Cabinet[JsonText]:
    from ..caches.engine import Cabinet
    from ..caches.release_hygiene import CODEC

    return Cabinet(memory.store(_HYGIENE), CODEC, file_of(context, _HYGIENE, place))


def _updated(context: click.Context, place: Place, done: Updated[Any], **found: Any) -> Answer:
    return told(
        context,
        place,
        action=done.action.value,
        lines=_lines(found["state"]),
        warnings=done.warnings,
        **found,
    )


def _lines(state: dict[str, Any] | None) -> list[str]:
    return [f"{name}: {_said(value)}" for name, value in (state or {}).items()]


def _said(value: Any) -> str:
    """A value as its file spells it."""
    return value if isinstance(value, str) else json.dumps(value)


COMMANDS = (review, hygiene)
