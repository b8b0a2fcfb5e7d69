#!/bin/sh
# Lints the templates, as they are and as the SAM transform makes them, with
# gradual deployments and without. Asks nothing of AWS: region and credentials
# are made up.
# Usage: run.sh LINT_VENV SAM_VENV FOLDER_FOR_WHAT_IS_TRANSLATED
set -eu
lint=$1 sam=$2 out=$3
mkdir -p "$out"
export AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=none AWS_SECRET_ACCESS_KEY=none
export AWS_EC2_METADATA_DISABLED=true SAM_CLI_TELEMETRY=0 __SAM_CLI_APP_DIR="$out/sam"

echo 'cfn-lint: the templates'
"$lint/bin/cfn-lint" --include-checks I -- infra/*.yaml

for gradual in true false; do
  echo "cfn-lint: what the transform makes of it, GradualDeployment=$gradual"
  "$sam/bin/python" infra/checks/translate.py infra/template.yaml "$out/$gradual.json" "GradualDeployment=$gradual" 2>"$out/transform.log" \
    || { cat "$out/transform.log" >&2; exit 1; }
  # W2001: parameters that the transform itself has used.
  "$lint/bin/cfn-lint" --include-checks I --ignore-checks W2001 -- "$out/$gradual.json"
done

echo 'the arithmetic of docs/scaling.md'
"$lint/bin/python" infra/scaling.py --check

echo 'sam validate'
"$sam/bin/sam" validate --lint --template infra/template.yaml
