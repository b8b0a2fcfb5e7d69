#!/usr/bin/env bash
# Runs the store's contract against DynamoDB Local, which is Amazon's own and
# not open source: it is fetched as a container image and nothing else needs it.
set -euo pipefail
cd "$(dirname "$0")/.."
image=${DYNAMODB_LOCAL_IMAGE:-amazon/dynamodb-local:3.1.0}

if ! docker info >/dev/null 2>&1; then
    echo 'no Docker engine answers: DynamoDB Local is a container image, so this needs one' >&2
    exit 1
fi
container=$(docker run --detach --rm --publish 127.0.0.1::8000 "$image" -jar DynamoDBLocal.jar -inMemory -sharedDb)
trap 'docker rm --force "$container" >/dev/null' EXIT
address=$(docker port "$container" 8000/tcp | head -n 1)

echo "DynamoDB Local at $address"
AWS_ENDPOINT_URL_DYNAMODB="http://$address" AWS_REGION=local AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local \
    cargo test --package sekali-tests --test contract_dynamodb
