"""The command line as a whole: quick help, one line an error, the exit codes, settings and what is
listed.
"""

import json
import re
import subprocess
import sys

import click
import pytest

from esrag.cli.main import COMMANDS, cli
from esrag.plugins import STAGES
from esrag.settings import fields

HEAVY = {
    *(
        "numpy",
        "onnxruntime",
        "tokenizers",
        "pydantic",
        "yaml",
        "sqlite3",
        "apsw",
        "jinja2",
        "rich",
        "lxml",
        "docx",
    ),
    *("safetensors", "huggingface_hub", "trafilatura", "torch", "sentence_transformers"),
    *(
        "http",
        "ssl",
        "asyncio",
        "httpx",
        "httpcore",
        "requests",
        "urllib3",
        "aiohttp",
        "elastic_transport",
    ),
    *(
        "elasticsearch",
        "opensearchpy",
        "redis",
        "celery",
        "kombu",
        "cohere",
        "openai",
        "fsspec",
        "s3fs",
        "botocore",
    ),
}


def test_help_imports_no_model_engine_web_or_settings_library():
    """`esrag --help` answers from click alone."""
    code = (
        "import sys; from esrag.cli.main import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(','.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "ingest" in done.stdout
    loaded = done.stderr.strip().split(",")
    assert {name for name in loaded if name.partition(".")[0] in HEAVY} == set()
    ours = {name for name in loaded if name.partition(".")[0] == "esrag"}
    assert ours <= {
        *("esrag", "esrag.cli", "esrag.cli.main", "esrag.cli.output", "esrag.cli.streams"),
        "esrag.errors",
    }


def test_the_list_of_commands_has_the_help_of_each():
    """The texts are written down a second time, so that the list imports no command."""
    context = click.Context(cli)
    helps = {name: cli.get_command(context, name).get_short_help_str(1000) for name in COMMANDS}
    assert {name: text for name, (_, text) in COMMANDS.items()} == helps


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(esrag, command):
    """It runs."""
    assert esrag(command, "--help").out.startswith(f"Usage: esrag {command} ")


def groups(command, name, parent=None):
    """Every group with its context, on a terminal of 80 columns, of which click leaves two."""
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=78, max_content_width=78
    )
    if isinstance(command, click.Group):
        yield command, context
        for child in command.list_commands(context):
            yield from groups(command.get_command(context, child), child, context)


def test_no_line_of_a_list_of_commands_is_cut():
    """Of no group, at 80 columns; and each command has one."""
    lists = [
        group.get_help(context).partition("Commands:\n")[2]
        for group, context in groups(cli, "esrag")
    ]

    assert len(lists) > 5
    lines = [line for listed in lists for line in listed.splitlines()]
    assert [
        line for line in lines if line.endswith("...") or not line[2:].partition("  ")[2].strip()
    ] == []


def test_a_group_without_a_command_prints_its_help(esrag):
    """As --help does, on stdout; only the exit code says that a command is missing.

    Every group of the tree.
    """
    paths = [context.command_path.split()[1:] for _, context in groups(cli, "esrag")]

    assert [] in paths
    assert ["jobs"] in paths
    for path in paths:
        bare = esrag(*path)
        assert (bare.code, bare.err) == (2, "")
        assert bare.out == esrag(*path, "--help").out
        assert "\n\nCommands:\n  " in bare.out


@pytest.mark.parametrize(
    ("arguments", "suggested"),
    [
        (["aks", "What is AES?"], "'ask'"),
        (["serach", "x"], "'search'"),
        (["jobs", "lst"], "'list'"),
        (["index", "migrat"], "'migrate'"),
        (["ask", "x", "--expalin"], "'--explain'"),
    ],
)
def test_a_misspelt_command_or_option_is_answered_with_the_nearest(esrag, arguments, suggested):
    """Of the program, of a group, and of a command."""
    ran = esrag(*arguments)

    assert (ran.code, ran.out) == (2, "")
    assert f"Did you mean {suggested}?" in ran.err.splitlines()[0]


