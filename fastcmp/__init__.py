"""Which of these classifiers is really better?

Tests, intervals and rankings for classifiers on the same samples, from two models to
thousands, on Numba kernels that are public in `fastcmp.kernels`.
"""

from fastcmp._lazy import attach

__version__ = "0.3.0"
#: Names of versions before, and the call in their place.
_BEFORE: dict[str, str] = {
    **{
        name: f"fold_test(x, {name.replace('_', '-')!r})"
        for name in (
            *("resampled_t", "kfold_t", "dietterich_t", "nadeau_bengio_t", "bouckaert_frank_t"),
            *("bouckaert_t", "yildiz_t", "blocked_t", "alpaydin_f", "calibrated_f", "bayle_z"),
            *("conservative_z", "proportion_z", "naive_mcnemar"),
        )
    },
    **{
        f"{name}{ending}": f"symmetry({data}, method={name.replace('_', '-')!r})"
        for name in ("bowker", "stuart_maxwell", "bhapkar")
        for ending, data in (("", "pred_a, pred_b"), ("_from_counts", "table=table"))
    },
    "compare_metric_from_counts": "compare_metric(counts=counts)",
    "classification_report_from_counts": "classification_report(counts=counts)",
    "cochrans_q_from_counts": "cochrans_q(counts=counts)",
    "auc_from_counts": "auc(counts=counts)",
    "auc_multiclass": "auc(y_true, scores, multiclass='ovr')",
    "margin_tests_from_counts": "margin_tests(table=table, margin=margin)",
    "mcnemar_from_counts": "mcnemar(only_a=only_a, only_b=only_b), or mcnemar(table=table)",
    "mcnemar_clustered_from_counts": "mcnemar(table=tables, groups=groups)",
    "mcnemar_stratified_from_counts": "mcnemar(table=tables, strata=strata)",
    "cost_test_from_counts": "cost_test(counts=counts, cost=cost)",
    "classification_table_from_counts": "classification_table(tp=tp, fp=fp, fn=fn, tn=tn)",
    "accuracy_unpaired_from_counts": "accuracy_unpaired(counts=(correct_a, n_a, correct_b, n_b))",
    "compare_all_from_counts": "compare_all(counts=counts)",
    "compare_means_from_moments": "compare_means(moments)",
    "dask": "fastcmp.stream.gather, or compare_all, compare_means, auc with Dask's collections",
    "compare_sensitivity_specificity_from_counts": "compare_sensitivity_specificity(counts=counts)",
    "cohen_kappa_from_counts": "cohen_kappa(table=table)",
    "fleiss_kappa_from_counts": "fleiss_kappa(rating_counts=rating_counts)",
    "metric_from_counts": "metric(table=table)",
    "best_set_from_moments": "best_set(Estimates(values, covariance))",
    "model_confidence_set_from_moments": "model_confidence_set(Estimates(values, covariance))",
    "rank_sets_from_moments": "rank_sets(Estimates(values, covariance))",
    "winner_estimate_from_moments": "winner_estimate(Estimates(values, covariance))",
    "superior_ability_from_moments": "superior_ability(Estimates(values, covariance, n_items=n))",
}
__getattr__, __dir__, __all__ = attach(__name__, __file__, _BEFORE)
for _inside in ("plan_from", "to_fragment", "write_report"):  # what records ask for
    __all__.remove(_inside)
__all__ += ["__version__"]
