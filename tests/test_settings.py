"""Layers, mistakes and origins of the settings."""

import inspect
import json
import os
import re

import pytest
import yaml
from pydantic import SecretStr

from esrag import settings
from esrag.errors import SettingsError
from esrag.settings import Settings, fields, mask_value, to_plain, trust, value_of, variable
from esrag.settings.layers import preset_layer, presets, resolve


@pytest.fixture
def folder(tmp_path):
    """A folder with a file for every layer that is a file."""
    (tmp_path / "esrag.yaml").write_text(
        "preset: precise\nchunking:\n  size: 101\n  overlap: 11\nretrieval: {k: 3}\n"
    )
    (tmp_path / "esrag.prod.yaml").write_text(
        "chunking: {size: 102, overlap: 12}\nretrieval: {candidates: 20}\n"
    )
    return tmp_path


def refused(flags=None, environ=None, folder=None, text=None):
    """The error of a set of layers."""
    if text is not None:
        (folder / "esrag.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SettingsError) as caught:
        resolve(flags or {}, environ or {}, folder)
    assert "\n" not in str(caught.value)
    return caught.value


def test_later_layers_win(folder):
    """Defaults < preset < esrag.yaml < esrag.prod.yaml < variables < flags, and each value knows
    where it came from.
    """
    environ = {
        "ESRAG_ENVIRONMENT": "prod",
        "ESRAG_CHUNKING__OVERLAP": "13",
        "ESRAG_ANSWER__REFUSAL": "0.1",
    }
    resolved = resolve({"answer.refusal": 0.2}, environ, folder)
    found = {
        key: (value_of(resolved.settings, key), origin) for key, origin in resolved.origins.items()
    }
    assert found == {
        "preset": ("precise", str(folder / "esrag.yaml")),
        "embedding.precision": ("fp32", "preset precise"),
        "chunking.size": (102, str(folder / "esrag.prod.yaml")),
        "chunking.overlap": (13, "environment"),
        "retrieval.k": (3, str(folder / "esrag.yaml")),
        "retrieval.candidates": (20, str(folder / "esrag.prod.yaml")),
        "answer.refusal": (0.2, "flag"),
    }


def test_values_beat_the_preset_wherever_it_is_named(folder):
    """A preset is the lowest layer even if a flag names it."""
    (folder / "esrag.yaml").write_text("embedding: {model: mine}")
    resolved = resolve({"preset": "keyword"}, {}, folder)
    assert resolved.settings.embedding.model == "mine"
    assert resolved.settings.preset == "keyword"


def test_nothing_given_is_the_default(tmp_path):
    """Without any layer every setting stands at its default and has no origin."""
    resolved = resolve({}, {}, tmp_path)
    assert (resolved.settings, resolved.origins) == (Settings(), {})


def test_a_named_file_replaces_esrag_yaml(folder, tmp_path):
    """ESRAG_CONFIG names the file; the environment's file lies beside it."""
    other = tmp_path / "other.yaml"
    other.write_text("retrieval: {k: 7}")
    resolved = resolve({}, {"ESRAG_CONFIG": str(other)}, folder)
    assert dict(resolved.origins) == {"retrieval.k": str(other)}


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ({"flags": {"chunking.sise": 1}}, "flag"),
        ({"environ": {"ESRAG_CHUNKING__SISE": "1"}}, "environment"),
        ({"text": "chunking: {sise: 1}"}, "esrag.yaml"),
    ],
)
def test_an_unknown_key_names_its_origin_and_the_nearest(tmp_path, given, origin):
    """A typing mistake is an error wherever it is made, with what was probably meant."""
    error = refused(**given, folder=tmp_path)
    assert re.fullmatch(rf"unknown setting 'chunking.sise' \(from .*{origin}\)", str(error))
    assert error.hint == "did you mean chunking.size?"


