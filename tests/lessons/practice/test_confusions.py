"""What the feedback on a wrong answer says is true of every exercise of the bank that offers this answer."""

import pytest

from normviz.lessons.practice.bank import bank
from normviz.lessons.practice.confusions import CONFUSIONS, feedback
from normviz.texts.messages import in_language

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
    "whole_tensor": ("The whole tensor shares one mean only where", lambda case: not averages_over_all_but(case, [])),
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
def test_the_sentence_is_true_of_every_layer_for_which_it_is_shown(key):
    words, holds = TRUE_OF_THE_LAYER[key]
    assert words in CONFUSIONS[key].sentence
    assert [(case.text, case.shape) for case in OFFERED[key] if not holds(case)] == []


def test_chinese_feedback_has_no_space_between_its_sentences():
    with in_language("zh"):
        text = feedback("per_example_runs", OFFERED["per_example_runs"][0])
    assert text.count("。") >= 2
    assert "。 " not in text


def test_a_group_of_one_element_gives_beta_if_there_is_one():
    lonely = [each for each in bank() if each.kind == "moves" and not each.answer]
    ends = {(each.case.norm.params is None, each.explanation.rpartition("output is ")[2]) for each in lonely}
    assert ends == {(False, "beta."), (True, "0.")}
