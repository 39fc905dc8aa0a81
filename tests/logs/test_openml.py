"""OpenML: ARFF as it is written, and predictions that are not what they seem."""

import numpy as np
import pytest
from log_parts import parts_in

import fastcmp

HEAD = """\
% written by a client
@relation 'openml_task_59_predictions'
@attribute repeat NUMERIC
@ATTRIBUTE fold numeric
@ATTRIBUTE row_id integer
@attribute prediction {a,'b, c',"d'e"}
@attribute correct {a,'b, c',"d'e"}
@attribute confidence.a NUMERIC
@attribute 'confidence.b, c' NUMERIC
@attribute "confidence.d'e" REAL
"""
GOOD = """
@DATA
% a comment
0,0,0,a,a,0.8,0.1,0.1
0, 0, 1, 'b, c', "b, c", 0.1, 0.8, 0.1

0,1,2.0,'d\\'e',a,0.1,0.1,0.8
1,0,0,"d'e",a,.2,.2,.6
"""


def write(folder, text, name="m"):
    path = folder / name / "predictions.arff"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_quotes_commas_and_comments(tmp_path):
    (part,) = parts_in("openml", write(tmp_path, HEAD + GOOD))
    assert (part.task, part.model) == ("59", "m")
    assert part.items == ["0", "0", "1", "2"]
    assert part.repeats == [0, 1, 0, 0]
    assert part.values.tolist() == [1, 0, 1, 0]


SHORT = """\
@RELATION openml_task_1_predictions
@ATTRIBUTE row_id NUMERIC
@ATTRIBUTE prediction {cat, dog}
"""
CORRECT = "@ATTRIBUTE correct {cat, dog}\n"


def test_what_is_refused(tmp_path):
    real = SHORT.replace("{cat, dog}", "NUMERIC") + "@ATTRIBUTE truth REAL\n@DATA\n0,1.5,2.5\n"
    curve = SHORT + CORRECT + "@ATTRIBUTE sample NUMERIC\n@DATA\n0,cat,cat,0\n0,cat,cat,1\n"
    for text, match in (
        (SHORT + "@DATA\n0,cat\n", "no column 'correct', so it does not hold the truth"),
        (SHORT + CORRECT + "@DATA\n{0 1, 1 cat}\n", "sparse data"),
        (SHORT + CORRECT + "@DATA\n0,cat\n", "row 1 of the data has 2 cells.*are 3"),
        (SHORT + CORRECT + "@DATA\n0,'cat,dog\n", "has 0 cells"),
        (SHORT + CORRECT + "@DATA\n", "holds no rows"),
        (SHORT + CORRECT, "no line @DATA"),
        (SHORT + CORRECT + "@DATA\n0,cat,?\n", r"'correct' is missing \(\?\) in row 0"),
        (SHORT + CORRECT + "@DATA\n0,1,cat\n1,0,cat\n", "indexes of classes.*1366"),
        (SHORT + CORRECT + "@DATA\n0,cat,cat\n0,cat,dog\n", "has item 0 twice"),
        (real, "regression task"),
        (curve, "learning curve, 2 samples"),
        ("@RELATION prediction\n@ATTRIBUTE x REAL\n@DATA\n1\n", "no predictions"),
    ):
        path = write(tmp_path, text)
        with pytest.raises(ValueError, match=match) as caught:
            parts_in("openml", path)
        assert str(caught.value).startswith(str(path))


def test_no_prediction_and_classes_that_are_numbers(tmp_path):
    text = SHORT.replace("{cat, dog}", "{0, 1}") + "@ATTRIBUTE correct {0, 1}\n"
    path = write(tmp_path, text + "@DATA\n0,1,1.0\n1,?,0\n2,0,1\n")
    (part,) = parts_in("openml", path)
    np.testing.assert_array_equal(part.values, [1, np.nan, 0])
    with pytest.raises(ValueError, match="no prediction"):
        fastcmp.read_results(path)


def test_the_task_is_named_by_a_folder(tmp_path):
    folder = tmp_path / "task_31"
    folder.mkdir()
    text = (SHORT + CORRECT).replace("openml_task_1_predictions", "predictions")
    path = write(folder, text + "@DATA\n0,cat,cat\n")
    (part,) = parts_in("openml", path)
    assert part.task == "31"
