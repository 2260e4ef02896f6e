"""Made once: what is kept is what was made, one makes it for all, and a cache that is of no use
hinders nobody.
"""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

import pytest

from esrag.caching import Kind, answers, seal, unseal
from esrag.caching.answers import BRIEFLY_S, code_version, get_or_compute, key_of
from esrag.caching.opening import open_cache
from esrag.errors import EngineError
from esrag.records import Chunk, Hit
from esrag.settings import CacheSettings

KEY = key_of(Kind.ANSWER, "question")


@dataclass(frozen=True, slots=True)
class Made:
    """Something that is made at a cost."""

    hits: tuple[Hit, ...]
    share: float = 1.0


CHUNK = Chunk(
    chunk_id="c",
    doc_id="d",
    ordinal=0,
    start=0,
    end=3,
    start_page=1,
    end_page=1,
    text="a\u2028é",
    keywords=("x",),
    metadata={"a": 1, "b": 1.0, "c": True, "d": "1"},
)
MADE = Made((Hit(CHUNK, 0.1 + 0.2, vector_rank=1), Hit(CHUNK, 1e-320)))


class Maker:
    """Makes it, slowly, and counts."""

    def __init__(self, takes_s=0.0, error=None):
        self.takes_s, self.error, self.count = takes_s, error, 0

    def __call__(self):
        self.count += 1
        time.sleep(self.takes_s)
        if self.error:
            raise self.error
        return MADE


def ask(cache, make, brief=lambda _: False):
    """What is remembered under the one key."""
    return get_or_compute(cache, KEY, Made, make, brief)


def test_what_is_kept_is_what_was_made(cache):
    """To the type and the last digit."""
    make = Maker()

    assert ask(cache, make) == (MADE, False)
    found, kept = ask(cache, make)

    assert (repr(found), kept, make.count) == (repr(MADE), True, 1)


@pytest.mark.faults
def test_fifty_who_ask_at_once_get_one_answer(cache):
    """One makes it (case 29)."""
    make = Maker(takes_s=0.3)
    with ThreadPoolExecutor(50) as pool:
        got = list(pool.map(lambda _: ask(cache, make), range(50)))

    assert make.count == 1
    assert [found for found, _ in got] == [MADE] * 50
    assert sum(kept for _, kept in got) == 49


ASKS = """
import sys, time
from pathlib import Path
from esrag.caching.answers import get_or_compute
from esrag.caching.opening import open_cache
from esrag.settings import CacheSettings

def make():
    with Path(sys.argv[2]).open("a") as made:
        made.write("x")
    time.sleep(0.5)
    return "made"

cache = open_cache(CacheSettings(url=sys.argv[1]))
print("ready", flush=True)
sys.stdin.read()
print(get_or_compute(cache, "a:1", str, make, lambda made: False)[0])
"""


@pytest.mark.faults
def test_processes_that_ask_at_once_get_one_answer(cache_url, tmp_path):
    """One of them makes it (case 29)."""
    command = [sys.executable, "-c", ASKS, cache_url, tmp_path / "made"]
    pipes = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }
    processes = [subprocess.Popen(command, **pipes) for _ in range(5)]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 5
    for process in processes:
        process.stdin.close()
    said = [(process.stdout.read(), process.stderr.read()) for process in processes]
    for process in processes:
        process.wait(30)
        process.stdout.close()
        process.stderr.close()

    assert said == [("made\n", "")] * 5
    assert (tmp_path / "made").read_text() == "x"


def test_errors_are_not_kept(cache):
    """The next one tries again at once."""
    for attempt in (1, 2):
        fails = Maker(error=EngineError(f"attempt {attempt}"))
        with pytest.raises(EngineError, match=f"attempt {attempt}"):
            ask(cache, fails)
    make = Maker()

    assert ask(cache, make) == (MADE, False)
    assert make.count == 1


def test_nobody_waits_long_for_one_who_died(cache, monkeypatch):
    """Its lock ends, or the wait does; then it is made."""
    monkeypatch.setattr(answers, "WAIT_S", 0.3)
    assert cache.lock(KEY, 60)
    make = Maker()
    started = time.monotonic()

    assert ask(cache, make) == (MADE, False)
    assert 0.3 <= time.monotonic() - started < 1
    assert ask(cache, make) == (MADE, True)
    assert make.count == 1


