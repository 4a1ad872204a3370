"""The package: types, the command, and examples that run."""

import doctest
import os
import subprocess
import sys

import fyke
import fyke.__main__
from conftest import ROOT, library


def test_the_stubs_are_those_of_the_module(tmp_path):
    library("mypy")
    settings = str(ROOT / "pyproject.toml")
    for command in (
        ["mypy.stubtest", "--mypy-config-file", settings, "fyke._fyke"],
        ["mypy", "--config-file", settings, "-p", "fyke"],
    ):
        # Not from here: mypy would take this folder for the package.
        done = subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Success: no issues found" in done.stdout


def test_the_examples_of_the_page_run(monkeypatch, tmp_path):
    for name in ("numpy", "pyarrow", "polars", "pandas", "duckdb", "datafusion"):
        library(name)
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    done = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False, optionflags=flags)
    assert done.attempted > 30
    assert done.failed == 0


def test_the_examples_of_the_package_run():
    done = doctest.testmod(fyke)
    assert done.attempted == 4
    assert done.failed == 0


def test_every_name_is_documented():
    page = (ROOT / "docs/python.md").read_text()
    for name in set(fyke.__all__) - {"__version__"}:
        assert name in page, f"docs/python.md does not name {name}"
        assert getattr(fyke, name).__doc__, f"{name} has no docstring"
    kinds = (fyke.Searcher, fyke.Stream, fyke.Matches, fyke.Column, fyke.Database)
    for kind in (fyke.Pattern, *kinds):
        for name in (name for name in vars(kind) if not name.startswith("_")):
            assert name in page, f"docs/python.md does not name {kind.__name__}.{name}"
            assert getattr(kind, name).__doc__ or name == "searcher"


class TestCommand:
    def run(self, capfdbinary, *arguments):
        status = fyke.__main__.main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return status, out, err

    def test_it_prints_matches(self, capfdbinary, tmp_path):
        path, patterns = tmp_path / "text", tmp_path / "patterns"
        path.write_bytes(b"ushers, USHERS")
        patterns.write_bytes(b"she\r\n\nhers\n")
        name = os.fsencode(path)
        want = name + b":1:she\n" + name + b":2:hers\n"
        assert self.run(capfdbinary, "-f", patterns, path) == (0, want, b"")
        assert self.run(capfdbinary, "-e", "she", "-c", path) == (0, name + b":1\n", b"")
        assert self.run(capfdbinary, "-i", "-e", "she", "-c", path) == (0, name + b":2\n", b"")
        assert self.run(capfdbinary, "-e", "absent", path) == (1, b"", b"")

    def test_errors_have_the_status_of_grep(self, capfdbinary, tmp_path):
        status, out, err = self.run(capfdbinary, "-e", "a", tmp_path / "absent")
        assert (status, out) == (2, b"")
        assert b"No such file" in err and b"absent" in err
        status, out, err = self.run(capfdbinary, tmp_path)
        assert (status, err) == (2, b"fyke: no patterns: give some with -e or -f\n")
        status, out, err = self.run(capfdbinary, "-e", "a", "--engine", "fast", tmp_path)
        assert status == 2 and b'no engine named "fast"' in err

    def test_it_lists_engines(self, capfdbinary):
        status, out, _ = self.run(capfdbinary, "--engine", "help")
        assert status == 0
        assert b"ac-dfa" in out and b"available" in out

    def test_it_reads_standard_input(self):
        command = [sys.executable, "-m", "fyke", "-e", "he", "-"]
        done = subprocess.run(command, input=b"ushers", capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"-:2:he\n", b"")

    def test_a_closed_pipe_ends_it_quietly(self, tmp_path):
        path = tmp_path / "text"
        path.write_bytes(b"a" * 2_000_000)
        command = [sys.executable, "-m", "fyke", "-e", "a", str(path)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with child:
            child.stdout.readline()
            child.stdout.close()
            assert child.stderr.read() == b""
            assert child.wait(timeout=30) == 0


def test_the_package_needs_no_other(tmp_path):
    program = "import sys, fyke; print([m for m in ('numpy', 'pyarrow') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n"


