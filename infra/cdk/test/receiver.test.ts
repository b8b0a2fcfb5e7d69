import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ExampleStack } from '../bin/app';
import { MEANT, nag } from '../lib/nag';
import { PARAMETER_PROPERTIES, parameterName } from '../lib/parameters';
import { SekaliReceiver, SekaliReceiverProps } from '../lib/sekali-receiver';

const SOURCE = readFileSync(resolve(__dirname, '../../../template.yaml'), 'utf8');

let folder: string;
let code: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'sekali-cdk-'));
  code = join(folder, 'code');
  for (const part of ['ingest', 'processor', 'sweeper']) {
    mkdirSync(join(code, part, 'config'), { recursive: true });
    writeFileSync(join(code, part, 'bootstrap'), `the binary of ${part}`);
    writeFileSync(join(code, part, 'config', 'endpoints.toml'), '');
  }
});

after(() => rmSync(folder, { recursive: true }));

/** The names one level below a section of the source. */
function names(section: string): string[] {
  const [, rest = ''] = SOURCE.split(`\n${section}:\n`);
  const [body = ''] = rest.split(/\n(?=[A-Z])/);
  return [...body.matchAll(/^ {2}(\w+):/gm)].map((match) => match[1] as string).sort();
}

function app(): App {
  return new App({ outdir: mkdtempSync(join(folder, 'out-')) });
}

function receiver(props: SekaliReceiverProps = {}): Template {
  const stack = new Stack(app(), 'Stack');
  new SekaliReceiver(stack, 'Receiver', { code, ...props });
  return Template.fromStack(stack);
}

test('every parameter of the template is a property, and the other way round', () => {
  assert.deepEqual(PARAMETER_PROPERTIES.map(parameterName).sort(), names('Parameters'));
});

test('the template is included as it is, under its own names', () => {
  const template = receiver().toJSON();
  assert.deepEqual(Object.keys(template.Resources).sort(), names('Resources'));
  assert.deepEqual(Object.keys(template.Outputs).sort(), names('Outputs'));
  assert.equal(template.Transform, 'AWS::Serverless-2016-10-31');
});

test('each function gets the code of its folder', () => {
  const functions = receiver().findResources('AWS::Serverless::Function');
  const keys = Object.values(functions).map((one) => one.Properties.CodeUri.Key);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 3);
  assert.ok(keys.every((key) => /^[0-9a-f]{64}\.zip$/.test(key)));
});

test('a changed configuration is other code, and compiles nothing', () => {
  const key = () => {
    const [ingest] = Object.values(receiver().findResources('AWS::Serverless::Function'));
    return ingest?.Properties.CodeUri.Key;
  };
  const one = key();
  writeFileSync(join(code, 'ingest', 'config', 'endpoints.toml'), '[endpoint.x]');
  assert.notEqual(key(), one);
});

test('properties take the place of parameters', () => {
  const template = receiver({ stage: 'live', processorConcurrency: 7, deletionProtection: false });
  template.hasResourceProperties('AWS::SQS::Queue', { QueueName: { 'Fn::Sub': 'sekali-live-events' } });
  template.hasResourceProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  template.hasResourceProperties('AWS::Serverless::Function', {
    Events: { Queue: { Properties: { ScalingConfig: { MaximumConcurrency: 7 } } } },
  });
  assert.ok(!('Stage' in template.toJSON().Parameters));
});

test('tables outlive the stack here, too', () => {
  const tables = Object.values(receiver().findResources('AWS::DynamoDB::Table'));
  assert.equal(tables.length, 3);
  assert.ok(tables.every((table) => table.DeletionPolicy === 'RetainExceptOnCreate'));
});

test('the API and its permission go on calling the alias', () => {
  const template = receiver();
  template.hasResourceProperties('AWS::ApiGatewayV2::Integration', { IntegrationUri: { Ref: 'Ingest.Alias' } });
  template.hasResourceProperties('AWS::Lambda::Permission', { FunctionName: { Ref: 'Ingest.Alias' } });
});

