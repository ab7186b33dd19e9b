"""compose.yaml and the Kubernetes manifests are valid, and agree with the Dockerfile, nginx.conf and the app."""

import re
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, ClassVar

import pytest
import yaml

from tests.deploy.names import dns_answer
from tools.ports import free_port
from tools.servers import WITHOUT_PROXY, running

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
        "PodDisruptionBudget",
        "Ingress",
        "NetworkPolicy",
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


def test_a_drained_or_failed_node_does_not_take_both_pods() -> None:
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]
    budget = manifest("PodDisruptionBudget")["spec"]
    assert budget["selector"]["matchLabels"].items() <= labels.items()
    assert (
        0 < budget["minAvailable"] < manifest("HorizontalPodAutoscaler")["spec"]["minReplicas"]
    )  # else no node can be drained
    (spread,) = manifest("Deployment")["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert spread["labelSelector"]["matchLabels"].items() <= labels.items()
    assert (spread["topologyKey"], spread["whenUnsatisfiable"]) == ("kubernetes.io/hostname", "ScheduleAnyway")


def test_the_pods_can_be_reached_at_their_port_alone_and_reach_nothing() -> None:
    policy = manifest("NetworkPolicy")["spec"]
    (container,) = manifest("Deployment")["spec"]["template"]["spec"]["containers"]
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert policy["podSelector"]["matchLabels"].items() <= labels.items()
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["egress"] == []
    assert [port["port"] for rule in policy["ingress"] for port in rule["ports"]] == [container["ports"][0]["name"]]


def test_a_pod_passes_the_restricted_standard_of_kubernetes() -> None:
    """https://kubernetes.io/docs/concepts/security/pod-security-standards"""
    pod = manifest("Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["securityContext"]["runAsUser"] > 0
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert all("emptyDir" in volume and volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"])
    assert set(container["resources"]["limits"]) == {"cpu", "memory", "ephemeral-storage"}


def test_the_ingress_has_the_limits_of_nginx_conf() -> None:
    prefix = "nginx.ingress.kubernetes.io/"
    given = {name.removeprefix(prefix): value for name, value in manifest("Ingress")["metadata"]["annotations"].items()}
    zones = dict(re.findall(r"zone=(\w+):10m rate=(\d+)r/s;", NGINX))
    bursts = dict(re.findall(r"limit_req zone=(\w+) burst=(\d+) nodelay;", NGINX))
    assert given["limit-connections"] == re.search(r"limit_conn connections (\d+);", NGINX)[1]  # type: ignore[index]
    assert given["limit-rps"] == zones["assets"]  # one limit for all paths: the largest
    assert int(given["limit-rps"]) * int(given["limit-burst-multiplier"]) == int(bursts["assets"])
    assert f"client_max_body_size {given['proxy-body-size']};" in NGINX
    assert f"proxy_connect_timeout {given['proxy-connect-timeout']}s;" in NGINX
    assert f"proxy_next_upstream_tries {given['proxy-next-upstream-tries']};" in NGINX
    assert f"proxy_next_upstream {given['proxy-next-upstream']};" in NGINX


def test_the_cache_of_the_proxy_fits_into_its_memory() -> None:
    proxy = compose()["services"]["proxy"]
    (size,) = re.findall(r"^/tmp:size=(\d+)m$", "\n".join(proxy["tmpfs"]), re.MULTILINE)
    cache = dict(re.findall(r"(max_size|min_free)=(\d+)m", NGINX))
    assert int(cache["max_size"]) + int(cache["min_free"]) <= int(size)
    assert int(size) < int(proxy["deploy"]["resources"]["limits"]["memory"].removesuffix("M"))
    assert "proxy_cache_key $uri;" in NGINX
    assert "proxy_max_temp_file_size 0;" in NGINX


def test_images_and_actions_are_named_by_what_cannot_change() -> None:
    assert re.fullmatch(r"nginx:\d+\.\d+\.\d+-alpine@sha256:[0-9a-f]{64}", compose()["services"]["proxy"]["image"])
    workflows = "\n".join(path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    used = re.findall(r"uses: ([^.\s].*)", workflows)  # not those of the repository itself
    assert len(used) > 20
    assert [one for one in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)] == []
    assert all(
        len(set(pins)) == 1
        for pins in (
            [one for one in used if one.startswith(f"{name}@")] for name in {one.split("@")[0] for one in used}
        )
    )
    installed = re.findall(r"pip install (\w[^\s\"]*)", workflows)
    assert [one for one in installed if "==" not in one] == []


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
    assert int(bursts["assets"]) >= 50 * students


def test_nginx_accepts_its_configuration(nginx: str, tmp_path: Path) -> None:
    values = {"PORT": 8080, "APP": "app:8501", "RESOLVER": "127.0.0.11", "CACHE": tmp_path}
    filled = tmp_path / "nginx.conf"
    filled.write_text(Template(NGINX).safe_substitute(values))
    command = [nginx, "-t", "-c", str(filled), "-g", f"pid {tmp_path}/pid;"]
    read = subprocess.run(command, capture_output=True, text=True)
    assert read.returncode == 0, read.stderr
    assert "warn" not in read.stderr


class Counting(BaseHTTPRequestHandler):
    """A server of one file, which counts its requests."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Cache-Control", "public, max-age=31536000, immutable")
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"file")

    def log_message(self, *_arguments: object) -> None: ...


def test_what_follows_a_question_mark_adds_no_copy_of_a_file_to_the_cache(nginx: str) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Counting) as upstream, TemporaryDirectory() as name:
        Thread(target=upstream.serve_forever, daemon=True).start()
        folder, port = Path(name), free_port()
        folder.chmod(0o777)  # nginx's workers run as another user
        app = f"127.0.0.1:{upstream.server_port}"
        values = {"PORT": port, "APP": app, "RESOLVER": "127.0.0.11", "CACHE": folder}
        (folder / "nginx.conf").write_text(Template(NGINX).safe_substitute(values))
        command = [nginx, "-c", str(folder / "nginx.conf"), "-g", f"daemon off; pid {folder}/pid;"]
        address = f"http://localhost:{port}/lib/a.js"
        with running(command, address):
            for number in range(20):
                with WITHOUT_PROXY.open(f"{address}?{number}") as response:
                    assert response.read() == b"file"
        upstream.shutdown()
    assert Counting.asked == ["/lib/a.js"]


def test_the_name_server_of_the_tests_speaks_dns() -> None:
    question = b"\x12\x34\x01\x00\0\1\0\0\0\0\0\0\3app\0\0\1\0\1"
    reply = dns_answer(question, ["127.0.0.2", "127.0.0.3"])
    assert reply[:8] == b"\x12\x34\x81\x80\0\1\0\2"
    assert reply[12:21] == b"\3app\0\0\1\0\1"
    assert reply.endswith(b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4\x7f\0\0\3")