def test_what_another_made_meanwhile_is_taken(cache):
    """Even where the wait began before it was there."""
    token = cache.lock(KEY, 60)
    make, late = Maker(), Maker()
    waiting = threading.Thread(target=lambda: ask(cache, late))
    waiting.start()
    time.sleep(0.1)
    with closing(cache):
        other = key_of(Kind.ANSWER, "other")
        get_or_compute(cache, other, Made, make, lambda _: False)
        cache.set_many({KEY: seal(KEY, unseal(other, cache.get_many([other])[other]))}, 60)
        waiting.join(30)
        cache.unlock(KEY, token)

    assert late.count == 0


def damages(value):
    """What can happen to bytes, JSON of another shape that is sealed, and what another key was
    sealed for.
    """
    yield b""
    yield value[:20]
    yield value[:-1]
    yield value + b" "
    yield bytes(len(value))
    yield value.replace(b"0.30000000000000004", b"0.40000000000000004")
    for body in (
        b"{}",
        b"null",
        b'"text"',
        b'{"hits": 7}',
        b'{"hits": [], "share": "1"}',
        b"[1",
        b"\xff",
    ):
        yield seal(KEY, body)
    yield seal("a:another", value[16:])


@pytest.mark.faults
def test_what_is_damaged_is_made_anew_and_rewritten(cache):
    """Truncated, longer, other bytes, JSON of another shape (case 27)."""
    ask(cache, Maker())
    (value,) = cache.get_many([KEY]).values()
    for damaged in damages(value):
        cache.set_many({KEY: damaged}, 60)
        make = Maker()
        assert ask(cache, make) == (MADE, False), damaged
        assert make.count == 1
        assert cache.get_many([KEY]) == {KEY: value}


def test_what_json_cannot_hold_is_given_and_not_kept(cache):
    """NaN, or a type that a plugin brought."""
    for odd in (Made((), float("nan")), Made((), object())):
        assert get_or_compute(cache, KEY, Made, lambda odd=odd: odd, lambda _: False)[0] is odd
        assert cache.get_many([KEY]) == {}


def test_some_things_are_kept_briefly(admin, redis_url):
    """A refusal for a minute, an answer for as long as the settings say."""
    with closing(open_cache(CacheSettings(url=redis_url))) as cache:
        ask(cache, Maker(), brief=lambda made: made == MADE)
        assert admin.ttl(f"esrag:c:{KEY}") <= 1.1 * BRIEFLY_S
        admin.flushall()
        ask(cache, Maker())
        assert admin.ttl(f"esrag:c:{KEY}") > 20 * 86_400


@pytest.mark.faults
def test_a_dead_cache_is_no_hindrance(black_hole):
    """Half a second once, and everyone makes it (case 26)."""
    with closing(open_cache(CacheSettings(url=black_hole))) as cache:
        for max_s in (0.5, 0.05):
            make, started = Maker(), time.monotonic()
            assert ask(cache, make) == (MADE, False)
            assert time.monotonic() - started < max_s
            assert make.count == 1


def test_keys_tell_apart_what_differs():
    """By value, type and place."""
    parts = [
        ("a",),
        ("b",),
        ("a", ""),
        ("", "a"),
        ("a", None),
        (1,),
        (1.0,),
        (True,),
        ("1",),
        (("a",),),
        (),
    ]

    assert len(
        {key_of(kind, *some) for some in parts for kind in (Kind.ANSWER, Kind.QUERY)}
    ) == 2 * len(parts)


def test_the_code_is_part_of_it(tmp_path, monkeypatch):
    """One value for the same files, another for others."""
    seen = []
    for text in ("1", "1", "2"):
        (tmp_path / "part").mkdir(exist_ok=True)
        (tmp_path / "part" / "file.py").write_text(text)
        monkeypatch.setattr(answers, "PACKAGE", tmp_path)
        seen.append(code_version.__wrapped__())

    assert seen[0] == seen[1] != seen[2]
