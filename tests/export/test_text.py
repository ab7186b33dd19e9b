"""Every page as plain text."""

import normviz as nv


def test_every_page_has_a_plain_text():
    for output in (nv.compare(["BatchNorm2d(3)", "LayerNorm([3,4,4])"]), nv.steps("LayerNorm(4)", (2, 4)), nv.gradients("LayerNorm(4)", (2, 4)), nv.train_and_eval(), nv.numerics(), nv.questions()):  # fmt: skip
        assert len(str(output).splitlines()) > 5
        assert "<" not in str(output).replace("<=", "").replace("< ", "")
