"""The layers of settings, and where each value came from.

Order, later wins: defaults < preset < esrag.yaml < esrag.<environment>.yaml < ESRAG_… variables <
flags. A list or a table of a later layer replaces that of an earlier one as a whole.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_origin

import yaml
from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from esrag.errors import SettingsError
from esrag.settings import (
    DEFAULT_MODEL,
    ENVIRONMENT_PREFIX,
    DuplicateEntryError,
    Settings,
    fields,
    is_address,
    is_redis,
    value_of,
    variable,
)
from esrag.settings.files import DuplicateKey, read_yaml
from esrag.settings.project import INDEX_FOLDER, SETTINGS_FILE, expand_home, project_folder
from esrag.settings.transport import require_tls
from esrag.settings.trust import Standing, is_foreign, redirects, standing

# What pydantic says of types, in the words of YAML.
_PROBLEMS = {
    "extra_forbidden": "unknown key",
    "tuple_type": "expected a list, such as [a, b]",
    "mapping_type": "expected a table, such as {a: b}",
    "dict_type": "expected a table, such as {a: b}",
    "model_type": "expected a table, such as {a: b}",
    "missing": "expected this key, found none",
}
FOUND = "found in a folder above"
_MAX_BYTES = 2**20  # of a settings file: a clone may have one that leads to /dev/zero
_PRESETS = Path(__file__).parents[1] / "presets"

# Settings that are paths, or may be; in a file they are relative to its folder. A model may also be
# a name.
_PATHS = (
    "engine.url",
    "engine.ca_file",
    "ledger.url",
    "cache.url",
    "runs.url",
    "generator.templates",
)
_MODELS = ("embedding.model", "rerank.model")


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place, by dotted key; `origin` is how that place is shown to the user.

    `file` is the settings file that holds `content`; `standing` says whether the user allowed it,
    or named it. The values of a layer that `is_text` were typed as YAML: variables, and the flags
    of a command.
    """

    origin: str
    values: Mapping[str, Any]
    file: Path | None = None
    content: bytes = b""
    standing: Standing = "allowed"
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings and, for each dotted key that was not left at its default, its origin.

    `files` are the settings files that were read, `withheld` those that need to be allowed first,
    with the keys in force for which they do. `own_files` also has the file of a preset, and the
    project's esrag.yaml if another file is read or if there is none.
    """

    settings: Settings
    origins: Mapping[str, str]
    files: tuple[Path, ...] = ()
    withheld: tuple[tuple[Layer, tuple[str, ...]], ...] = ()
    own_files: tuple[str, ...] = ()


def resolve(
    flags: Mapping[str, Any],
    environ: Mapping[str, str] = os.environ,
    folder: Path = Path(),
    *,
    is_code: bool = False,
) -> Resolved:
    """Return the settings of every layer, fit to be used.

    `flags` may hold secrets if they come from code.

    Raises: SettingsError as `read_settings` does, for a file that decides where texts and secrets
    go and was not allowed to, and if a secret would leave the machine without TLS.
    """
    resolved = read_settings(flags, environ, folder, is_code=is_code)

    for layer, keys in resolved.withheld:
        raise trust_error(layer, keys)
    require_tls(resolved.settings)

    return resolved


def read_settings(
    flags: Mapping[str, Any],
    environ: Mapping[str, str] = os.environ,
    folder: Path = Path(),
    *,
    is_code: bool = False,
) -> Resolved:
    """Return the settings of every layer only for display.

    Nothing may be sent anywhere because of them.

    Raises: SettingsError for an unknown key, a value of the wrong form, a secret that is not from
    the environment, or a file that cannot be read.
    """
    files = [*file_layers(environ, folder)]
    flagged = Layer("code" if is_code else "flag", flags, is_text=not is_code)
    _require_no_secret(*files, *(() if is_code else (flagged,)))
    given = [*files, _environment_layer(environ), flagged]
    layers = [_project_layer(folder), *_with_preset(given, folder)]

    values, origins = _merge(layers)
    return Resolved(
        settings=_build(values, origins),
        origins=origins,
        files=tuple(layer.file for layer in files if layer.file),
        withheld=_find_withheld(layers),
        own_files=_own_files(layers, folder),
    )


def _with_preset(layers: Sequence[Layer], folder: Path) -> Sequence[Layer]:
    """Return the layers below which the preset lies that the last of them names, if any does."""
    names = (layer.values["preset"] for layer in reversed(layers) if "preset" in layer.values)
    name = next(names, "")
    if not name:
        return layers

    preset = preset_layer(str(name), folder)
    _require_no_secret(preset)
    return [preset, *layers]


def _merge(layers: Iterable[Layer]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the value of each key in the last layer that has it, and the layer's origin."""
    known = dict(fields())
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        for key, value in layer.values.items():
            _require_known(key, known, layer.origin)
            parsed = _parse(key, value, known[key], layer.origin) if layer.is_text else value
            values[key], origins[key] = parsed, layer.origin

    return values, origins


