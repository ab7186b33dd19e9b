"""compose.yaml and the Kubernetes manifests are valid, and agree with the Dockerfile, nginx.conf and the app."""

import re
import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml

from tests.deploy.names import dns_answer

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml"))
DOCKERFILE = (ROOT / "Dockerfile").read_text()
NGINX = (ROOT / "deploy" / "nginx.conf").read_text()


def manifest(kind: str) -> Any:
    (found,) = [each for each in map(_read, MANIFESTS) if each["kind"] == kind]
    return found


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.fixture(scope="module")
def kubernetes() -> Any:
    """Imported where it is needed: it makes 38 parsers, which takes seconds, and every process imports all files of tests."""
    return import_module("kubernetes_validate")


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_every_manifest_is_valid_under_the_schema_of_kubernetes(kubernetes: Any, path: Path) -> None:
    for version in ("1.29", kubernetes.latest_version()):
        kubernetes.validate(_read(path), version, strict=True)


def test_a_manifest_with_a_misspelt_field_is_caught(kubernetes: Any) -> None:
    wrong = manifest("Deployment")
    wrong["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    with pytest.raises(kubernetes.ValidationError):
        kubernetes.validate(wrong, kubernetes.latest_version(), strict=True)


def test_the_manifests_agree_with_each_other_and_the_dockerfile() -> None:
    assert [_read(path)["kind"] for path in MANIFESTS] == [
        "HorizontalPodAutoscaler",
        "Deployment",
        "Ingress",
        "Service",
    ]
    deployment, service = manifest("Deployment"), manifest("Service")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert service["spec"]["selector"].items() <= labels.items()
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    (port,) = container["ports"]
    assert f"EXPOSE {port['containerPort']}" in DOCKERFILE
    assert service["spec"]["ports"][0]["targetPort"] == port["name"]
    (rule,) = manifest("Ingress")["spec"]["rules"]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert backend == {"name": service["metadata"]["name"], "port": {"name": service["spec"]["ports"][0]["name"]}}
    assert manifest("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert "replicas" not in deployment["spec"]  # each rolling update would reset the number that the autoscaler chose


def test_a_pod_has_minimal_privileges_and_gets_visitors_only_when_it_is_ready() -> None:
    pod = manifest("Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert set(container["resources"]) == {"requests", "limits"}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": "/readyz", "port": "http"}
    wait = float(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > wait + 5


def compose() -> Any:
    return _read(ROOT / "compose.yaml")


def test_compose_mounts_the_nginx_configuration_that_the_tests_use() -> None:
    proxy = compose()["services"]["proxy"]
    (volume,) = proxy["volumes"]
    source, target, mode = volume.split(":")
    assert (ROOT / source).is_file()
    assert (target, mode) == ("/etc/nginx/templates/nginx.conf.template", "ro")
    variables = set(re.findall(r"\$\{([A-Z]+)\}", NGINX))
    assert variables == set(proxy["environment"]) - {"NGINX_ENVSUBST_OUTPUT_DIR"}
    assert proxy["environment"]["RESOLVER"] == "127.0.0.11"
    assert proxy["environment"]["PORT"] == proxy["ports"][0].rsplit(":", 1)[1]


def test_the_proxy_uses_the_name_and_port_of_the_app() -> None:
    services = compose()["services"]
    name, port = services["proxy"]["environment"]["APP"].split(":")
    assert services[name]["expose"] == [port]
    assert f"EXPOSE {port}" in DOCKERFILE
    assert "ports" not in services[name]  # two replicas cannot use the same port of the host
    assert services["proxy"]["depends_on"] == {name: {"condition": "service_healthy"}}
    assert "HEALTHCHECK" in DOCKERFILE


def test_every_variable_of_compose_has_a_default_and_is_in_the_guide() -> None:
    variables = re.findall(r"\$\{(\w+)(:-[^}]*)?\}", (ROOT / "compose.yaml").read_text())
    guide = (ROOT / "docs" / "settings.md").read_text()
    settings = {"NORMVIZ_PORT", "NORMVIZ_REPLICAS", "NORMVIZ_FRAME_ANCESTORS", "NORMVIZ_REPORT", "NORMVIZ_BASE_PATH"}
    assert {name for name, _ in variables} == settings
    for name, default in variables:
        assert default
        assert f"`{name}`" in guide


def test_docker_compose_reads_compose_yaml() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("NO DOCKER COMPOSE: its client did not read compose.yaml; the essentials above are checked")
    read = subprocess.run([docker, "compose", "config", "--quiet"], cwd=ROOT, capture_output=True, text=True)
    assert read.returncode == 0, read.stderr


def test_a_class_behind_one_address_meets_no_limit_of_nginx() -> None:
    """Each of 300 students opens six connections for files and a websocket, requests a page, a websocket and two states, and a saved file."""
    students = 300
    connections = re.search(r"limit_conn connections (\d+);", NGINX)
    bursts = dict(re.findall(r"limit_req zone=(\w+) burst=(\d+) nodelay;", NGINX))
    assert connections is not None
    assert int(connections[1]) >= 7 * students
    assert int(bursts["pages"]) >= 4 * students
    assert int(bursts["exports"]) >= students


def test_nginx_accepts_its_configuration(nginx: str, tmp_path: Path) -> None:
    values = {"PORT": 8080, "APP": "app:8501", "RESOLVER": "127.0.0.11", "CACHE": tmp_path}
    filled = tmp_path / "nginx.conf"
    filled.write_text(Template(NGINX).safe_substitute(values))
    command = [nginx, "-t", "-c", str(filled), "-g", f"pid {tmp_path}/pid;"]
    read = subprocess.run(command, capture_output=True, text=True)
    assert read.returncode == 0, read.stderr
    assert "warn" not in read.stderr


def test_the_name_server_of_the_tests_speaks_dns() -> None:
    question = b"\x12\x34\x01\x00\0\1\0\0\0\0\0\0\3app\0\0\1\0\1"
    reply = dns_answer(question, ["127.0.0.2", "127.0.0.3"])
    assert reply[:8] == b"\x12\x34\x81\x80\0\1\0\2"
    assert reply[12:21] == b"\3app\0\0\1\0\1"
    assert reply.endswith(b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4\x7f\0\0\3")
