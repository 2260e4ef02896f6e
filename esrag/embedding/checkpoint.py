"""A BERT folder, read and checked: its configuration, its pooling, its window and its weights.

Whatever this encoder would compute wrongly is refused here by name: other families and activations,
other poolings, further modules, sharded weights.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, Field, ValidationError

from esrag.errors import ModelError

Activation = Literal["gelu", "gelu_new", "gelu_pytorch_tanh", "relu"]
Pooling = Literal["mean", "cls"]
M = TypeVar("M", bound=BaseModel)
WEIGHTS_FILE = "model.safetensors"
_POOLINGS: Mapping[str, Pooling] = {
    "mean": "mean",
    "cls": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
}
_NUMBER_TYPES = ("F64", "F32", "F16")  # NumPy has no bfloat16
_SUPPORTED_MODULES = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])


class BertConfig(BaseModel):
    """The fields of config.json that change the arithmetic; values other than these are refused."""

    model_type: Literal["bert"]
    position_embedding_type: Literal["absolute"] = "absolute"
    is_decoder: Literal[False] = False
    hidden_act: Activation = "gelu"
    hidden_size: int = Field(gt=0)
    intermediate_size: int = Field(gt=0)
    num_hidden_layers: int = Field(gt=0)
    num_attention_heads: int = Field(gt=0)
    max_position_embeddings: int = Field(gt=0)
    type_vocab_size: int = Field(default=2, gt=0)
    vocab_size: int = Field(gt=0)
    layer_norm_eps: float = Field(default=1e-12, gt=0)


class _Lengths(BaseModel):
    """sentence_bert_config.json; a model that needs lower-cased text as its input is refused."""

    max_seq_length: int | None = Field(default=None, gt=0)
    do_lower_case: Literal[False] = False


class _TokeniserLengths(BaseModel):
    """tokenizer_config.json; where a tokeniser has no limit the file says 1e30."""

    model_max_length: float = Field(default=float("inf"), gt=0)


class _Module(BaseModel):
    """An entry of modules.json."""

    type: str
    path: str = ""


class _Modules(BaseModel):
    """modules.json."""

    entries: list[_Module]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder this encoder can run; `max_tokens` is what one pass reads, with special tokens."""

    folder: Path
    config: BertConfig
    pooling: Pooling
    max_tokens: int

    @property
    def tokenizer_path(self) -> Path:
        """Return the file that holds the tokeniser."""
        return self.folder / "tokenizer.json"


def read_checkpoint(folder: Path) -> Checkpoint:
    """Return the folder's checkpoint, without reading its weights.

    Raises: ModelError for a file that is missing, broken or says something this encoder does not
    do.
    """
    path = folder / "config.json"
    config = _read(BertConfig, path)
    if config.hidden_size % config.num_attention_heads:
        sizes = f"{config.hidden_size} over {config.num_attention_heads} heads"
        raise ModelError(f"{path}: hidden_size does not divide among the heads, got {sizes}")

    require_files(folder, "tokenizer.json", WEIGHTS_FILE)
    return Checkpoint(
        folder=folder,
        config=config,
        pooling=_read_pooling(folder),
        max_tokens=_max_tokens(folder, config),
    )


def require_files(folder: Path, *names: str) -> None:
    """Raise ModelError if the folder lacks one of the files. The message names sharded weights."""
    for name in names:
        if (folder / name).is_file():
            continue
        if name == WEIGHTS_FILE and (folder / f"{name}.index.json").exists():
            raise ModelError(f"{folder} holds sharded weights, expected one file {name}")
        raise ModelError(
            f"{folder} has no {name}",
            hint=f"give a folder with config.json, tokenizer.json, {WEIGHTS_FILE}",
        )


def _max_tokens(folder: Path, config: BertConfig) -> int:
    """Return the stated length, else the tokeniser's; never more than there are positions."""
    stated = _read_optional(_Lengths, folder / "sentence_bert_config.json").max_seq_length
    fallback = _read_optional(_TokeniserLengths, folder / "tokenizer_config.json").model_max_length
    return int(min(stated or fallback, config.max_position_embeddings))


def _read_pooling(folder: Path) -> Pooling:
    """Return the pooling that modules.json points to.

    A folder without that file pools the mean, as its authors' tools do.
    """
    path = folder / "modules.json"
    if not path.exists():
        return "mean"

    modules = _validate(_Modules, {"entries": _read_json(path)}, path).entries
    _require_supported(modules, path)
    return _read_pooling_mode(folder / modules[1].path / "config.json")


