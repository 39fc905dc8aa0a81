# Compare both files; write gate.json, gate.md and gate.xml, the job's summary and the outputs.
set -euo pipefail
report=$(mktemp -d "${RUNNER_TEMP:-/tmp}/fastcmp-gate.XXXXXX")
read -r -a margin <<<"$MARGIN"
read -r -a metric <<<"$METRIC"
read -r -a options <<<"$OPTIONS"
compare() {
  # Words of the inputs are words of the command, and nothing more.
  fastcmp gate "$BASELINE" "$CANDIDATE" --margin "${margin[@]}" --metric "${metric[@]}" \
    ${options[@]+"${options[@]}"} --output "$report/$1"
}
status=0
compare gate.json || status=$?
if [ "$status" -gt 2 ]; then exit "$status"; fi # bad input, which the command has named
for file in gate.md gate.xml; do compare "$file" >/dev/null 2>&1 || [ $? -le 2 ]; done
outcome=$(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["outcome"])' "$report/gate.json")
head --bytes=1000000 "$report/gate.md" >>"$GITHUB_STEP_SUMMARY"
{
  echo "outcome=$outcome"
  echo "exit-status=$status"
  echo "report=$report"
} >>"$GITHUB_OUTPUT"
