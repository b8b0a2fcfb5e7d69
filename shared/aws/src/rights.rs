//! What the adapters call of AWS, port by port: the one list that the roles of
//! `infra/template.yaml` are written from. A test compares it with the code
//! (which call of a port makes which calls of AWS, and which function makes
//! which call of a port) and with the template, each in both directions.

/// What a right is about, by its name in the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thing {
    /// Events and their payloads.
    EventsTable,
    /// The index of what is open.
    OpenIndex,
    /// The states of resources.
    ResourcesTable,
    /// Actions.
    ActionsTable,
    /// The queue.
    Queue,
}

/// An action of IAM on something.
pub type Right = (&'static str, Thing);

/// A call of a port with the rights that its adapter needs for it.
pub type PortRights = (&'static str, &'static [Right]);

const READ_EVENTS: Right = ("dynamodb:GetItem", Thing::EventsTable);
const PUT_EVENTS: Right = ("dynamodb:PutItem", Thing::EventsTable);
const CHANGE_EVENTS: Right = ("dynamodb:UpdateItem", Thing::EventsTable);
const READ_ACTIONS: Right = ("dynamodb:GetItem", Thing::ActionsTable);
const READ_RESOURCES: Right = ("dynamodb:GetItem", Thing::ResourcesTable);

/// The calls of [`Store`](sekali::ports::Store), but for `write`.
pub const STORE: &[PortRights] = &[
    // The read is for a store that does not hand back what stood in the way.
    ("create_event", &[PUT_EVENTS, READ_EVENTS]),
    ("put_payload", &[PUT_EVENTS]),
    ("keep_payload", &[CHANGE_EVENTS, READ_EVENTS]),
    ("expire_payload", &[CHANGE_EVENTS, READ_EVENTS]),
    ("payload", &[READ_EVENTS]),
    ("event", &[READ_EVENTS]),
    ("action", &[READ_ACTIONS]),
    ("resource", &[READ_RESOURCES]),
    ("count_duplicate", &[CHANGE_EVENTS]),
    ("record_conflict", &[CHANGE_EVENTS]),
    ("adopt", &[CHANGE_EVENTS]),
    ("capture", &[PUT_EVENTS, READ_EVENTS]),
    ("due", &[("dynamodb:Query", Thing::OpenIndex)]),
];

/// `write`, by the parts that a transition may have. The reads recognise an
/// earlier try of the same write.
pub const WRITE: &[PortRights] = &[
    ("event", &[CHANGE_EVENTS, READ_EVENTS]),
    (
        "action",
        &[
            READ_ACTIONS,
            ("dynamodb:UpdateItem", Thing::ActionsTable),
            ("dynamodb:ConditionCheckItem", Thing::ActionsTable),
        ],
    ),
    // A frozen request that is too large for its action is put beside it.
    ("begin", &[("dynamodb:PutItem", Thing::ActionsTable)]),
    ("resource", &[READ_RESOURCES, ("dynamodb:UpdateItem", Thing::ResourcesTable)]),
];

/// The calls of the queue's adapter.
pub const QUEUE: &[PortRights] = &[
    ("send", &[("sqs:SendMessage", Thing::Queue)]),
    ("warm_up", &[("sqs:GetQueueAttributes", Thing::Queue)]),
    ("change_visibility", &[("sqs:ChangeMessageVisibility", Thing::Queue)]),
];

/// The parts of transitions that a function writes. Only a claim moves a
/// resource or begins an action, and only the processor claims; ingest writes
/// no transition at all.
pub const WRITES: &[(&str, &[&str])] = &[
    ("ingest", &[]),
    ("processor", &["event", "action", "begin", "resource"]),
    ("sweeper", &["event", "action"]),
];

/// What Lambda's poller does in the processor's name.
pub const POLLER: &[Right] = &[
    ("sqs:ReceiveMessage", Thing::Queue),
    ("sqs:DeleteMessage", Thing::Queue),
    ("sqs:ChangeMessageVisibility", Thing::Queue),
    ("sqs:GetQueueAttributes", Thing::Queue),
];

/// What Lambda does in each function's name: its log, and its traces.
pub const RUNTIME: &[&str] =
    &["logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTraceSegments", "xray:PutTelemetryRecords"];

/// What the configuration asks for: the action, and the parameter of the
/// template with what it is on.
pub const CONFIGURED: &[(&str, &str)] = &[
    ("secretsmanager:GetSecretValue", "SecretArns"),
    ("ssm:GetParameter", "ParameterArns"),
    ("kms:Decrypt", "SecretKeyArns"),
    ("sqs:SendMessage", "DestinationQueueArns"),
    ("sqs:GetQueueUrl", "DestinationQueueArns"),
    ("events:PutEvents", "DestinationBusArns"),
    ("lambda:InvokeFunction", "DestinationFunctionArns"),
    ("kms:Decrypt", "DestinationKeyArns"),
    ("kms:GenerateDataKey", "DestinationKeyArns"),
    ("kms:Decrypt", "TableKeyArn"),
    ("kms:DescribeKey", "TableKeyArn"),
    ("kms:Encrypt", "TableKeyArn"),
    ("kms:GenerateDataKey", "TableKeyArn"),
    ("kms:ReEncryptFrom", "TableKeyArn"),
    ("kms:ReEncryptTo", "TableKeyArn"),
];
