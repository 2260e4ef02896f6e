"""The reference is complete, and links lead somewhere."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
import yaml

from esrag import errors
from esrag.citations import REASONS
from esrag.cli.main import COMMANDS, cli
from esrag.plugins import STAGES
from esrag.settings import fields, mask_value, variable
from esrag.settings.layers import presets

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def read(name):
    """A page of the reference."""
    return (ROOT / "docs" / name).read_text()


def rows(text):
    """The first cell of each row of the page's tables, by its code, and the row."""
    return {match[1]: match[0] for match in re.finditer(r"^\| `([^`]+)` \|.*$", text, re.MULTILINE)}


def commands(command=cli, name="esrag"):
    """Every command and group as it is typed."""
    yield name, command
    if isinstance(command, click.Group):
        for child in command.list_commands(click.Context(command)):
            yield from commands(
                command.get_command(click.Context(command), child), f"{name} {child}"
            )


def prose(text):
    """A page without its code and its generators."""
    return re.sub(r"^```.*?^```$|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text):
    """What a link to a heading of the page can say."""
    titles = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    ("name", "command"), [*commands()], ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_and_option_is_listed(name, command):
    """Under the command's own heading."""
    section = re.search(
        rf"^## {name}\n(.*?)(?=^## |\Z)", read("reference/commands.md"), re.MULTILINE | re.DOTALL
    )

    options = [
        option
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("-")
    ]
    assert [option for option in options if option not in section[1]] == []


def test_the_readme_lists_every_command():
    """One line each."""
    assert [
        name for name in COMMANDS if f"| `esrag {name}" not in (ROOT / "README.md").read_text()
    ] == []


def test_every_setting_is_listed():
    """Key, variable, default as YAML has it and meaning, and none that is gone."""
    listed = rows(read("reference/settings.md"))

    assert set(listed) == {key for key, _ in fields()}
    for key, field in fields():
        shown, default = listed[key].split("`")[5], mask_value(field.default)
        assert (yaml.safe_load(shown), shown in ("True", "False")) == (default, False), key
        assert all(part in listed[key] for part in (variable(key), field.description))
    assert all(f"### {name}\n" in read("reference/settings.md") for name in presets())


def test_every_plugin_is_listed():
    """Each entry point of the package, under its stage, with its class."""
    page = read("reference/plugins.md")

    for stage in STAGES:
        section = page.partition(f"\n## {stage}\n")[2].partition("\n## ")[0]
        entries = PROJECT["project"]["entry-points"][f"esrag.{stage}"]
        listed = rows(section)
        assert set(listed) == set(entries)
        assert [name for name, target in entries.items() if f"`{target}`" not in listed[name]] == []


def test_every_loader_has_its_format():
    """One row a loader."""
    assert set(rows(read("reference/formats.md"))) == set(
        PROJECT["project"]["entry-points"]["esrag.loaders"]
    )


def test_every_error_is_listed_with_its_exit_code():
    """The whole tree."""
    listed = rows(read("reference/errors.md"))
    kinds = {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and name != "EsragError"
    }
    mine = {name: kind for name, kind in kinds.items() if issubclass(kind, errors.EsragError)}

    assert set(listed) == set(mine)
    assert [
        name for name, kind in mine.items() if f"| {kind.exit_code} |" not in listed[name]
    ] == []


def test_every_reason_of_a_refusal_is_listed():
    """With the words that the user sees, and none that is gone."""
    listed = rows(read("concepts/citations.md"))

    assert set(listed) == set(REASONS)
    assert [
        reason for reason, words in REASONS.items() if words not in listed[reason].replace("`", "")
    ] == []


def test_every_dependency_is_listed():
    """Run time ones in the table, the others by name."""
    page = read("reference/dependencies.md")
    names = [re.match(r"[\w-]+", line)[0] for line in PROJECT["project"]["dependencies"]]
    others = [
        re.match(r"[\w-]+", line)[0]
        for group in (
            *PROJECT["project"]["optional-dependencies"].values(),
            *PROJECT["dependency-groups"].values(),
        )
        for line in group
        if isinstance(line, str) and not line.startswith("types-")
    ]

    assert sorted(rows(page)) == sorted(names)
    assert [name for name in others if f"`{name}`" not in page] == []


def test_the_generated_parts_are_fresh_at_any_width():
    """A narrow and a wide terminal give the same pages, which are those that are here."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs" / "reference").glob("*.md"))]
    for columns in ("40", "200"):
        done = subprocess.run(
            [sys.executable, "-m", "cogapp", "--check", "-r", *map(str, pages)],
            cwd=ROOT,
            env=os.environ | {"COLUMNS": columns},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(page):
    """To a file, and to a heading where one is named."""
    for target in LINK.findall(prose(page.read_text())):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path.read_text()), target


def test_every_page_is_in_the_index():
    """docs/README.md links each of them."""
    linked = {(ROOT / "docs" / target).resolve() for target in LINK.findall(read("README.md"))}

    assert {page for page in (ROOT / "docs").rglob("*.md") if page.name != "README.md"} == linked


def test_the_readme_is_short():
    """For a reader in a hurry."""
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def test_the_changelog_starts_with_this_version():
    """The top entry is the package's version."""
    top = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert top[1] == PROJECT["project"]["version"]


def test_the_layers_are_those_that_are_checked():
    """The picture and the contract are one."""
    contract = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]

    assert "\n".join(contract) in read("concepts/architecture.md")


def test_the_source_tree_is_complete():
    """Every file and folder of the package, and nothing that is planned only."""
    picture = read("concepts/architecture.md").partition("## Source tree")[2].split("```")[1]
    drawn = set(re.findall(r"^  (\S+)", picture, re.MULTILINE))
    built = {f"{path.name}/" if path.is_dir() else path.name for path in (ROOT / "esrag").iterdir()}

    assert drawn == {name for name in built if not name.startswith("__") and name != "py.typed"}