@pytest.mark.parametrize(
    ("text", "key", "nearest"),
    [
        ("answers: {refusal: 1}", "answers", "answer"),
        ("engine: x", "engine", "engine"),
        ("engine: &e {url: *e}", "engine", ""),
        ("engine: {index: {deep: 1}}", "engine.index", ""),
        ("1: 2", "'1'", "config show"),
    ],
)
def test_a_wrong_shape_is_an_error(tmp_path, text, key, nearest):
    """A section that is none, a value for a section, a mapping for a value, a file that holds
    itself.
    """
    error = refused(folder=tmp_path, text=text)
    assert key in str(error)
    assert nearest in error.hint


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("chunking.size", "many", "integer"),
        ("chunking.size", 0, "greater than 0"),
        ("retrieval.method", "magic", "'vector', 'keyword' or 'hybrid'"),
        ("answer.refusal", float("nan"), ""),
        ("runs.max_bytes", 2**63, "less than 9223372036854775808"),
        ("answer.refusal_text", "We do not know. [c1]", "without a marker"),
        ("answer.refusal_text", "Two\nlines", "one line"),
        ("answer.refusal_text", " ", "one line"),
        ("engine.index", "../x", "pattern"),
        ("engine.index", None, "string"),
        ("facts.as_of", "2025-02-30", "out of range"),
        ("facts.as_of", "soon", "iso"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(tmp_path, key, value, allowed):
    """The message holds the key, where it came from, what came and what is allowed."""
    error = str(refused(flags={key: value}, folder=tmp_path))
    assert error.startswith(f"{key} (from flag): ")
    assert allowed in error
    assert error.endswith(f"got {value!r}")


@pytest.mark.parametrize("overlap", [10, 11])
def test_an_overlap_below_the_size_is_needed(tmp_path, overlap):
    """Two settings that contradict each other are an error with both values."""
    error = refused(flags={"chunking.overlap": overlap, "chunking.size": 10}, folder=tmp_path)
    assert str(error) == f"chunking.overlap must be smaller than chunking.size, got {overlap} of 10"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: [\n", "is not YAML at line"),
        ('{\n"engine": {"url": "x"},\n"a" "b"}', "is not YAML at line 3"),
        ("engine: {url: !!python/object/apply:os.getcwd []}", "is not YAML at line 1"),
        ("x: 2024-99-99", "is not YAML"),
        ("[" * 600, "is not YAML"),
        (b"\x00", "is not YAML"),
        (b"a: \xff", "cannot read the settings file"),
        ("- a\n", "holds a list, expected sections with keys"),
    ],
)
def test_a_broken_file_is_named_with_the_line(tmp_path, text, expected):
    """What is not YAML, not UTF-8 or not a mapping is an error that names the file."""
    error = str(refused(folder=tmp_path, text=text))
    assert expected in error
    assert str(tmp_path / "esrag.yaml") in error


def test_a_file_without_end_is_refused(tmp_path):
    (tmp_path / "esrag.yaml").symlink_to("/dev/zero")
    assert "more than 1,048,576 bytes" in str(refused(folder=tmp_path))


@pytest.mark.parametrize("text", ["", "# nothing\n", "engine:\nchunking:\n  # size: 3\n", "{}"])
def test_an_empty_file_or_section_changes_nothing(tmp_path, text):
    """A file or a section whose lines are all comments sets nothing."""
    (tmp_path / "esrag.yaml").write_text(text)
    assert resolve({}, {}, tmp_path).settings == Settings()


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"ESRAG_CONFIG": "/nowhere/esrag.yaml"}, "/nowhere/esrag.yaml"),
        ({"ESRAG_ENVIRONMENT": "prod"}, "esrag.prod.yaml"),
        ({"ESRAG_ENVIRONMENT": "../prod"}, "'../prod'"),
        ({"ESRAG_PRESET": "nope"}, "'nope'"),
    ],
)
def test_what_is_named_must_exist(tmp_path, environ, named):
    """A file, an environment or a preset that was asked for by name is not skipped in silence."""
    assert named in str(refused(environ=environ, folder=tmp_path))


