//! Copies of the template, each broken in one place, and the assertion that
//! must notice.

use super::template::SHIPPED;

/// One break.
#[derive(Debug)]
pub struct Mutation {
    pub assertion: &'static str,
    find: &'static str,
    replace: &'static str,
}

impl Mutation {
    /// The broken copy: the first place where it fits.
    pub fn broken(&self) -> String {
        let (before, after) =
            SHIPPED.split_once(self.find).unwrap_or_else(|| panic!("{self:?} fits nowhere"));
        format!("{before}{}{after}", self.replace)
    }
}

const fn broken(assertion: &'static str, find: &'static str, replace: &'static str) -> Mutation {
    Mutation { assertion, find, replace }
}

pub const ALL: &[Mutation] = &[
    broken("tables outlive the stack", "DeletionPolicy: RetainExceptOnCreate", "DeletionPolicy: Delete"),
    broken("tables outlive the stack", "UpdateReplacePolicy: Retain\n", "UpdateReplacePolicy: Delete\n"),
    broken(
        "tables can be restored to any second",
        "PointInTimeRecoveryEnabled: true",
        "PointInTimeRecoveryEnabled: false",
    ),
    broken("tables are encrypted, with a key of one's own if given", "SSEEnabled: true", "SSEEnabled: false"),
    broken(
        "tables are encrypted, with a key of one's own if given",
        "!If [OwnTableKey, !Ref TableKeyArn, !Ref AWS::NoValue]",
        "!Ref AWS::NoValue",
    ),
    broken(
        "tables are deleted only on purpose",
        "DeletionProtectionEnabled: !Ref DeletionProtection",
        "Tags: []",
    ),
    broken(
        "tables cost nothing while nothing arrives",
        "BillingMode: PAY_PER_REQUEST",
        "BillingMode: PROVISIONED",
    ),
    broken(
        "items expire by the attribute that the code writes",
        "TimeToLiveSpecification: { AttributeName: expires_at",
        "TimeToLiveSpecification: { AttributeName: expires",
    ),
    broken("keys and index are those that the code reads", "IndexName: open", "IndexName: opened"),
    broken("keys and index are those that the code reads", "KEYS_ONLY", "ALL"),
    broken(
        "a batch that is still retried is not handed out twice",
        "VisibilityTimeoutSeconds:\n    Type: Number\n    Default: 360",
        "VisibilityTimeoutSeconds:\n    Type: Number\n    Default: 359",
    ),
    broken(
        "a batch that is still retried is not handed out twice",
        "Timeout: !Ref ProcessorTimeoutSeconds",
        "Timeout: 61",
    ),
    broken(
        "messages are tried often enough before they are dead",
        "MaxReceiveCount:\n    Type: Number\n    Default: 20",
        "MaxReceiveCount:\n    Type: Number\n    Default: 16",
    ),
    broken(
        "messages are tried often enough before they are dead",
        "Default: 20\n    MinValue: 5",
        "Default: 20\n    MinValue: 1",
    ),
    broken(
        "dead letters wait for two weeks",
        "MessageRetentionPeriod: !Ref DlqRetentionSeconds",
        "MessageRetentionPeriod: !Ref QueueRetentionSeconds",
    ),
    broken(
        "only the queue's own messages can be redriven to it",
        ":sekali-${Stage}-events\n\n",
        ":sekali-${Stage}-other\n\n",
    ),
    broken("only the queue's own messages can be redriven to it", "byQueue", "allowAll"),
    broken("queues are encrypted", "SqsManagedSseEnabled: true", "SqsManagedSseEnabled: false"),
    broken("queues refuse plain HTTP", "Queues: [!Ref DeadLetters]", "Queues: [!Ref Queue]"),
    broken(
        "queues refuse plain HTTP",
        "\"aws:SecureTransport\": \"false\"",
        "\"aws:SecureTransport\": \"true\"",
    ),
    broken(
        "each function may do what its code calls, and no more",
        "[dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem]",
        "[dynamodb:GetItem, dynamodb:PutItem]",
    ),
    broken(
        "each function may do what its code calls, and no more",
        "[dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem]",
        "[dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem, dynamodb:DeleteItem]",
    ),
    broken(
        "each function may do what its code calls, and no more",
        "Sid: MoveResources\n                Effect: Allow\n                Action: [dynamodb:GetItem,",
        "Sid: MoveResources\n                Effect: Allow\n                Action: [dynamodb:PutItem, dynamodb:GetItem,",
    ),
    broken(
        "each function may do what its code calls, and no more",
        "!Sub ${EventsTable.Arn}/index/open",
        "!GetAtt EventsTable.Arn",
    ),
    broken(
        "each function may do what its code calls, and no more",
        "                  - sqs:ChangeMessageVisibility\n",
        "",
    ),
    broken(
        "what the configuration names is granted by its parameter alone",
        "Action: ssm:GetParameter",
        "Action: ssm:GetParameters",
    ),
    broken(
        "what the configuration names is granted by its parameter alone",
        "    Condition: CallsBuses\n",
        "",
    ),
    broken(
        "nothing is allowed with a wildcard",
        "Resource: !GetAtt Queue.Arn\n\n  ProcessorRole",
        "Resource: \"*\"\n\n  ProcessorRole",
    ),
    broken("nothing is allowed with a wildcard", "Action: events:PutEvents", "Action: events:*"),
    broken(
        "no policy of somebody else's widens a role",
        "  IngestRole:\n    Type: AWS::IAM::Role\n    Properties:\n",
        "  IngestRole:\n    Type: AWS::IAM::Role\n    Properties:\n      ManagedPolicyArns: [arn:aws:iam::aws:policy/AdministratorAccess]\n",
    ),
    broken(
        "no policy of somebody else's widens a role",
        "      Role: !GetAtt IngestRole.Arn\n",
        "      Policies: [{ SQSSendMessagePolicy: { QueueName: !GetAtt Queue.QueueName } }]\n",
    ),
    broken(
        "each function has a role of its own",
        "Role: !GetAtt SweeperRole.Arn",
        "Role: !GetAtt ProcessorRole.Arn",
    ),
    broken(
        "each function has a role of its own",
        "Service: lambda.amazonaws.com",
        "Service: ec2.amazonaws.com",
    ),
    broken(
        "the API has the two routes of endpoints and no other",
        "ANY /webhooks/{endpoint}\n",
        "$default\n",
    ),
    broken(
        "the API calls the alias of ingest, and only its routes may",
        "IntegrationUri: !Ref Ingest.Alias",
        "IntegrationUri: !GetAtt Ingest.Arn",
    ),
    broken("the API calls the alias of ingest, and only its routes may", "${Api}/*/*/webhooks/*", "${Api}/*"),
    broken(
        "the API answers before it gives up on ingest",
        "TimeoutInMillis: 20000",
        "TimeoutInMillis: 15000",
    ),
    broken(
        "the access log has neither headers nor query",
        "\"path\":\"$context.path\"",
        "\"path\":\"$request.querystring\"",
    ),
    broken("the API is throttled", "ThrottlingRateLimit: !Ref RateLimit", "DetailedMetricsEnabled: true"),
    broken(
        "functions run on Lambda's own base, on arm64 unless said otherwise",
        "    Default: arm64",
        "    Default: x86_64",
    ),
    broken(
        "functions run on Lambda's own base, on arm64 unless said otherwise",
        "Runtime: provided.al2023",
        "Runtime: provided.al2",
    ),
    broken(
        "functions write JSON into groups that forget",
        "      RetentionInDays: !Ref LogRetentionDays\n",
        "      Tags: []\n",
    ),
    broken(
        "functions write JSON into groups that forget",
        "ApplicationLogLevel: TRACE",
        "ApplicationLogLevel: WARN",
    ),
    broken(
        "functions write JSON into groups that forget",
        "LogGroup: !Ref SweeperLogs",
        "LogGroup: !Ref IngestLogs",
    ),
    broken("functions are traced", "    Tracing: !Ref Tracing\n", ""),
    broken("callers use an alias that every change moves", "      AutoPublishAliasAllProperties: true\n", ""),
    broken(
        "ingest and processor change gradually and go back at an alarm",
        "[!Ref IngestErrorsAlarm, !Ref UnavailableAlarm]",
        "[!Ref IngestErrorsAlarm, !Ref EndpointOfflineAlarm]",
    ),
    broken(
        "ingest and processor change gradually and go back at an alarm",
        "        Alarms: [!Ref IngestErrorsAlarm, !Ref UnavailableAlarm]\n",
        "",
    ),
    broken(
        "ingest and processor change gradually and go back at an alarm",
        "Default: Canary10Percent5Minutes",
        "Default: AllAtOnce",
    ),
    broken(
        "no function has reserved concurrency",
        "      Timeout: !Ref ProcessorTimeoutSeconds\n",
        "      Timeout: !Ref ProcessorTimeoutSeconds\n      ReservedConcurrentExecutions: 5\n",
    ),
    broken("the queue hands out batches of which single messages may fail", "BatchSize: 10", "BatchSize: 11"),
    broken(
        "the queue hands out batches of which single messages may fail",
        "            FunctionResponseTypes: [ReportBatchItemFailures]\n",
        "",
    ),
    broken(
        "the queue hands out batches of which single messages may fail",
        "MaximumConcurrency: !Ref ProcessorConcurrency",
        "MaximumConcurrency: 1",
    ),
    broken("the sweeper runs every minute and is not repeated", "rate(1 minute)", "rate(1 hour)"),
    broken("the sweeper runs every minute and is not repeated", "Timeout: 50", "Timeout: 61"),
    broken(
        "a domain of one's own can ask for certificates",
        "!If [AsksForCertificates, true, false]",
        "!If [AsksForCertificates, false, false]",
    ),
    broken(
        "a domain of one's own can ask for certificates",
        "    Type: AWS::ApiGatewayV2::ApiMapping\n    Condition: HasDomain\n",
        "    Type: AWS::ApiGatewayV2::ApiMapping\n",
    ),
    broken(
        "there is an alarm for everything that must not go unnoticed",
        "AlarmName: !Sub sekali-${Stage}-in-doubt",
        "AlarmName: !Sub sekali-${Stage}-doubtful",
    ),
    broken(
        "every alarm leads to its section of the runbook",
        "${RunbookUrl}#old-secret",
        "${RunbookUrl}#secrets",
    ),
    broken(
        "every alarm leads to its section of the runbook",
        "AlarmName: !Sub sekali-${Stage}-held",
        "AlarmName: !Sub sekali-${Stage}-kept",
    ),
    broken(
        "every alarm goes to the topic, and says when it is over",
        "      OKActions: [!If [Notifies, !Ref AlarmTopicArn, !Ref AWS::NoValue]]\n",
        "",
    ),
    broken(
        "silence is alarming where something must be heard, and nowhere else",
        "TreatMissingData: breaching",
        "TreatMissingData: notBreaching",
    ),
    broken(
        "alarms watch metrics that exist, by their dimensions",
        "MetricName: OldestOpen",
        "MetricName: OldestEvent",
    ),
    broken(
        "alarms watch metrics that exist, by their dimensions",
        ", { Name: Status, Value: in_doubt }",
        ", { Name: Endpoint, Value: in_doubt }",
    ),
    broken(
        "the dashboard shows every alarm and metrics that exist",
        "alarm:sekali-${Stage}-held\"",
        "alarm:sekali-${Stage}-kept\"",
    ),
    broken(
        "the dashboard shows every alarm and metrics that exist",
        "\"Sekali\", \"EffectsPrevented\"",
        "\"Sekali\", \"EffectsSaved\"",
    ),
    broken(
        "the dashboard shows every alarm and metrics that exist",
        "{Sekali,Stage,Endpoint,Reason}",
        "{Sekali,Stage,Reason}",
    ),
    broken(
        "saved queries ask the groups that there are",
        "LogGroupNames: [!Ref SweeperLogs]",
        "LogGroupNames: [!Ref SweepLogs]",
    ),
    broken(
        "the functions are told what they read, and nothing else",
        "        SEKALI_QUEUE_URL: !Ref Queue\n",
        "",
    ),
    broken(
        "the functions are told what they read, and nothing else",
        "        SEKALI_LOG: !Ref LogLevel\n",
        "        SEKALI_LOG: !Ref LogLevel\n        SEKALI_OTHER: x\n",
    ),
    broken("the command line finds every output that it reads", "  DlqUrl:\n", "  DeadLetterUrl:\n"),
    broken(
        "every parameter and output says what it is",
        "    Description: What the functions were built for.\n",
        "",
    ),
    broken(
        "the template holds nothing that CloudFormation does not read",
        "    Type: AWS::ApiGatewayV2::Api\n",
        "    Type: AWS::ApiGatewayV2::Api\n    Metadata: &name {}\n",
    ),
];
