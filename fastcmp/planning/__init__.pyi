# The public names, and where each is loaded from.

from fastcmp.planning.label_plan import LabelPlan as LabelPlan
from fastcmp.planning.label_plan import labels as labels
from fastcmp.planning.plan import Plan as Plan
from fastcmp.planning.plan import detectable_difference as detectable_difference
from fastcmp.planning.plan import power as power
from fastcmp.planning.plan import sample_size as sample_size
