"""YAML as settings are written: a value in one line; a key that is there twice is an error."""

from typing import Any

import yaml


class DuplicateKey(yaml.MarkedYAMLError):
    """A mapping names a key twice."""


class _Loader(yaml.SafeLoader):
    """PyYAML's own, which would let the last of two equal keys win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        keys = set()
        for key_node, _ in node.value:
            if key_node.value in keys:
                raise DuplicateKey(
                    problem=f"{key_node.value!r} is there twice", problem_mark=key_node.start_mark
                )
            if isinstance(key_node.value, str):
                keys.add(key_node.value)
        return super().construct_mapping(node, deep)


def read_yaml(text: str) -> Any:
    """Return what a YAML text holds. Raises: yaml.YAMLError, ValueError, RecursionError."""
    return yaml.load(text, _Loader)  # noqa: S506 -- a safe loader


def to_yaml(value: Any) -> str:
    """Return a plain value as one line of YAML.

    >>> to_yaml(["mmr"]), to_yaml(""), to_yaml({600: 0.1}), to_yaml(True)
    ('[mmr]', "''", '{600: 0.1}', 'true')
    """
    written = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10**6
    )
    return written.strip().removesuffix("...").strip()
