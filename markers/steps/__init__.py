"""The steps that belong to writing a family, in the order in which its registry file names them.

What may live here: from the registry's names to the steps.  What may not: what a step does, which
is in the module of its name; I/O of any kind.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ..contract.names import STEPS
from ..model import Family
from .interface import After, Before, Pointed, Prepared, Seen

__all__ = ["After", "Before", "Pointed", "Prepared", "Seen", "after", "before"]


def before(family: Family) -> tuple[Before, ...]:
    """The steps that make the candidate into what is written."""
    return tuple(step for step in map(_step, family.steps) if isinstance(step, Before))


def after(family: Family) -> tuple[After, ...]:
    """The steps that edit other comments once this one is written."""
    return tuple(step for step in map(_step, family.steps) if isinstance(step, After))


@cache
def _step(name: str) -> Before | After:
    step: Before | After = import_module(f".{STEPS[name]}", __package__).STEP
    return step
