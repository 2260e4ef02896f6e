"""Real search servers for the tests, from published jars: no container, no root, one folder each.

python servers.py start opensearch --port 9200 --data /tmp/search [setting=value ...]
python servers.py start elasticsearch --port 9201 --data /tmp/other --password secret
python servers.py stop --data /tmp/search
"""

import argparse
import base64
import contextlib
import fcntl
import hashlib
import http.client
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OLDEST_JAVA = 21
COPY_JARS = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

# What must answer 200 before a server is said to be up. Elasticsearch opens its port before it has
# its licence.
HEALTH = "/_cluster/health?wait_for_status=yellow&timeout=2s"
READY = {"opensearch": [HEALTH], "elasticsearch": [HEALTH, "/_license"]}
# Made as soon as a server with users is up, with roles in it. One that was asked to change a
# password meanwhile never answered again.
USERS = "/_cluster/health/.security?wait_for_status=yellow&wait_for_events=languid&timeout=2s"

# Elasticsearch loads these from folders of their own: main class, module extended, jars; the rest
# is on the class path.
MODULES = {
    "transport-netty4": (
        "org.elasticsearch.transport.netty4.Netty4Plugin",
        "",
        ["transport-netty4"],
    ),
    "x-pack-core": ("org.elasticsearch.xpack.core.XPackPlugin", "", ["x-pack-core"]),
    "x-pack-security": (
        "org.elasticsearch.xpack.security.Security",
        "x-pack-core",
        # Its own copy: it subclasses what another module's loader holds.
        ["x-pack-security", "transport-netty4"],
    ),
    "stand-ins": ("StandIns", "", ["StandIns"]),
}

JVM_OPTIONS = [
    "-Xmx512m",
    "-XX:+UseSerialGC",
    # The quick compiler: a test's server does not live long enough for the other.
    "-XX:TieredStopAtLevel=1",
    # Written when a server is first stopped; later starts take half the time.
    "-XX:+AutoCreateSharedArchive",
    "-Xlog:disable",  # about an archive that is not there yet or is another JDK's
    "-XX:+ExitOnOutOfMemoryError",
    "--enable-native-access=ALL-UNNAMED",
    "-Dfile.encoding=UTF-8",
    "-Dlog4j2.disable.jmx=true",
    "-Dlog4j2.level=INFO",
    "-Dlog4j.shutdownHookEnabled=false",  # the node's own hook still has things to say
    # Not published; nothing native loads if it is sought.
    "-Dorg.elasticsearch.nativeaccess.enableVectorLibrary=false",
]


class Unavailable(Exception):  # noqa: N818 -- reads as what the server is
    """No server can be had on this machine; the text says why, in one line."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; `data` is the folder with its indices, log and pid."""

    engine: str
    port: int
    pid: int
    data: Path
    password: str | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Where it answers, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the parsed answer.

        A `body` that is a list goes out as lines of JSON, as bulk wants it.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(
                method, path, None if body is None else _encoded(body), self._headers()
            )
            response = connection.getresponse()
            return response.status, json.loads(response.read() or "null")

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        if self.password is not None:
            headers["Authorization"] = (
                "Basic " + base64.b64encode(f"elastic:{self.password}".encode()).decode()
            )
        return headers

    def stop(self, wait_s: float = 30) -> None:
        """Ends it cleanly, by force when that takes longer than `wait_s` seconds; the data stay."""
        self._signal(signal.SIGTERM)
        give_up = time.monotonic() + wait_s
        while self._is_running() and time.monotonic() < give_up:
            time.sleep(0.05)
        self.kill()

    def kill(self) -> None:
        """Ends it as a crash would (kill -9); returns when it is gone."""
        while self._is_running():
            self._signal(signal.SIGKILL)
            time.sleep(0.01)
        with contextlib.suppress(ChildProcessError):  # started by another process: not ours to reap
            os.waitpid(self.pid, 0)

    def _is_running(self) -> bool:
        found = running(self.data)
        return found is not None and found.pid == self.pid

    def _signal(self, number: signal.Signals) -> None:
        if self._is_running():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def _encoded(body: Any) -> bytes:
    lines = body if isinstance(body, list) else [body]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def start(
    engine: str,
    *,
    port: int,
    data: Path | str,
    settings: Iterable[str] = (),
    password: str | None = None,
    wait_s: float = 120,
) -> Server:
    """Starts a server, or finds it running, and returns when it answers.

    Installs it the first time.

    `settings` are words of the form name=value. With `password`, Elasticsearch has users: that is
    `elastic`'s.

    Raises:
        Unavailable: no JDK, no Maven, or the download failed.
        RuntimeError: the folder or the port is in use otherwise, or the server did not come up.
    """
    if password is not None and engine != "elasticsearch":
        raise ValueError(f"{engine} takes no password, only elasticsearch does")
    folder = Path(data).resolve()
    server = running(folder)
    if server is None:
        server = Server(engine, port, _launch(engine, port, folder, settings, password), folder)
    if (server.engine, server.port) != (engine, port):
        raise RuntimeError(f"{folder} is served by {server.engine} on port {server.port} already")
    server = replace(server, password=password)
    _wait_until_ready(server, wait_s)
    return server


