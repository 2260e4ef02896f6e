"""Profiles: the language models that the settings name, `default`, `fast` and `strong`."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from esrag import plugins
from esrag.caching import Cache
from esrag.errors import SettingsError
from esrag.models import ModelOptions
from esrag.models.metering import MeteredModel, OnCall, Prices
from esrag.settings import PROFILES, ModelSettings, ModelsSettings, variable

Models = Mapping[str, MeteredModel]  # by profile; only those that are configured
NO_MODELS: Models = MappingProxyType({})


def open_models(settings: ModelsSettings, cache: Cache | None) -> Models:
    """Return the configured models; nothing is sent yet.

    Raises: SettingsError for a missing key or an unknown provider.
    """
    sections = {name: getattr(settings, name) for name in PROFILES}
    return {
        name: _open_model(name, section, cache)
        for name, section in sections.items()
        if section.is_configured
    }


def with_recorder(models: Models, on_call: OnCall) -> Models:
    """Return the same models, each call of which is passed to `on_call`."""
    return {name: replace(model, on_call=on_call) for name, model in models.items()}


def choose_model(models: Models, *names: str) -> MeteredModel:
    """Return the first configured model of these profiles, else the default one.

    Raises: SettingsError if there is none.
    """
    for name in (*names, "default"):
        if name in models:
            return models[name]
    hint = f"set {variable('models.default.model')}"
    raise SettingsError(
        "a language model is needed, and models.default is not configured", hint=hint
    )


def _open_model(profile: str, section: ModelSettings, cache: Cache | None) -> MeteredModel:
    options = _model_options(profile, section)
    return MeteredModel(
        inner=plugins.load("models", section.provider)(options),
        options=options,
        prices=Prices(section.input_price, section.output_price),
        identity=(section.provider, plugins.distribution_of("models", section.provider)),
        cache=cache,
    )


def _model_options(profile: str, section: ModelSettings) -> ModelOptions:
    return ModelOptions(
        profile=profile,
        model=section.model,
        url=section.url,
        api_key=section.api_key.get_secret_value(),
        timeout_s=section.timeout_s,
        max_output_tokens=section.max_output_tokens,
        temperature=section.temperature,
        top_p=section.top_p,
    )
