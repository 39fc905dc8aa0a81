# Fail where the outcome is one of those that fail the job.
set -euo pipefail
IFS=',' read -r -a failing <<<"$FAIL_ON"
for each in "${failing[@]}"; do
  if [ "$(xargs <<<"$each")" = "$OUTCOME" ]; then
    echo "::error::the new model: $OUTCOME"
    exit 1
  fi
done
