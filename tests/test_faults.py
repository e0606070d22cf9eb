"""The fault table, cell by cell: each runs a real write with one fault, and looks at what is so.

``fault_scenes`` has the places where a fault strikes, ``fault_kinds`` the faults, ``fault_table``
the rules that say how it must end.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

import pytest
from fault_kinds import Tells
from fault_scenes import FOLDING, NEW, Line, Role
from fault_table import Cell, cells
from worlds import ISSUE, REPO, memory_folder

from markers import writer
from markers.cli import exits
from markers.errors import Absent, MarkersError
from markers.forge.faults import Effect, Fault
from markers.model import Action, Shape, WriteResult
from markers.setup import Timing

CELLS = tuple(cells())
EXITS = {
    Action.REFUSED: 3,
    Action.CONFLICT: 4,
    Action.LANDED_UNVERIFIED: 5,
    Action.WITHDRAWN: 5,
    Action.DENIED: 6,
    Action.UNAVAILABLE: 7,
    Action.UNKNOWN: 8,
}


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_cell(cell: Cell) -> None:
    """The action, exit code, writes and journal that the rules say; then all converges."""
    with ExitStack() as stack:
        Run(cell, Line(stack.enter_context(memory_folder()), stack)).check()


class Run:
    """One cell being run: the oracle looks at the server and at the journal, never at the code."""

    def __init__(self, cell: Cell, world: Line) -> None:
        self.cell = cell
        self.world = world
        self.scene = cell.place.scene
        self.journal = world.setup().open_journal()

    def check(self) -> None:
        """Fail, look; get well, recover, look; run the same again, look."""
        self.scene.set_up(self.world)
        others = self.others()
        fault = self.arm()
        result = self.attempt()
        assert fault.hits > 0
        self.ended(result)
        self.waited()
        self.get_well()
        self.recovers()
        self.converges()
        assert self.journal.verify() == []
        assert self.others() == others

    def arm(self) -> Fault:
        """Let the fault strike, below HTTP or at the server."""
        place, ill = self.cell.place, self.cell.ill
        effect = ill.effect() if ill.effect else Effect()
        times = None if self.cell.lasting else 1
        if ill.line is None:
            return self.world.forge.faults.add(place.method, place.path, effect, times=times)
        cut = Fault(effect=effect, method=place.method, path=place.path, times=times)
        self.world.cuts.append((cut, ill.line))
        return cut

    def attempt(self) -> WriteResult:
        """The call; the answer of an error is its result, and its exit code the action's."""
        try:
            return self.scene.run(self.world)
        except MarkersError as error:
            failed = error
        result: WriteResult = failed.result
        assert exits.of(failed) == (result.action.value, EXITS[result.action])
        return result

    def ended(self, result: WriteResult) -> None:
        """The action, what the server saw, what is on the thread, what is left open."""
        end = self.cell.end
        assert result.action is (end.action or self.scene.done), result
        self.sent_as_told()
        assert self.texts().count(self.scene.body(NEW)) == self.cell.end.news
        assert len(self.journal.open_intents()) == (end.open is not None)
        told = any(warning.startswith(("twin-left", "fold-failed")) for warning in result.warnings)
        assert told is (end.left and self.cell.ill.tells is not Tells.GONE)

    def sent_as_told(self) -> None:
        """Each write that the scene makes, the failing one as often as the rules say."""
        place, end = self.cell.place, self.cell.end
        sent, wanted = Counter(self.world.sent), Counter(self.scene.sends[: place.at])
        wanted.update(end.also)
        after = list(self.scene.sends[place.at :])
        if place.role.writes:
            after.remove(place.method)
        wanted.update(after if end.action is None else ())
        if place.role.writes:
            failing = sent[place.method] - wanted[place.method]
            least, most = end.seen
            assert least <= failing <= most, self.world.sent
            wanted[place.method] += failing
        assert sent == +wanted, self.world.sent

    def waited(self) -> None:
        """Never shorter than told, never past the deadline, and not at all for a final no."""
        slept, ill, end = self.world.clock.slept, self.cell.ill, self.cell.end
        assert sum(slept) <= Timing().deadline + 1e-3
        if end.action in (Action.DENIED, Action.REFUSED):
            assert len(slept) == self.scene.pauses
        if ill.tells is Tells.LIMIT and self.cell.place.role not in (Role.LOSER, Role.REPAIR):
            assert max(slept) >= ill.wait

    def get_well(self) -> None:
        """The server and the line work again, and nobody interferes."""
        self.world.forge.faults.clear()
        self.world.cuts.clear()

    def recovers(self) -> None:
        """``recover`` settles what is open: it landed, did not, or is one too many."""
        found = [each.outcome for each in writer.recover(self.world.setup())]
        assert found == ([self.cell.end.open] if self.cell.end.open else [])
        assert self.journal.open_intents() == []

    def converges(self) -> None:
        """The same again does what is still to be done, and then nothing more."""
        if self.scene.done is Action.DELETED:
            return self.is_taken_back()
        order = {"expect": None, **(FOLDING if self.upserts and self.cell.end.left else {})}
        wanted = self.still_to_be_done()
        assert self.scene.run(self.world, **order).action is wanted
        assert self.texts().count(self.scene.body(NEW)) == 1 + self.cell.twin_stays
        if self.upserts:
            assert len(self.texts()) == 1
        sent = len(self.world.sent)
        assert self.scene.run(self.world, **order).action is Action.UNCHANGED
        assert len(self.world.sent) == sent
        return None

    def is_taken_back(self) -> None:
        """It is gone, or goes now."""
        if self.texts():
            assert self.scene.run(self.world).action is Action.DELETED
        assert self.texts() == []
        with pytest.raises(Absent):
            self.scene.run(self.world)

    def still_to_be_done(self) -> Action:
        """What a write of the text has to do on the thread as it is."""
        texts = self.texts()
        if texts and texts[0 if self.upserts else -1] == self.scene.body(NEW):
            return Action.UNCHANGED
        if self.upserts:
            return Action.UPDATED if texts else Action.CREATED
        return Action.POSTED

    @property
    def upserts(self) -> bool:
        """Whether the scene's family has one comment."""
        contract = self.world.setup().contract
        return contract.family(self.scene.family).shape is Shape.UPSERT

    def texts(self) -> list[str]:
        """The comments that carry the marker, oldest first."""
        return [body for body in self.world.bodies() if body.startswith(self.scene.marker)]

    def others(self) -> list[str]:
        """What other people have said, which nobody may touch."""
        return [
            comment.body
            for comment in self.world.forge.comments(REPO, ISSUE)
            if comment.author is not None and comment.author.login == "lee"
        ]
