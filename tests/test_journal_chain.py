"""The journal's arithmetic: sealing and proving entries, pacing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journals import INTENT, THREAD

from markers.journal import chain, pacing, proof
from markers.journal.interface import SCHEMA_VERSION, Record
from markers.journal.schema import SQLITE
from markers.model import Reason

FIRST = {"seq": 1, "at": "t", "version": "9", "previous": chain.GENESIS}


class TestExport:
    """Entries for other eyes."""

    def test_a_line_proves_itself(self):
        """The hash is the SHA-256 of the rest of the line, written canonically."""
        record = replace(INTENT, reason=Reason(code="\u00e9", detail="d"))
        sealed = chain.seal(record, replaced="x", **FIRST)
        line = json.loads(json.dumps(chain.as_json(chain.opened(sealed))))
        claimed = line.pop("hash")
        text = json.dumps(line, sort_keys=True, separators=(",", ":"))
        assert hashlib.sha256(text.encode()).hexdigest() == claimed == sealed.hash

    def test_names(self):
        """A line is flat and holds the whole record."""
        line = chain.as_json(chain.opened(chain.seal(INTENT, replaced=None, **FIRST)))
        around = {"seq", "at", "version", "replaced", "previous", "hash"}
        assert set(line) == {field.name for field in fields(Record)} | around
        assert (line["kind"], line["requests"], line["request_ids"]) == ("intent", {}, [])


class TestChain:
    """Reading what another version or another hand wrote."""

    def test_a_later_versions_field_is_passed_over(self):
        """What a later version adds to an entry does not stop this one."""
        sealed = chain.seal(INTENT, replaced=None, **FIRST)
        text = sealed.text.replace("{", '{"added":1,', 1)
        later = chain.Sealed(1, text, chain.digest(text.encode()))
        assert chain.opened(later).record == INTENT
        assert proof.verify([later], bodies=[], listed={1: THREAD}).flaws == []

    @given(text=st.text() | st.binary() | st.none() | st.just("[" * 100_000))
    @settings(max_examples=50)
    def test_any_text_becomes_a_flaw(self, text):
        """No stored text makes the proof or the listing fail: it is a flaw, and shows as one."""
        for claimed in ("f" * 64, chain.digest(str(text).encode("utf-8", "surrogatepass"))):
            sealed = chain.Sealed(1, text, claimed)
            (flaw,) = proof.verify([sealed], bodies=[], listed={}).flaws
            assert flaw.seq == 1
            assert chain.shown(sealed).record.action == "damaged"

    def test_times_sort_as_text(self):
        """Times have milliseconds and one width."""
        assert chain.stamp(0) == "1970-01-01T00:00:00.000Z"
        assert chain.stamp(1_800_000_000.25) == "2027-01-15T08:00:00.250Z"

    def test_each_version_has_its_migration(self):
        """The schema's version is the number of its scripts."""
        assert len(SQLITE) == SCHEMA_VERSION


whole = st.integers(min_value=0, max_value=200_000).map(lambda half: half / 2)


class TestEarliest:
    """The arithmetic of pacing."""

    @staticmethod
    def allowed(starts: list[float], minute: int, hour: int, gap: float) -> bool:
        """The rule itself, spelled out window by window."""
        starts = sorted(starts)
        return all(
            sum(1 for other in starts if at <= other < at + window) <= count
            for at in starts
            for count, window in ((1, gap), (minute, 60), (hour, 3600))
        )

    @given(
        asked=st.lists(st.integers(0, 80).map(lambda half: half / 2), min_size=1, max_size=25),
        minute=st.integers(1, 6),
        hour=st.integers(1, 12),
        gap=st.sampled_from([0, 0.5, 1, 7, 61]),
        again=st.integers(0, 20),
    )
    def test_no_window_is_ever_too_full(self, asked, minute, hour, gap, again):
        """Reserved one after the other, slots keep every limit, and each is the earliest.

        Half seconds are exact in binary, and so a start half a second earlier is the next to try.
        """
        starts: list[float] = []
        now = 0.0
        for step in asked:
            now += step
            limits = {"minute": minute, "hour": hour, "gap": gap}
            start = pacing.earliest(starts, now=now, **limits)
            assert start >= now
            assert self.allowed([*starts, start], **limits)
            sooner = [now, *(now + (start - now) * part / 8 for part in range(8)), start - 0.5]
            for at in {round(at * 2) / 2 for at in sooner}:
                if now <= at < start:
                    assert not self.allowed([*starts, at], **limits)
            starts.append(start)

    @given(starts=st.lists(whole, max_size=30), now=whole, gap=st.sampled_from([0.5, 1, 30]))
    def test_fits_between_reserved_starts(self, starts, now, gap):
        """Where no limit but the gap binds, a free place between two starts is used."""
        at = pacing.earliest(starts, now=now, minute=99, hour=99, gap=gap)
        free = [now, *(start + gap for start in starts if start + gap >= now)]
        assert at == min(
            place for place in free if all(abs(place - start) >= gap for start in starts)
        )

    @pytest.mark.parametrize("limits", [{"minute": 0, "hour": 1}, {"minute": 1, "hour": 0}])
    def test_a_pace_of_nothing(self, limits):
        """A limit that allows nothing is a mistake, not an endless wait."""
        with pytest.raises(ValueError, match="at least one"):
            pacing.earliest([], now=0, gap=1, **limits)
