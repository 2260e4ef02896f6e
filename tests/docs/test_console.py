"""The commands in README, CONTRIBUTING and docs run in order and print what the page shows.

In a block marked `console` a line that starts with "$ " is a command and what follows is its
output, stderr too; "…" stands for anything, on a line of its own for any lines. A command without
output under it may print what it likes. It must succeed, unless `$ echo $?` comes next. A block
marked with a language and a file name is that file.
"""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENDED = "\x1e"
WRITTEN = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md")))
PAGES = [page for page in WRITTEN if CONSOLE.search(page.read_text())]


def steps(text):
    """The page's commands, each with the lines shown under it."""
    found = []
    for line in "".join(CONSOLE.findall(text)).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def pattern(lines):
    """What the lines stand for, as a regular expression."""
    text = "".join(f"{re.escape(line)}\n" for line in lines)
    return re.sub("…", ".*", re.sub(r"(?m)^…\n", r"(?:.*\\n)*", text))


def write_files(text, folder):
    """The files of the page.

    A package among them is installed as pip would, in the folder where it is.
    """
    for name, content in FILE.findall(text):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        if path.name == "pyproject.toml":
            install(tomllib.loads(content)["project"], path.parent)


def install(project, folder):
    """The notes about a package by which its entry points are found."""
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (info / "entry_points.txt").write_text("".join(groups))


def run(commands, folder, environment):
    """Runs the commands in one shell; gives each one's output and exit code."""
    script = "exec 2>&1\n" + "".join(
        f"{c}\n_s=$?; printf '\\036%d\\036' $_s; (exit $_s)\n" for c in commands
    )
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    parts = done.stdout.split(ENDED)
    return list(zip(parts[::2], map(int, parts[1::2]), strict=False))


@pytest.mark.weights
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.usefixtures("real_model")
def test_the_page_is_true(page, checkout, user):
    """Each command exits as the page claims and prints what it shows."""
    text = page.read_text()
    write_files(text, checkout)
    shown = steps(text)
    packages = ":".join(str(path.parent) for path in checkout.glob("*/pyproject.toml"))

    ran = run([command for command, _ in shown], checkout, user | {"PYTHONPATH": packages})

    assert len(ran) == len(shown)
    after = [command for command, _ in shown[1:]] + [""]
    for (command, lines), (output, code), following in zip(shown, ran, after, strict=True):
        assert code == 0 or following == "echo $?", (
            f"{page.name}: {command} exits with {code}:\n{output}"
        )
        printed = "".join(f"{line.rstrip()}\n" for line in output.rstrip().splitlines())
        assert not lines or re.fullmatch(pattern(lines), printed), (
            f"{page.name}: {command} prints:\n{output}"
        )


def test_the_runner_sees_a_difference(tmp_path, user):
    """Dots stand for anything, everything else for itself, and exit codes are told apart."""
    page = "```console\n$ printf 'a\\nb\\nc 1\\n'\na\n…\nc …\n$ false\n$ echo $?\n1\n```\n"
    shown = steps(page)
    ran = run([command for command, _ in shown], tmp_path, user)

    assert [code for _, code in ran] == [0, 1, 0]
    assert all(
        not lines or re.fullmatch(pattern(lines), out)
        for (_, lines), (out, _) in zip(shown, ran, strict=True)
    )
    assert not re.fullmatch(pattern(["a", "c …"]), ran[0][0])
    assert not re.fullmatch(pattern(["…", "c 2"]), ran[0][0])
