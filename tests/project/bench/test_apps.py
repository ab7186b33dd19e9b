"""The reference app of the benchmarks shows every page without an exception."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = Path(__file__).resolve().parents[3] / "bench" / "apps" / "afternoon.py"
PAGES = ("explore", "compare", "step_by_step", "train_and_eval", "gradients", "numerics", "questions")


@pytest.mark.parametrize("page", PAGES)
def test_the_page_has_no_exception(page: str) -> None:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["page"] = page
    app.run()
    if page == "questions":
        app.radio[0].set_value(app.radio[0].options[0]).run()
        assert app.markdown  # the answer
    assert not app.exception
    assert app.subheader or page == "compare"
