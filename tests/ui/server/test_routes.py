import gzip
import re
from hashlib import sha256

import pytest
import streamlit as st
from starlette.applications import Starlette
from streamlit import config

from normviz.export.assets import bundle, plotly_js
from normviz.ui import ROOT
from normviz.ui.assets import LOADER, PLOTLY, assets, component
from normviz.ui.server.routes import SHELL, routes
from tests.support.asgi import ask


@pytest.fixture
def app():
    return Starlette(routes=routes())


@pytest.fixture
def app_below_lab():
    before = config.get_option("server.baseUrlPath")
    config.set_option("server.baseUrlPath", "/lab/")
    yield Starlette(routes=routes())
    config.set_option("server.baseUrlPath", before)


def test_plotly_js_is_a_file(app):
    response = ask(app, f"/{PLOTLY.path}")
    assert (response.status, response.body) == (200, plotly_js())
    assert response.headers["content-type"].startswith("text/javascript")


def test_its_name_has_its_hash_so_that_it_can_be_cached_forever(app):
    assert f"lib/plotly-{sha256(plotly_js()).hexdigest()[:16]}.js" == PLOTLY.path
    assert ask(app, f"/{PLOTLY.path}").headers["cache-control"] == "public, max-age=31536000, immutable"
    assert ask(app, "/lib/plotly-0000000000000000.js").status == 404


@pytest.mark.parametrize("accepted", ["gzip", "gzip, deflate, br, zstd", "br;q=1, gzip;q=0.5"])
def test_it_is_compressed_if_the_client_accepts_gzip(app, accepted):
    response = ask(app, f"/{PLOTLY.path}", accept_encoding=accepted)
    assert response.headers["content-encoding"] == "gzip"
    assert gzip.decompress(response.body) == plotly_js()
    assert len(response.body) < len(plotly_js()) / 2
    assert int(response.headers["content-length"]) == len(response.body)


@pytest.mark.parametrize("accepted", ["identity", "br", "", "gzip;q=0", "identity, gzip; q=0.0", "x-gzipped"])
def test_it_is_uncompressed_for_all_other_clients(app, accepted):
    response = ask(app, f"/{PLOTLY.path}", accept_encoding=accepted)
    assert "content-encoding" not in response.headers
    assert response.body == plotly_js()


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
def test_caches_store_compressed_and_uncompressed_files_separately(app, accepted):
    assert ask(app, f"/{PLOTLY.path}", accept_encoding=accepted).headers["vary"] == "Accept-Encoding"


def test_it_answers_head_and_refuses_post(app):
    assert ask(app, f"/{PLOTLY.path}", "HEAD").status == 200
    assert ask(app, f"/{PLOTLY.path}", "POST").status == 405


@pytest.mark.parametrize("path", [f"/{PLOTLY.path}", f"/lab/{PLOTLY.path}"])
def test_with_a_base_path_both_addresses_answer(app_below_lab, path):
    assert ask(app_below_lab, path).body == plotly_js()


def test_without_a_base_path_there_is_one_address(app):
    assert [route.path for route in routes() if "lib" in route.path] == ["/lib/{name}"]
    assert ask(app, f"/lab/{PLOTLY.path}").status == 404


def test_the_application_is_the_shell_with_these_routes():
    from app import app

    assert isinstance(app, st.App)
    assert SHELL.is_absolute()
    assert SHELL.is_file()
    assert (ROOT / "pages" / "explore.py").is_file()
    assert ask(app, f"/{PLOTLY.path}").body == plotly_js()


def test_the_module_of_the_page_has_its_style_and_can_be_cached_forever(app):
    response = ask(app, f"/{component('en').path}", accept_encoding="gzip")
    text = gzip.decompress(response.body).decode()
    assert text.startswith(bundle("app"))
    assert {".nv-view", ".nv-sentence", ".nvs-button"} <= set(re.findall(r"\.nvs?-[\w-]+", text[len(bundle("app")) :]))
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_the_loader_of_the_scripts_is_short():
    assert len(LOADER) < 1500


@pytest.mark.parametrize("asset", list(assets()), ids=lambda asset: asset.path)
def test_scripts_have_an_address_below_a_base_path_too(app_below_lab, asset):
    assert ask(app_below_lab, f"/lab/{asset.path}").body == ask(app_below_lab, f"/{asset.path}").body == asset.content
