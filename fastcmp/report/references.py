"""The works that methods sections cite; records declare which, in `_cites`."""

from __future__ import annotations

#: Citations by key.
REFERENCES = {
    "mcnemar": 'Q. McNemar, "Note on the sampling error of the difference between '
    'correlated proportions or percentages", Psychometrika 12 (1947) 153-157.',
    "fagerland": 'M. W. Fagerland, S. Lydersen, P. Laake, "The McNemar test for '
    "binary matched-pairs data: mid-p and asymptotic are better than exact "
    'conditional", BMC Medical Research Methodology 13 (2013) 91.',
    "edwards": 'A. L. Edwards, "Note on the correction for continuity in testing '
    'the significance of the difference between correlated proportions", '
    "Psychometrika 13 (1948) 185-187.",
    "suissa": 'S. Suissa, J. J. Shuster, "The 2 x 2 matched-pairs trial: exact '
    'unconditional design and analysis", Biometrics 47 (1991) 361-372.',
    "newcombe": 'R. G. Newcombe, "Improved confidence intervals for the difference '
    'between binomial proportions based on paired data", Statistics in Medicine '
    "17 (1998) 2635-2650.",
    "newcombe-unpaired": 'R. G. Newcombe, "Interval estimation for the difference '
    'between independent proportions: comparison of eleven methods", Statistics '
    "in Medicine 17 (1998) 873-890.",
    "wilson": 'E. B. Wilson, "Probable inference, the law of succession, and '
    'statistical inference", J. American Statistical Association 22 (1927) '
    "209-212.",
    "tango": 'T. Tango, "Equivalence test and confidence interval for the '
    'difference in proportions for the paired-sample design", Statistics in '
    "Medicine 17 (1998) 891-908.",
    "bell": 'R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for '
    'linear regression with multi-stage samples", Survey Methodology 28 (2002) '
    "169-181.",
    "pustejovsky": 'J. E. Pustejovsky, E. Tipton, "Small-sample methods for '
    "cluster-robust variance estimation and hypothesis testing in fixed effects "
    'models", J. Business & Economic Statistics 36 (2018) 672-683.',
    "obuchowski": 'N. A. Obuchowski, "On the comparison of correlated proportions '
    'for clustered data", Statistics in Medicine 17 (1998) 1495-1507.',
    "durkalski": "V. L. Durkalski, Y. Y. Palesch, S. R. Lipsitz, P. F. Rust, "
    '"Analysis of clustered matched-pair data", Statistics in Medicine 22 (2003) '
    "2417-2428.",
    "yang-clusters": 'Z. Yang, X. Sun, J. W. Hardin, "A note on the tests for '
    'clustered matched-pair binary data", Biometrical J. 52 (2010) 638-652.',
    "eliasziw": 'M. Eliasziw, A. Donner, "Application of the McNemar test to '
    'non-independent matched pair data", Statistics in Medicine 10 (1991) '
    "1981-1991.",
    "mantel": 'N. Mantel, W. Haenszel, "Statistical aspects of the analysis of data'
    ' from retrospective studies of disease", J. Nat. Cancer Inst. 22 (1959) '
    "719-748.",
    "miettinen": 'O. Miettinen, M. Nurminen, "Comparative analysis of two rates", '
    "Statistics in Medicine 4 (1985) 213-226.",
    "boschloo": 'R. D. Boschloo, "Raised conditional level of significance for the '
    '2 x 2 table when testing the equality of two probabilities", Statistica '
    "Neerlandica 24 (1970) 1-9.",
    "barnard": 'G. A. Barnard, "Significance tests for 2 x 2 tables", Biometrika 34'
    " (1947) 123-138.",
    "welch": "B. L. Welch, \"The generalization of 'Student's' problem when several "
    'different population variances are involved", Biometrika 34 (1947) 28-35.',
    "bowker": 'A. H. Bowker, "A test for symmetry in contingency tables", J. '
    "American Statistical Association 43 (1948) 572-574.",
    "stuart": 'A. Stuart, "A test for homogeneity of the marginal distributions in '
    'a two-way classification", Biometrika 42 (1955) 412-416.',
    "maxwell": 'A. E. Maxwell, "Comparing the classification of subjects by two '
    'independent judges", British J. Psychiatry 116 (1970) 651-655.',
    "bhapkar": 'V. P. Bhapkar, "A note on the equivalence of two test criteria for '
    'hypotheses in categorical data", J. American Statistical Association 61 '
    "(1966) 228-235.",
    "cochran": 'W. G. Cochran, "The comparison of percentages in matched samples", '
    "Biometrika 37 (1950) 256-266.",
    "looney": 'S. W. Looney, "A statistical technique for comparing the accuracies '
    'of several classifiers", Pattern Recognition Letters 8 (1988) 5-9.',
    "cohen": 'J. Cohen, "A coefficient of agreement for nominal scales", '
    "Educational and Psychological Measurement 20 (1960) 37-46.",
    "fleiss-cohen": 'J. L. Fleiss, J. Cohen, B. S. Everitt, "Large sample standard '
    'errors of kappa and weighted kappa", Psychological Bulletin 72 (1969) '
    "323-327.",
    "fleiss": 'J. L. Fleiss, "Measuring nominal scale agreement among many raters",'
    " Psychological Bulletin 76 (1971) 378-382.",
    "owen": 'A. B. Owen, "Empirical likelihood ratio confidence intervals for a '
    'single functional", Biometrika 75 (1988) 237-249.',
    "vickers": 'A. J. Vickers, B. Van Calster, L. Wynants, E. W. Steyerberg, "Decision curve '
    'analysis: confidence intervals and hypothesis testing for net benefit", Diagnostic and '
    "Prognostic Research 7 (2023) 11.",
    "dimitriadis": 'T. Dimitriadis, T. Gneiting, A. I. Jordan, "Stable reliability diagrams for '
    'probabilistic classifiers", PNAS 118 (2021) e2016191118.',
    "spiegelhalter": 'D. J. Spiegelhalter, "Probabilistic prediction in patient management and '
    'clinical trials", Statistics in Medicine 5 (1986) 421-433.',
    "delong": 'E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the '
    "areas under two or more correlated receiver operating characteristic curves:"
    ' a nonparametric approach", Biometrics 44 (1988) 837-845.',
    "sun": "X. Sun, W. Xu, \"Fast implementation of DeLong's algorithm for comparing"
    ' the areas under correlated receiver operating characteristic curves", IEEE '
    "Signal Processing Letters 21 (2014) 1389-1393.",
    "obuchowski-roc": 'N. A. Obuchowski, "Nonparametric analysis of clustered ROC '
    'curve data", Biometrics 53 (1997) 567-578.',
    "venkatraman": 'E. S. Venkatraman, C. B. Begg, "A distribution-free procedure '
    "for comparing receiver operating characteristic curves from a paired "
    'experiment", Biometrika 83 (1996) 835-848.',
    "bandos": 'A. I. Bandos, H. E. Rockette, D. Gur, "A permutation test sensitive '
    'to differences in areas for comparing ROC curves from a paired design", '
    "Statistics in Medicine 24 (2005) 2873-2893.",
    "leisenring": 'W. Leisenring, T. Alonzo, M. S. Pepe, "Comparisons of predictive'
    ' values of binary medical diagnostic tests for paired designs", Biometrics '
    "56 (2000) 345-351.",
    "kosinski": 'A. S. Kosinski, "A weighted generalized score statistic for '
    'comparison of predictive values of diagnostic tests", Statistics in Medicine'
    " 32 (2013) 964-977.",
    "lachenbruch": 'P. A. Lachenbruch, C. J. Lynch, "Assessing screening tests: '
    "extensions of McNemar's test\", Statistics in Medicine 17 (1998) 2207-2217.",
    "cheng": 'H. Cheng, M. Macaluso, "Comparison of the accuracy of two tests with '
    'a confirmatory procedure limited to positive results", Epidemiology 8 (1997)'
    " 104-106.",
    "youden": 'W. J. Youden, "Index for rating diagnostic tests", Cancer 3 (1950) 32-35.',
    "smirnov": 'N. Smirnov, "Table for estimating the goodness of fit of empirical '
    'distributions", Annals of Mathematical Statistics 19 (1948) 279-281.',
    "jiang": 'W. Jiang, Y. Zhao, "On asymptotic distributions and confidence '
    'intervals for LIFT measures in data mining", J. American Statistical '
    "Association 110 (2015) 1717-1725.",
    "miller": 'R. G. Miller, "The jackknife: a review", Biometrika 61 (1974) 1-15.',
    "efron": 'B. Efron, R. J. Tibshirani, "An introduction to the bootstrap", '
    "Chapman and Hall (1993).",
    "bca": 'B. Efron, "Better bootstrap confidence intervals", J. American '
    "Statistical Association 82 (1987) 171-185.",
    "phipson": 'B. Phipson, G. K. Smyth, "Permutation p-values should never be '
    'zero", Statistical Applications in Genetics and Molecular Biology 9 (2010) '
    "39.",
    "chung": 'E. Chung, J. P. Romano, "Exact and asymptotically robust permutation '
    'tests", Annals of Statistics 41 (2013) 484-507.',
    "wilcoxon": 'F. Wilcoxon, "Individual comparisons by ranking methods", '
    "Biometrics Bulletin 1 (1945) 80-83.",
    "hodges": 'J. L. Hodges, E. L. Lehmann, "Estimates of location based on rank '
    'tests", Annals of Mathematical Statistics 34 (1963) 598-611.',
    "rosner": 'B. Rosner, R. J. Glynn, M.-L. T. Lee, "The Wilcoxon signed rank test'
    ' for paired comparisons of clustered data", Biometrics 62 (2006) 185-192.',
    "demsar": 'J. Demsar, "Statistical comparisons of classifiers over multiple '
    'data sets", J. Machine Learning Research 7 (2006) 1-30.',
    "friedman": 'M. Friedman, "The use of ranks to avoid the assumption of '
    'normality implicit in the analysis of variance", J. American Statistical '
    "Association 32 (1937) 675-701.",
    "iman": 'R. L. Iman, J. M. Davenport, "Approximations of the critical region of'
    ' the Friedman statistic", Communications in Statistics A9 (1980) 571-595.',
    "quade": 'D. Quade, "Using weighted rankings in the analysis of complete blocks'
    ' with additive block effects", J. American Statistical Association 74 (1979)'
    " 680-683.",
    "skillings": 'J. H. Skillings, G. A. Mack, "On the use of a Friedman-type '
    'statistic in balanced and unbalanced block designs", Technometrics 23 (1981)'
    " 171-177.",
    "nemenyi": 'P. B. Nemenyi, "Distribution-free multiple comparisons", doctoral '
    "thesis, Princeton University (1963).",
    "bradley": 'R. A. Bradley, M. E. Terry, "Rank analysis of incomplete block '
    'designs: the method of paired comparisons", Biometrika 39 (1952) 324-345.',
    "davidson": 'R. R. Davidson, "On extending the Bradley-Terry model to '
    'accommodate ties in paired comparison experiments", J. American Statistical '
    "Association 65 (1970) 317-328.",
    "nadeau": 'C. Nadeau, Y. Bengio, "Inference for the generalization error", '
    "Machine Learning 52 (2003) 239-281.",
    "dietterich": 'T. G. Dietterich, "Approximate statistical tests for comparing '
    'supervised classification learning algorithms", Neural Computation 10 (1998)'
    " 1895-1923.",
    "alpaydin": 'E. Alpaydin, "Combined 5 x 2 cv F test for comparing supervised '
    'classification learning algorithms", Neural Computation 11 (1999) 1885-1892.',
    "bouckaert-frank": 'R. R. Bouckaert, E. Frank, "Evaluating the replicability of'
    ' significance tests for comparing learning algorithms", PAKDD (2004) 3-12.',
    "bouckaert": 'R. R. Bouckaert, "Choosing between two learning algorithms based '
    'on calibrated tests", ICML (2003) 51-58.',
    "yildiz": 'O. T. Yildiz, "Omnivariate rule induction using a novel pairwise '
    'statistical test", IEEE Transactions on Knowledge and Data Engineering 25 '
    "(2013) 2105-2118.",
    "wang-t": 'Y. Wang, R. Wang, H. Jia, J. Li, "Blocked 3 x 2 cross-validated '
    't-test for comparing supervised classification learning algorithms", Neural '
    "Computation 26 (2014) 208-235.",
    "wang-f": 'Y. Wang, J. Li, Y. Li, "Choosing between two classification learning'
    ' algorithms based on calibrated balanced 5 x 2 cross-validated F-test", '
    "Neural Processing Letters 46 (2017) 1-13.",
    "bayle": 'P. Bayle, A. Bayle, L. Janson, L. Mackey, "Cross-validation '
    'confidence intervals for test error", Advances in Neural Information '
    "Processing Systems 33 (2020).",
    "yang-bcv": 'J. Yang, R. Wang, Y. Song, J. Li, "Block-regularized 5x2 '
    "cross-validated McNemar's test for comparing two classification algorithms\".",
    "holm": 'S. Holm, "A simple sequentially rejective multiple test procedure", '
    "Scandinavian J. Statistics 6 (1979) 65-70.",
    "hochberg": 'Y. Hochberg, "A sharper Bonferroni procedure for multiple tests of'
    ' significance", Biometrika 75 (1988) 800-802.',
    "hommel": 'G. Hommel, "A stagewise rejective multiple test procedure based on a'
    ' modified Bonferroni test", Biometrika 75 (1988) 383-386.',
    "bh": 'Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate: a '
    'practical and powerful approach to multiple testing", J. Royal Statistical '
    "Society B 57 (1995) 289-300.",
    "by": 'Y. Benjamini, D. Yekutieli, "The control of the false discovery rate in '
    'multiple testing under dependency", Annals of Statistics 29 (2001) '
    "1165-1188.",
    "shaffer": 'J. P. Shaffer, "Modified sequentially rejective multiple test '
    'procedures", J. American Statistical Association 81 (1986) 826-831.',
    "bergmann": 'G. Bergmann, G. Hommel, "Improvements of general multiple test '
    'procedures for redundant systems of hypotheses", in Multiple Hypotheses '
    "Testing (1988) 100-115.",
    "finner": 'H. Finner, "On a monotonicity problem in step-down multiple test '
    'procedures", J. American Statistical Association 88 (1993) 920-923.',
    "li": 'J. Li, "A two-step rejection procedure for testing multiple hypotheses",'
    " J. Statistical Planning and Inference 138 (2008) 1521-1527.",
    "westfall": "P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing, Wiley (1993).",
    "hothorn": 'T. Hothorn, F. Bretz, P. Westfall, "Simultaneous inference in '
    'general parametric models", Biometrical Journal 50 (2008) 346-363.',
    "mogstad": 'M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm, "Inference for '
    "ranks with applications to mobility across neighbourhoods and academic "
    'achievement across countries", Review of Economic Studies 91 (2024) 476-518.',
    "hsu": 'J. C. Hsu, "Multiple comparisons: theory and methods", Chapman & Hall (1996).',
    "hansen-set": 'P. R. Hansen, A. Lunde, J. M. Nason, "The model confidence set",'
    " Econometrica 79 (2011) 453-497.",
    "hansen": 'P. R. Hansen, "A test for superior predictive ability", J. Business '
    "& Economic Statistics 23 (2005) 365-380.",
    "romano": 'J. P. Romano, M. Wolf, "Stepwise multiple testing as formalized data'
    ' snooping", Econometrica 73 (2005) 1237-1282.',
    "andrews": 'I. Andrews, T. Kitagawa, A. McCloskey, "Inference on winners", '
    "Quarterly J. Economics 139 (2024) 305-358.",
    "schuirmann": 'D. J. Schuirmann, "A comparison of the two one-sided tests '
    "procedure and the power approach for assessing the equivalence of average "
    'bioavailability", J. Pharmacokinetics and Biopharmaceutics 15 (1987) '
    "657-680.",
    "hsueh": 'H.-M. Hsueh, J.-P. Liu, J. J. Chen, "Unconditional exact tests for '
    'equivalence or noninferiority for paired binary endpoints", Biometrics 57 '
    "(2001) 478-483.",
    "berger": 'R. L. Berger, "Multiparameter hypothesis testing and acceptance '
    'sampling", Technometrics 24 (1982) 295-300.',
    "lindon": 'M. Lindon, A. Malek, "Anytime-valid inference for multinomial count '
    'data", Advances in Neural Information Processing Systems 35 (2022).',
    "ramdas": 'A. Ramdas, P. Grunwald, V. Vovk, G. Shafer, "Game-theoretic '
    'statistics and safe anytime-valid inference", Statistical Science 38 (2023) '
    "576-601.",
    "waudby": 'I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random '
    'variables by betting", J. Royal Statistical Society B 86 (2024) 1-27.',
    "benavoli": 'A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a '
    "change: a tutorial for comparing multiple classifiers through Bayesian "
    'analysis", J. Machine Learning Research 18 (2017) 1-36.',
    "corani": 'G. Corani, A. Benavoli, "A Bayesian approach for comparing '
    'cross-validated algorithms on multiple data sets", Machine Learning 100 '
    "(2015) 285-304.",
    "hanley": 'J. A. Hanley, B. J. McNeil, "The meaning and use of the area under a'
    ' receiver operating characteristic (ROC) curve", Radiology 143 (1982) 29-36.',
    "kuncheva": 'L. I. Kuncheva, C. J. Whitaker, "Measures of diversity in '
    'classifier ensembles and their relationship with the ensemble accuracy", '
    "Machine Learning 51 (2003) 181-207.",
}
