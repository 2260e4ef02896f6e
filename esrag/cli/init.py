"""`esrag init`: a short commented settings file to start from."""

from pathlib import Path

import click

from esrag.cli.output import remark
from esrag.errors import UsageError


@click.command()
@click.argument("preset", default="default")
@click.option("--force", is_flag=True, help="Replace an esrag.yaml that is there.")
def init(preset: str, *, force: bool) -> int:
    """Write esrag.yaml, starting from PRESET.

    Presets: default (nothing changed), keyword (no model), precise (fp32 arithmetic), cited-specs (standards: query
    variants, reranking by words, strict citations).
    """
    from esrag.settings import preset_text

    text = preset_text(preset)
    path = Path("esrag.yaml")
    if path.exists() and not force:
        raise UsageError("esrag.yaml is there already", hint="--force replaces it")
    path.write_text(text, encoding="utf-8")
    remark(f"wrote esrag.yaml from preset {preset}; esrag config show --origin lists what is in force")
    return 0