def test_bombs_of_aliases_are_not_unfolded(tmp_path):
    """Mappings nested by aliases are refused at once, not unfolded."""
    lines = [
        "a0: &a0 {x: 1}",
        *(f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}, r: *a{n - 1}}}" for n in range(1, 40)),
    ]
    assert "unknown setting 'a0'" in str(refused(folder=tmp_path, text="\n".join(lines)))


@pytest.mark.parametrize("name", presets())
def test_presets_are_valid(tmp_path, name):
    """Every preset that ships can be chosen."""
    assert resolve({"preset": name}, {}, tmp_path).settings.preset == name


def test_the_default_preset_changes_nothing():
    """Every default stands under the preset of that name."""
    assert preset_layer("default").values == {}


def test_secrets_are_masked():
    """A secret is never shown, not even its length; other values are."""
    assert mask_value(SecretStr("hunter2")) == mask_value(SecretStr("x")) == "********"
    assert mask_value(7) == 7


def test_every_setting_has_a_description_and_a_variable():
    """Each leaf says what it is, and its variable leads back to it."""
    leaves = dict(fields())
    assert all(info.description and info.description.endswith(".") for info in leaves.values())
    values = {key: mask_value(value_of(Settings(), key)) for key in leaves if key != "preset"}
    environ = {
        variable(key): value if isinstance(value, str) else yaml.safe_dump(value)
        for key, value in values.items()
    }
    assert resolve({}, environ).settings == Settings()


def test_settings_are_frozen():
    """Nobody changes a setting after it was resolved."""
    branches = [
        cls
        for _, cls in inspect.getmembers(settings, inspect.isclass)
        if issubclass(cls, settings.Section)
    ]
    assert all(branch.model_config["frozen"] for branch in branches)
    with pytest.raises(ValueError, match="frozen"):
        Settings().chunking.size = 3


@pytest.mark.parametrize("key", ["engine.password", "engine.api_key", "models.default.api_key"])
@pytest.mark.parametrize("where", ["file", "flag"])
def test_secrets_come_from_the_environment_alone(key, where, tmp_path):
    """A file is shared and a command is seen; whatever form the secret has, it is not printed."""
    section, _, name = key.rpartition(".")
    tree = {name: 12345}
    for part in reversed(section.split(".")):
        tree = {part: tree}
    (tmp_path / "esrag.yaml").write_text(json.dumps(tree) if where == "file" else "")
    with pytest.raises(
        SettingsError, match=rf"{key} .*{where if where == 'flag' else 'yaml'}.* secret"
    ) as caught:
        resolve({key: "12345"} if where == "flag" else {}, {}, tmp_path)
    assert "12345" not in str(caught.value)
    assert caught.value.hint == f"set {variable(key)}"
    assert (
        value_of(
            resolve({}, {variable(key): "12345"}, tmp_path / "other").settings, key
        ).get_secret_value()
        == "12345"
    )


@pytest.mark.parametrize(
    "address", ["http://me:a@s3c/ret@host", "https://me:s3cret@host:9200", "http://s3cret@host"]
)
def test_a_password_in_an_address_is_masked(address):
    """Whatever characters it has."""
    assert mask_value(address) in {"http://********@host", "https://********@host:9200"}


@pytest.mark.parametrize(
    "value",
    [["http://u:s3krit@h:9200"], {"a": "http://u:s3krit@h"}, "http://u:s3krit\udcff@h:9200"],
)
def test_an_address_of_the_wrong_form_is_not_shown(value):
    """It may hold a password."""
    for key in ("engine.url", "kibana.url") if isinstance(value, list) else ("engine.url",):
        with pytest.raises(SettingsError, match=key) as caught:
            resolve({key: value})
        assert "s3krit" not in str(caught.value)
        assert caught.value.hint


