"""Running statistics: what BatchNorm keeps, what train() and eval() make of it, and the four limits that come with it.

stream         BatchNorm over a stream of batches: batch, running and true statistics
momentum       the two conventions, the two forms of the update, half-lives
modes          the same x through train() and eval(); one example alone
keeping        limit 1: what must be kept, and when it is near the truth
sequences      limit 2: statistics of every time step, over sequences of unequal lengths
small_batches  limit 3: the spread of the batch mean against the batch size
shards         limit 4: several devices; ``combining`` has the formula
accumulation   gradient accumulation, which does not enlarge the batch
"""

from normviz.analysis.running.accumulation import Accumulation, accumulate
from normviz.analysis.running.buffers import Buffer, Settling, buffers, settle
from normviz.analysis.running.combining import combine, even_sizes
from normviz.analysis.running.modes import (
    OneExample,
    Outcome,
    TrainAndEval,
    most_warm_up,
    one_example,
    torch_words,
    train_and_eval,
)
from normviz.analysis.running.momentum import (
    Forgetting,
    TwoForms,
    forgetting,
    half_life,
    lag,
    moving_average,
    to_keras,
    to_torch,
    two_forms,
    weights,
)
from normviz.analysis.running.sequences import PerStep, Sequences, per_step
from normviz.analysis.running.shards import Gap, Sharded, ShardStatistics, shard, shard_statistics
from normviz.analysis.running.small_batches import SmallBatches, Spread, spread
from normviz.analysis.running.stream import History, Run, Stream, follow, run

__all__ = [
    "Accumulation",
    "Buffer",
    "Forgetting",
    "Gap",
    "History",
    "OneExample",
    "Outcome",
    "PerStep",
    "Run",
    "Sequences",
    "Settling",
    "ShardStatistics",
    "Sharded",
    "SmallBatches",
    "Spread",
    "Stream",
    "TrainAndEval",
    "TwoForms",
    "accumulate",
    "buffers",
    "combine",
    "even_sizes",
    "follow",
    "forgetting",
    "half_life",
    "lag",
    "most_warm_up",
    "moving_average",
    "one_example",
    "per_step",
    "run",
    "settle",
    "shard",
    "shard_statistics",
    "spread",
    "to_keras",
    "to_torch",
    "torch_words",
    "train_and_eval",
    "two_forms",
    "weights",
]