def _own_files(layers: Iterable[Layer], folder: Path) -> tuple[str, ...]:
    named = (layer.file for layer in layers if layer.file)
    return tuple(map(str, (project_folder(folder) / SETTINGS_FILE, *named)))


def with_values(settings: Settings, values: Mapping[str, object], origin: str = "code") -> Settings:
    """Return the settings with some values replaced, by dotted key; errors name their origin.

    Raises: SettingsError as `resolve` does.
    """
    known = dict(fields())
    for key in values:
        _require_known(key, known, origin)
    flat = {key: value_of(settings, key) for key in known}
    return _build(flat | dict(values), dict.fromkeys(values, origin))


def with_absolute_paths(settings: Settings) -> Settings:
    """Return the settings with their relative paths as they are seen from the current folder."""
    here = Path.cwd()
    values = {key: value_of(settings, key) for key in (*_PATHS, *_MODELS)}
    return with_values(
        settings, {key: _from_folder(key, value, here) for key, value in values.items()}
    )


def presets() -> tuple[str, ...]:
    """Return the names of the presets that ship with the package."""
    return tuple(
        sorted(folder.name for folder in _PRESETS.iterdir() if (folder / SETTINGS_FILE).is_file())
    )


def preset_text(name: str) -> str:
    """Return a preset that ships with the package as it is written."""
    return (_PRESETS / name / SETTINGS_FILE).read_text(encoding="utf-8")


def preset_layer(name: str, start: Path = Path()) -> Layer:
    """Return the values of a preset.

    `name` is that of a preset of the package, or the path of a folder with an esrag.yaml. Prompts
    in its folder `prompts` are used unless `generator.templates` names others. Relative paths in a
    preset of the package start at the project of the folder `start`.

    Raises: SettingsError.
    """
    folder, is_named = _find_preset(name), name in presets()
    paths_start = project_folder(start) if is_named else None
    layer = read_file(folder / SETTINGS_FILE, is_named=is_named, paths_start=paths_start)
    if "preset" in layer.values:
        hint = "a preset cannot start from another one"
        raise SettingsError(f"{layer.origin} names a preset", hint=hint)

    prompts = folder / "prompts"
    templates = {"generator.templates": str(prompts)} if prompts.is_dir() else {}
    return replace(layer, origin=f"preset {name}", values={**templates, **layer.values})


def _find_preset(name: str) -> Path:
    """Return the folder of a preset. Raises: SettingsError."""
    if name in presets():
        return _PRESETS / name

    folder = Path(expand_home(name))
    if not (folder / SETTINGS_FILE).is_file():
        names = ", ".join(presets())
        hint = f"choose one of {names}, or name a folder that holds an {SETTINGS_FILE}"
        raise SettingsError(f"no preset named {name!r}", hint=hint)
    return folder


def settings_file(environ: Mapping[str, str], folder: Path) -> Path:
    """Return the file that ESRAG_CONFIG names, else the project's esrag.yaml; it may not exist."""
    return Path(environ.get("ESRAG_CONFIG") or project_folder(folder) / SETTINGS_FILE)


