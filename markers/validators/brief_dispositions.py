"""``brief-dispositions``: what became of the findings of a review that has no judge.

What may live here: the ten rules by which upstream's writer refuses such a head, and those by which
its reader would not count it.  What may not: the fields (the schema).

====  ====================================================  =================================
 no.  upstream's writer refuses                             here
====  ====================================================  =================================
1, 2  a payload without a head, or with two                 ``block_rules``; the ledger's own
   3  judge vocabulary                                      ``_judge_words``
4, 6  the filter did not run, or it is not said             the schema
5, 8  a key twice                                           the YAML reader
   7  no ``filtered_count``                                 the schema
   9  a finding's fields beside ``findings``                the schema
  10  a line in the first column                            ``_flat``
====  ====================================================  =================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..payload.document import Document
from ..payload.flawed import Flawed
from ..payload.held import read_block
from ..payload.problems import Problem
from ..payload.schema import check
from .block_rules import alone, the_block
from .cross_fields import problem_at, repeated
from .interface import Case

HEAD = "brief_dispositions"
_JUDGE = re.compile(r"[ \t]*(?:<!--[ \t]*judge-rulings(?![\w-])|(?:-[ \t]+)?judge_ruling[ \t]*:)")
_OF_A_HEAD = re.compile(
    r"(?:-[ \t]+)?(?:convergence_filter_ran|filtered_count|findings|finding_id|disposition)[ \t]*:"
)
_SPELLED = re.compile(r"[ \t]+[a-z_]+[ \t]*:[ \t]*(?:true|false|[0-9]+)[ \t]*")


def validate(case: Case) -> Iterator[Problem]:
    """Judge one head."""
    yield from alone(case)
    yield from _judge_words(case)
    yield from _flat(case)
    try:
        document = read_block(the_block(case), HEAD)
    except Flawed as flawed:
        yield from flawed.problems
        return
    yield from check(document, case.schema or "{}", at=(HEAD,))
    if isinstance(document.value[HEAD], dict):
        yield from repeated(document, (HEAD, "findings"), "finding_id")
        yield from _spelling(case, document)


def _judge_words(case: Case) -> Iterator[Problem]:
    block = the_block(case)
    for number, line in enumerate(block.inner, block.inner_first):
        if _JUDGE.match(line):
            detail = "a brief's review has no judge, and its head speaks of no ruling"
            yield Problem(code="judge-words", detail=detail, line=number)


def _flat(case: Case) -> Iterator[Problem]:
    """A line that was meant for the head and begins in the first column, which ends the head."""
    number = the_block(case).last + 1
    if number <= len(case.body.lines) and _OF_A_HEAD.match(case.body.line(number)):
        detail = "a line in the first column ends the head: indent what belongs to it"
        yield Problem(code="not-indented", detail=detail, line=number)


def _spelling(case: Case, document: Document) -> Iterator[Problem]:
    """Values that YAML reads and upstream does not: ``True``, ``0x3``, a comment behind one."""
    block = the_block(case)
    for key in ("convergence_filter_ran", "filtered_count"):
        line = document.line_of((HEAD, key)) - block.inner_first
        plain = isinstance(document.value[HEAD].get(key), int)
        if plain and not _SPELLED.fullmatch(block.inner[line]):
            detail = f"readers know '{key}: ' and true, or digits, and nothing behind it"
            yield problem_at(document, (HEAD, key), "spelling", detail)
