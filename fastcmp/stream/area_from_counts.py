"""The area under the ROC curve from what a stream has counted."""

from __future__ import annotations

from fastcmp.stream.score_bounds import AreaBounds, only_area
from fastcmp.stream.score_counts import ScoreCounts
from fastcmp.stream.score_refinement import ScoreRefinement


def auc_from_counts(
    counts: ScoreCounts | ScoreRefinement,
) -> AreaBounds | dict[str, AreaBounds]:
    """Bound the area under the ROC curve by counts of scores in bins.

    Parameters
    ----------
    counts : ScoreCounts or ScoreRefinement
        Of one model or of several.

    Returns
    -------
    AreaBounds or dict
        Of several models by name.

    Raises
    ------
    ValueError
        If there is one class only.
    TypeError
        If it is something else.

    Examples
    --------
    >>> from fastcmp import auc_from_counts
    >>> from fastcmp.stream import ScoreCounts
    >>> auc_from_counts(ScoreCounts().update([0, 0, 1, 1], [1, 2, 2, 3])).auc
    0.875
    """
    if not isinstance(counts, (ScoreCounts, ScoreRefinement)):
        message = f"counts must be a ScoreCounts, got {type(counts).__name__}"
        raise TypeError(message)
    areas = counts.areas
    return only_area(areas) if len(areas) == 1 else areas
