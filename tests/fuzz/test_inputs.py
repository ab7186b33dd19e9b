"""Thousands of hostile links and tour files end in a view or in a message, and every request has an answer."""

import os

from tests.fuzz.attempts import SEED, try_links, try_requests, try_tours
from tests.fuzz.measure import examples

NUMBER = int(os.environ.get("MONKEY_SEED", SEED))  # each round of a long run has other inputs


def test_every_link_leads_to_a_view_or_to_a_message():
    tried = try_links(examples(500), NUMBER)
    assert tried.inputs >= 500
    assert 50 < tried.refused < tried.inputs - 50  # many are views


def test_every_tour_file_leads_to_a_tour_or_to_a_message():
    tried = try_tours(200, NUMBER)
    assert tried.inputs >= 200
    assert 20 < tried.refused < tried.inputs - 20


def test_every_request_has_an_answer():
    assert try_requests(400, NUMBER).inputs >= 400
