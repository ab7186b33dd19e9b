"""A check in a notebook: its text, and the groups of the function beside the expected ones."""

import torch
from torch import nn

import normviz as nv


def panel_titles(output):
    return [panel.title for panel in output.parts[1].data.panels if panel.row == "stats"]


def over_the_batch(x):
    return nn.functional.batch_norm(x, None, None, training=True)


def test_the_groups_of_the_function_are_beside_the_expected_ones():
    found = nv.check(over_the_batch, (3, 4, 5), like="LayerNorm(5)")
    output = found.output()
    assert panel_titles(output) == ["your function", "LayerNorm(5)"]
    own, expected = (output.parts[1].data.sharings[key].axes for key in ("stats0", "stats1"))
    assert ([one.axis for one in own], [one.axis for one in expected]) == ([1], [0, 1])
    assert output.parts[2].text == (
        "In your function, the first element of x shares its statistics with 14 others. "
        "Under LayerNorm(5), it shares them with 4 others. The groups differ in 10 elements."
    )
    assert output.parts[3].text.startswith("A dark corner marks each of the elements in which the two groups differ")
    assert output.parts[1].data.differs == ("stats0", "stats1")
    assert str(found) in output.to_html(plotlyjs="cdn")


def test_one_other_element_is_singular():
    assert nv.check(over_the_batch, (2, 2), like="LayerNorm(2)").output().parts[2].text == (
        "In your function, the first element of x shares its statistics with 1 other. "
        "Under LayerNorm(2), it shares them with 1 other. The groups differ in 2 elements."
    )


def test_a_notebook_shows_text_and_figure():
    found = nv.check(over_the_batch, (3, 4, 5), like="LayerNorm(5)")
    shown = found._repr_mimebundle_()
    assert shown["text/plain"] == str(found)
    assert "LayerNorm(5) averages over C." in shown["text/html"]
    assert "<!doctype html>" in found._repr_html_().lower()


def test_another_variance_still_has_its_groups():
    found = nv.check(lambda x: (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True), (4, 6), like="LayerNorm(6)")
    assert panel_titles(found.output()) == ["your function", "LayerNorm(6)"]


def test_without_a_layer_only_the_function_is_shown():
    output = nv.check(nn.LayerNorm(5), (3, 4, 5)).output()
    assert panel_titles(output) == ["your function"]
    assert output.parts[1].data.differs == ()


def test_what_has_no_pattern_is_text_beside_the_expected_groups():
    assert panel_titles(nv.check(torch.sigmoid, (3, 4), like="LayerNorm(4)").output()) == ["LayerNorm(4)"]
    assert [type(part).__name__ for part in nv.check(torch.sigmoid, (3, 4)).output().parts] == ["Text"]


def test_channels_last_and_large_tensors_are_shown():
    def per_channel(x):
        return over_the_batch(x.movedim(-1, 1)).movedim(1, -1)

    found = nv.check(per_channel, (8, 14, 14, 6), like="GroupNorm(3, 6)", layout="NHWC")
    assert found.sampled
    assert panel_titles(found.output()) == ["your function", "GroupNorm(3, 6)"]