def trust_error(layer: Layer, keys: Sequence[str]) -> SettingsError:
    """Return the error for a settings file that has to be allowed, with the command for it."""
    why = (
        "has changed since it was allowed" if layer.standing == "changed" else "was not allowed to"
    )
    if layer.file and is_foreign(layer.file):
        why = "belongs to another user"
    message = f"{layer.origin} sets {', '.join(keys)}, and {why}"
    hint = (
        "read it, and if your texts and keys may go there, run: "
        f"esrag config allow {shlex.quote(str(layer.file))}"
    )
    return SettingsError(message, hint=hint)


def _find_withheld(layers: Sequence[Layer]) -> tuple[tuple[Layer, tuple[str, ...]], ...]:
    """Return the files that need to be allowed, each with the keys in force for which it does.

    A value that a later layer overrides does not count, nor one that would hold without the file.
    """
    in_force = {key: layer for layer in layers for key in layer.values}
    safe = {key: info.default for key, info in fields()}
    for layer in layers:
        safe |= layer.values if layer.standing == "allowed" else {}

    def decisive(layer: Layer) -> Iterator[str]:
        for key in decides(layer) if layer.standing != "allowed" else ():
            if in_force[key] is layer and layer.values[key] != safe[key]:
                yield key

    return tuple((layer, keys) for layer in layers if (keys := tuple(decisive(layer))))


def decides(layer: Layer) -> list[str]:
    """Return the keys of a settings file by which it decides where texts and secrets go.

    They are all its keys if it is another user's.
    """
    if layer.file is None:
        return []

    everything, folder = is_foreign(layer.file), layer.file.parent
    return [
        key for key, value in layer.values.items() if everything or redirects(key, value, folder)
    ]


def _project_layer(folder: Path) -> Layer:
    """Return the default place of the index: the project's folder, if that is above this one."""
    project = project_folder(folder)
    return Layer(FOUND, {} if project == folder else {"engine.url": str(project / INDEX_FOLDER)})


def file_layers(environ: Mapping[str, str], folder: Path) -> Iterator[Layer]:
    """Yield esrag.yaml, then esrag.<environment>.yaml; a named file or environment must exist."""
    base = settings_file(environ, folder)
    # A relative one is another file in each folder.
    is_named = Path(environ.get("ESRAG_CONFIG", "")).is_absolute()
    if environ.get("ESRAG_CONFIG") or base.exists():
        yield read_file(base, is_named=is_named)
    if environment := environ.get("ESRAG_ENVIRONMENT"):
        if not re.fullmatch(r"[\w.-]+", environment):
            raise SettingsError(
                f"ESRAG_ENVIRONMENT must be letters, digits, dots and dashes, got {environment!r}"
            )
        yield read_file(base.with_name(f"esrag.{environment}.yaml"), is_named=is_named)


def read_file(path: Path, *, is_named: bool = False, paths_start: Path | None = None) -> Layer:
    """Return the values of a settings file; its relative paths start at its folder by default.

    Raises: SettingsError.
    """
    content, tree = _load(path)
    start = path.parent if paths_start is None else paths_start
    values = {key: _from_folder(key, value, start) for key, value in flatten(tree).items()}
    return Layer(
        origin=str(path),
        values=values,
        file=path,
        content=content,
        standing="allowed" if is_named else standing(path, content),
    )


def _load(path: Path) -> tuple[bytes, dict[Any, Any]]:
    """Return the bytes of a settings file and the sections in them."""
    try:
        content = _read(path)  # once, so that the judged content is the used one
        tree = read_yaml(content.decode()) or {}
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or error
        raise SettingsError(f"cannot read the settings file {path}: {cause}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is not YAML{_place(error)}") from error

    if not isinstance(tree, dict):
        raise SettingsError(f"{path} holds a {type(tree).__name__}, expected sections with keys")
    return content, tree


def _read(path: Path) -> bytes:
    """Return the bytes of a file. Raises: OSError, SettingsError for a large one."""
    with path.open("rb") as file:
        content = file.read(_MAX_BYTES + 1)

    if len(content) > _MAX_BYTES:
        message = f"the settings file {path} has more than {_MAX_BYTES:,} bytes"
        raise SettingsError(message, hint="does it lead to another file?")
    return content