@pytest.mark.parametrize(
    "arguments",
    [
        *(["jobs", command, "nope"] for command in ("show", "retry", "cancel", "resume")),
        ["jobs", "show"],
        ["index", "swap", "nope"],
        ["index", "drop", "nope", "--yes"],
        ["chunks", "nope"],
        ["models", "get", "nope"],
        ["models", "check", "nope"],
        ["init", "nope"],
        ["calibrate", "nope"],
        ["docs", "--index", "nope"],
        ["search", "x", "--rerank", "nope"],
    ],
)
def test_a_name_that_nothing_has_is_exit_2(esrag, arguments):
    """Whatever it should name; one line, and for most a hint."""
    ran = esrag(*arguments)

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert len(ran.err.splitlines()) <= 2


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["frobnicate"], 2, "frobnicate"),
        (["ask"], 2, "QUESTION"),
        (["--debug"], 2, "Missing command"),
        (["--debug", "ask"], 2, "QUESTION"),
        (["search", "x", "--budget", "3"], 2, "expected a duration\nhint: write it as 800ms"),
        (["calibrate", "gone.jsonl"], 2, "gone.jsonl cannot be read: No such file or directory"),
        (["search", "x", "--k", "0"], 2, "0"),
        (["search", "x", "--vector-weight", "nan"], 2, "'nan' is not in the range 0<=x<=1"),
        (["jobs", "prune", "--older-than", "nan"], 2, "'nan' is not in the range 0<=x<=36500"),
        (["jobs", "prune", "--older-than", "inf"], 2, "inf is not in the range 0<=x<=36500"),
        (["jobs", "prune", "--older-than", "1e308"], 2, "is not in the range 0<=x<=36500"),
        (["calibrate", "gone.jsonl", "--accuracy", "nan"], 2, "'nan' is not in the range"),
        (["search", "x", "--where", "year"], 2, "not a condition"),
        (["search", "x", "--set", "retrieval.kk=3"], 2, "did you mean retrieval.k"),
        (["search", "x", "--set", "retrieval.k"], 2, "expected KEY=VALUE"),
        (["ingest", "missing", "--set", "chunking.size=-1"], 2, "chunking.size"),
        (["ingest", "missing", "--set", "chunking.strategy=wild"], 2, "sliding_window"),
        (["config", "show", "--set", "engine.index=../x"], 2, "engine.index"),
    ],
)
def test_wrong_use_is_one_line_a_hint_and_exit_2(esrag, arguments, code, words):
    """What came, what is allowed; nothing on stdout."""
    ran = esrag(*arguments)

    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith("error: ")
    assert words in ran.err
    assert len(ran.err.splitlines()) <= 2


def test_settings_show_where_they_came_from(esrag):
    """File, environment and flag, the later winning; every setting is listed."""
    (esrag.folder / "esrag.yaml").write_text("retrieval:\n  k: 7\n  candidates: 50\n")
    ran = esrag("config", "show", "--json", "--set", "retrieval.k=9")

    assert set(ran.json["values"]) == {key for key, _ in fields()}
    assert ran.json["values"]["retrieval.k"] == 9
    assert ran.json["origins"]["retrieval.k"] == "flag"
    assert ran.json["origins"]["retrieval.candidates"].endswith("esrag.yaml")
    assert ran.json["origins"]["embedding.provider"] == "environment"
    assert "  candidates: 50  # esrag.yaml\n" in esrag("config", "show", "--origin").out


def test_init_writes_a_file_that_works_and_never_replaces_one(esrag):
    """Each preset; a second init needs --force; an unknown preset lists the known."""
    assert esrag("init", "keyword").code == 0
    assert "  model: hashing  # environment\n" in esrag("config", "show", "--origin").out
    assert esrag("init").code == 2
    assert esrag("init", "precise", "--force").code == 0
    assert esrag("config", "show", "--json").json["values"]["embedding.precision"] == "fp32"
    assert "keyword" in esrag("init", "wild").err


