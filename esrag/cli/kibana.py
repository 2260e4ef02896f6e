"""`esrag kibana`: install saved objects in Kibana or OpenSearch Dashboards."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, settings_of, settings_options
from esrag.cli.output import print_json, print_text

if TYPE_CHECKING:
    from esrag.dashboards import Installed


@click.group()
def kibana() -> None:
    """Explore the index in Kibana or OpenSearch Dashboards."""


@kibana.command()
@json_option
@settings_options
def install(*, as_json: bool, **options: Any) -> int:
    """Install data views, saved searches and two dashboards.

    They are installed at kibana.url. Running the command again replaces them for this index.
    """
    from esrag.dashboards import install as run
    from esrag.engines import engine_options
    from esrag.settings.transport import require_tls

    settings = settings_of(**options)
    require_tls(settings, ["kibana.url"])
    installed = run(settings.kibana.url, engine_options(settings.engine))
    if as_json:
        print_json({"schema": "esrag.dashboards/1", **asdict(installed)})
    else:
        _print(installed)
    return 0


def _print(installed: "Installed") -> None:
    for item in installed.objects:
        print_text(f"{item.type:13}  {item.title}")
    print_text(f"installed in {installed.product} {installed.version}".rstrip())
    print_text(f"open {installed.url}")
