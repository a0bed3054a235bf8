"""What a certificate says of its run and its backend: only what opcert would have written."""

import pytest

from opcert.generator.verification.verification import flaws_of
from tests import handed_in
from tests.faults.finding import core_suite
from tests.handed_in import Change, changed
from tests.tamperings import part

FOLDER = "names a folder of a machine; expected a mark for it"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            part("backend", "delivery", value="packed"),
            "backend.delivery: found packed, of a run in opcert's process; expected as drawn",
        ),
        (
            part("backend", "options", value={"model": "of /home/jane/m.xml"}),
            f"backend.options.model: {FOLDER}",
        ),
        (
            part("backend", "options", value={"models": [{"one": "/home/jane/m.xml"}]}),
            f"backend.options.models: {FOLDER}",
        ),
        (part("backend", "reuse", value="in /home/jane/cache"), f"backend.reuse: {FOLDER}"),
    ],
)
def test_what_opcert_does_not_write_is_named(change: Change, told: str) -> None:
    found = flaws_of(changed(handed_in.certificate(), change), core_suite())
    assert [str(each) for each in found] == [told]


@pytest.mark.parametrize("options", [{"device": "/dev/dri/x/y"}, {"a": "<home>/m", "b": 1}, {}])
def test_what_is_no_folder_of_a_machine_is_none(options: object) -> None:
    change = part("backend", "options", value=options)
    assert flaws_of(changed(handed_in.certificate(), change), core_suite()) == []
