"""The GIL is released, calls obey signals, and threads share searchers."""

import concurrent.futures
import contextlib
import os
import signal
import subprocess
import sys
import sysconfig
import textwrap
import threading
import time

import fyke
import pytest
from conftest import library

# This engine takes some seconds for as many bytes; others would take a few tenths.
ENGINE = "ac-nfa"
PATTERNS = [bytes(length) + b"b" for length in range(1, 200)]
SIZE = 240 << 20

# Seconds until the signal.
DELAY = 0.2


@pytest.fixture(scope="module")
def haystack():
    return bytes(SIZE)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The same bytes in a file, which takes no room on the disk."""
    path = tmp_path_factory.mktemp("threads") / "haystack"
    with path.open("wb") as file:
        file.truncate(SIZE)
    return path


def slow_searcher(**settings):
    return fyke.Searcher(PATTERNS, engine=ENGINE, **settings)


CALLS = {
    "scan": lambda searcher, data, path: searcher.scan(data),
    "scan with a callback": lambda searcher, data, path: searcher.scan(data, print),
    "count": lambda searcher, data, path: searcher.count(data),
    "is_match": lambda searcher, data, path: searcher.is_match(data),
    "find": lambda searcher, data, path: searcher.find(data),
    "find_iter": lambda searcher, data, path: list(searcher.find_iter(data)),
    "replace_all": lambda searcher, data, path: searcher.replace_all(data, "x"),
    "scan_file": lambda searcher, data, path: searcher.scan_file(path),
    "count_file": lambda searcher, data, path: searcher.count_file(path),
    "feed": lambda searcher, data, path: searcher.stream().feed(data),
    "contains_any": lambda searcher, data, path: fyke.contains_any(rows(data), searcher),
    "find_many": lambda searcher, data, path: fyke.find_many(rows(data), searcher),
    "extract_first": lambda searcher, data, path: fyke.extract_first(rows(data), searcher),
}


def rows(data):
    """A column, made without the time of a conversion."""
    pyarrow = library("pyarrow")
    length = 1 << 14
    offsets = pyarrow.array(range(0, len(data) + 1, length), "int64").buffers()[1]
    buffers = [None, offsets, pyarrow.py_buffer(data)]
    return pyarrow.Array.from_buffers(pyarrow.large_binary(), len(data) // length, buffers)


class Alarm(Exception):
    """Raised by the handler of a signal."""


@pytest.fixture
def alarm():
    """Raises `Alarm` in the main thread when the timer ends."""

    def ring(number, frame):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def alarm_soon():
    """Starts the timer, and gives when it ends."""
    signal.setitimer(signal.ITIMER_REAL, DELAY)
    try:
        yield time.perf_counter() + DELAY
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


# The target is a tenth of a second. A shared machine may stop the test itself for longer, so the
# limit is wider, and still far below the seconds that the calls would take.
LIMIT = 0.5


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_a_signal_ends_a_call(alarm, call, threads, haystack, file):
    searcher = slow_searcher(threads=threads)
    library("pyarrow")
    with alarm_soon() as due, pytest.raises(Alarm):
        CALLS[call](searcher, haystack, file)
    took = time.perf_counter() - due
    print(f"{call}: {took:.3f} s after the signal")
    assert took < LIMIT


@pytest.mark.parametrize("call", ["scan", "count_file", "find_iter"])
def test_an_interrupt_ends_the_program(call, file):
    program = textwrap.dedent(
        f"""
        import sys, fyke
        searcher = fyke.Searcher([bytes(n) + b"b" for n in range(1, 200)], engine={ENGINE!r})
        data = bytes({SIZE})
        calls = {{
            "scan": lambda: searcher.scan(data),
            "count_file": lambda: searcher.count_file({str(file)!r}),
            "find_iter": lambda: list(searcher.find_iter(data)),
        }}
        print("ready", flush=True)
        try:
            calls[{call!r}]()
        except KeyboardInterrupt:
            sys.exit(42)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    with child:
        assert child.stdout.readline() == b"ready\n"
        time.sleep(0.2)
        sent = time.perf_counter()
        os.kill(child.pid, signal.SIGINT)
        assert child.wait(timeout=10) == 42
        assert time.perf_counter() - sent < 1.5


def test_other_threads_run_during_a_scan(haystack):
    searcher = slow_searcher()
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    piece = haystack[: 32 << 20]
    start = time.perf_counter()
    searcher.count(piece)
    end = time.perf_counter()
    stop.set()
    ticker.join()
    during = sum(start < at < end for at in ticks)
    print(f"{during} ticks in {end - start:.3f} s")
    assert end - start > 0.1
    # If the GIL were kept, there would be none.
    assert during > 10


def test_threads_share_a_searcher(rng):
    searcher = fyke.Searcher(["ab", "ba", "aab", "é"])
    haystacks = ["".join(rng.choices("abé", k=rng.randint(0, 20_000))) for _ in range(64)]
    want = [searcher.scan(haystack).to_list() for haystack in haystacks]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda haystack: searcher.scan(haystack).to_list(), haystacks * 4)
        assert list(found) == want * 4


def test_threads_share_an_iterator():
    searcher = fyke.Searcher(["ab"])
    iterator, want = searcher.find_iter("ab-" * 20_000), 20_000
    start = threading.Barrier(4)

    def take():
        taken = []
        start.wait()
        while True:
            try:
                taken.append(next(iterator))
            except StopIteration:
                return taken
            except RuntimeError as error:
                # Another thread is in a call.
                assert "borrowed" in str(error)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        taken = [thread.result() for thread in [pool.submit(take) for _ in range(4)]]
    assert sorted(sum(taken, [])) == [(0, 3 * i, 3 * i + 2) for i in range(want)]


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has its GIL"
)
def test_a_free_threaded_python_stays_one():
    program = "import sys, fyke; print(sys._is_gil_enabled(), fyke.Searcher(['a']).count('aa'))"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, env=environment)
    assert (done.stdout, done.stderr) == (b"False 2\n", b"")


def test_a_stream_is_used_by_one_thread_at_a_time(haystack):
    stream = slow_searcher().stream()
    errors = []

    def feed():
        try:
            stream.feed(haystack[: 1 << 18])
        except (RuntimeError, ValueError) as error:
            errors.append(str(error))

    threads = [threading.Thread(target=feed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Whoever came second was refused; the first one was not disturbed.
    assert stream.offset == (1 << 18) * (4 - len(errors))
    assert all("in use" in error or "using the stream" in error for error in errors)


def test_an_interrupted_stream_says_so(alarm, haystack):
    stream = slow_searcher().stream()
    with alarm_soon(), pytest.raises(Alarm):
        stream.feed(haystack)
    with pytest.raises(ValueError, match="was interrupted"):
        stream.feed(b"")


def test_bytes_that_change_during_a_scan_do_no_harm():
    data, stop = bytearray(b"needle-" * 100_000), threading.Event()

    def change():
        at = 0
        while not stop.is_set():
            data[at % len(data)] ^= 1
            at += 7919

    writer = threading.Thread(target=change)
    writer.start()
    searcher = fyke.Searcher(["needle", "edlen", "-"])
    for _ in range(50):
        for _, start, end in searcher.scan(data)[:10]:
            assert 0 <= start < end <= len(data)
    stop.set()
    writer.join()
