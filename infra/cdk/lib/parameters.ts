/**
 * The template's parameters as properties. A test compares them with
 * infra/template.yaml in both directions.
 */
export interface SekaliParameters {
  /** Part of every name, so that several stages fit in one account. */
  readonly stage?: string;
  /** What the functions were built for. */
  readonly architecture?: 'arm64' | 'x86_64';
  /** The least severe of our own lines that are written. */
  readonly logLevel?: 'error' | 'warn' | 'info' | 'debug';
  /** The same for Lambda's own lines. */
  readonly platformLogLevel?: 'DEBUG' | 'INFO' | 'WARN';
  /** After how many days logs are deleted. */
  readonly logRetentionDays?: number;
  /** `Active` lets X-Ray sample. */
  readonly tracing?: 'Active' | 'PassThrough';
  /** ARNs of the Secrets Manager secrets that endpoints.toml names. */
  readonly secretArns?: readonly string[];
  /** ARNs of the SSM parameters that endpoints.toml names. */
  readonly parameterArns?: readonly string[];
  /** Your own KMS keys under which those lie. */
  readonly secretKeyArns?: readonly string[];
  /** ARNs of the queues that are destinations. */
  readonly destinationQueueArns?: readonly string[];
  /** ARNs of the event buses that are destinations. */
  readonly destinationBusArns?: readonly string[];
  /** ARNs of the functions that are destinations. */
  readonly destinationFunctionArns?: readonly string[];
  /** Your own KMS keys under which those queues are encrypted. */
  readonly destinationKeyArns?: readonly string[];
  /** SNS topic that alarms go to. */
  readonly alarmTopicArn?: string;
  /** Where the people on call find docs/runbook.md. */
  readonly runbookUrl?: string;
  /** On how many days in a row an old secret may verify something. */
  readonly oldSecretDays?: number;
  /** How long a message waits to be processed. */
  readonly queueRetentionSeconds?: number;
  /** How long a message stays in the dead-letter queue. */
  readonly dlqRetentionSeconds?: number;
  /** How long one batch may take. */
  readonly processorTimeoutSeconds?: number;
  /** At least six times that. */
  readonly visibilityTimeoutSeconds?: number;
  /** Receives before SQS moves a message to the dead-letter queue. */
  readonly maxReceiveCount?: number;
  /** How many batches are processed at once. */
  readonly processorConcurrency?: number;
  /** Memory of ingest. */
  readonly ingestMemoryMb?: number;
  /** Memory of the processor. */
  readonly processorMemoryMb?: number;
  /** Requests per second, above which the API answers 429. */
  readonly rateLimit?: number;
  /** How many may come at once before that. */
  readonly burstLimit?: number;
  /** Whether new code gets its traffic step by step. */
  readonly gradualDeployment?: boolean;
  /** Those steps. */
  readonly deploymentSteps?:
    | 'Canary10Percent5Minutes'
    | 'Canary10Percent15Minutes'
    | 'Linear10PercentEvery1Minute'
    | 'AllAtOnce';
  /** Whether an emulator plays AWS. */
  readonly emulated?: boolean;
  /** Whether DynamoDB refuses to delete the tables. */
  readonly deletionProtection?: boolean;
  /** Your own KMS key for the tables. */
  readonly tableKeyArn?: string;
  /** A domain of your own. */
  readonly domainName?: string;
  /** Its certificate, in this region. */
  readonly certificateArn?: string;
  /** The Route 53 zone that gets its record. */
  readonly hostedZoneId?: string;
  /** `s3://bucket/key` with the CA certificates of those who may call. */
  readonly truststoreUri?: string;
}

/** The template's name of a property: `dlqRetentionSeconds` is `DlqRetentionSeconds`. */
export function parameterName(property: string): string {
  return property.charAt(0).toUpperCase() + property.slice(1);
}

/**
 * Every property, so that the compiler notices one that is missing here and
 * what is passed can be told from other properties.
 */
const PROPERTIES: Readonly<Record<keyof SekaliParameters, true>> = {
  stage: true,
  architecture: true,
  logLevel: true,
  platformLogLevel: true,
  logRetentionDays: true,
  tracing: true,
  secretArns: true,
  parameterArns: true,
  secretKeyArns: true,
  destinationQueueArns: true,
  destinationBusArns: true,
  destinationFunctionArns: true,
  destinationKeyArns: true,
  alarmTopicArn: true,
  runbookUrl: true,
  oldSecretDays: true,
  queueRetentionSeconds: true,
  dlqRetentionSeconds: true,
  processorTimeoutSeconds: true,
  visibilityTimeoutSeconds: true,
  maxReceiveCount: true,
  processorConcurrency: true,
  ingestMemoryMb: true,
  processorMemoryMb: true,
  rateLimit: true,
  burstLimit: true,
  gradualDeployment: true,
  deploymentSteps: true,
  emulated: true,
  deletionProtection: true,
  tableKeyArn: true,
  domainName: true,
  certificateArn: true,
  hostedZoneId: true,
  truststoreUri: true,
};

/** The names of all properties. */
export const PARAMETER_PROPERTIES = Object.keys(PROPERTIES) as ReadonlyArray<keyof SekaliParameters>;

/** What is given, as CloudFormation takes it: flags are texts there. */
export function given(parameters: SekaliParameters): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const property of PARAMETER_PROPERTIES) {
    const value = parameters[property];
    if (Array.isArray(value) && value.some((one) => one === undefined)) {
      throw new Error(`${property} has a value that is undefined: a secret that is known by its name alone has no full ARN`);
    }
    if (value !== undefined) {
      values[parameterName(property)] = typeof value === 'boolean' ? String(value) : value;
    }
  }
  return values;
}