def _place(error: Exception) -> str:
    """Return where the error is, if it says so: not for a thirteenth month, or many brackets."""
    mark = getattr(error, "problem_mark", None)
    where = f" at line {mark.line + 1}" if mark else ""
    return where + (f": {error.problem}" if isinstance(error, DuplicateKey) else "")


def _from_folder(key: str, value: Any, folder: Path) -> Any:
    """Return a value of a file in this folder; a relative path starts there, and `~` is the home.

    >>> _from_folder("cache.url", "cache.db", Path("/p"))
    '/p/cache.db'
    >>> _from_folder("cache.url", "redis://host", Path("/p"))
    'redis://host'
    """
    if not isinstance(value, str) or not value or "\0" in value:
        return value

    is_path = key in _PATHS and "://" not in value
    is_model = key in _MODELS and value != DEFAULT_MODEL and (folder / value).is_dir()
    is_preset = key == "preset" and (folder / value / SETTINGS_FILE).is_file()
    if not (is_path or is_model or is_preset):
        return value
    return str(folder / expand_home(value))


def _sections() -> frozenset[str]:
    """The dotted names of the tree's branches."""
    keys = (key.split(".")[:-1] for key, _ in fields())
    return frozenset(
        ".".join(parts[:depth]) for parts in keys for depth in range(1, len(parts) + 1)
    )


def flatten(tree: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    """Return the dotted keys of a nested mapping.

    Only the tree's own branches are entered, so that aliases cannot blow it up.

    >>> flatten({"engine": {"url": "x"}, "preset": "keyword", "answer": None})
    {'engine.url': 'x', 'preset': 'keyword'}
    """
    flat: dict[str, Any] = {}
    for name, value in ((f"{prefix}{key}", value) for key, value in tree.items()):
        # A branch whose lines are all comments is None.
        if name in _sections() and isinstance(value, Mapping | None):
            flat |= flatten(value or {}, f"{name}.")
        else:
            flat[name] = value
    return flat


def _environment_layer(environ: Mapping[str, str]) -> Layer:
    names = {name for name in environ if name.startswith(ENVIRONMENT_PREFIX)} - {
        "ESRAG_CONFIG",
        "ESRAG_ENVIRONMENT",
    }
    values = {
        name.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", "."): environ[name]
        for name in sorted(names)
    }
    return Layer("environment", values, is_text=True)


def _require_known(key: str, known: Iterable[str], origin: str) -> None:
    if key in known:
        return
    if table := next((each for each in known if key.startswith(f"{each}.")), ""):
        entry = key.removeprefix(f"{table}.")
        what = f"{key} (from {origin}) is an entry of {table}, which is given as a whole"
        raise SettingsError(what, hint=f"give all its entries: {table}={{{entry}: …}}")
    if key in _sections():
        what = f"{key} (from {origin}) is a section, not a setting"
        raise SettingsError(what, hint=f"set a key of it: {key}.…")

    hint = _suggest([*known, *_sections()], key)
    raise SettingsError(f"unknown setting {key!r} (from {origin})", hint=hint)


def _suggest(known: Sequence[str], key: str) -> str:
    import difflib

    close = difflib.get_close_matches(key, known, n=1)
    return f"did you mean {close[0]}?" if close else "esrag config show lists every setting"


def _require_no_secret(*layers: Layer) -> None:
    """Raise SettingsError for a secret in a file or a command, which others may see."""
    for layer, (key, info) in product(layers, fields()):
        if info.annotation is SecretStr and layer.values.get(key):
            hint = f"set {variable(key)}"
            raise SettingsError(
                f"{key} (from {layer.origin}) is a secret, taken from the environment alone",
                hint=hint,
            )


def _parse(key: str, value: Any, info: FieldInfo, origin: str) -> Any:
    """Return a value that was typed as YAML; a setting that is a text is taken as it was typed.

    Raises: SettingsError.
    """
    if not isinstance(value, str) or _is_text(info.annotation):
        return value
    if not value.strip():
        raise SettingsError(
            f"{key} (from {origin}): expected {_form(info.annotation)}, found nothing",
            hint=f"{key} is: {info.description}",
        )
    try:
        return read_yaml(value)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"{key} (from {origin}) is not YAML: {value!r}", hint=f"{key} is: {info.description}"
        ) from error


