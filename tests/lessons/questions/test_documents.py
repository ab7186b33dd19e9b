"""The four documents that the first questions came from: each statement, in our words, and the question that answers it."""

from __future__ import annotations

import pytest

from normviz.lessons.questions import sources
from normviz.lessons.questions.page import QUESTIONS
from tests.support.needs import whole

FORUM = {
    "LayerNorm normalizes over the elements of one example": "s0a",
    "all elements of an example share one mean and one variance": "s0a",
    "all elements of an example share one gamma and one beta (wrong)": "s0",
    "the note in torch's reference on per-element scale and bias is a mistake (wrong)": "s0",
    "batch norm has a scalar scale and bias for each whole channel": "s0e",
    "instance norm has a scalar scale and bias for each plane, if affine (for each channel)": "s0f",
    "there is a gain and a bias for each neuron": "s1",
    "the channels' elements all enter an example's mean": "s0a",
    "there are N*C*H*W scales and biases (wrong)": "s0b",
    "there are C*H*W scales and biases, as N is the batch": "s0b",
    "it is unclear whether channels are to be normalized over": "s0h",
    "without C there are N*C means and variances": "s0c",
    "without C there are C*H*W scales and biases (wrong)": "s0c",
    "without C there are H*W scales and biases": "s0c",
    "as many parameters as elements normalized over (LayerNorm and RMSNorm alone)": "s0g",
    "the same place in different channels shares a scale and a bias": "s0d",
    "different channels of batch norm have different scales and biases": "s0e",
    "both over C and not over C are possible, the layer is flexible": "s0h",
    "there is a scale and a bias for each normalized element": "s0",
    "torch's layer and its note are right": "s0",
    "the paper does not say how to use it in convolutional networks (it tried it in them)": "s0h",
}
COURSE = {
    "layer norm normalizes each data point": "s1a",
    "it does so in training and at test time": "s1c",
    "gamma and beta are identical to those of batch norm (in shape)": "s1b",
    "training and test time are identical, unlike batch norm's": "s1c",
    "no running averages are kept": "s1d",
    "x is (N, D), gamma and beta are (D,)": "s1",
    "gamma should have length N, as rows are normalized (wrong)": "s1",
    "eps is for numeric stability": "q22",
    "out is (N, D), and the cache is what backward needs": "s1g",
    "a row is normalized by its own mean and variance": "s1a",
    "N is the batch size, and the vector of D features is normalized": "s1a",
    "batch norm makes all columns distribute alike (before gamma)": "s1f",
    "one parameter for each column fits that": "s1f",
    "layer norm makes all rows distribute alike (before gamma)": "s1e",
    "different rows have different parameters (wrong: different columns have)": "s1e",
    "is there a reason for a gamma per column, although the rows then differ?": "s1e",
}
ANNOTATED = {
    "batch norm needs running means": "s2a",
    "recurrent nets may need statistics for each step": "s2b",
    "batch norm fails with small batches": "s2c",
    "large models of language have small batches (on each device)": "s2s",
    "batch norm needs statistics across devices": "q27",
    "layer norm is simpler and works in more settings": "s2r",
    "layer norm gives zero mean and unit variance across the features": "s2g",
    "batch norm gives each element zero mean and unit variance (each channel)": "s2e",
    "layer norm does so for each batch (wrong: for each example)": "s2f",
    "layer norm is for language, and in most transformers": "s3a",
    "a batch of embeddings [B, C]: mean over C, gamma (C,)": "s1a",
    "a batch of sequences [L, B, C]: mean over C, gamma (C,)": "s2h",
    "batch, channels, length, in that order": "q1",
    "a batch of images [B, C, H, W]: mean over C, H, W, gamma (C, H, W)": "s2j",
    "this is seldom used": "s2j",
    "normalized_shape is the shape but for the batch (but for all leading axes)": "s2",
    "eps is added to the variance for stability": "q22",
    "elementwise_affine says whether to scale and shift": "s2l",
    "the arguments have torch's names": "s2q",
    "eps is 1e-5 where nothing is said": "s2g",
    "an int or a list is converted, all else must be a torch.Size": "s2q",
    "gain starts as ones and bias as zeros, of normalized_shape": "s2l",
    "x is [*, S[0], ..., S[n]] (n + 1 sizes)": "s2",
    "any number of axes may come first": "s2",
    "in language x is [seq_len, batch_size, features]": "s2h",
    "comparing x's last sizes makes sure that the shapes match": "q1",
    "the averaged axes are the last, as many as normalized_shape has": "s2p",
    "mean holds the means for each element (for each group)": "s2p",
    "mean_x2 holds the squared mean (the mean of the squares)": "s2o",
    "the variance is E[x^2] - E[x]^2": "q24",
    "x - mean over the root of var + eps": "s2g",
    "the test feeds zeros": "s2m",
    "the test looks at the shapes of output and gain": "s2m",
}
ARTICLE = {
    "batch norm is for vision, layer norm for language": "s3a",
    "in vision the channels are RGB (of the image alone)": "s3b",
    "in language the channels are the features": "s3b",
    "layer norm normalizes the features of each input": "s3c",
    "that removes the dependence on the batch": "s3i",
    "so it suits sequence models": "q4",
    "the loops of batch norm (another batch norm)": "s3",
    "the loops of layer norm": "s3c",
    "dim=0 on (B, H, W, C) is batch norm (wrong)": "s3d",
    "dim=-1 on (B, L, D) is layer norm": "s3e",
    "gamma and beta have num_features numbers, for either dim": "s3g",
    "the variance epsilon is 1e-12": "q22",
    "u is [bz, seq_len, 1]": "s3f",
    "x_norm has u's shape (wrong)": "s3f",
    "the variance is the mean of the squared deviations": "q12",
    "there may be no batch dimension at inference (it stays, with size one)": "s3j",
    "in training a moving average is kept": "s3k",
    "at inference the moving averages are used": "s3k",
    "moving = moving * momentum + batch * (1 - momentum) (not torch's momentum)": "q11",
    "momentum is close to one (not torch's)": "q11",
    "a lower momentum forgets sooner (not torch's)": "q11",
    "moving -= (moving - batch) * (1 - momentum) is the same": "s3l",
    "it is more efficient": "s3l",
    "the moving variance averages batch_var (torch: the unbiased one)": "q12",
}
STATEMENTS = {"forum": FORUM, "course": COURSE, "annotated": ANNOTATED, "article": ARTICLE}
DOCUMENTS = {sources.DOCUMENTS[name]: statements for name, statements in STATEMENTS.items()}
SETTLED = {key for statements in DOCUMENTS.values() for key in statements.values()}
WITHOUT_STATEMENT = {"s2"}


@whole
@pytest.mark.rule(
    "A question that names one of the four documents as a source settles one of its statements: add the statement to this file, or leave that source out"
)
def test_every_statement_of_a_document_has_a_question_and_every_question_a_statement():
    questions = {question.key for question in QUESTIONS.values() if set(question.sources) & set(DOCUMENTS)}
    assert questions == SETTLED | WITHOUT_STATEMENT


@whole
def test_a_question_from_a_document_alone_names_no_thread():
    threads = {
        key: [one.name for one in QUESTIONS[key].sources if "#" in one.name] for key in SETTLED if key.startswith("s")
    }
    assert {key: found for key, found in threads.items() if found} == {}
