"""Calls of a user who runs a type checker: none is to be refused. Only mypy reads this file."""

from datetime import date
from enum import Enum

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import fastcmp
from fastcmp.stream import PairCounts, ScoreCounts, ValueMoments, gather


class Kind(Enum):
    A = 1
    B = 2


def report(done: int, total: int) -> None: ...


numbers: list[int] = [0, 1, 1]
texts: list[str | None] = ["a", None, "b"]
dates: list[date] = [date(2020, 1, 1), date(2020, 1, 2)]
kinds: tuple[Kind, ...] = (Kind.A, Kind.B)
array = np.array(numbers)
series, column, arrow = pd.Series(numbers), pl.Series(numbers), pa.array(numbers)
blocks, rng = da.from_array(array), np.random.default_rng(1)
mapping: dict[str, list[int]] = {"a": numbers, "b": numbers}
missing: dict[str, list[str | None]] = {"a": texts, "b": texts}
columns, floats = {"a": column, "b": column}, {"a": np.zeros(3), "b": np.zeros(3)}
frame, polars, table = pd.DataFrame(mapping), pl.DataFrame(mapping), pa.table(mapping)
dask_columns, dask_frame = {"a": blocks, "b": blocks}, dd.from_pandas(frame)

fastcmp.compare_all(numbers, mapping, progress=report, rng=np.int64(3), metric="f1")
fastcmp.compare_all(texts, missing, groups=dates, strata=column, rng=rng, names=["a", "b"])
fastcmp.compare_all(dates, [array, array], slices=polars, classes=np.unique(array), control="a")
fastcmp.compare_all(series, frame, slices={"length": texts}, pairs=[("a", "b")], progress=True)
fastcmp.compare_all(column, polars, metric=fastcmp.make_metric("f1"), margin=np.float64(0.1))
fastcmp.compare_all(arrow, table, test="cost", cost={0: {1: 2.0}, 1: {0: 1}})
fastcmp.compare_all(blocks, dask_columns)
fastcmp.compare_all(blocks, dask_frame)
fastcmp.compare_all(counts=gather(PairCounts(), blocks, dask_columns))

fastcmp.mcnemar(kinds, kinds, kinds)
fastcmp.mcnemar(series, column, arrow, groups=texts)
fastcmp.mcnemar(table=[[1, 2], [3, 4]])
fastcmp.mcnemar(only_a=array, only_b=array)

fastcmp.compare_means(np.zeros((2, 3), np.float32), groups=texts, weights=[1.0, 2.0, 3.0])
fastcmp.compare_means({"a": [1.0, None], "b": [2.0, 3.0]}, missing="common")
fastcmp.compare_means(frame, slices=series)
fastcmp.compare_means(polars, slices=table)
fastcmp.compare_means(dask_frame)
fastcmp.compare_means(ValueMoments().update(table, groups=dates, weights=column))
fastcmp.compare_means(fastcmp.Estimates([1, 2], [[1, 0], [0, 1]]))
fastcmp.compare_means(fastcmp.from_long(polars, item="i", model="m", value="v"))

fastcmp.auc(texts, np.zeros(3), positive="b")
fastcmp.auc(kinds, columns, positive=Kind.A)
fastcmp.auc(array, frame, positive=array[0])
fastcmp.auc(blocks, blocks)
fastcmp.auc(counts=ScoreCounts().update(numbers, mapping))
fastcmp.delong(dates, polars, groups=texts, positive=dates[0])
fastcmp.delong(arrow, table)
fastcmp.delong(blocks, dask_columns)

fastcmp.compare_metric(texts, texts, texts, metric="f1", positive="a", rng=rng)
fastcmp.compare_metric(series, frame["a"], frame["b"], metric=["f1", "mcc"], slices=frame)
fastcmp.compare_metric(column, column, column, labels=np.unique(array), groups=dates)
fastcmp.compare_metric(blocks, blocks, blocks)
fastcmp.compare_metric(counts=fastcmp.count_labels(numbers, numbers, numbers))

fastcmp.compare_datasets({"a": [0.1, None], "b": [0.2, 0.3]}, progress=report)
fastcmp.compare_datasets(polars, tasks=["first", "second"], rng=1)
fastcmp.compare_datasets(floats)
fastcmp.compare_datasets(fastcmp.read_results("results"))