def running(data: Path | str) -> Server | None:
    """The server that runs on a folder; a pid left by a crash, now another program's, is none."""
    folder = Path(data).resolve()
    try:
        pid = int((folder / "server.pid").read_text())
    except (FileNotFoundError, ValueError):
        return None
    words = _words(pid)
    if "Launcher" not in words:
        return None
    home, served, port = words[words.index("Launcher") + 1 :][:3]
    return (
        Server(Path(home).name.rpartition("-")[0], int(port), pid, folder)
        if served == str(folder)
        else None
    )


def stop(data: Path | str) -> None:
    """Stops the server that runs on a folder, if one does."""
    if server := running(data):
        server.stop()


def _words(pid: int) -> list[str]:
    """The command line of a process; none when it is gone or only waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _launch(
    engine: str, port: int, data: Path, settings: Iterable[str], password: str | None
) -> int:
    words = list(settings)
    if wrong := [word for word in words if "=" not in word]:
        raise ValueError(f"{wrong[0]!r} is not of the form setting=value")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise RuntimeError(f"something else answers on port {port} already")
    jdk = find_jdk()
    home = install(engine, jdk)
    (data / "tmp").mkdir(parents=True, exist_ok=True)
    command = [jdk / "bin" / "java", *_options(home, data), "Launcher", home, data, port, *words]
    pid = _spawn([str(word) for word in command], data / "server.log", password)
    (data / "server.pid").write_text(str(pid))
    return pid


def _options(home: Path, data: Path) -> list[str]:
    # Native libraries are unpacked into the temporary folder.
    folders = [
        f"-Djava.io.tmpdir={data}/tmp",
        f"-Djna.tmpdir={data}/tmp",
        f"-XX:ErrorFile={data}/crash.log",
    ]
    return [
        *JVM_OPTIONS,
        *folders,
        f"-XX:SharedArchiveFile={home}/classes.jsa",
        "-cp",
        f"{home}/lib/*",
    ]


def _spawn(command: list[str], log: Path, password: str | None) -> int:
    """Not `subprocess.Popen`: that warns of every process that outlives the object."""
    secret = {} if password is None else {"ELASTIC_PASSWORD": password}
    inherited = {name: value for name, value in os.environ.items() if name != "ELASTIC_PASSWORD"}
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), append, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    pid = os.posix_spawn(command[0], command, inherited | secret, file_actions=files, setsid=True)
    while not _words(pid) and os.waitpid(pid, os.WNOHANG) == (0, 0):
        # A new process has no command line for a moment: it would pass for one that ended.
        time.sleep(0.001)
    return pid


def _wait_until_ready(server: Server, wait_s: float) -> None:
    give_up = time.monotonic() + wait_s
    paths = [*READY[server.engine], *([USERS] if server.password is not None else [])]
    while not all(_answers(server, path) for path in paths):
        alive = running(server.data) is not None
        if not alive or time.monotonic() > give_up:
            server.kill()
            what = f"gave no answer in {wait_s} s" if alive else "ended by itself"
            raise RuntimeError(
                f"{server.engine} {what}; {server.data}/server.log ends: {_tail(server.data)}"
            )
        time.sleep(0.1)


def _answers(server: Server, path: str) -> bool:
    try:
        return server.request("GET", path)[0] == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False


def _tail(data: Path) -> str:
    return "\n".join((data / "server.log").read_text(errors="replace").splitlines()[-20:])


def find_jdk(candidates: Sequence[Path] | None = None) -> Path:
    """The first JDK that is new enough: JAVA_HOME, then what is installed.

    Raises:
        Unavailable: there is none.
    """
    if candidates is None:
        named = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
        candidates = [*named, *sorted(Path("/usr/lib/jvm").glob("*"))]
    for candidate in candidates:
        if (candidate / "bin" / "javac").exists() and _java_version(candidate) >= OLDEST_JAVA:
            return candidate
    raise Unavailable(f"no JDK {OLDEST_JAVA} or newer in JAVA_HOME or /usr/lib/jvm")


def _java_version(jdk: Path) -> int:
    """The major version, from the file `release`; 0 where there is none."""
    release = jdk / "release"
    lines = release.read_text().splitlines() if release.exists() else []
    versions = [
        line.split('"')[1].split(".")[0] for line in lines if line.startswith("JAVA_VERSION=")
    ]
    return int(versions[0]) if versions and versions[0].isdecimal() else 0


def install(engine: str, jdk: Path) -> Path:
    """The folder with the server, made on first use.

    Its name changes with everything it is made from.

    Raises:
        Unavailable: no Maven, or the download failed.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "esrag-servers"
    home = cache / f"{engine}-{_fingerprint(engine)}"
    cache.mkdir(parents=True, exist_ok=True)
    with _one_at_a_time(cache):
        if home.exists():
            return home
        with tempfile.TemporaryDirectory(dir=cache, prefix=".part-") as part:
            stage = Path(part) / "home"
            _build(engine, jdk, stage)
            stage.rename(home)
    return home


