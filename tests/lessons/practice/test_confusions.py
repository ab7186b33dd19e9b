"""What the feedback on a wrong answer says is true of every exercise of the bank that offers this answer."""

import pytest

from normviz.layers import sharing
from normviz.lessons.practice.bank import bank
from normviz.lessons.practice.confusions import CONFUSIONS, feedback
from normviz.texts.messages import in_language
from tests.support.needs import whole

OFFERED = {}
for exercise in bank():
    for confusion, _wrong in exercise.wrong:
        OFFERED.setdefault(confusion, []).append(exercise.case)


def averages_over_all_but(case, kept):
    return set(case.norm.pattern.reduced) == set(case.axes) - set(kept)


def alone(case):
    return not case.norm.running and case.example in case.norm.pattern.right


TRUE_OF_THE_LAYER = {
    "batchnorm": ("does not average over exactly these axes", lambda case: not averages_over_all_but(case, [case.channel])),
    "instancenorm": ("does not average over exactly these axes", lambda case: not averages_over_all_but(case, [case.example, case.channel])),
    "channels_by_size": ("normalizes the last axis", lambda case: case.norm.pattern.reduced == (case.axes[-1],)),
    "position": ("does not average over exactly this axis", lambda case: case.norm.pattern.reduced != (case.channel,)),
    "dim_zero": ("does not average over exactly this axis", lambda case: case.norm.pattern.reduced != (case.axes[0],)),
    "averaged_gamma": ("In the other layers, a gamma belongs to a channel", lambda case: case.family not in ("LayerNorm", "RMSNorm")),
    "no_gamma": ("BatchNorm and GroupNorm have a gamma by default", lambda case: case.norm.params is not None),
    "rms_bias": ("RMSNorm has a gamma and no beta", lambda case: case.family == "RMSNorm"),
    "buffers_counted": ("running_mean and running_var are buffers", lambda case: case.layer.tracks),
    "unbiased": ("{layer} normalizes with the variance divided by m,", lambda case: case.norm.center and not case.norm.running),
    "not_centered": ("{layer} subtracts the mean", lambda case: case.norm.center),
    "centered": ("RMSNorm does not subtract the mean", lambda case: case.family == "RMSNorm"),
    "affine_off": ("affine=False, the layer has neither", lambda case: not case.layer.affine),
    "whole_tensor": ("There is one mean for the whole tensor only where", lambda case: not averages_over_all_but(case, [])),
    "sequence": ("averages over C alone", lambda case: case.norm.pattern.reduced == ("c",)),
    "gamma_per_channel": ("LayerNorm and RMSNorm have", lambda case: case.family in ("LayerNorm", "RMSNorm")),
    "gamma_with_batch": ("a larger batch needs no more parameters", lambda case: case.example not in (case.norm.gamma_axes or ())),
    "only_gammas": ("In this layer, each gamma has a beta", lambda case: case.norm.params is not None and case.norm.bias),
    "instance_learns": ("it learns nothing", lambda case: case.norm.params is None),
    "per_example_runs": ("This layer normalizes each example alone and has no running statistics", lambda case: alone(case) and not case.layer.tracks),
    "per_example_stores": ("This layer normalizes each example alone", lambda case: alone(case) and not case.layer.tracks),
    "needs_batch": ("does not normalize with the statistics of the batch", lambda case: case.norm.running or alone(case)),
    "ignores_batch": ("BatchNorm does not use each example alone", lambda case: case.family == "BatchNorm" and not alone(case)),
    "train_keeps": ("each batch that passes through the layer updates the running statistics", lambda case: case.layer.tracks and case.layer.training),
    "eval_updates": ("are used and not changed", lambda case: case.norm.running),
}  # fmt: skip


@pytest.mark.parametrize("key", TRUE_OF_THE_LAYER)
@whole
def test_the_sentence_is_true_of_every_layer_for_which_it_is_shown(key):
    words, holds = TRUE_OF_THE_LAYER[key]
    assert words in CONFUSIONS[key].sentence
    assert [(case.text, case.shape) for case in OFFERED[key] if not holds(case)] == []


RIGHT_STATISTICS = {  # the words of a right option, and what is then true of the groups of the layer
    "over all examples": lambda case: not case.norm.running and case.example in case.norm.pattern.reduced,
    "within each example": alone,
    "running": lambda case: case.norm.running,
}


def test_the_right_option_on_modes_says_what_the_statistics_are_computed_from():
    """An example has several means in GroupNorm: they are "within each example", not "those of each example"."""
    asked = [one for one in bank() if one.kind == "mode" and one.variant.startswith("uses")]
    several = 0
    for one in asked:
        text, counts = one.text_of(one.answer), sharing.counts(one.case.norm, one.case.shape)
        (words,) = [words for words in RIGHT_STATISTICS if words in text]
        assert RIGHT_STATISTICS[words](one.case), (one.whole_prompt, text)
        several += (
            words == "within each example" and counts.statistics > one.case.shape[one.case.axes.index(one.case.example)]
        )
    assert several > 10


def test_chinese_feedback_has_no_space_between_its_sentences():
    with in_language("zh"):
        text = feedback("per_example_runs", OFFERED["per_example_runs"][0])
    assert text.count("。") >= 2
    assert "。 " not in text


def test_a_group_of_one_element_gives_beta_if_there_is_one():
    lonely = [each for each in bank() if each.kind == "moves" and not each.answer]
    ends = {(each.case.norm.params is None, each.explanation.rpartition("output is ")[2]) for each in lonely}
    assert ends == {(False, "beta."), (True, "0.")}
