# The public names, and where each is loaded from.

from fastcmp.stream.accumulator import load as load
from fastcmp.stream.class_counts import ConfusionCounts as ConfusionCounts
from fastcmp.stream.class_counts import LabelCounts as LabelCounts
from fastcmp.stream.dask_blocks import gather as gather
from fastcmp.stream.pair_counts import PairCounts as PairCounts
from fastcmp.stream.score_counts import RocSketch as RocSketch
from fastcmp.stream.score_counts import ScoreCounts as ScoreCounts
from fastcmp.stream.score_counts import ScoreRefinement as ScoreRefinement
from fastcmp.stream.score_map import ScoreMap as ScoreMap
from fastcmp.stream.value_moments import ValueMoments as ValueMoments