def _form(annotation: Any) -> str:
    """Return what a value looks like that was typed as YAML.

    >>> _form(tuple[str, ...]), _form(Mapping[str, int]), _form(int)
    ('a list, such as [a, b] or []', 'a table, such as {a: b} or {}', 'a value')
    """
    if get_origin(annotation) is tuple:
        return "a list, such as [a, b] or []"
    return "a table, such as {a: b} or {}" if get_origin(annotation) is Mapping else "a value"


def _is_text(annotation: Any) -> bool:
    """Return whether a setting is a text, a secret, or one of several words.

    >>> [_is_text(annotation) for annotation in (str, Literal["rrf", "weighted"], tuple[str, ...])]
    [True, True, False]
    """
    return annotation in (str, SecretStr) or get_origin(annotation) is Literal


def _path(location: Sequence[int | str]) -> str:
    """Return the full path of a value.

    >>> _path(("rerank", "indicators", 0, "bonus"))
    'rerank.indicators[0].bonus'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)[1:]


def _build(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    try:
        settings = Settings.model_validate(_nest(values))
    except ValidationError as error:
        raise _wrong_value(error, origins) from error

    _require_addresses(settings)
    if settings.chunking.overlap >= settings.chunking.size:
        sizes = f"{settings.chunking.overlap} of {settings.chunking.size}"
        raise SettingsError(f"chunking.overlap must be smaller than chunking.size, got {sizes}")

    return settings


def _nest(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tree of dotted keys.

    >>> _nest({"engine.url": "x", "engine.index": "y", "preset": "z"})
    {'engine': {'url': 'x', 'index': 'y'}, 'preset': 'z'}
    """
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *path, leaf = key.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[leaf] = value
    return tree


def _require_addresses(settings: Settings) -> None:
    """Raise SettingsError for a wrong address, and do not show it: it may hold a password."""
    if "://" in settings.engine.url and not is_address(settings.engine.url):
        hint = "write http://host:9200, or https://host:9200"
        raise SettingsError("engine.url must be a folder or the address of a server", hint=hint)
    if settings.queue.url and not is_redis(settings.queue.url):
        hint = "write redis://host:6379/0, or rediss://"
        raise SettingsError("queue.url must be the address of a Redis", hint=hint)
    if "://" in settings.cache.url and not is_redis(settings.cache.url):
        hint = "write redis://host:6379/0"
        raise SettingsError("cache.url must be the address of a Redis, or a file", hint=hint)
    if settings.kibana.url and not is_address(settings.kibana.url):
        hint = "write http://host:5601"
        raise SettingsError("kibana.url must be the address of a server", hint=hint)


def _wrong_value(error: ValidationError, origins: Mapping[str, str]) -> SettingsError:
    """Return the error for the first value of the wrong form, with the full path of its key."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    entry = [cause.place] if isinstance(cause, DuplicateEntryError) else []
    location = [*(part for part in first["loc"] if part != "[key]"), *entry]

    key = _key_at(location)
    came = "" if entry or _may_be_secret(key) else f", got {first['input']!r}"
    origin = origins.get(key, "default")
    message = f"{_path(location)} (from {origin}): {_word_problem(first)}{came}"
    return SettingsError(
        message, hint=f"{key} is: {dict(fields())[key].description}" if key else ""
    )


def _key_at(location: Sequence[int | str]) -> str:
    """Return the key of the setting at a place in the tree, or of the one around it; else ""."""
    names = [*map(str, location)]
    return next((key for key, _ in fields() if key.split(".") == names[: key.count(".") + 1]), "")


def _may_be_secret(key: str) -> bool:
    """Return whether a value is a secret, or an address, which may hold a password."""
    return key.endswith("url") or (key != "" and dict(fields())[key].annotation is SecretStr)


def _word_problem(first: Mapping[str, Any]) -> str:
    problem: str = _PROBLEMS.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    return problem if problem[:1] in "'{" else problem[:1].lower() + problem[1:]
