"""A series on the command line: certified copy by copy, resumed, verified and reported."""

import json
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from opcert import certify, generate, load_series
from opcert.certificate import JOURNAL_FILE, read_certificate, read_series_result
from opcert.certificate.journal import Journal
from opcert.errors import OpcertError
from opcert.suite import CopyEntry, Series, Suite
from tests import small_spec
from tests.command_line import opcert
from tests.small_suite import contents

BACKENDS = """
import numpy as np
from pathlib import Path

class Backend:
    name, version = "b", "1"
    configurations = {"device": ("one", "other")}
    def __init__(self, device="one"): pass
    def run(self, operator, inputs, attributes):
        data, count = inputs["data"], attributes["count"]
        if not 0 <= count <= len(data):
            raise ValueError("count")
        return [data[:count].copy()]

class Wrong(Backend):
    def run(self, operator, inputs, attributes):
        (output,) = super().run(operator, inputs, attributes)
        return [output + 1]

class Interrupted(Backend):
    starts = 0
    def __init__(self):
        Interrupted.starts += 1
        self.calls = 0
    def run(self, operator, inputs, attributes):
        self.calls += 1
        if Interrupted.starts == 2 and self.calls == 9:
            raise KeyboardInterrupt
        return super().run(operator, inputs, attributes)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with specs, a series of three copies of their suite, and backends."""
    home = tmp_path_factory.mktemp("home")
    (home / "specs").mkdir()
    small_spec.spec(home / "specs")
    generate(home / "series", home / "specs", seed=4, repeat=3)
    (home / "b.py").write_text(BACKENDS)
    return home


def run(home: Path, out: Path, *arguments: str | Path, backend: str = "Backend") -> Result:
    """Certify the series in this process."""
    options = ("--specs", home / "specs", "--in-process", "--backend", f"{home / 'b.py'}:{backend}")
    return opcert("certify", "--suite", home / "series", "--out", out, *options, *arguments)


def certify_in(home: Path, out: Path, *arguments: str, backend: str) -> int:
    """Certify a backend by the series in `home`; return the exit code."""
    options = ("--specs", home / "specs", "--in-process", "--backend", backend)
    return opcert(
        "certify", "--suite", home / "series", "--out", out, *options, *arguments
    ).exit_code


@pytest.fixture(scope="module")
def right(home: Path) -> Path:
    """The certificates of a conformant backend, which no test changes."""
    assert run(home, home / "right").exit_code == 0
    return home / "right"


@pytest.fixture(scope="module")
def wrong(home: Path) -> Path:
    """The certificates of a wrong backend, which no test changes."""
    assert run(home, home / "wrong", backend="Wrong").exit_code == 1
    return home / "wrong"


def copied(folder: Path, target: Path) -> Path:
    for name, data in contents(folder).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(data)
    return target


def test_each_copy_gets_the_certificate_that_it_gets_alone(right: Path, home: Path) -> None:
    for k, suite in enumerate(load_series(home / "series", home / "specs")):
        certificate = read_certificate(right / f"copy-0{k}" / "certificate.json")
        alone = certify(f"{home / 'b.py'}:Backend", suite, False, specs=home / "specs")
        assert certificate.suite == alone.suite
        assert [v.status for v in certificate.verdicts] == [v.status for v in alone.verdicts]
        assert (right / f"copy-0{k}" / "report.html").is_file()


def test_the_result_states_each_certificate(wrong: Path, home: Path) -> None:
    result = read_series_result(wrong)
    certificates = [read_certificate(wrong / f"copy-0{k}" / "certificate.json") for k in range(3)]
    assert not result.conformant
    assert (result.suite.seed, result.suite.copies) == (4, 3)
    assert result.suite.digest == load_series(home / "series").digest
    assert [copy.suite for copy in result.copies] == [c.suite.digest for c in certificates]
    assert result.counts["fail"] == sum(c.counts["fail"] for c in certificates) > 0


