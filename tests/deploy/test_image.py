"""The image has exactly the packages of requirements.lock, with their hashes, and a list of them; its containers may do little."""

import json
import re
import subprocess
import sys
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from normviz.export.assets import CARTESIAN
from tools import plotlyjs
from tools.sbom import CARRIED, bill

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINS = dict(re.findall(r"^([a-z0-9.-]+)==(\S+) \\$", LOCK, re.MULTILINE))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
IMAGE = {
    "extra": "",
    "platform_system": "Linux",
    "sys_platform": "linux",
    "python_version": "3.11",
    "python_full_version": "3.11.9",
}


def what_is_invalid(listed: str) -> object:
    """What CycloneDX's schema refuses in a list of packages. Its validator takes a second to import, which every process of the tests would pay."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    return JsonStrictValidator(SchemaVersion.V1_6).validate_str(listed)


def requirements() -> list[Requirement]:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if not line.startswith("#")]


def needed(asked: list[Requirement]) -> set[str]:
    """The names of the packages, and of all that they need in the image, by the metadata of those that are installed here in that version."""
    found, left = set(), [(one, "") for one in asked]
    while left:
        one, extra = left.pop()
        name = canonicalize_name(one.name)
        if one.marker and not one.marker.evaluate(IMAGE | {"extra": extra}):
            continue
        for wanted in {"", *one.extras}:
            if (name, wanted) in found:
                continue
            found.add((name, wanted))
            if name == "torch" or distribution(name).version == PINS.get(name):
                left += [(Requirement(text), wanted) for text in distribution(name).requires or ()]
    return {name for name, _extra in found}


def test_every_package_of_the_app_and_what_it_needs_is_pinned_with_hashes() -> None:
    for one in requirements():
        if one.name != "torch":
            assert one.specifier.contains(PINS[canonicalize_name(one.name)]), one
    assert needed(requirements()) - {"torch"} <= set(PINS)
    blocks = re.split(r"^(?=[a-z])", LOCK, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(PINS)
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}$", block, re.MULTILINE) for block in blocks)
    assert "://" not in LOCK


def test_the_image_installs_only_what_has_a_hash_besides_torch() -> None:
    assert "$install --require-hashes -r requirements.lock" in DOCKERFILE
    assert "-r requirements.txt" not in DOCKERFILE
    for name in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE):
        for part in name.split():
            assert f"!{part}" in (ROOT / ".dockerignore").read_text().splitlines()


def test_the_image_lists_its_packages() -> None:
    assert "/opt/venv/bin/python /opt/sbom.py > /sbom.json" in DOCKERFILE
    printed = subprocess.run([sys.executable, ROOT / "tools" / "sbom.py"], capture_output=True, text=True, check=True)
    assert what_is_invalid(printed.stdout) is None
    listed = {each["name"]: each for each in json.loads(printed.stdout)["components"]}
    carried = {plotlyjs.NAME} if CARTESIAN.is_file() else set()
    assert set(listed) == {"python"} | {each.metadata["Name"] for each in distributions()} | carried
    assert listed["einops"]["purl"] == f"pkg:pypi/einops@{distribution('einops').version}"
    torch = distribution("torch").version
    assert listed["torch"]["purl"] == f"pkg:pypi/torch@{torch.replace('+', '%2B')}"


def test_the_image_lists_the_plotly_js_that_it_carries() -> None:
    assert CARTESIAN.relative_to(ROOT).match(CARRIED)
    listed = bill([], [CARTESIAN])
    assert what_is_invalid(json.dumps(listed)) is None
    assert listed["components"][-1]["purl"] == f"pkg:npm/{plotlyjs.NAME}@{plotlyjs.VERSION}"
    assert listed["components"][-1]["licenses"] == [{"license": {"id": "MIT"}}]


def test_the_image_fetches_plotly_js_before_it_gets_the_app_so_that_a_change_of_the_app_does_not_fetch_it_again() -> (
    None
):
    fetch, app = (DOCKERFILE.index(line) for line in ("python tools/plotlyjs.py", "COPY normviz normviz"))
    assert fetch < app
    imported = set(re.findall(r"^(?:from|import) (\w+)", (ROOT / "tools" / "plotlyjs.py").read_text(), re.MULTILINE))
    assert imported <= sys.stdlib_module_names


def test_a_package_that_is_installed_twice_is_listed_once() -> None:
    components = bill([distribution("einops"), distribution("einops")])["components"]
    assert [each["name"] for each in components] == ["python", "einops"]


def test_no_container_of_compose_can_write_its_image_gain_privileges_or_start_many_processes() -> None:
    for service in yaml.safe_load((ROOT / "compose.yaml").read_text())["services"].values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert re.fullmatch(r"/tmp:size=\d+m", *service["tmpfs"])
        # Compose 5 refuses pids_limit beside other limits in deploy.
        assert "pids_limit" not in service
        limits = service["deploy"]["resources"]["limits"]
        assert set(limits) == {"cpus", "memory", "pids"}
        assert 0 < limits["pids"] <= 1024


def test_the_proxy_runs_as_a_user_and_writes_only_to_its_temporary_folder() -> None:
    proxy = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["proxy"]
    assert proxy["user"] == "101:101"
    folder = proxy["environment"]["NGINX_ENVSUBST_OUTPUT_DIR"]
    assert folder == proxy["environment"]["CACHE"] == "/tmp"
    assert proxy["command"][:3] == [
        "nginx",
        "-c",
        f"{folder}/nginx.conf",
    ]  # the image fills in a template for "nginx" alone
    assert proxy["command"][3:] == ["-g", f"daemon off; pid {folder}/nginx.pid;"]
    written = re.findall(r"^\s*\w+_path (\S+)", (ROOT / "deploy" / "nginx.conf").read_text(), re.MULTILINE)
    assert all(path.startswith("${CACHE}/") for path in written)
    assert len(written) == 6


def test_the_containers_may_open_the_files_that_a_class_needs() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    nginx = dict(re.findall(r"(worker_\w+) (\d+);", (ROOT / "deploy" / "nginx.conf").read_text()))
    for service in services.values():
        limits = service["ulimits"]["nofile"]
        assert limits["soft"] == limits["hard"] >= int(nginx["worker_rlimit_nofile"])  # no capability to raise it
    assert int(nginx["worker_rlimit_nofile"]) > int(nginx["worker_connections"])


@pytest.mark.parametrize(("given", "port"), [({}, "8501"), ({"PORT": "7860"}, "7860"), ({"PORT": ""}, "8501")])
def test_the_image_listens_at_the_port_of_the_host(given: dict[str, str], port: str, tmp_path: Path) -> None:
    (tmp_path / "python").write_text('#!/bin/sh\necho "$STREAMLIT_SERVER_PORT $*"\n')
    (tmp_path / "python").chmod(0o755)
    (command,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    environment = {"PATH": f"{tmp_path}:/bin:/usr/bin", "STREAMLIT_SERVER_PORT": "8501"} | given
    done = subprocess.run(json.loads(command), env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{port} -m normviz.ui\n"
    assert "(os.environ.get('PORT') or os.environ['STREAMLIT_SERVER_PORT'])" in DOCKERFILE  # the health check
