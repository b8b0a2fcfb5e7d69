// A receiver as a team would build it from the documentation: the vendor's SDK
// verifies, Powertools recognises a repeated event, SQS takes it on.
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { SQSClient, SendMessageCommand } from '@aws-sdk/client-sqs';
import Stripe from 'stripe';

const secret = process.env.STRIPE_WEBHOOK_SECRET as string;
const queueUrl = process.env.SEKALI_QUEUE_URL as string;

// The bench's queue states no digest of what it was sent.
const sqs = new SQSClient({ useQueueUrlAsEndpoint: false, md5: false });
const stripe = new Stripe('sk_test_invented');
const persistenceStore = new DynamoDBPersistenceLayer({ tableName: process.env.SEKALI_EVENTS_TABLE as string });
const config = new IdempotencyConfig({ eventKeyJmesPath: 'id', expiresAfterSeconds: 30 * 24 * 3600 });

const enqueue = makeIdempotent(
  async (event: { id: string }) => {
    await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify(event) }));
    return { id: event.id };
  },
  { persistenceStore, config },
);

export const handler = async (request: any, context: any) => {
  config.registerLambdaContext(context);
  const body = request.isBase64Encoded ? Buffer.from(request.body, 'base64').toString() : request.body;
  const headers = Object.fromEntries(
    Object.entries(request.headers as Record<string, string>).map(([name, value]) => [name.toLowerCase(), value]),
  );
  try {
    stripe.webhooks.constructEvent(body, headers['stripe-signature'] ?? '', secret);
  } catch {
    return { statusCode: 401, body: '' };
  }
  await enqueue(JSON.parse(body));
  return { statusCode: 202, body: '' };
};