REDIRECTING = [
    ("engine.url", "https://search.example"),
    ("engine.url", "/srv/index"),
    ("engine.url", "../index"),
    ("engine.url", "~/index"),
    ("queue.url", "redis://127.0.0.1:6379/0"),
    ("ledger.url", "/srv/ledger.sqlite3"),
    ("cache.url", "redis://127.0.0.1/0"),
    ("cache.url", "docs/../../cache.db"),
    ("embedding.url", "http://127.0.0.1:11434/v1"),
    ("rerank.url", "https://service.example"),
    ("models.default.url", "https://service.example"),
    ("models.fast.model", "made-up"),
    ("models.strong.provider", "cohere"),
    ("embedding.provider", "cohere"),
    ("generator.templates", "/srv/prompts"),
    ("runs.url", "/srv/runs.sqlite3"),
    ("web.provider", "brave"),
    ("web.url", "https://search.example"),
    ("routing.chain", ["oracle"]),
    ("compare.variations", {"theirs": {"rerank.chain": ["cohere"]}}),
    ("kibana.url", "https://kibana.example"),
    ("engine.verify_certificates", False),
    ("engine.ca_file", "ca.pem"),
    ("engine.certificate_fingerprint", "ab" * 32),
    ("allow_unencrypted", True),
]


