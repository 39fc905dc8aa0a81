"""Names for the array types that kernels take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:  # their import takes longer than that of the kernels
    import numpy as np
    from numpy.typing import NDArray

FloatArray: TypeAlias = "NDArray[np.float64]"
IntArray: TypeAlias = "NDArray[np.int64]"
WordArray: TypeAlias = "NDArray[np.uint64]"
StatusArray: TypeAlias = "NDArray[np.uint8]"
#: uint8, uint16 or int32, as `inputs` makes them.
CodeArray: TypeAlias = "NDArray[Any]"
#: float32 or float64.
ScoreArray: TypeAlias = "NDArray[Any]"
#: Positions, int32 or int64.
OrderArray: TypeAlias = "NDArray[Any]"
#: Numbers of folds, int16.
PatternArray: TypeAlias = "NDArray[Any]"
