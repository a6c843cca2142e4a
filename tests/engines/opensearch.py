"""Starts and stops a real OpenSearch node on 127.0.0.1 for the tests, without Docker.

    opensearch.py up [--port P] [--home DIR] [--heap 1g] [--keep] [--setting K=V]...
                                    starts it with these settings and prints its URL
    opensearch.py down [--port P] [--home DIR]
    opensearch.py status [--port P] [--home DIR]                     URL, pid and state, one a line

Needs Java 11 to 23 (looked for in HARNESS_JAVA, JAVA_HOME, PATH, /usr/lib/jvm) and Maven, which
resolves `opensearch-pom.xml`. What it shares with other engines' scripts is in `_node.py`.
"""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import _node

POM = Path(__file__).with_name("opensearch-pom.xml")

# A server from artifacts has no modules folder: jars whose names match move out of lib/ to
# modules/NAME/, each with the descriptor and the permissions that a release would ship.
MODULES = {
    "transport-netty4": (
        r"(transport-netty4-client|netty-[a-z0-9-]+)-\d",
        (
            'java.net.SocketPermission "*", "accept,connect"',
            'java.lang.RuntimePermission "setContextClassLoader"',
            'java.lang.RuntimePermission "getClassLoader"',
        ),
    ),
    "analysis-common": (r"analysis-common-\d", ()),
    "lang-painless": (
        r"(lang-painless|opensearch-scripting-painless-spi|antlr4-runtime|asm|asm-[a-z]+)-\d",
        (
            'java.lang.RuntimePermission "createClassLoader"',
            'java.lang.RuntimePermission "getClassLoader"',
        ),
    ),
}
LOG4J = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


def move_module(layout: Path, name: str, jars: str, grants: tuple[str, ...], version: str) -> None:
    """Turn some jars of lib/ into one module."""
    folder = layout / "modules" / name
    folder.mkdir(parents=True)
    classes = []
    for jar in sorted((layout / "lib").glob("*.jar")):
        if re.match(jars, jar.name):
            with zipfile.ZipFile(jar.rename(folder / jar.name)) as archive:
                classes += archive.namelist()
    plugins = [c for c in classes if re.fullmatch(r"org/opensearch/.*Plugin\.class", c)]
    if len(plugins) != 1:
        raise _node.EngineError(f"module {name}: expected one plugin class, found {plugins}")
    descriptor = {
        "name": name,
        "description": name,
        "version": version,
        "opensearch.version": version,
        "java.version": "11",
        "classname": plugins[0].removesuffix(".class").replace("/", "."),
        "extended.plugins": "",
        "has.native.controller": "false",
    }
    lines = "".join(f"{key}={value}\n" for key, value in descriptor.items())
    (folder / "plugin-descriptor.properties").write_text(lines)
    policy = "".join(f"  permission {grant};\n" for grant in grants)
    (folder / "plugin-security.policy").write_text(f"grant {{\n{policy}}};\n")


def unpack_plugin(layout: Path, archive: Path) -> None:
    """Turn `lib/NAME-VERSION.zip` into plugins/NAME/."""
    name = re.sub(r"-\d.*", "", archive.name)
    with zipfile.ZipFile(archive) as plugin:
        plugin.extractall(layout / "plugins" / name)
    archive.unlink()


def resolve(layout: Path, java: Path) -> None:
    """Fetch every jar into lib/ and sort out the modules."""
    _node.maven(
        *(POM, java, "dependency:copy-dependencies"),
        *("-DincludeScope=runtime", f"-DoutputDirectory={layout / 'lib'}"),
    )
    version = _node.in_pom(POM, "opensearch.version")
    for name, (jars, grants) in MODULES.items():
        move_module(layout, name, jars, grants, version)
    for name in ("bin", "plugins"):  # the server wants these, and could not make them itself
        (layout / name).mkdir()
    for archive in sorted((layout / "lib").glob("*.zip")):
        unpack_plugin(layout, archive)


def configure(node: Path, layout: Path, settings: dict[str, object], heap: str) -> None:
    """Write node/config."""
    del layout, heap
    (node / "config/opensearch.yml").write_text(_node.yaml_lines(settings))
    (node / "config/log4j2.properties").write_text(LOG4J)


def launch(node: Path, layout: Path, java: Path, heap: str) -> int:
    """Start the process; gives its pid."""
    flags = [f"-Xms{heap}", f"-Xmx{heap}", "-Xss1m", "-XX:+UseG1GC"]
    properties = {
        "java.awt.headless": "true",
        "file.encoding": "UTF-8",
        "java.locale.providers": "SPI,COMPAT",
        "java.security.manager": "allow",
        "jna.nosys": "true",
        "jna.tmpdir": node / "tmp",
        "java.io.tmpdir": node / "tmp",
        "io.netty.noUnsafe": "true",
        "io.netty.noKeySetOptimization": "true",
        "io.netty.recycler.maxCapacityPerThread": "0",
        "io.netty.allocator.numDirectArenas": "0",
        "log4j.shutdownHookEnabled": "false",
        "log4j2.disable.jmx": "true",
        "opensearch.path.home": layout,
        "opensearch.path.conf": node / "config",
        "opensearch.distribution.type": "tar",
        "opensearch.bundled_jdk": "false",
    }
    flags += [f"-D{key}={value}" for key, value in properties.items()]
    command = [java, *flags, "-cp", f"{layout}/lib/*", "org.opensearch.bootstrap.OpenSearch"]
    return _node.spawn(node, command, {}).pid


def mark(node: Path) -> str:
    """What the command line of this node's process has."""
    return f"-Dopensearch.path.conf={node / 'config'} "


ENGINE = _node.Engine(
    name="opensearch",
    title="OpenSearch",
    port=19200,
    java=range(11, 24),  # 2.x needs a security manager, which Java 24 no longer has
    java_hint="OpenJDK 17",
    whole_jdk=False,
    files=(POM, Path(__file__)),
    resolve=resolve,
    configure=configure,
    launch=launch,
    mark=mark,
)

if __name__ == "__main__":
    sys.exit(_node.main(ENGINE))