def test_a_new_run_replaces_the_certificates(right: Path, home: Path, tmp_path: Path) -> None:
    assert read_series_result(right).conformant
    again = run(home, copied(right, tmp_path / "out"), "--quiet")
    assert again.stdout.splitlines()[-1] == "3 copies: 3 conformant"
    assert again.stderr == ""


def test_stopping_at_a_failure_stops_the_series(home: Path, tmp_path: Path) -> None:
    result = run(home, tmp_path / "out", "-x", backend="Wrong")
    assert result.exit_code == 1
    assert "3 copies: 1 not conformant, 2 not started" in result.stdout
    assert [copy.folder for copy in read_series_result(tmp_path / "out").copies] == ["copy-00"]


def test_an_interrupted_series_is_resumed(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run(home, out, backend="Interrupted")
    assert first.exit_code == 130
    assert "3 copies: 1 conformant, 1 interrupted, 1 not started" in first.stdout
    result = read_series_result(out)
    assert [copy.conformant for copy in result.copies] == [True, False]
    assert not result.conformant
    finished = contents(out / "copy-00")
    stopped = read_certificate(out / "copy-01" / "certificate.json")
    reached = len(stopped.verdicts) - stopped.counts["not-run"]
    again = run(home, out, "--resume", backend="Interrupted")
    assert again.exit_code == 0, again.stderr
    assert f"\n{reached} cases have run already" in again.stderr
    assert read_series_result(out).conformant
    assert contents(out / "copy-00")["certificate.json"] == finished["certificate.json"]
    assert (
        opcert("verify", out, "--suite", home / "series", "--specs", home / "specs").exit_code == 0
    )


def test_a_killed_copy_is_resumed_from_its_journal(right: Path, home: Path, tmp_path: Path) -> None:
    out = copied(right, tmp_path / "out")
    path = out / "copy-01" / "certificate.json"
    certificate = read_certificate(path)
    for file in (out / "copy-01").rglob("*.*"):
        file.unlink()
    reached = certificate.replace(verdicts=certificate.verdicts[:5], causes=(), excerpts={})
    Journal(out / "copy-01" / JOURNAL_FILE, reached).close()
    result = run(home, out, "--resume")
    assert result.exit_code == 0, result.stderr
    assert "\n5 cases have run already" in result.stderr
    assert read_series_result(out).conformant
    assert [v.case for v in read_certificate(path).verdicts] == [
        v.case for v in certificate.verdicts
    ]


def began(out: Path, copy: str, date: str) -> None:
    """Change the date of a certificate, as if its run had begun then."""
    path = out / copy / "certificate.json"
    certificate = json.loads(path.read_bytes())
    certificate["platform"]["date"] = date
    path.write_text(json.dumps(certificate))


def with_damaged_copy(home: Path, target: Path) -> Path:
    """Copy the home folder; no backend can be certified by its copy-01."""
    copied(home / "series", target / "series")
    next((target / "series" / "copy-01").rglob("*.npz")).write_bytes(b"")
    copied(home / "specs", target / "specs")
    (target / "b.py").write_text(BACKENDS)
    return target


def test_certificates_of_a_run_that_was_replaced_are_not_resumed(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    # A new run was killed after its first copy.
    began(out, "copy-01", "2020-01-01T00:00:00+00:00")
    again = run(home, out, "--resume")
    assert again.exit_code == 0, again.stderr
    assert again.stderr.count("as the earlier run found") == 1, again.stderr
    assert read_certificate(out / "copy-01" / "certificate.json").platform.date > "2021"


def test_a_new_run_that_ends_early_leaves_nothing_of_the_former_one(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    assert run(home, out, "-x", backend="Wrong").exit_code == 1
    assert [path.name for path in out.iterdir() if path.is_dir()] == ["copy-00"]
    assert opcert("verify", out, "--specs", home / "specs").exit_code == 0


def test_a_resumed_run_that_ends_early_names_all_finished_copies(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    # Its certificate has to be made again, from a suite that is damaged.
    shutil.rmtree(out / "copy-01")
    damaged = with_damaged_copy(home, tmp_path / "home")
    assert certify_in(damaged, out, "--resume", backend=f"{home / 'b.py'}:Backend") == 2
    assert [copy.folder for copy in read_series_result(out).copies] == ["copy-00", "copy-02"]
    assert opcert("verify", out, "--specs", home / "specs").exit_code == 0


def kill_in_copy_01(out: Path) -> None:
    """Leave a journal of the run in copy-01, as if it had been killed there."""
    first = read_certificate(out / "copy-00" / "certificate.json")
    certificate = read_certificate(out / "copy-01" / "certificate.json")
    platform = certificate.platform.model_copy(update={"date": first.platform.date})
    reached = certificate.replace(platform=platform, verdicts=certificate.verdicts[:5])
    Journal(out / "copy-01" / JOURNAL_FILE, reached).close()


def test_a_journal_is_kept_without_the_certificate_that_it_replaces(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    kill_in_copy_01(out)
    began(out, "copy-01", "2020-01-01T00:00:00+00:00")
    (out / "certificates.json").unlink()
    damaged = with_damaged_copy(home, tmp_path / "home")
    assert certify_in(damaged, out, "--resume", backend=f"{home / 'b.py'}:Backend") == 2
    assert [copy.folder for copy in read_series_result(out).copies] == ["copy-00", "copy-02"]
    assert [*contents(out / "copy-01")] == [JOURNAL_FILE]
    assert opcert("verify", out, "--specs", home / "specs").exit_code == 0
    again = run(home, out, "--resume")
    assert again.exit_code == 0, again.stderr
    assert "\n5 cases have run already" in again.stderr


def test_removing_a_former_run_keeps_the_files_of_others(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    note = out / "copy-02" / "notes.txt"
    backend = tmp_path / "b.py"
    backend.write_text(
        f"""{BACKENDS}
class Noting(Wrong):
    def run(self, operator, inputs, attributes):
        Path({str(note)!r}).write_text("mine")
        return super().run(operator, inputs, attributes)
"""
    )
    assert certify_in(home, out, "-x", backend=f"{backend}:Noting") == 1
    assert [*contents(out / "copy-02")] == ["notes.txt"]
    assert not (out / "copy-01").exists()


def test_resuming_a_run_of_which_a_copy_was_lost_keeps_the_others(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    for name in ("copy-00", "copy-01", "copy-02"):
        began(out, name, "2020-01-01T00:00:00+00:00")
    shutil.rmtree(out / "copy-01")
    assert run(home, out, "--resume").exit_code == 0
    again = run(home, out, "--resume")
    assert again.stderr.count("as the earlier run found") == 2, again.stderr


def test_a_finished_series_is_resumed_without_a_run(right: Path, home: Path) -> None:
    before = contents(right)
    result = run(home, right, "--resume")
    assert result.exit_code == 0
    assert result.stderr.count("as the earlier run found") == 2
    assert contents(right) == before


def test_another_run_is_not_resumed(right: Path, home: Path) -> None:
    before = contents(right)
    result = run(home, right, "--resume", backend="Wrong")
    assert result.exit_code == 2
    assert "cannot resume, the certificate is of another run" in result.stderr
    assert contents(right) == before


def test_copies_of_different_runs_are_not_mixed(home: Path, wrong: Path, tmp_path: Path) -> None:
    out = copied(wrong, tmp_path / "out")
    copied(home / "right" / "copy-01", out / "copy-01")
    began(out, "copy-01", read_certificate(out / "copy-00" / "certificate.json").platform.date)
    result = run(home, out, "--resume", backend="Wrong")
    assert result.exit_code == 2
    assert "copy-01/certificate.json: found backend." in result.stderr
    assert "as for the other copies" in result.stderr


def test_resuming_needs_a_certificate(home: Path, tmp_path: Path) -> None:
    result = run(home, tmp_path / "out", "--resume")
    assert result.exit_code == 2
    assert "copy-00/certificate.json: No such file; expected the certificate" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--json",), "--json prints one certificate; name one copy of the series by --suite"),
        (("--backend-option", "device=all"), "found 2 configurations and a series"),
        (("--operator", "no/such"), "no operator matches 'no/such'"),
        (("--case", "no-such"), "no case matches 'no-such'"),
    ],
)
def test_a_wrong_call_is_explained_in_one_line(
    arguments: tuple[str, ...], message: str, home: Path, tmp_path: Path
) -> None:
    result = run(home, tmp_path / "out", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_series_needs_a_folder_for_its_certificates(home: Path) -> None:
    result = opcert("certify", "--suite", home / "series")
    assert result.exit_code == 2
    assert "a series needs --out, the folder for the certificates" in result.stderr


@pytest.mark.parametrize("name", ["thesis.txt", "index.html", "copy-03/x", "certificates.json"])
def test_other_files_are_refused(name: str, home: Path, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    result = run(home, tmp_path)
    assert result.exit_code == 2
    assert (
        f"contains {name.partition('/')[0]}, not part of the result of this series" in result.stderr
    )
    assert [*contents(tmp_path)] == [name]


def test_a_folder_in_the_series_is_refused(home: Path) -> None:
    before = contents(home / "series")
    assert run(home, home / "series" / "out").exit_code == 2
    assert contents(home / "series") == before


def test_a_damaged_copy_ends_the_series(home: Path, tmp_path: Path) -> None:
    copied(home, tmp_path / "home")
    (tmp_path / "home" / "series" / "copy-01" / "conftest.py").write_text("changed")
    result = run(tmp_path / "home", tmp_path / "out")
    assert result.exit_code == 2
    assert "copy-01/conftest.py: the digest of its" in result.stderr
    assert "3 copies: 1 conformant, 1 invalid input, 1 not started" in result.stdout
    assert len(read_series_result(tmp_path / "out").copies) == 1


def test_unused_waivers_do_not_end_the_series(home: Path, tmp_path: Path) -> None:
    waivers = tmp_path / "w.yaml"
    waivers.write_text("- {case: '*', reason: r, owner: o, link: l, expires: '2099-01-01'}\n")
    result = run(home, tmp_path / "out", "--waivers", waivers)
    assert result.exit_code == 2
    assert result.stderr.count("unused waiver") == 3
    assert len(read_series_result(tmp_path / "out").copies) == 3
    resumed = run(home, tmp_path / "out", "--waivers", waivers, "--resume")
    assert resumed.exit_code == 2
    assert resumed.stderr.count("unused waiver") == 3


def test_a_copy_is_forgotten_before_the_next_is_opened(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[weakref.ref[Suite]] = []
    open_copy = Series.open

    def record(series: Series, entry: CopyEntry) -> Suite:
        assert not any(reference() for reference in opened)
        suite = open_copy(series, entry)
        opened.append(weakref.ref(suite))
        return suite

    monkeypatch.setattr(Series, "open", record)
    assert run(home, tmp_path / "out").exit_code == 0
    assert len(opened) == 3


def verify(home: Path, folder: Path) -> Result:
    return opcert("verify", folder, "--suite", home / "series", "--specs", home / "specs")


def test_the_certificates_of_a_series_are_sound(home: Path, right: Path, wrong: Path) -> None:
    assert verify(home, right).stdout.startswith("sound: CONFORMANT in all 3 copies: b 1 on core")
    assert verify(home, wrong).stdout.startswith("sound: NOT CONFORMANT in 3 of 3 copies: b 1 on")
    # Without the series, its suites are generated again.
    assert opcert("verify", right, "--specs", home / "specs").exit_code == 0


def edited(change: Callable[[Any], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / "certificates.json"
        data = json.loads(path.read_bytes())
        change(data)
        path.write_text(json.dumps(data, indent=1) + "\n")

    return edit


def exchanged(folder: Path) -> None:
    (folder / "copy-00").rename(folder / "x")
    (folder / "copy-01").rename(folder / "copy-00")
    (folder / "x").rename(folder / "copy-01")


@pytest.mark.parametrize(
    ("tamper", "finding"),
    [
        (edited(lambda d: d.update(conformant=True)), "certificates.json: conformant: found true"),
        (edited(lambda d: d["counts"].update(fail=0)), "certificates.json: counts.fail: found 0"),
        (edited(lambda d: d["copies"].pop()), "certificates.json: "),
        (edited(lambda d: d["suite"].update(copies=2)), "certificates.json: suite."),
        (edited(lambda d: d["suite"].update(digest="0" * 64)), "certificates.json: suite.digest"),
        (edited(lambda d: d["suite"].update(seed=5)), "copy-00: found a suite of seed 4"),
        (edited(lambda d: d["suite"].update(profile="full")), "copy-00: found a suite of profile"),
        (edited(lambda d: d["backend"].update(version="2")), "copy-00: found a certificate of b 1"),
        (edited(lambda d: d["copies"].append(d["copies"][0])), "found copy-00 2 times"),
        (lambda f: (f / "index.html").write_text("mine"), "index.html: differs from what opcert"),
        (lambda f: (f / "index.html").unlink(), "index.html: No such file"),
        (lambda f: (f / "notes.txt").write_text("mine"), "notes.txt: the result does not name"),
        (lambda f: (f / "copy-02" / "junit.xml").unlink(), "copy-02: files.junit.xml: found"),
        (exchanged, "copy-00: suite"),
    ],
)
def test_each_change_is_a_finding_that_names_its_place(
    tamper: Callable[[Path], object], finding: str, home: Path, wrong: Path, tmp_path: Path
) -> None:
    folder = copied(wrong, tmp_path / "results")
    tamper(folder)
    result = verify(home, folder)
    assert result.exit_code == 1, result.output
    assert finding in result.stdout


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (edited(lambda d: d.update(format=2)), "found format 2; expected 1"),
        (edited(lambda d: d["copies"][0].update(folder="../x")), "copies.0.folder: "),
        (lambda f: (f / "certificates.json").write_text("[]"), "certificates.json: found []; "),
        (lambda f: (f / "copy-01" / "certificate.json").unlink(), "copy-01/certificate.json: No"),
    ],
)
def test_what_is_no_result_of_a_series_is_an_error(
    tamper: Callable[[Path], object], message: str, home: Path, wrong: Path, tmp_path: Path
) -> None:
    folder = copied(wrong, tmp_path / "results")
    tamper(folder)
    result = verify(home, folder)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_report_of_a_series(wrong: Path, tmp_path: Path) -> None:
    result = opcert("report", wrong)
    assert result.exit_code == 0
    assert "copy-02: Not conformant: " in result.stdout
    assert result.stdout.splitlines()[-1].startswith("NOT CONFORMANT in 3 of 3 copies: b 1 on core")
    assert opcert("report", wrong, "--quiet", "--out", tmp_path / "html").exit_code == 0
    page = (tmp_path / "html" / "index.html").read_text()
    target = page.partition('href="../')[2].partition('report.html#cause-1"')[0]
    assert (tmp_path / "html" / ".." / target / "report.html").is_file()


def without_copies(result: dict[str, Any]) -> None:
    counts = dict.fromkeys(result["counts"], 0)
    result.update(copies=[], conformant=False, counts=counts)


@pytest.mark.parametrize(
    ("tamper", "finding"),
    [
        (edited(without_copies), "found no copies; expected one at least"),
        (edited(lambda d: d.update(copies=[])), "found no copies; expected one at least"),
        (edited(lambda d: d.update(conformant=True)), "conformant: found true"),
        (edited(lambda d: d.update(copies=d["copies"][:1] * 3)), "found copy-00 3 times"),
        (edited(lambda d: d["copies"].reverse()), "found copy-02 before copy-01"),
        (edited(lambda d: d["suite"].update(seed=5)), "copy-00: found a suite of seed 4"),
        (edited(lambda d: d["suite"].update(copies=2)), "found copy-02 in a series of 2 copies"),
    ],
)
def test_a_result_that_contradicts_itself_has_no_report(
    tamper: Callable[[Path], None], finding: str, home: Path, wrong: Path, tmp_path: Path
) -> None:
    out = copied(wrong, tmp_path / "out")
    tamper(out)
    report = opcert("report", out, "--out", tmp_path / "report")
    assert report.exit_code == 2
    assert "certificates.json: contradicts itself; `opcert verify` lists how" in report.stderr
    assert report.stderr.count("\n") == 1
    assert finding in opcert("verify", out, "--specs", home / "specs").stdout


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("report", "wrong", "right"), "wrong: has the certificates of a series; to compare"),
        (("verify", "wrong", "--rerun", "1", "-b", "reference"), "--rerun needs one"),
        (("sign", "wrong", "--key", "k"), "found certificates of 3 copies; expected one"),
        (("coverage", "--suite", "series"), "series: is a series of 3 suites; expected one suite"),
    ],
)
@pytest.mark.usefixtures("right", "wrong")
def test_other_commands_want_one_certificate_or_suite(
    command: tuple[str, ...], message: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    result = opcert(*command)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("command", ["verify", "report"])
@pytest.mark.parametrize("finished", ["3 certificates", "1 certificate", "0 certificates"])
def test_an_unfinished_run_is_to_be_resumed(
    command: str, finished: str, right: Path, tmp_path: Path
) -> None:
    for name in ("copy-00", "copy-01", "copy-02")[: int(finished[0])]:
        copied(right / name, tmp_path / name)
    certificate = read_certificate(right / "copy-02" / "certificate.json")
    Journal(tmp_path / "copy-02" / JOURNAL_FILE, certificate).close()
    result = opcert(command, tmp_path)
    assert result.exit_code == 2
    assert f"{tmp_path}: is an unfinished run of a series, with {finished}; " in result.stderr
    assert "finish it by `opcert certify --resume`" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        ("series/copy-00", "copy-00: is a suite; expected a series: name "),
        ("short", "short: is a series of 2 copies; expected the series of the certificates, which"),
    ],
)
def test_another_suite_than_the_series_is_explained(
    suite: str, message: str, right: Path, home: Path, tmp_path: Path
) -> None:
    copied(home / "series", tmp_path / "series")
    generate(tmp_path / "short", home / "specs", seed=4, repeat=2)
    result = opcert("verify", right, "--suite", tmp_path / suite, "--specs", home / "specs")
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_failed_check_advises_the_same_command(home: Path) -> None:
    options = ("--specs", home / "specs", "--repeat", "3", "--seed", "5")
    result = opcert("generate", "--check", "--out", home / "series", *options)
    assert result.exit_code == 1
    assert "run the same command without --check" in result.stderr


def test_a_changed_certificate_has_no_report(wrong: Path, tmp_path: Path) -> None:
    folder = copied(wrong, tmp_path / "results")
    exchanged(folder)
    result = opcert("report", folder)
    assert result.exit_code == 2
    assert "is not the certificate that certificates.json states" in result.stderr


def test_in_python_a_series_is_refused_with_a_hint(home: Path) -> None:
    with pytest.raises(OpcertError, match=r"is a series of 3 suites; .* load_series yields them"):
        certify("reference", home / "series")
