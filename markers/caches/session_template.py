"""What SESSION-STATE.md begins with.

What may live here: texts.  What may not: rules.
"""

from __future__ import annotations

TEMPLATE = """\
<!--
SESSION-STATE: what this session must not forget. One writer per checkout; not for version control.
Write to it with `persist-marker state session-md`, whose entries each take one line.
-->

# Session State

## Constraints
<!-- Rules that hold until they are dropped. Shown at every turn. -->
- <!-- such as: the public interface stays as it is in this release -->

## Decisions
<!-- What is settled, with the day on which it was. Shown at every turn. -->
- <!-- such as: [2031-03-04] one queue for all workers -->

## Existing infrastructure
<!-- What was found running or set up, to be used again: [surveyed:NAME] and what it is.
     A command that names NAME as a whole word gets no survey advice. Shown at session start. -->
- <!-- such as: [surveyed:mailhog] catches mail on port 8025 -->

## Open threads
<!-- What is under way, and what comes next. Shown at every turn. -->
- <!-- such as: see whether the nightly job has picked up the new path -->
"""

ORCHESTRATED = "Orchestrator-only:"
"""Where this text stands in a file, whoever wrote it, the constraints below were added before."""

ORCHESTRATION = (
    f"{ORCHESTRATED} the main thread hands all implementation to subagents and edits no file",
    "Research: what takes more than two reads or searches is for a subagent to look up",
    "Skills: the main thread chooses them; a subagent, given the procedure, runs the longer ones",
    "Complete: said only once code review and security review, side by side, have passed the diff",
)
"""The constraints of a main thread that only dispatches, in their order."""
