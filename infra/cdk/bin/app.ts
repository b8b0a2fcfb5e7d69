import { App, Duration, Stack, StackProps } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledgeMeant, nag } from '../lib/nag';
import { SekaliReceiver } from '../lib/sekali-receiver';

/**
 * An example of a team's own stack: a receiver, the queue that one of its
 * destinations is, and the topic that its alarms go to. Copy it and change it.
 */
export class ExampleStack extends Stack {
  readonly receiver: SekaliReceiver;

  constructor(scope: Construct, id: string, props?: StackProps & { code?: string }) {
    super(scope, id, props);
    const stage = 'example';
    const alarms = new Topic(this, 'Alarms', { enforceSSL: true });
    // A topic with a policy of its own lets CloudWatch in only where it says so.
    alarms.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com'));
    alarms.addSubscription(new EmailSubscription('on-call@example.com'));
    const lost = new Queue(this, 'PackingLost', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    // `packing = { sqs = "packing-example" }` in endpoints.toml names it.
    const packing = new Queue(this, 'Packing', {
      queueName: `packing-${stage}`,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      deadLetterQueue: { queue: lost, maxReceiveCount: 5 },
    });
    this.receiver = new SekaliReceiver(this, 'Receiver', {
      stage,
      alarmTopicArn: alarms.topicArn,
      destinationQueueArns: [packing.queueArn],
      processorConcurrency: 5,
      ...(props?.code === undefined ? {} : { code: props.code }),
    });
    acknowledgeMeant(this.receiver);
  }
}

if (require.main === module) {
  const app = new App();
  new ExampleStack(app, 'sekali-example', { description: 'Sekali with resources of a team of its own' });
  nag(app);
  app.synth();
}
