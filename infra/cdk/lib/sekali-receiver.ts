import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CfnResource, Fn, Stack, Validations } from 'aws-cdk-lib';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { IRole, Role } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction, IFunction } from 'aws-cdk-lib/aws-lambda';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import { CfnFunction } from 'aws-cdk-lib/aws-sam';
import { IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include';
import { Construct } from 'constructs';
import { SekaliParameters, given } from './parameters';

const REPOSITORY = resolve(__dirname, '../../../..');
const FUNCTIONS = { Ingest: 'ingest', Processor: 'processor', Sweeper: 'sweeper' } as const;

/** What SAM, and not the CDK, knows how to resolve: `!Ref Ingest.Alias`. */
const WITH_ALIAS = ['IngestIntegration', 'IngestPermission'];

/** The receiver's properties: the template's parameters, and where the code is. */
export interface SekaliReceiverProps extends SekaliParameters {
  /**
   * The folder with `ingest/`, `processor/` and `sweeper/`, each with
   * `bootstrap` and `config/`, as `make package` fills it or a release zip
   * unpacks to. Default: `target/lambda` of this repository.
   */
  readonly code?: string;
}

/**
 * A receiver: `infra/template.yaml` as it is, with its code from a folder.
 *
 * The template keeps its logical ids, so a stack that was deployed with SAM
 * can go on with the CDK and back. One receiver fits in a stack.
 */
export class SekaliReceiver extends Construct {
  /** The included template, for whatever has no property here. */
  readonly template: CfnInclude;
  /** What vendors call, followed by the name of their endpoint. */
  readonly url: string;
  /** The queue from ingest to the processor. */
  readonly queue: IQueue;
  /** Its dead-letter queue. */
  readonly deadLetters: IQueue;
  /** The functions, by the alias that is called. */
  readonly ingest: IFunction;
  readonly processor: IFunction;
  readonly sweeper: IFunction;
  /** To grant what a destination needs: `topic.grantPublish(receiver.processorRole)`. */
  readonly processorRole: IRole;

  constructor(scope: Construct, id: string, props: SekaliReceiverProps = {}) {
    super(scope, id);
    this.template = new CfnInclude(this, 'Template', {
      templateFile: join(REPOSITORY, 'infra/template.yaml'),
      parameters: given(props),
      dehydratedResources: WITH_ALIAS,
      preserveLogicalIds: true,
    });
    this.keepNames();
    this.takeCode(resolve(props.code ?? join(REPOSITORY, 'target/lambda')));
    this.acknowledge();

    this.url = Fn.select(0, [String(this.template.getOutput('Url').value)]);
    this.queue = Queue.fromQueueArn(this, 'Queue', this.arn('Queue'));
    this.deadLetters = Queue.fromQueueArn(this, 'DeadLetters', this.arn('DeadLetters'));
    this.ingest = this.alias('Ingest');
    this.processor = this.alias('Processor');
    this.sweeper = this.alias('Sweeper');
    const role = this.template.getResource('ProcessorRole');
    this.processorRole = Role.fromRoleName(this, 'ProcessorRole', role.ref);
  }

  /** A table, by the template's name: `EventsTable`, `ResourcesTable`, `ActionsTable`. */
  table(name: 'EventsTable' | 'ResourcesTable' | 'ActionsTable'): CfnTable {
    return this.template.getResource(name) as CfnTable;
  }

  /** An alarm, by the template's name, e.g. `DeadLettersAlarm`. */
  alarm(name: string): CfnAlarm {
    return this.template.getResource(name) as CfnAlarm;
  }

  /** What is not taken apart gets another name from the CDK; the template's is to stay. */
  private keepNames(): void {
    for (const name of WITH_ALIAS) {
      this.resource(name).overrideLogicalId(name);
    }
  }

  private takeCode(folder: string): void {
    for (const [name, part] of Object.entries(FUNCTIONS)) {
      const path = join(folder, part);
      if (!existsSync(join(path, 'bootstrap'))) {
        throw new Error(`${path} has no bootstrap: run make package, or unpack a release there`);
      }
      const asset = new Asset(this, `${name}Code`, { path });
      const code = this.template.getResource(name) as CfnFunction;
      code.codeUri = { bucket: asset.s3BucketName, key: asset.s3ObjectKey };
    }
  }

  /** What a check that does not know SAM, or conditions, takes for a mistake. */
  private acknowledge(): void {
    for (const name of WITH_ALIAS) {
      Validations.of(this.resource(name)).acknowledge({
        id: 'CloudFormation-Validate::F1020',
        reason: 'SAM makes the alias that is named here.',
      });
    }
    Validations.of(this).acknowledge({
      id: 'CloudFormation-Validate::W1030',
      reason: 'The empty default of a parameter is used only where a condition leaves it out.',
    });
  }

  private resource(name: string): CfnResource {
    return this.template.getResource(name);
  }

  private arn(name: string): string {
    return this.resource(name).getAtt('Arn').toString();
  }

  private alias(name: keyof typeof FUNCTIONS): IFunction {
    return LambdaFunction.fromFunctionAttributes(this, name, {
      functionArn: `${this.arn(name)}:live`,
      sameEnvironment: Stack.of(this) !== undefined,
    });
  }
}
