"""A command in a fork is what it would be in a new process, and leaves nothing to the next."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from forkserver import ForkServer

SCRIPT = """
import os, sys, warnings
print(os.getcwd(), os.environ.get("ESRAG_WORD"), sys.argv[1:], sys.stdin.read(), hash("kettle"))
is_terminal = [it.isatty() for it in (sys.stdin, sys.stdout)]
print(sorted(os.listdir("/proc/self/fd")), is_terminal, sys.path[0], __name__)
print("said", file=sys.stderr)
os.environ["ESRAG_LEFT"] = "left"
sys.left = getattr(sys, "left", 0) + 1
print(sys.left, os.environ.get("ESRAG_ANOTHER"))
sys.exit(7)
"""


@pytest.fixture
def forks():
    """A server of the test's own."""
    server = ForkServer()
    yield server
    server.stop()


def run(forks, tmp_path, script, *arguments, timeout=60, **variables):
    """Run a script in a fork."""
    path = tmp_path / "script.py"
    path.write_text(script)
    env = dict(os.environ) | variables
    assert forks.fits(env)
    command = [path, *arguments]
    return forks.run(command, cwd=tmp_path, env=env, stdin="typed", timeout=timeout)


def test_it_has_its_own_folder_variables_arguments_and_streams(forks, tmp_path):
    """And no open files but these."""
    done = run(forks, tmp_path, SCRIPT, "ö", 2, ESRAG_WORD="word")
    first, second, third = done.stdout.splitlines()

    assert done.returncode == 7
    assert first.startswith(f"{tmp_path} word ['ö', '2'] typed ")
    assert second == f"['0', '1', '2', '3'] [False, False] {tmp_path} __main__"  # 3: the listing
    assert (third, done.stderr) == ("1 None", "said\n")


def test_the_next_finds_nothing_of_the_former(forks, tmp_path):
    """Neither of its memory nor of its variables; and every other hash is another."""
    runs = [run(forks, tmp_path, SCRIPT, ESRAG_ANOTHER="one").stdout]
    runs += [run(forks, tmp_path, SCRIPT).stdout for _ in range(3)]

    assert [it.splitlines()[2] for it in runs] == ["1 one", "1 None", "1 None", "1 None"]
    assert len({it.splitlines()[0] for it in runs[1:]}) == 2


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGPIPE)", 0),  # Python ignores it
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("import os; os._exit(130)", 130),
        ("raise RuntimeError", 1),
        ("import threading; threading.Timer(0.2, print, ['late']).start()", 0),
        ("import atexit; atexit.register(print, 'late')", 0),
    ],
)
def test_it_ends_as_a_new_process_does(forks, tmp_path, script, code):
    """By a signal, at once, by an error, after its threads and its last functions."""
    done = run(forks, tmp_path, script)
    new = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False
    )

    assert done.returncode == new.returncode == code
    assert done.stdout == new.stdout
    assert done.stderr.splitlines()[-1:] == new.stderr.splitlines()[-1:]


def wait_for_none(look):
    """Look until nothing is left."""
    end = time.monotonic() + 60
    while look():
        assert time.monotonic() < end


def test_one_that_takes_too_long_is_killed(forks, tmp_path):
    """The next runs."""
    with pytest.raises(subprocess.TimeoutExpired):
        run(forks, tmp_path, "import time; time.sleep(600)", timeout=0.1)
    for process, _ in forks._processes:
        wait_for_none(psutil.Process(process.pid).children)

    assert run(forks, tmp_path, "print('runs')").stdout == "runs\n"


def test_several_run_at_once(forks, tmp_path):
    """Each has its own output."""
    waits = (
        "import sys, pathlib, time\n"
        "while not pathlib.Path('go').exists(): time.sleep(0.01)\nprint('went')"
    )
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(run, forks, tmp_path, waits) for _ in range(4)]
        (tmp_path / "go").touch()

    assert [it.result().stdout for it in waiting] == ["went\n"] * 4


def test_a_variable_that_could_change_the_imports_needs_a_new_process(forks):
    """Only those of esrag and of the folders it uses do not."""
    env = dict(os.environ)
    assert forks.fits(env | {"ESRAG_ENGINE__URL": "x", "XDG_STATE_HOME": "y"})
    assert not forks.fits(env | {"PYTHONPATH": "x"})
    assert not forks.fits({name: value for name, value in env.items() if name != "PATH"})