@contextlib.contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Maven downloads into one folder, and two that download the same file into it both fail."""
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fingerprint(engine: str) -> str:
    inputs = [Path(__file__), *sorted((HERE / engine).iterdir())]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in inputs)).hexdigest()[:12]


def _build(engine: str, jdk: Path, stage: Path) -> None:
    lib = stage / "lib"
    _download(HERE / engine / "pom.xml", jdk, lib)
    for archive in lib.glob("*.zip"):  # a plugin with what it needs
        _unpack_jars(archive, lib)
        archive.unlink()
    for source in sorted((HERE / engine).glob("*.java")):
        _compile(source, jdk, lib)
    if engine == "elasticsearch":
        _lay_out_modules(stage)
        _link_zstd(stage)


def _download(pom: Path, jdk: Path, lib: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("no mvn (Maven) on PATH; it is needed once, to download the server")
    goals = [COPY_JARS, "-DincludeScope=runtime", f"-DoutputDirectory={lib}"]
    done = subprocess.run(
        [maven, "-B", "-q", "-f", pom, *goals],
        env=os.environ | {"JAVA_HOME": str(jdk)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if "ERROR" in line]
        raise Unavailable(f"Maven could not fetch the server: {(errors or ['no reason given'])[0]}")


def _unpack_jars(archive: Path, lib: Path) -> None:
    with zipfile.ZipFile(archive) as plugin:
        for name in plugin.namelist():
            if name.endswith(".jar"):
                (lib / Path(name).name).write_bytes(plugin.read(name))


def _compile(source: Path, jdk: Path, lib: Path) -> None:
    """A jar each, since the JVM's archive of classes refuses a class path with folders."""
    with tempfile.TemporaryDirectory() as classes:
        options = [
            "-proc:none",
            "-nowarn",
            "--release",
            str(OLDEST_JAVA),
            "-cp",
            f"{lib}/*",
            "-d",
            classes,
        ]
        subprocess.run(
            [jdk / "bin" / "javac", *options, source], check=True, stderr=subprocess.DEVNULL
        )
        jar = lib / f"{source.stem}.jar"
        subprocess.run(
            [jdk / "bin" / "jar", "--create", "--file", jar, "-C", classes, "."], check=True
        )


def _lay_out_modules(stage: Path) -> None:
    lib = stage / "lib"
    version = next(lib.glob("x-pack-core-*.jar")).stem.rpartition("-")[2]
    for name, (main_class, extended, jars) in MODULES.items():
        module = stage / "modules" / name
        module.mkdir(parents=True)
        (module / "plugin-descriptor.properties").write_text(
            _descriptor(name, version, main_class, extended)
        )
        for jar in jars:
            shutil.copy(next(lib.glob(f"{jar}*.jar")), module)
    for moved in {path.name for path in stage.glob("modules/*/*.jar")}:
        (lib / moved).unlink()  # a class found twice stops the start


def _descriptor(name: str, version: str, main_class: str, extended: str) -> str:
    lines = {
        "name": name,
        "description": name,
        "version": version,
        "elasticsearch.version": version,
        "java.version": OLDEST_JAVA,
        "classname": main_class,
        "extended.plugins": extended,
    }
    return "".join(f"{key}={value}\n" for key, value in lines.items())


def _link_zstd(stage: Path) -> None:
    """The system's library, where the server looks for its own; without one it runs
    with a warning.
    """
    machine = {"x86_64": "linux-x64", "aarch64": "linux-aarch64"}.get(
        platform.machine(), platform.machine()
    )
    folder = stage / "lib" / "platform" / machine
    for library in sorted(Path("/usr/lib").glob("*/libzstd.so.1")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "libzstd.so").symlink_to(library)
        return


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Real search servers for the tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    about = (
        "Starts a server, waits until it answers, prints its URL. Words name=value are settings."
    )
    starting = commands.add_parser("start", help="start a server", description=about)
    starting.add_argument("engine", choices=sorted(READY))
    starting.add_argument("--port", type=int, required=True)
    starting.add_argument(
        "--data", type=Path, required=True, help="folder for its indices, log and pid"
    )
    starting.add_argument(
        "--password", help="gives Elasticsearch users; the password of the user elastic"
    )
    stopping = commands.add_parser("stop", help="stop the server of a folder; the data stay")
    stopping.add_argument("--data", type=Path, required=True)
    return parser


def main() -> None:
    """The command line."""
    parser = _parser()
    known, settings = parser.parse_known_args()  # argparse takes no positional words after options
    options = vars(known)
    command = options.pop("command")
    if wrong := [word for word in settings if command == "stop" or word.startswith("-")]:
        parser.error(f"unrecognized arguments: {' '.join(wrong)}")
    try:
        if command == "stop":
            stop(**options)
        else:
            sys.stdout.write(start(options.pop("engine"), settings=settings, **options).url + "\n")
    except (Unavailable, RuntimeError, ValueError) as error:
        sys.exit(f"servers.py: {error}")


if __name__ == "__main__":
    main()
