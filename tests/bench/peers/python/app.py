"""A receiver as a team would build it from the documentation: the vendor's SDK
verifies, Powertools recognises a repeated event, SQS takes it on."""

import base64
import json
import os

import boto3
import stripe
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)

SECRET = os.environ["STRIPE_WEBHOOK_SECRET"]
QUEUE_URL = os.environ["SEKALI_QUEUE_URL"]

sqs = boto3.client("sqs")
persistence = DynamoDBPersistenceLayer(table_name=os.environ["SEKALI_EVENTS_TABLE"])
config = IdempotencyConfig(event_key_jmespath="id", expires_after_seconds=30 * 24 * 3600)


@idempotent_function(data_keyword_argument="event", persistence_store=persistence, config=config)
def enqueue(event):
    sqs.send_message(QueueUrl=QUEUE_URL, MessageBody=json.dumps(event))
    return {"id": event["id"]}


def handler(request, context):
    config.register_lambda_context(context)
    body = request["body"]
    if request.get("isBase64Encoded"):
        body = base64.b64decode(body).decode()
    headers = {name.lower(): value for name, value in request["headers"].items()}
    try:
        stripe.Webhook.construct_event(body, headers["stripe-signature"], SECRET)
    except (KeyError, ValueError, stripe.SignatureVerificationError):
        return {"statusCode": 401, "body": ""}
    enqueue(event=json.loads(body))
    return {"statusCode": 202, "body": ""}