test("a team's queue is a destination, and its topic hears the alarms", () => {
  const stack = new ExampleStack(app(), 'Example', { code });
  const template = Template.fromStack(stack);
  const [packing] = Object.keys(template.findResources('AWS::SQS::Queue', { Properties: { QueueName: 'packing-example' } }));
  template.hasResourceProperties('AWS::IAM::Policy', {
    PolicyName: 'destination-queues',
    PolicyDocument: {
      Statement: [Match.objectLike({ Action: Match.arrayWith(['sqs:SendMessage']), Resource: [{ 'Fn::GetAtt': [packing, 'Arn'] }] })],
    },
  });
  const [topic] = Object.keys(template.findResources('AWS::SNS::Topic'));
  const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
  assert.equal(alarms.length, names('Resources').filter((name) => name.endsWith('Alarm')).length);
  for (const alarm of alarms) {
    assert.deepEqual(alarm.Properties.AlarmActions, [{ 'Fn::If': ['Notifies', { Ref: topic }, { Ref: 'AWS::NoValue' }] }]);
  }
  template.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Effect: 'Allow', Action: 'sns:Publish', Principal: { Service: 'cloudwatch.amazonaws.com' } }),
      ]),
    },
  });
  template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', TopicArn: { Ref: topic } });
});

/** What `docs/deploy.md` tells a team to write, line by line. */
class GuideStack extends Stack {
  constructor(scope: App) {
    super(scope, 'Guide');
    const secret = new Secret(this, 'Secret');
    const packing = new Queue(this, 'Packing');
    const alarms = new Topic(this, 'Alarms');
    const receiver = new SekaliReceiver(this, 'Receiver', {
      stage: 'live',
      secretArns: [secret.secretFullArn!],
      destinationQueueArns: [packing.queueArn],
      alarmTopicArn: alarms.topicArn,
      code,
    });
    assert.ok(receiver.url);
  }
}

test("the guide's own snippet makes a receiver", () => {
  const [, guide = ''] = readFileSync(resolve(__dirname, '../../../../docs/deploy.md'), 'utf8').split('```ts\n');
  const snippet = (guide.split('```')[0] ?? '').trim().split('\n').map((line) => line.trim());
  assert.ok(snippet.length > 4);
  const written = readFileSync(resolve(__dirname, '../../test/receiver.test.ts'), 'utf8').split('\n');
  const lines = new Set(written.map((line) => line.trim()));
  assert.deepEqual(snippet.filter((line) => !lines.has(line)), []);
  const template = Template.fromStack(new GuideStack(app()));
  const [secret] = Object.keys(template.findResources('AWS::SecretsManager::Secret'));
  template.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: Match.arrayWith([Match.objectLike({ Action: 'secretsmanager:GetSecretValue', Resource: [{ Ref: secret }] })]),
    },
  });
});

test('a secret without a full ARN is refused, since nothing would be granted', () => {
  const byName = Secret.fromSecretNameV2(new Stack(app(), 'Elsewhere'), 'Secret', 'prod/stripe-webhook');
  assert.throws(() => receiver({ secretArns: [byName.secretFullArn!] }), /secretArns has a value that is undefined/);
});

test('a folder without code is refused, and said what to do', () => {
  assert.throws(() => receiver({ code: join(folder, 'nothing') }), /nothing.ingest has no bootstrap: run make package/);
});

test('cdk-nag finds nothing that is not meant', () => {
  const all = app();
  new ExampleStack(all, 'Example', { code });
  const report = nag(all).validateScope(all);
  assert.deepEqual(report.violations.map((violation) => violation.ruleName), []);
});

test('cdk-nag finds what is meant where nobody acknowledges it', () => {
  const all = app();
  const stack = new Stack(all, 'Stack');
  new SekaliReceiver(stack, 'Receiver', { code });
  const found = new AwsSolutionsChecks(all).validateScope(all).violations;
  const counts = found.map((violation) => `${violation.ruleName}: ${violation.violatingResources.length}`).sort();
  const meant = new Map<string, number>();
  for (const { id } of MEANT) {
    meant.set(id, (meant.get(id) ?? 0) + 1);
  }
  assert.deepEqual(counts, [...meant].map(([id, many]) => `${id}: ${many}`).sort());
});
