"""How often intervals of judged values hold the truth: `python benchmarks/judge_sizes.py`."""

import numpy as np

from fastcmp import compare_means, judged_values

RUNS, ITEMS = 1000, 1000
#: Rate, sensitivity and specificity of the judge.
JUDGES = {"0/1, .70, r = .81": (0.7, 0.93, 0.9), "0/1, .93, r = .56": (0.93, 0.97, 0.75)}
WAYS = {"default": {}, "t": {"interval": "t"}, "published": {"convention": "ppi"}}


def drawn(rng, rate, hits, rejections, labels):
    """Draw what is right, what the judge says, and labels of some."""
    right = rng.random(ITEMS) < rate
    judge = np.where(right, rng.random(ITEMS) < hits, rng.random(ITEMS) >= rejections)
    human = np.where(np.arange(ITEMS) < labels, right, np.nan)
    return judge.astype(float), human


def main():
    rng = np.random.default_rng(1)
    for name, (rate, *errors) in JUDGES.items():
        for labels in (20, 50, 200):
            held = dict.fromkeys(WAYS, 0)
            for _ in range(RUNS):
                data = drawn(rng, rate, *errors, labels)
                for way, options in WAYS.items():
                    low, high = judged_values(*data, **options).interval[0]
                    held[way] += low <= rate <= high
            print(name, labels, {way: round(n / RUNS, 3) for way, n in held.items()})
    for labels in (20, 50, 200):
        held = 0
        for _ in range(RUNS):
            pairs = [drawn(rng, 0.7, *x, labels) for x in ((0.9, 0.8), (0.95, 0.7))]
            judge, human = (np.stack(x) for x in zip(*pairs, strict=True))
            low, high = compare_means(judged_values(judge, human)).interval.tolist()[0]
            held += low <= 0.0 <= high
        print("difference of two equal models", labels, round(held / RUNS, 3))


if __name__ == "__main__":
    main()