@pytest.fixture
def state(tmp_path, monkeypatch):
    """A folder for what was allowed, beside the one with the settings."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


def written(path, key, value):
    *sections, name = key.split(".")
    tree = {name: value}
    for section in reversed(sections):
        tree = {section: tree}
    path.write_text(yaml.safe_dump(tree))
    return path


@pytest.mark.parametrize(("key", "value"), REDIRECTING)
def test_a_found_file_may_not_say_where_texts_and_secrets_go(state, key, value):
    """Not in esrag.yaml, nor in an environment's file, nor by a relative ESRAG_CONFIG.

    Allowed, it may.
    """
    path = written(state / "esrag.yaml", key, value)
    error = refused(folder=state)
    assert str(error) == f"{path} sets {key}, and was not allowed to"
    assert error.hint.endswith(f"run: esrag config allow {path}")
    trust.allow(path, path.read_bytes())
    assert key in resolve({}, {}, state).origins

    path.write_text("")
    written(state / "esrag.prod.yaml", key, value)
    assert key in str(refused(environ={"ESRAG_ENVIRONMENT": "prod"}, folder=state))


@pytest.mark.parametrize(("key", "value"), REDIRECTING)
def test_a_file_that_the_user_named_or_overrode_needs_no_permission(state, key, value):
    """ESRAG_CONFIG with the whole path is the user's word, and a variable or flag goes before the
    file.
    """
    path = written(state / "esrag.yaml", key, value)
    assert key in resolve({}, {"ESRAG_CONFIG": str(path)}, state).origins
    own = to_plain(value_of(resolve({}, {"ESRAG_CONFIG": str(path)}, state).settings, key))
    assert resolve({}, {variable(key): str(own)}, state).origins[key] == "environment"
    assert resolve({key: str(own)}, {}, state).origins[key] == "flag"


def test_a_relative_name_of_a_file_is_no_permission(state, monkeypatch):
    """It is another file in each folder."""
    written(state / "mine.yaml", "models.default.url", "https://service.example")
    monkeypatch.chdir(state)
    assert "mine.yaml sets models.default.url" in str(
        refused(environ={"ESRAG_CONFIG": "mine.yaml"}, folder=state)
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("engine.url", "index"),
        ("cache.url", "cache.db"),
        ("cache.url", ""),
        ("generator.templates", "prompts"),
        ("engine.verify_certificates", True),
        ("generator.name", "model"),
    ],
)
def test_what_stays_within_the_folder_needs_no_permission(state, key, value):
    """Nor what is so without the file, nor a provider, whose own address comes with the package."""
    written(state / "esrag.yaml", key, value)
    assert key in resolve({}, {}, state).origins


def test_a_link_does_not_lead_out_of_the_folder(state, tmp_path):
    """A path within it that is a link to elsewhere is elsewhere."""
    (state / "cache.db").symlink_to(tmp_path / "elsewhere.db")
    written(state / "esrag.yaml", "cache.url", "cache.db")
    assert "sets cache.url" in str(refused(folder=state))


def test_a_file_does_not_undo_what_an_allowed_one_says(state):
    """An environment's file that was not allowed may not take back the pin of esrag.yaml, which
    was.
    """
    path = written(state / "esrag.yaml", "engine.certificate_fingerprint", "ab" * 32)
    trust.allow(path, path.read_bytes())
    written(state / "esrag.prod.yaml", "engine.certificate_fingerprint", "")
    assert "esrag.prod.yaml sets engine.cert" in str(
        refused(environ={"ESRAG_ENVIRONMENT": "prod"}, folder=state)
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_sets_nothing_until_it_is_allowed(state):
    """Whatever it sets: the folder may be one that everybody writes to."""
    path = written(state / "esrag.yaml", "answer.refusal", 0.1)
    os.chown(path, 12345, 12345)
    assert str(refused(folder=state)) == f"{path} sets answer.refusal, and belongs to another user"
    trust.allow(path, path.read_bytes())
    assert resolve({}, {}, state).settings.answer.refusal == 0.1


PLAIN = [
    ("engine.url", "http://search:9200", "engine.password"),
    ("engine.url", "http://search:9200", "engine.api_key"),
    ("engine.url", "http://me:secret@search:9200", ""),
    ("queue.url", "redis://me:secret@queue/0", ""),
    ("cache.url", "redis://:secret@cache/0", ""),
    ("embedding.url", "http://10.0.0.1/v1", "embedding.api_key"),
    ("rerank.url", "http://localhost.example/v1", "rerank.api_key"),
    ("models.default.url", "http://[2001:db8::1]/v1", "models.default.api_key"),
]


@pytest.mark.parametrize(("key", "url", "secret"), PLAIN)
def test_no_secret_leaves_the_machine_without_tls(state, key, url, secret):
    """Unless it is said that it may.

    Without a secret, with TLS or on this machine there is nothing to ask.
    """
    environ = {variable(key): url} | ({variable(secret): "hunter2"} if secret else {})
    error = refused(environ=environ, folder=state)
    assert str(error) == f"{key} would send a key or password to another machine without TLS"
    assert "hunter2" not in str(error) + error.hint

    here = re.sub(r"//([^@/]*@)?[^/]*", r"//\g<1>127.0.0.1:1", url)
    safe = url.replace("http://", "https://").replace("redis://", "rediss://")
    for fine in ({variable(key): here}, {variable(key): safe}, {"ESRAG_ALLOW_UNENCRYPTED": "true"}):
        assert key in resolve({}, environ | fine, state).origins
    if secret:
        assert key in resolve({}, {variable(key): url}, state).origins


LISTS = """
rerank:
  chain: [lexical, mmr]
  authority: {gov: 0.05}
  completeness: {600: 0.1}
  indicators:
    - {words: [digit], bonus: 0.03}
retrieval:
  operations:
    Sign: [sign, signing]
