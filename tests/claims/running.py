"""How running statistics follow the batches."""

import torch
from hypothesis import strategies as st
from torch import nn

from tests.claims.drawing import close, draw_case, normal, run
from tests.claims.modes import with_random_statistics
from tests.claims.predicates import predicate


def channels(x: torch.Tensor) -> torch.Tensor:
    """The values of each channel."""
    return x.double().transpose(0, 1).flatten(1)


@predicate({"momentum is the weight of the old value": {"weight": lambda momentum: 1 - momentum}})
def momentum_is_the_weight_of_the_new_batch(draw, weight=lambda momentum: momentum):
    """After a batch, running_mean is (1 - momentum) · old + momentum · the mean of the batch, and running_var likewise."""
    momentum = draw(st.sampled_from([0.01, 0.1, 0.9, 1.0]))
    case = draw_case(draw, "BatchNorm", momentum=momentum)
    layer, w = with_random_statistics(draw, case.layer), weight(momentum)
    old_mean, old_var = layer.running_mean.clone(), layer.running_var.clone()
    run(layer, case.x)
    close(layer.running_mean, (1 - w) * old_mean + w * channels(case.x).mean(1))
    close(layer.running_var, (1 - w) * old_var + w * channels(case.x).var(1))


@predicate({"BatchNorm stores the variance with which it normalizes": {"correction": 0}})
def running_var_averages_the_unbiased_variance(draw, correction=1):
    """BatchNorm stores the variance divided by m - 1, which is m / (m - 1) times the one with which it normalizes."""
    case = draw_case(draw, "BatchNorm", momentum=1.0)
    run(case.layer, case.x)
    close(case.layer.running_var, channels(case.x).var(1, correction=correction))
    m = case.group_size
    close(case.layer.running_var, channels(case.x).var(1, correction=0) * (m / (m - 1) if correction else 1))


@predicate({"The same batch gives the same outputs in eval mode if momentum is 1.": {"equal": True}})
def the_same_batch_has_smaller_outputs_in_eval_mode(draw, equal=False):
    """With momentum 1, the normalized values of the same batch are smaller in eval mode, because the stored variance is larger."""
    case = draw_case(draw, "BatchNorm", momentum=1.0, fresh=True, dtype=torch.float64)
    train, evaluated = run(case.layer, case.x), run(case.layer.eval(), case.x)
    largest = float(train.abs().max())
    assert (abs(largest - float(evaluated.abs().max())) < 1e-9) if equal else float(evaluated.abs().max()) < largest


@predicate({"Running statistics start at 0 and 0": {"var": 0.0}})
def running_statistics_start_at_0_and_1(draw, mean=0.0, var=1.0):
    """A new layer stores a mean of 0 and a variance of 1 for each channel."""
    layer = draw_case(draw, "BatchNorm", "InstanceNorm", track_running_stats=True, fresh=True).layer
    assert bool((layer.running_mean == mean).all())
    assert bool((layer.running_var == var).all())


@predicate({"a batch leaves momentum of the distance": {"left": lambda momentum: momentum}})
def each_batch_leaves_its_part_of_the_distance(draw, left=lambda momentum: 1 - momentum):
    """A batch leaves 1 - momentum of the distance between the running mean and its own mean; k equal batches leave that to the power k."""
    momentum, k = draw(st.sampled_from([0.1, 0.3])), draw(st.integers(1, 6))
    case = draw_case(draw, "BatchNorm", momentum=momentum)
    layer = with_random_statistics(draw, case.layer)
    mean = channels(case.x).mean(1)
    before = layer.running_mean - mean
    for _batch in range(k):
        run(layer, case.x)
    close(layer.running_mean - mean, before * left(momentum) ** k, dtype=case.x.dtype)


@predicate({"with momentum=None, later batches weigh more": {"average": lambda means: means[-1]}})
def momentum_none_averages_all_batches_alike(draw, average=lambda means: torch.stack(means).mean(0)):
    """With momentum=None, every batch has the same weight."""
    case, means = draw_case(draw, "BatchNorm", momentum=None), []
    for _batch in range(draw(st.integers(2, 4))):
        x = case.x + float(normal(draw, 1, scale=3.0))
        run(case.layer, x)
        means.append(channels(x).mean(1))
    close(case.layer.running_mean, average(means))


@predicate({"the form with -= follows the batches faster": {"factor": 1.1}})
def both_forms_of_the_moving_average_are_the_same(draw, factor=1.0):
    """moving · momentum + batch · (1 - momentum) and moving - (moving - batch) · (1 - momentum) differ by rounding only."""
    momentum, one = draw(st.floats(0, 1)), torch.zeros(1, dtype=torch.float64)
    two = one.clone()
    for batch in normal(draw, draw(st.integers(1, 20))):
        one = one * momentum + batch * (1 - momentum)
        two = two - (two - batch) * (1 - momentum) * factor
    close(two, one)


@predicate({"a lower momentum of torch forgets sooner": {"faster": min}})
def a_higher_momentum_of_torch_forgets_sooner(draw, faster=max):
    """After one batch, the layer with the higher momentum of torch has kept less of the old mean; in Keras's convention it is the lower one."""
    low, high = draw(st.sampled_from([(0.01, 0.1), (0.1, 0.9), (0.3, 0.4)]))
    kept = {}
    for momentum in (low, high):
        layer = nn.BatchNorm1d(1, momentum=momentum).double()
        layer.running_mean.fill_(1.0)
        run(layer, torch.tensor([[-1.0], [1.0]], dtype=torch.float64))
        kept[momentum] = float(layer.running_mean)
    assert min(kept, key=kept.get) == faster(low, high)


@predicate({"the spread of a mean does not depend on the number of values": {"power": 0.0}})
def the_spread_of_a_mean_falls_with_the_root_of_the_number(draw, power=0.5):
    """The means of n independent values have a standard deviation of about 1 / sqrt(n) of theirs."""
    n = draw(st.sampled_from([4, 16, 64]))
    means = normal(draw, 4000, n).mean(1)
    assert abs(float(means.std()) * n**power - 1) < 0.06
