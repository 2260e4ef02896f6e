"""The containers as far as they can be tried without a container engine: their files, their
commands, their set-up.
"""

import functools
import os
import re
import shlex
import shutil
import stat
import subprocess
import tomllib
from pathlib import Path

import click
import pytest
import servers
import yaml
from ports import free_port

from esrag.cli.main import cli
from esrag.settings import ENVIRONMENT_PREFIX
from esrag.settings.layers import resolve

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text()
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
GUIDE = (ROOT / "docs" / "guides" / "containers.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VARIABLE = re.compile(r"\$\{(\w+):([?-])([^}]*)\}")
PROFILES = {
    "elasticsearch": {
        "elasticsearch",
        "setup",
        "kibana",
        "kibana-install",
        "queue",
        "cache",
        "worker",
    },
    "opensearch": {"opensearch", "dashboards", "dashboards-install", "queue", "cache", "worker"},
    "run": {"app"},
}
ALONE = {"ESRAG_QUEUE__URL": "", "ESRAG_CACHE__URL": ""}  # without the file's other servers
ALL = set.union(*PROFILES.values())
LONG_RUNNING = ["elasticsearch", "kibana", "opensearch", "dashboards", "queue", "cache", "worker"]


def lacking(reason):
    """What a test needs is not on this machine: a skip, and on CI a failure."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of what Compose reads, with a new .env."""
    folder = tmp_path_factory.mktemp("compose")
    for name in ("docker-compose.yml", "Makefile"):
        (folder / name).write_text((ROOT / name).read_text())
    subprocess.run(["make", "env"], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def variables(folder):
    """What .env holds."""
    return dict(line.split("=") for line in (folder / ".env").read_text().splitlines())


@pytest.fixture(scope="module")
def services(variables):
    """The services with the variables filled in, as Compose does it."""

    def value(match):
        name, sign, otherwise = match.groups()
        return variables[name] if sign == "?" else variables.get(name, otherwise)

    return yaml.safe_load(VARIABLE.sub(value, TEXT))["services"]


def settings_of(service):
    """The settings a service of the esrag image runs with."""
    return resolve(
        {}, {n: v for n, v in service["environment"].items() if n.startswith(ENVIRONMENT_PREFIX)}
    ).settings


def require_command(words):
    """The words are a command line of esrag: each command exists, and takes the options and
    arguments.
    """
    command, words = cli, list(words)
    while isinstance(command, click.Group):
        name, command, words = command.resolve_command(click.Context(command), words)
    command.make_context(name, words)


def composes():
    """The Compose commands of this machine: version 1 by itself, and the plugin."""
    for command in (["docker-compose"], ["docker", "compose"]):
        try:
            subprocess.run([*command, "version"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        yield command


def test_env_is_random_private_and_kept(folder, variables):
    """`make env` writes the very names that the file asks for, for the owner's eyes, and never
    writes over them.
    """
    before = (folder / ".env").read_text()
    subprocess.run(["make", "env"], cwd=folder, check=True, capture_output=True)
    assert (folder / ".env").read_text() == before
    assert stat.S_IMODE((folder / ".env").stat().st_mode) == 0o600
    secrets = {name: value for name, value in variables.items() if name != "COMPOSE_PROFILES"}
    assert set(secrets) == {name for name, sign, _ in VARIABLE.findall(TEXT) if sign == "?"}
    assert len(set(secrets.values())) == len(secrets)
    assert [value for value in secrets.values() if not re.fullmatch("[0-9a-f]{48}", value)] == []


def test_env_is_never_committed_or_built_in():
    """Git does not see it, and the image is built from nothing but what the Dockerfile copies."""
    done = subprocess.run(
        ["git", "check-ignore", ".env"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout == ".env\n"
    first, *allowed = (ROOT / ".dockerignore").read_text().split()
    assert (first, {name[1:] for name in allowed if name[0] == "!"}) == ("*", copied())


def test_compose_takes_the_file(folder, variables):
    """The real command finds nothing wrong, makes of it what these tests make of it, and wants
    .env.
    """
    found = list(composes())
    if not found:
        lacking("neither docker-compose nor docker compose is installed")
    for command in found:
        done = subprocess.run(
            [*command, "config"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        read = yaml.safe_load(done.stdout)["services"]
        assert set(read) >= PROFILES[variables["COMPOSE_PROFILES"]]
        assert read["setup"]["environment"]["APP_PASSWORD"] == variables["APP_PASSWORD"]
        config = [*command, "--profile", "opensearch", "config", "--services"]
        done = subprocess.run(config, cwd=folder, capture_output=True, text=True, check=True)
        assert set(done.stdout.split()) >= PROFILES["opensearch"]
        (folder / "empty").touch()
        without = [*command, "--env-file", "empty", "config", "--quiet"]
        done = subprocess.run(without, cwd=folder, capture_output=True, text=True, check=False)
        assert (done.returncode != 0, "run make env" in done.stderr) == (True, True)


@pytest.mark.parametrize(
    ("right", "wrong"), [("mem_limit:", "mem_limits:"), ("read_only: true", "read_only: perhaps")]
)
def test_compose_holds_the_file_against_its_schema(folder, tmp_path, right, wrong):
    """What `config` takes is valid by the Compose specification's JSON schema, which every release
    has built in.

    A service's key that the schema does not know is refused, and so is a value of another type than
    it says.
    """
    assert right in TEXT
    (tmp_path / "docker-compose.yml").write_text(TEXT.replace(right, wrong))
    (tmp_path / ".env").write_text((folder / ".env").read_text())
    for command in list(composes()) or lacking(
        "neither docker-compose nor docker compose is installed"
    ):
        done = subprocess.run(
            [*command, "config", "--quiet"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0, wrong.split(":")[0] in done.stderr) == (True, True)


def test_a_profile_is_whole(services, variables):
    """Elasticsearch unless told otherwise; nothing waits for a service of another profile."""
    assert variables["COMPOSE_PROFILES"] == "elasticsearch"
    assert {name: body["profiles"] for name, body in services.items()} == {
        name: [profile for profile, names in PROFILES.items() if name in names] for name in ALL
    }
    for body in services.values():
        for profile in body["profiles"]:
            assert set(body.get("depends_on", ())) <= PROFILES[profile]


def test_ports_are_open_to_this_machine_alone(services):
    """Every port is published on the loopback address.

    The queue, the cache and the worker have none.
    """
    ports = [port for body in services.values() for port in body.get("ports", ())]
    assert len(ports) == len(LONG_RUNNING) - 3
    assert [port for port in ports if not re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port)] == []


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_service_is_bounded(services, name):
    """Memory, logs and rights have limits.

    What runs on has a health check and comes back, what ends stays ended.
    """
    body = services[name]
    assert re.fullmatch(r"\d+[mg]", body["mem_limit"])
    assert set(body["logging"]["options"]) == {"max-size", "max-file"}
    assert (body["cap_drop"], body["security_opt"]) == (["ALL"], ["no-new-privileges:true"])
    runs_on = name in LONG_RUNNING
    assert body["restart"] == ("unless-stopped" if runs_on else "no")
    writes = name in {"elasticsearch", "kibana", "opensearch", "dashboards"}
    assert (("healthcheck" in body), body.get("read_only", False)) == (runs_on, not writes)


def test_images_have_the_versions_that_are_tested(services):
    """Exact tags, those of the servers that the live tests start; ours is this
    package's version.
    """
    tested = {
        engine: re.search(
            r"<server.version>([\d.]+)<", (servers.HERE / engine / "pom.xml").read_text()
        )[1]
        for engine in ("elasticsearch", "opensearch")
    }
    tags = {name: body["image"].partition("@")[0].split(":")[1] for name, body in services.items()}
    assert {tags[name] for name in ("elasticsearch", "setup", "kibana")} == {
        tested["elasticsearch"]
    }
    assert {tags[name] for name in ("opensearch", "dashboards")} == {tested["opensearch"]}
    assert {tags[name] for name in ("app", "worker", "kibana-install", "dashboards-install")} == {
        PROJECT["version"]
    }
    assert f'image.version="{PROJECT["version"]}"' in DOCKERFILE


def test_images_are_pinned_by_digest(services):
    """The tag names the version, the digest the bytes, one for each tag.

    Three images have no known digest.
    """
    pinned = re.compile(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}")
    images = {
        name: body["image"]
        for name, body in services.items()
        if not body["image"].startswith("esrag:")
    }
    unknown = {name for name, image in images.items() if not pinned.fullmatch(image)}
    assert unknown == {"queue", "cache", "kibana", "dashboards"}
    assert len(set(images.values())) == len({image.partition("@")[0] for image in images.values()})
    assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) == {"${PYTHON}"}
    assert pinned.fullmatch(re.search(r"^ARG PYTHON=(\S+)$", DOCKERFILE, re.MULTILINE)[1])


def test_no_secret_is_written_down():
    """Whatever is called a password or a key comes from .env."""
    services = yaml.safe_load(TEXT)["services"].values()
    held = [(name, v) for body in services for name, v in body.get("environment", {}).items()]
    secrets = [value for name, value in held if re.search("PASSWORD|KEY|SECRET|TOKEN", name)]
    assert len(secrets) > 5
    assert [value for value in secrets if not VARIABLE.fullmatch(value) or ":?" not in value] == []
    assert not re.search("PASSWORD|SECRET|TOKEN", DOCKERFILE)


@pytest.mark.parametrize("name", ["app", "worker", "kibana-install", "dashboards-install"])
def test_esrag_is_set_up_with_settings_that_exist(services, name):
    """Every variable is a setting of esrag's, with a value it takes, and the server is one of the
    file's.
    """
    others = [
        variable
        for variable in services[name]["environment"]
        if not variable.startswith(ENVIRONMENT_PREFIX)
    ]
    assert others == (["REMAP_SIGTERM"] if name == "worker" else [])
    settings = settings_of(services[name])
    assert settings.engine.url == "http://search:9200"
    ui = {"app": "127.0.0.1", "kibana-install": "kibana", "dashboards-install": "dashboards"}
    assert settings.kibana.url == (f"http://{ui[name]}:5601" if name in ui else "")
    for server in ("elasticsearch", "opensearch"):
        assert services[server]["networks"]["default"]["aliases"] == ["search"]


def test_commands_are_commands_of_esrag(services):
    """Those of the services, and those that the guide gives to the app."""
    commands = [
        body["command"]
        for body in services.values()
        if "command" in body and "entrypoint" not in body
    ]
    commands.append(services["worker"]["healthcheck"]["test"][2:])
    shown = re.findall(r"^docker compose run --rm app (.*?)(?: +#.*)?$", GUIDE, re.MULTILINE)
    assert (len(commands), len(shown) >= 3) == (4, True)
    for words in [*commands, *map(shlex.split, shown)]:
        require_command(words)
    for wrong in (["ask", "Who?", "--no-such-option"], ["kibana", "remove"]):
        with pytest.raises(click.UsageError):
            require_command(wrong)


def copied():
    """What the Dockerfile copies from the folder it is built in."""
    lines = [
        line.split()
        for line in DOCKERFILE.splitlines()
        if line.startswith("COPY ") and "--from" not in line
    ]
    return {name for line in lines for name in line[1:-1]}


def test_the_image_holds_the_package_and_an_ordinary_user():
    """All sources of the package are copied and no others, the extras exist, and esrag does not run
    as root.
    """
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"][
        "package-dir"
    ].values()
    assert copied() == {"pyproject.toml", "README.md", "LICENSE", "esrag", *packages}
    assert all((ROOT / name).exists() for name in copied())
    extras = set(re.search(r"\[([\w,-]+)\]\"", DOCKERFILE)[1].split(","))
    # Which brings torch.
    assert extras == set(PROJECT["optional-dependencies"]) - {"sentence-transformers"}
    users = re.findall(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE)
    assert (users, f"useradd --uid {users[-1]} " in DOCKERFILE) == (["1000"], True)
    assert re.search(r'^ENTRYPOINT \["/opt/esrag/bin/esrag"\]$', DOCKERFILE, re.MULTILINE)


@pytest.fixture(scope="module")
def secured(services, tmp_path_factory):
    """A real Elasticsearch with users, of which `elastic` has the password in .env."""
    password = services["elasticsearch"]["environment"]["ELASTIC_PASSWORD"]
    data = tmp_path_factory.mktemp("secured")
    try:
        server = servers.start("elasticsearch", port=free_port(), data=data, password=password)
    except servers.Unavailable as error:
        lacking(str(error))
    yield server
    server.stop()


def shell(script, **variables):
    """The exit code of a shell script, and what it said."""
    environment = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run(
        ["sh", *script],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module", params=["queue", "cache"])
def redis(request, services, tmp_path_factory):
    """The service's Redis as its script starts it: name, port and what the service is given."""
    body, port = services[request.param], free_port()
    if not shutil.which("redis-server"):
        lacking("redis-server is not installed")
    mount = (ROOT / "docker-compose.yml").parent / "docker" / "redis.sh"
    place = {"REDIS_DATA": str(tmp_path_factory.mktemp(request.param)), "REDIS_PORT": str(port)}
    process = subprocess.Popen(
        ["sh", mount, *body["command"]],
        env={"PATH": os.environ["PATH"], **body["environment"], **place},
        stdout=subprocess.DEVNULL,
    )
    yield request.param, port, body
    process.terminate()
    process.wait(20)


def test_the_queue_and_the_cache_are_two_servers_that_drop_different_things(redis):
    """The queue keeps everything and writes it down, the cache drops what is old.

    Strangers get into neither.
    """
    name, port, body = redis
    assert body["entrypoint"] == ["sh", "/redis.sh"]
    assert body["volumes"][0] == "./docker/redis.sh:/redis.sh:ro"
    (kind, check) = body["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    check = check.replace("redis-cli", f"redis-cli -p {port}").replace("$$", "$")
    patient = f"for _ in 1 2 3 4 5 6 7 8 9; do {check} && exit; sleep 0.3; done; false"
    healthy = functools.partial(shell, ["-c", patient])
    assert healthy(**body["environment"])[0] == 0
    assert healthy(REDIS_PASSWORD="wrong")[0] != 0
    password = body["environment"]["REDIS_PASSWORD"]
    assert "NOAUTH" in shell(["-c", f"redis-cli -p {port} info"])[1]
    asked = shell(["-c", f"redis-cli --no-auth-warning --user esrag -a {password} -p {port} info"])[
        1
    ]
    assert f"maxmemory_policy:{'noeviction' if name == 'queue' else 'allkeys-lfu'}" in asked
    assert f"aof_enabled:{int(name == 'queue')}" in asked
    refused = shell(
        ["-c", f"redis-cli --no-auth-warning --user esrag -a {password} -p {port} set other 1"]
    )[1]
    assert "NOPERM" in refused


@pytest.mark.parametrize(("role", "password"), [("queue", 'a"b'), ("cache", ""), ("store", "ab12")])
def test_a_redis_that_is_set_up_wrongly_does_not_start(role, password):
    """A password that would break out of its place, and a role that there is not."""
    code, said = shell(["docker/redis.sh", role], REDIS_PASSWORD=password, REDIS_PORT="1")
    assert (code, "letters and digits" in said or "queue|cache" in said) == (1, True)


def set_up(services, server, **changed):
    """Runs the set-up as its service does."""
    mount = services["setup"]["volumes"][0].split(":")
    assert services["setup"]["entrypoint"] == ["sh", mount[1]]
    variables = services["setup"]["environment"] | {"ELASTICSEARCH_URL": server.url} | changed
    return shell([mount[0]], **variables)


def is_healthy(body, url):
    """Whether a service's health check passes on a server that is elsewhere."""
    kind, command = body["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    variables = {name: value for name, value in body["environment"].items() if "." not in name}
    return (
        shell(
            ["-c", command.replace("http://localhost:9200", url).replace("$$", "$")], **variables
        )[0]
        == 0
    )


@pytest.fixture
def app(esrag, services, secured):
    """esrag with what the app's service sets, against the server that was set up."""
    assert set_up(services, secured)[0] == 0
    where = services["app"]["environment"] | ALONE | {"ESRAG_ENGINE__URL": secured.url}
    return lambda *words, **variables: esrag(*words, **(where | variables))


@pytest.mark.live
def test_the_set_up_can_be_repeated_and_the_server_is_healthy(services, secured):
    """Twice the same; every account has its password and its role. A failure is told apart."""
    for _ in range(2):
        assert set_up(services, secured)[0] == 0
    given = services["setup"]["environment"]
    accounts = {"kibana_system": "KIBANA_SYSTEM", "esrag": "APP", "esrag_viewer": "VIEWER"}
    for user, name in accounts.items():
        status, body = asked(secured, "/_security/_authenticate", user, given[f"{name}_PASSWORD"])
        assert (status, body["username"]) == (200, user)
        assert asked(secured, "/_security/_authenticate", user, "wrong")[0] == 401
    assert is_healthy(services["elasticsearch"], secured.url)
    other = services["elasticsearch"] | {"environment": {"ELASTIC_PASSWORD": "wrong"}}
    assert not is_healthy(other, secured.url)


def asked(server, path, user, password):
    """The status and the body of an answer to a user."""
    script = 'curl -s -u "$1:$2" -w "\\n%{http_code}" "$3"'
    body, _, status = shell(["-c", script, "sh", user, password, server.url + path])[1].rpartition(
        "\n"
    )
    return int(status), yaml.safe_load(body)


@pytest.mark.live
@pytest.mark.parametrize(
    "changed", [{"ELASTIC_PASSWORD": "wrong"}, {"APP_PASSWORD": 'a"b'}, {"APP_PASSWORD": ""}]
)
def test_a_set_up_that_fails_says_so(services, secured, changed):
    """A wrong password, or one that would break out of its place, ends it with an error."""
    code, said = set_up(services, secured, **changed)
    assert (code != 0, "401" in said or "letters and digits" in said) == (True, True)


@pytest.mark.live
@pytest.mark.usefixtures("corpus")
def test_the_app_may_do_its_work_and_no_more(app, secured, services):
    """It ingests, rebuilds, answers and looks after itself.

    Another index and the accounts are closed to it.
    """
    assert app("ingest", "docs").code == 0
    assert app("ingest", "docs", "--rebuild").code == 0
    answer = app("ask", "How many litres does the kettle hold?")
    assert (answer.code, "1.7 litres" in answer.out) == (0, True)
    assert "403" not in app("doctor").out
    secured.request("PUT", "/private/_doc/1?refresh=true", {"secret": "kept"})
    for index in ("private", "other"):
        refused = app("search", "kettle", ESRAG_ENGINE__INDEX=index)
        assert (refused.code, "403" in refused.err) == (1, True)
    own = services["app"]["environment"]
    credentials = own["ESRAG_ENGINE__USERNAME"], own["ESRAG_ENGINE__PASSWORD"]
    assert asked(secured, "/esrag/_count", *credentials)[0] == 200
    for path in ("/private/_search", "/_security/user", "/.security/_search", "/.kibana/_search"):
        assert asked(secured, path, *credentials)[0] == 403, path


@pytest.mark.live
@pytest.mark.usefixtures("corpus")
def test_the_viewer_reads_and_does_not_write(app, services):
    """Kibana's user sees what is indexed and cannot change it."""
    assert app("ingest", "docs").code == 0
    viewer = {
        n: v
        for n, v in services["kibana-install"]["environment"].items()
        if "ENGINE" in n and "URL" not in n
    }
    assert app("search", "kettle", **viewer).code == 0
    refused = app("ingest", "docs", "--rebuild", **viewer)
    assert (refused.code, "403" in refused.err) == (1, True)


@pytest.mark.live
@pytest.mark.usefixtures("corpus")
def test_the_app_works_on_opensearch_too(esrag, services, opensearch):
    """A server without users does not mind that the app gives one, and the health check passes."""
    assert is_healthy(services["opensearch"], opensearch)
    where = services["app"]["environment"] | ALONE
    where |= {"ESRAG_ENGINE__URL": opensearch, "ESRAG_ENGINE__INDEX": "esrag-compose"}
    assert esrag("ingest", "docs", **where).code == 0
    assert esrag("search", "kettle", **where).code == 0