"""


def test_lists_and_tables_are_yaml(tmp_path):
    """In a file, in a variable and in a flag; a later one takes the place of the whole."""
    (tmp_path / "esrag.yaml").write_text(LISTS)
    found = resolve({}, {}, tmp_path).settings
    assert (found.rerank.chain, dict(found.rerank.authority)) == (("lexical", "mmr"), {"gov": 0.05})
    assert found.rerank.indicators == (settings.Indicator(words=("digit",), bonus=0.03),)
    assert dict(found.retrieval.operations) == {"Sign": ("sign", "signing")}

    environ = {"ESRAG_RERANK__CHAIN": "[quality]", "ESRAG_RERANK__AUTHORITY": "{edu: 1}"}
    later = resolve({"rerank.completeness": "{100: 1}"}, environ, tmp_path).settings.rerank
    assert (later.chain, later.authority, later.completeness) == (
        ("quality",),
        {"edu": 1},
        {100: 1},
    )


def test_a_tilde_is_the_home(tmp_path, monkeypatch):
    """As in a shell; not a folder of that name wherever the command runs."""
    monkeypatch.setenv("HOME", "/home/me")
    config = tmp_path / "esrag.yaml"
    config.write_text("engine: {url: ~/index}\ncache: {url: ~/cache.db}\n")
    found = resolve({}, {"ESRAG_CONFIG": str(config)}, tmp_path).settings
    assert (found.engine.url, found.cache.url) == ("/home/me/index", "/home/me/cache.db")


def test_a_day_needs_no_quotes(tmp_path):
    """YAML reads it as a date."""
    (tmp_path / "esrag.yaml").write_text("facts: {as_of: 2025-01-31}")
    assert resolve({}, {}, tmp_path).settings.facts.as_of == "2025-01-31"
    assert resolve({"facts.as_of": "2024-12-01"}, {}, tmp_path).settings.facts.as_of == "2024-12-01"
    assert resolve({"facts.as_of": ""}, {}, tmp_path).settings.facts.as_of == ""


def test_a_text_is_taken_as_it_was_typed(tmp_path):
    """What YAML would read as a number, as nothing or as a truth value."""
    environ = {
        "ESRAG_EMBEDDING__MODEL": "007",
        "ESRAG_ENGINE__PASSWORD": "null",
        "ESRAG_MODELS__DEFAULT__MODEL": "on",
    }
    found = resolve({"models.default.url": "1.50"}, environ, tmp_path).settings
    assert (found.embedding.model, found.engine.password.get_secret_value()) == ("007", "null")
    assert (found.models.default.model, found.models.default.url) == ("on", "1.50")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "rerank: {chain: lexical}",
            "rerank.chain (from FILE): expected a list, such as [a, b], got 'lexical'",
        ),
        (
            "rerank: {chain: [a, b, a]}",
            "rerank.chain[2] (from FILE): 'a' is there twice",
        ),
        (
            "rerank: {indicators: [{words: [a], bonus: 1}, {words: [a], bonus: 1}]}",
            "rerank.indicators[1] (from FILE): {'words': ['a'], 'bonus': 1.0} is there twice",
        ),
        (
            "retrieval: {operations: {Sign: [a, a]}}",
            "retrieval.operations.Sign[1] (from FILE): 'a' is there twice",
        ),
        (
            "rerank: {chain: [a, 1]}",
            "rerank.chain[1] (from FILE): input should be a valid string, got 1",
        ),
        (
            "rerank: {authority: [gov]}",
            "rerank.authority (from FILE): expected a table, such as {a: b}, got ['gov']",
        ),
        (
            "rerank: {authority: {gov: high}}",
            "rerank.authority.gov (from FILE): input should be a valid number, ",
        ),
        (
            "rerank: {indicators: [{words: [a], bonu: 1}]}",
            (
                "rerank.indicators[0].bonus (from FILE): expected this key, found none, "
                "got {'words': ['a'], 'bonu': 1}"
            ),
        ),
        (
            "rerank: {indicators: [{words: [a], bonus: 1, also: 2}]}",
            "rerank.indicators[0].also (from FILE): unknown key, got 2",
        ),
        ("retrieval: {operations: {Sign: []}}", "retrieval.operations.Sign (from FILE): "),
        ("retrieval: {operations: {1x: [a]}}", "retrieval.operations.1x (from FILE): "),
        ("retrieval:\n  k: 3\n  k: 4\n", "FILE is not YAML at line 3: 'k' is there twice"),
    ],
)
def test_a_fault_within_a_list_or_a_table_has_its_full_path(tmp_path, text, message):
    """One line: the key down to the entry, where it came from, what is wrong."""
    error = refused(folder=tmp_path, text=text)
    assert str(error).replace(str(tmp_path / "esrag.yaml"), "FILE").startswith(message)


def test_a_variable_that_is_not_yaml_is_an_error(tmp_path):
    """Named, with what the setting is."""
    error = refused(environ={"ESRAG_RERANK__CHAIN": "[a"}, folder=tmp_path)
    assert str(error) == "rerank.chain (from environment) is not YAML: '[a'"
    assert error.hint.startswith("rerank.chain is: ")


@pytest.mark.parametrize(
    ("key", "form"),
    [
        ("rerank.chain", "a list, such as [a, b] or []"),
        ("rerank.authority", "a table, such as {a: b} or {}"),
        ("retrieval.k", "a value"),
    ],
)
def test_an_empty_variable_is_told_what_to_write(tmp_path, key, form):
    """A text may be empty; a list, a table or a number may not."""
    error = refused(environ={variable(key): " "}, folder=tmp_path)
    assert str(error) == f"{key} (from environment): expected {form}, found nothing"
    assert resolve({}, {"ESRAG_CACHE__URL": ""}, tmp_path).settings.cache.url == ""


def test_an_entry_of_a_table_is_told_to_be_set_with_the_whole_table(tmp_path):
    """A table of a later layer replaces an earlier one, so that a part would drop the rest."""
    error = refused({"rerank.authority.gov": "1"}, folder=tmp_path)
    assert str(error) == (
        "rerank.authority.gov (from flag) is an entry of rerank.authority, which is given as a "
        "whole"
    )
    assert error.hint == "give all its entries: rerank.authority={gov: …}"


@pytest.fixture
def preset(tmp_path):
    """A preset folder of one's own, with prompts."""
    folder = tmp_path / "house"
    (folder / "prompts").mkdir(parents=True)
    (folder / "esrag.yaml").write_text("retrieval: {k: 4}\nanswer: {max_sentences: 2}\n")
    return folder