def _require_supported(modules: Sequence[_Module], path: Path) -> None:
    kinds = [module.type.rpartition(".")[2] for module in modules]
    if kinds not in _SUPPORTED_MODULES:
        raise ModelError(
            f"{path} lists {', '.join(kinds) or 'nothing'}, expected Transformer, Pooling, "
            "Normalize"
        )
    if modules[0].path or not re.fullmatch(r"\w+", modules[1].path):
        paths = f"{modules[0].path!r} and {modules[1].path!r}"
        raise ModelError(
            f"{path} has its modules in {paths}, expected '' and a folder such as '1_Pooling'"
        )


def _read_pooling_mode(path: Path) -> Pooling:
    values = _read_json(path)
    if not isinstance(values, dict):
        raise ModelError(f"{path} holds a {type(values).__name__}, expected an object")

    modes = _list_modes(values)
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise ModelError(
            f"{path} asks for pooling {', '.join(map(str, modes)) or 'nothing'}, "
            "expected mean or cls"
        )
    return _POOLINGS[modes[0]]


def _list_modes(values: Mapping[str, Any]) -> list[Any]:
    """Return the modes, from the older form (a flag for each mode) or the newer one.

    The newer form has the mode's name, or a list of names.
    """
    stated = values.get("pooling_mode")
    if stated is None:
        return [key for key, value in values.items() if key.startswith("pooling_mode_") and value]
    return stated if isinstance(stated, list) else [stated]


def _read_optional(model: type[M], path: Path) -> M:
    return _read(model, path) if path.exists() else model()


def _read(model: type[M], path: Path) -> M:
    return _validate(model, _read_json(path), path)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is not JSON: {error}") from error


def _validate(model: type[M], value: Any, path: Path) -> M:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "the whole"
        raise ModelError(
            f"{path}: {key} is {first['input']!r:.60}, {first['msg'][:1].lower()}{first['msg'][1:]}"
        ) from error


class Tensors(Protocol):
    """Named tensors, as float32."""

    def rows(self, name: str, *shape: int) -> npt.NDArray[np.float32]:
        """Return a tensor of this shape. Raises: ModelError."""

    def length(self, name: str) -> int:
        """Return the size of a tensor's first axis. Raises: ModelError."""


class Weights:
    """The tensors of a BERT folder by their plain names, as float32, each read at its first use.

    Names lose the prefix "bert."; the old names of a norm's weight and bias, gamma and beta, are
    understood.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / WEIGHTS_FILE
        self._file = _open_tensors(self._path)
        self._keys: dict[str, str] = {_plain_name(key): key for key in self._file.keys()}  # noqa: SIM118 -- not a mapping

    def rows(self, name: str, *shape: int) -> npt.NDArray[np.float32]:
        """Return a tensor of this shape.

        Raises: ModelError for one that is missing, of another shape, or of other numbers than
        NumPy's floats.
        """
        key, place = self._find_key(name), f"{self._path}: {name}"
        stated = self._file.get_slice(key).get_dtype()
        if stated not in _NUMBER_TYPES:
            allowed = ", ".join(_NUMBER_TYPES)
            raise ModelError(f"{place} holds numbers of type {stated}, expected one of {allowed}")

        tensor = self._file.get_tensor(key)
        if tensor.shape != shape:
            came = f"{place} has shape {tensor.shape}"
            raise ModelError(f"{came}, expected {shape} from config.json")
        return np.asarray(tensor, dtype=np.float32)

    def length(self, name: str) -> int:
        """Return the size of a tensor's first axis.

        Raises: ModelError for one that is missing.
        """
        return int(self._file.get_slice(self._find_key(name)).get_shape()[0])

    def _find_key(self, name: str) -> str:
        """Return a tensor's name in the file. Raises: ModelError for a missing one."""
        if name not in self._keys:
            raise ModelError(f"{self._path} has no tensor {name}")
        return self._keys[name]


def _open_tensors(path: Path) -> Any:
    from safetensors import SafetensorError, safe_open

    try:
        return safe_open(str(path), framework="numpy")
    except (OSError, SafetensorError) as error:
        raise ModelError(f"cannot read {path}: {error}") from error


def _plain_name(key: str) -> str:
    r"""Return a tensor's name without prefix, in current spelling.

    >>> _plain_name("bert.embeddings.LayerNorm.gamma")
    'embeddings.LayerNorm.weight'
    """
    key = key.removeprefix("bert.")
    return key.replace("LayerNorm.gamma", "LayerNorm.weight").replace(
        "LayerNorm.beta", "LayerNorm.bias"
    )
