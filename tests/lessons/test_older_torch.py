"""With a torch that has neither nn.RMSNorm nor the ``bias`` of BatchNorm, InstanceNorm and GroupNorm, nothing of ours offers them.

A torch of this kind is made in a new process, before normviz reads it.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from normviz.lessons.questions.page import CORE, QUESTIONS
from tests.support.needs import whole

ROOT = Path(__file__).resolve().parents[2]
OLDER = """
import json, inspect, torch
from torch import nn
for place, name in ((nn, "RMSNorm"), (nn.modules.normalization, "RMSNorm"), (nn.functional, "rms_norm"), (torch, "rms_norm")):
    if hasattr(place, name):
        delattr(place, name)
for kind in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d, nn.GroupNorm):
    own = inspect.signature(kind)
    kind.__signature__ = own.replace(parameters=[one for one in own.parameters.values() if one.name != "bias"])

import normviz as nv
from normviz.analysis.comparison import suggestions
from normviz.analysis.rounding import constant_groups, single_elements
from normviz.layers.catalogue import families_with_button
from normviz.layers.fit import kind_for
from normviz.lessons.start import page as start
from normviz.lessons.story import page as story_page
from normviz.lessons.models.page import REAL_MODELS, recorded_data
from normviz.lessons.pages import PAGES, page_view
from normviz.lessons.practice.bank import rows
from normviz.lessons.questions.page import CORE, MERGED, QUESTIONS
from normviz.lessons.tours import tours
from tests.support.needs import whole

def refused(text, made=lambda text: nv.explain(text, (2, 4, 3, 3))):
    try:
        made(text)
    except nv.NormvizError as error:
        return str(error)

SHOWN = [
    ("story", ""), ("start", ""), ("models", ""), ("numerics", "show=eps"), ("numerics", "show=constant"), ("numerics", "show=single"),
    ("explore", ""), ("compare", ""), ("questions", ""), ("practice", ""), ("teach", ""),
]
print(json.dumps({
    "refused": [refused("RMSNorm(3)"), refused("BatchNorm2d(4, bias=False)"), refused("RMSNorm", lambda family: kind_for(family, ("n", "d")))],
    "norm": str(nv.explain("Norm('n d -> n', 'd', center=False, bias=False)", (2, 4)).counts.gamma_shape),
    "measured": str(nv.check(lambda x: x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt(), (2, 5, 6)).norm),
    "questions": list(QUESTIONS),
    "core": CORE,
    "merged": list(MERGED.values()),
    "suggested": suggestions((2, 4, 3, 3), "NCHW"),
    "offered": [
        *(question.query for question in QUESTIONS.values()), *map(str, rows()), *families_with_button(), *(section.key for section in story_page.SECTIONS),
        *(stop.query for tour in tours().values() for stop in tour.stops), *(one.layer for one in start.asked()),
        *(one.layer for one in (*constant_groups(), *single_elements())), *(str(recorded_data()["models"][key]["kinds"]) for key in REAL_MODELS),
    ],
    "pages": {f"{name}?{query}": len(page_view(PAGES[name], PAGES[name].view(query)).parts) for name, query in SHOWN},
}))
"""


@pytest.fixture(scope="module")
def found():
    done = subprocess.run([sys.executable, "-c", OLDER], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_error_names_the_version_of_torch_and_the_remedy(found):
    version = ".".join(torch.__version__.split(".")[:2])
    no_layer = f"torch {version} has no nn.RMSNorm; install a newer torch, or describe the layer with a Norm, as in Norm('n d -> n', 'd', center=False, bias=False)."
    assert found["refused"] == [
        no_layer,
        f"torch {version} has no bias=False of BatchNorm2d; install a newer torch, or describe the layer with a Norm.",
        no_layer,
    ]
    assert found["norm"] == "(4,)"


def test_a_measured_rms_norm_has_the_axis_names_of_a_sequence(found):
    assert found["measured"] == "statistics: n l c -> n l | no gamma, no beta"


def test_nothing_offers_what_torch_does_not_have(found):
    assert len(found["offered"]) > 3000
    absent = re.compile(r"RMSNorm|rms$|(Batch|Group|Instance)Norm\w*\([^()]*bias=")
    assert [text for text in [*found["offered"], *found["suggested"]] if absent.search(text)] == []


@whole
def test_only_the_questions_that_need_it_are_left_out(found):
    left_out = {key for key in QUESTIONS if key not in found["questions"]}
    assert left_out == {"s0g", "s2m", "s2o", "q15", "q23", "q26", "q28", "q30", "q31", "q45", "q46"}
    assert found["core"] == [key for key in CORE if key not in left_out]
    assert not left_out & {*found["merged"]}


def test_the_pages_are_shown_without_it(found):
    assert all(found["pages"].values())
