"""The recorded training: the record itself, what the page says of it, and a network that is trained again."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import normviz as nv
from normviz.lessons.pages import PAGES, page_view
from normviz.lessons.train_and_eval import training
from normviz.lessons.train_and_eval.training import NO_NORM, NORMS, SEEDS, SIZES, Accuracy, Training, recorded
from normviz.parts.html import Body
from normviz.parts.part import Sentence, Text, flat
from tests.support import javascript
from tests.support.javascript import LESSONS
from tests.support.sentences import numbers_in
from tools import record_training

RECORD = json.loads(training.FILE.read_text(encoding="utf-8"))
POINTS = len(RECORD["points"])
SCRIPT = LESSONS / "train_and_eval/train_and_eval.ts"
CELLS = [(norm, size) for norm in NORMS for size in SIZES]
PAGE = PAGES["train_and_eval"]


def evaluate(expression, *arguments):
    return javascript.evaluate(expression, *arguments, entry=SCRIPT)


def share_right(classes):
    return sum(one == true for one, true in zip(classes, RECORD["spirals"], strict=True)) / POINTS


# The record


def test_the_record_is_small_and_whole():
    assert training.FILE.stat().st_size < 200_000
    assert SEEDS >= 5
    assert list(RECORD["cells"]) == [f"{norm} {size}" for norm, size in CELLS]
    for cell in RECORD["cells"].values():
        assert np.shape(cell["train"]) == np.shape(cell["eval"]) == (SEEDS, len(RECORD["steps"]))
        assert len(cell["exact"]) == SEEDS
        assert len(cell["plane"]) == RECORD["side"] ** 2
        assert len(cell["train_classes"]) == len(cell["eval_classes"]) == POINTS
    assert all(POINTS % size == 0 for size in SIZES)  # every test batch is whole


@pytest.mark.parametrize(("norm", "size"), CELLS)
def test_the_drawn_classes_are_those_that_were_counted(norm, size):
    cell = RECORD["cells"][f"{norm} {size}"]
    assert share_right(cell["eval_classes"]) * POINTS == pytest.approx(cell["eval"][0][-1])
    assert share_right(cell["train_classes"]) * POINTS == pytest.approx(cell["train"][0][-1])


@pytest.mark.parametrize(("norm", "size"), CELLS)
def test_the_drawn_regions_are_those_of_the_points(norm, size):
    cell, side, edge = RECORD["cells"][f"{norm} {size}"], RECORD["side"], RECORD["edge"]
    places = ((np.array(RECORD["points"]) + edge) / (2 * edge) * (side - 1)).round().astype(int)
    drawn = [int(int(cell["plane"][y * side + x]) > 4) for x, y in places]
    agree = np.mean([one == int(given) for one, given in zip(drawn, cell["eval_classes"], strict=True)])
    assert agree > 0.95  # the nearest place of the grid may be on the other side of the boundary


def test_a_network_that_is_trained_again_agrees_with_the_record_and_another_layer_does_not(monkeypatch):
    assert record_training.disagreement("BatchNorm", 2) == ""
    monkeypatch.setitem(record_training.NORM_LAYERS, "BatchNorm", record_training.NORM_LAYERS["LayerNorm"])
    assert re.match(r"BatchNorm, 2 points, train\(\): \S+ is not in ", record_training.disagreement("BatchNorm", 2))


def test_the_check_tolerates_the_seeds_and_as_much_beyond():
    cell = training.Cell(np.array([[0.0, 0.5, 0.5, 0.5, 0.5], [0, 0.6, 0.6, 0.6, 0.6]]), *[np.zeros(1)] * 2, "", "", "")
    assert record_training.tolerated(cell, "train") == pytest.approx((0.4, 0.7))


# The sentences


def test_ranges_overlap_if_a_network_of_one_is_as_good_as_one_of_the_other():
    one, two, three = (Accuracy(np.array(seeds)) for seeds in ([0.5, 0.7], [0.7, 0.9], [0.8, 1.0]))
    assert one.overlaps(two)
    assert two.overlaps(three)
    assert not one.overlaps(three)
    assert str(one) == "60.0 % (50.0 to 70.0)"


@pytest.mark.parametrize(("norm", "size"), CELLS)
def test_the_sentence_has_the_numbers_of_the_record(norm, size):
    def mean(name, mode):
        found = 100 * np.mean([run[-1] for run in RECORD["cells"][f"{name} {size}"][mode]]) / POINTS
        return f"{found:.{2 if 99.95 <= found < 100 else 1}f}"  # only networks without an error have 100.0

    said = [number.removesuffix(" %") for number in numbers_in(training.end_sentence(norm, size))]
    plain, found = mean(NO_NORM, "eval"), mean(norm, "eval")
    both = [found, mean(norm, "train")] if norm == "BatchNorm" else [found]
    assert said == ([str(size), plain] if norm == NO_NORM else [str(size), *both, plain])


@pytest.mark.parametrize(("norm", "size"), [cell for cell in CELLS if cell[0] != "BatchNorm"])
def test_layers_without_running_statistics_give_each_point_the_same_answer_in_both_modes(norm, size):
    cell = RECORD["cells"][f"{norm} {size}"]
    assert cell["train"] == cell["eval"]
    assert cell["train_classes"] == cell["eval_classes"]


def test_running_statistics_are_not_the_only_reason_where_the_page_says_so():
    said = {size: "A usual explanation" in " ".join(training.norm_texts("BatchNorm", size)) for size in SIZES}
    assert said == {2: True, 4: True, 8: True, 16: False, 32: False, 64: False, 128: False}
    for size in (2, 4, 8):
        assert recorded("BatchNorm", size).end("exact").seeds.max() < recorded(NO_NORM, size).end("eval").seeds.min()


def test_the_texts_on_batches_of_two_are_counted_again():
    _against, modes, _exact, pairs, sizes = training.norm_texts("BatchNorm", 2)
    cell = RECORD["cells"]["BatchNorm 2"]
    ends = [(train[-1], evaluated[-1]) for train, evaluated in zip(cell["train"], cell["eval"], strict=True)]
    assert numbers_in(modes) == [str(sum(t < e for t, e in ends)), str(sum(t > e for t, e in ends))]
    batches = [slice(at, at + 2) for at in range(0, POINTS, 2)]
    alike = [batch for batch in batches if len(set(RECORD["spirals"][batch])) == 1]
    apart = sum(len(set(cell["train_classes"][batch])) == 2 for batch in alike)
    near = 0.05 / (0.05**2 + 1e-5) ** 0.5  # half of the distance, divided by the standard deviation
    assert numbers_in(pairs)[:2] == [f"−{near:.3f}", f"{near:.3f}"]
    assert f"{len(alike)} test batches have two" in pairs
    assert numbers_in(pairs)[-1] == str(apart)
    means = [np.mean([run[-1] for run in RECORD["cells"][f"BatchNorm {size}"]["eval"]]) / POINTS for size in SIZES]
    assert numbers_in(sizes) == [f"{100 * min(means):.1f} %", f"{100 * max(means):.1f} %"]


def test_the_page_says_how_the_networks_were_trained():
    text = training.made_text()
    assert f"with every batch size: {RECORD['steps'][-1]}\n" in text
    assert f"torch {RECORD['torch']} by" in text
    seen = [f"{size * RECORD['steps'][-1]:,} with batches of {size}" for size in (2, 128)]
    assert ", ".join(seen) in text
    net = record_training.network("GroupNorm")
    assert (net[0].out_features, net[1].num_groups) == (RECORD["width"], RECORD["groups"])


# The figure


def payload(query="show=training"):
    body = Body(turn=0)
    (part,) = (part for part in page_view(PAGE, PAGE.view(query)).parts if isinstance(part, Training))
    part.html(body)
    return json.loads(json.dumps(body.figures[0], allow_nan=False))


def test_the_figure_has_the_record_and_the_texts():
    data = payload("show=training&norm=GroupNorm&batch=2")
    assert data["trained"] == {"norm": "GroupNorm", "batch": "2"}
    for norm, size in CELLS:
        cell, drawn = RECORD["cells"][f"{norm} {size}"], data["cells"][f"{norm} {size}"]
        runs = 100 * np.array(cell["train"]) / POINTS
        assert drawn["train"]["low"] == pytest.approx(runs.min(0), abs=0.05)
        assert drawn["train"]["mean"] == pytest.approx(runs.mean(0), abs=0.05)
        assert drawn["train"]["high"] == pytest.approx(runs.max(0), abs=0.05)
        assert drawn["plane"] == cell["plane"]
        assert training.end_sentence(norm, size).replace("**", "") in re.sub(r"</?strong>", "", drawn["sentence"])


def test_the_boundary_is_interpolated_between_the_places_of_the_grid():
    assert evaluate("regionPath('0000', 2, 10)") == ""
    assert evaluate("regionPath('9999', 2, 10)") == "M0,10L10,10L10,0L0,0Z"
    assert evaluate("regionPath('0909', 2, 10)") == "M5,10L10,10L10,0L5,0Z"  # class 1 on the right
    assert evaluate("regionPath('0099', 2, 10)") == "M10,5L10,0L0,0L0,5Z"  # the last row is the highest


CHOICES = [
    # the turn of the data (undefined without a server), what they say, what the reader has chosen since, and what is shown
    (None, "2", None, "2"),
    (None, "32", "8", "8"),  # unchanged data do not undo a choice in a file
    (None, "2", "8", "2"),
    (0, "32", "8", "8"),  # the response to the choice has not come
    (1, "8", "8", "8"),
    (1, "2", "8", "2"),
]


@pytest.mark.parametrize(("turn", "batch", "chosen", "shown"), CHOICES)
def test_data_from_before_a_choice_do_not_undo_it(turn, batch, chosen, shown):
    script = """(() => {
      const [turn, batch, chosen] = args, trained = (batch) => ({ norm: "none", batch });
      const server = turn === null ? undefined : 0;
      const view = Object.assign(Object.create(TrainingView.prototype), { turns: new Turns(server), data: { trained: trained("32"), turn: server } });
      view.takeChoice();
      if (chosen) Object.assign(view.trained, { batch: chosen });
      if (chosen && turn !== null) view.turns.next();
      view.data = { trained: trained(batch), turn: turn === null ? undefined : turn };
      view.takeChoice();
      return view.trained.batch;
    })()"""
    assert evaluate(script, turn, batch, chosen) == shown


# Links


def test_the_page_opens_with_the_training_and_old_links_and_the_api_keep_the_stream():
    assert PAGE.view({}).settings["show"] == "training"
    assert PAGE.view(PAGE.query(PAGE.view({}))) == PAGE.view({})
    for query in ("batch_size=16", "momentum=0.5", "steps=60", "shape=2,3&layer=LayerNorm(3)", "show=stream"):
        assert PAGE.view(query).settings["show"] == "stream"
    assert PAGE.view("hide=controls").settings["show"] == "training"
    assert nv.train_and_eval().view.settings["show"] == "stream"
    assert "BatchNorm" in str(nv.train_and_eval(show="training", norm="BatchNorm", batch=2))


@pytest.mark.parametrize("query", ["batch=2", "norm=none", "norm=none&batch=8&hide=controls"])
def test_a_setting_of_the_training_alone_opens_it(query):
    view = PAGE.view(query)
    assert view.settings["show"] == "training"
    assert view == PAGE.view(f"show=training&{query}")
    stream = replace(view, settings=view.settings | {"show": "stream"})  # a reader has chosen another experiment
    assert PAGE.view(PAGE.query(stream)) == stream.with_settings(norm="BatchNorm", batch="2")


@pytest.mark.parametrize("query", ["show=stream", "show=training&batch=2", "show=training&norm=none&hide=controls"])
def test_an_address_reads_back_as_its_view(query):
    view = PAGE.view(query)
    assert PAGE.view(PAGE.query(view)) == view
    assert PAGE.view(PAGE.whole_query(view)).settings == view.settings


def test_another_layer_or_size_of_batches_is_refused_with_the_choices():
    assert "batch='3' is unknown; choose 2, 4, 8, 16, 32, 64 or 128." in PAGE.view("show=training&batch=3").problem
    assert "norm='RMSNorm' is unknown" in PAGE.view("show=training&norm=RMSNorm").problem


def test_the_sentence_and_the_texts_can_be_hidden_and_are_left_without_the_figure():
    without = payload("show=training&hide=sentence")["cells"].values()
    assert {cell["sentence"] for cell in without} == {""}
    assert all(cell["texts"] for cell in without)

    def parts(query):
        return page_view(PAGE, PAGE.view(query)).parts

    (figure,) = (part for part in parts("show=training&hide=sentence,text") if isinstance(part, Training))
    assert not figure.has_sentence
    assert not figure.has_texts
    assert figure.plain_text() == ""
    left = list(flat(parts("show=training&batch=2&hide=panels")))
    assert Sentence(training.end_sentence("BatchNorm", 2)) in left
    assert all(Text(one) in left for one in training.norm_texts("BatchNorm", 2))