def test_a_preset_may_be_a_folder(preset, tmp_path):
    """By its path, relative to the settings file; its prompts are used; later layers win."""
    (tmp_path / "esrag.yaml").write_text("preset: house\nretrieval: {k: 5}\n")
    resolved = resolve({}, {}, tmp_path)
    assert (resolved.settings.retrieval.k, resolved.settings.answer.max_sentences) == (5, 2)
    assert resolved.settings.generator.templates == str(preset / "prompts")
    assert resolved.origins["answer.max_sentences"] == f"preset {preset}"


def test_a_preset_of_an_unknown_user_is_named(tmp_path):
    """As any other that is not there."""
    error = refused({"preset": "~nobody-here/house"}, folder=tmp_path)
    assert str(error) == "no preset named '~nobody-here/house'"


def test_a_preset_of_ones_own_sends_nothing_anywhere_until_it_is_allowed(preset, tmp_path):
    """It is a settings file as any other."""
    (preset / "esrag.yaml").write_text("models: {fast: {url: 'https://elsewhere.example'}}\n")
    assert "esrag config allow" in refused({"preset": str(preset)}, folder=tmp_path).hint


def test_a_preset_does_not_start_from_another(preset, tmp_path):
    """So that there is one place to look."""
    (preset / "esrag.yaml").write_text("preset: keyword\n")
    assert "names a preset" in str(refused({"preset": str(preset)}, folder=tmp_path))


def test_a_preset_holds_no_secret(preset, tmp_path):
    """As no file does."""
    (preset / "esrag.yaml").write_text("models: {strong: {api_key: k}}\n")
    assert "is a secret" in str(refused({"preset": str(preset)}, folder=tmp_path))
