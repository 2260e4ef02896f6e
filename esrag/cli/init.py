"""`esrag init`: write a short settings file to start from."""

from pathlib import Path

import click

from esrag.cli.output import remark
from esrag.errors import UsageError

# The settings that users change first, with the preset's values.
_COMMON = """
# engine:
#   url: .esrag              # folder of the index, or the address of Elasticsearch or OpenSearch
# chunking:
#   size: {size: <19}# maximum {unit} per chunk
# retrieval:
#   k: {k: <22}# number of hits
# answer:
#   refusal: {refusal: <16g}# refuse below this confidence; esrag calibrate fits it
#   max_sentences: {max_sentences}
# generator:
#   name: model              # the language model below writes the answers
# models:                    # allow the file once: esrag config allow
#   default:                 # its key is read from ESRAG_MODELS__DEFAULT__API_KEY
#     provider: openai       # any service with OpenAI's interface
#     model: gemini-2.5-flash
#     url: https://generativelanguage.googleapis.com/v1beta/openai
"""


@click.command()
@click.argument("preset", default="default")
@click.option("--force", is_flag=True, help="Replace an existing esrag.yaml.")
def init(preset: str, *, force: bool) -> int:
    """Write an esrag.yaml based on PRESET.

    PRESET is a name or a folder with an esrag.yaml. Names: default (nothing changed), keyword (no
    model), precise (fp32 arithmetic), cited-specs (standards: query variants, reranking by words,
    strict citations), csv-kb (articles in a CSV file: weighted legs, a turn for each source, a
    cache), two-tier (facts first, then documents, those of official sources first), intents (by
    what a question is about), hierarchical (long documents by section). The file names
    the preset instead of copying it, so that fixes to the preset reach you.
    """
    from esrag.settings import Settings
    from esrag.settings.files import to_yaml
    from esrag.settings.layers import preset_layer, with_values

    layer = preset_layer(preset)
    wanted = with_values(Settings(), layer.values, layer.origin)
    path = Path("esrag.yaml")
    if path.exists() and not force:
        raise UsageError("esrag.yaml already exists", hint="--force replaces it")

    common = _COMMON.format(
        unit=wanted.chunking.unit,
        size=wanted.chunking.size,
        k=wanted.retrieval.k,
        refusal=wanted.answer.refusal,
        max_sentences=wanted.answer.max_sentences,
    )
    path.write_text(f"preset: {to_yaml(preset)}\n{common}", encoding="utf-8")
    remark(
        f"wrote esrag.yaml, based on preset {preset}; "
        "esrag config show --origin lists the settings in force"
    )
    return 0