@pytest.mark.parametrize("preset", ["default", "intents", "csv-kb"])
def test_init_shows_the_presets_own_values(esrag, preset):
    """Without their comment signs, its lines up to those of a language model change nothing."""
    assert esrag("init", preset).code == 0
    before = esrag("config", "show").out
    file = esrag.folder / "esrag.yaml"
    first, _, _ = file.read_text().partition("# generator:")
    file.write_text(re.sub("^# ", "", first, flags=re.MULTILINE))
    assert "\n  max_sentences: 3\n" in file.read_text()
    assert esrag("config", "allow").code == 0
    assert esrag("config", "show").out == before


def test_what_config_show_prints_can_be_pasted_back(esrag):
    """The same values from the file alone; a secret and an address with a password are comments."""
    values = {
        "retrieval.k": 9,
        "rerank.chain": "[mmr]",
        "retrieval.operations": "{Sign: [sign, 'a: b']}",
    }
    sets = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    secrets = {
        "ESRAG_MODELS__DEFAULT__API_KEY": "s3cret",
        "ESRAG_QUEUE__URL": "rediss://:s3cret@queue.example",
    }
    ran = esrag("config", "show", "--origin", *sets, **secrets)
    assert "s3cret" not in ran.out
    assert "  # api_key: '********'  # environment\n" in ran.out
    assert "  chain: [mmr]  # flag\n" in ran.out

    (esrag.folder / "esrag.yaml").write_text(ran.out)
    assert esrag("config", "allow").code == 0
    pasted, typed = esrag("config", "show").out, esrag("config", "show", *sets).out
    assert pasted == typed


@pytest.mark.parametrize("folder", ["my house", "2024", "no", "\N{HOUSE BUILDING}"])
def test_init_names_a_folder(esrag, folder):
    """A preset of one's own, by its path, also if YAML would read another value."""
    (esrag.folder / folder).mkdir()
    (esrag.folder / folder / "esrag.yaml").write_text("retrieval: {k: 4}\n")
    assert esrag("init", folder).code == 0
    assert esrag("config", "show", "--json").json["values"]["retrieval.k"] == 4


def test_plugins_lists_every_stage(esrag):
    """Built-ins come from the package itself."""
    listed = esrag("plugins", "--json").lines

    assert {plugin["stage"] for plugin in listed} == {*STAGES}
    assert {"name": "embedded", "package": "esrag"}.items() <= next(
        p for p in listed if p["stage"] == "engines"
    ).items()


def test_doctor_says_what_is_wrong_and_what_to_do(esrag, corpus):
    """Nothing ingested is a warning, a sound index is ok, a damaged one an error with exit 1."""
    assert "run: esrag ingest" in esrag("doctor").out
    esrag("ingest", "docs")
    sound = esrag("doctor", "--json")
    assert (sound.code, {line["level"] for line in sound.lines}) == (0, {"ok"})
    cut = esrag("doctor", ESRAG_CHUNKING__SIZE="50")
    assert (cut.code, "the index was chunked with sections 200/0" in cut.out) == (0, True)

    for vectors in (esrag.folder / ".esrag").rglob("*.f32"):
        vectors.write_bytes(b"")
    broken = esrag("doctor", "--json")
    assert broken.code == 1
    assert "--rebuild" in json.dumps(broken.lines)


def test_a_closed_pipe_is_no_error(esrag, corpus):
    """`esrag chunks | head -1` ends quietly."""
    esrag("ingest", "docs")
    command = f"{sys.executable} -m esrag.cli.main chunks --json | head -n 1"
    done = subprocess.run(
        command,
        shell=True,
        cwd=esrag.folder,
        env=esrag.environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stderr == ""
    assert json.loads(done.stdout)["schema"] == "esrag.chunk/1"
