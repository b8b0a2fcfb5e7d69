import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { SekaliReceiver } from './sekali-receiver';

/** Lets cdk-nag look at everything that an app makes. */
export function nag(app: App): AwsSolutionsChecks {
  const pack = new AwsSolutionsChecks(app);
  Validations.of(app).addPlugins(pack);
  return pack;
}

/** What cdk-nag finds in the template and is meant, each with its reason. */
export const MEANT: ReadonlyArray<{ resource: string; id: string; reason: string }> = [
  ...['IngestRole', 'ProcessorRole', 'SweeperRole'].map((resource) => ({
    resource,
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'X-Ray has no resources to name; it is the only statement with a wildcard.',
  })),
  ...['EndpointRoute', 'TenantRoute'].map((resource) => ({
    resource,
    id: 'AwsSolutions-APIG4',
    reason: 'A vendor proves itself by its signature, which ingest verifies over the raw body.',
  })),
  {
    resource: 'DeadLetters',
    id: 'AwsSolutions-SQS3',
    reason: 'It is the dead-letter queue.',
  },
];

/** Acknowledges these for a receiver. */
export function acknowledgeMeant(receiver: SekaliReceiver): void {
  for (const { resource, id, reason } of MEANT) {
    Validations.of(receiver.template.getResource(resource)).acknowledge({ id, reason });
  }
}
