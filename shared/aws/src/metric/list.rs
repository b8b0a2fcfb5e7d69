//! The one list of metrics in code: names, units, dimensions. `docs/metrics.md`
//! has the same list, and a test compares them.

macro_rules! metrics {
    ($($name:ident: $unit:ident [$([$($dimension:ident),*]),*],)+) => {
        /// What is counted or measured.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Metric {$(
            #[doc = concat!("`", stringify!($name), "` of `docs/metrics.md`.")]
            $name
        ),+}

        impl Metric {
            /// Every metric.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Its name in CloudWatch.
            pub fn name(self) -> &'static str {
                match self {$(Self::$name => stringify!($name)),+}
            }

            /// Its unit.
            pub fn unit(self) -> Unit {
                match self {$(Self::$name => Unit::$unit),+}
            }

            /// The sets of dimensions by which it is emitted besides `Stage` alone.
            pub fn sets(self) -> &'static [&'static [Dimension]] {
                match self {$(Self::$name => &[$(&[$(Dimension::$dimension),*]),*]),+}
            }
        }
    };
}

metrics! {
    Deliveries: Count [[Endpoint, Vendor, Answer], [Endpoint, Type]],
    Events: Count [[Endpoint]],
    Duplicates: Count [[Endpoint]],
    Conflicts: Count [[Endpoint]],
    Held: Count [[Endpoint, Reason]],
    Filtered: Count [[Endpoint]],
    Handshakes: Count [[Endpoint]],
    SignatureFailures: Count [[Endpoint, Reason]],
    SecretMatched: Count [[Endpoint, Secret]],
    OldSecretMatched: Count [[Endpoint]],
    SecretUnusable: Count [[Endpoint]],
    EndpointOffline: Count [[Endpoint]],
    Unavailable: Count [[Endpoint]],
    EnqueueDeferred: Count [[Endpoint]],
    VerificationTime: Milliseconds [[Endpoint]],
    AckTime: Milliseconds [[Endpoint]],
    AckDeadlineShare: Percent [[Endpoint]],
    Ended: Count [[Endpoint, Status]],
    Ignored: Count [[Endpoint, Reason]],
    TimeToProcessed: Milliseconds [[Endpoint]],
    Attempts: Count [[Destination]],
    Retries: Count [[Destination]],
    Failures: Count [[Destination, Class]],
    DestinationTime: Milliseconds [[Destination]],
    EffectsPrevented: Count [[Action]],
    InDoubt: Count [[Destination]],
    Sweeps: Count [],
    SweptSent: Count [],
    SweptMoved: Count [],
    SweptLeft: Count [],
    OldestOpen: Seconds [],
    NeedsHuman: Count [[Status]],
}

/// What a number is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// So many.
    Count,
    /// Thousandths of a second.
    Milliseconds,
    /// Whole seconds.
    Seconds,
    /// Hundredths.
    Percent,
}

impl Unit {
    /// CloudWatch's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Count => "Count",
            Self::Milliseconds => "Milliseconds",
            Self::Seconds => "Seconds",
            Self::Percent => "Percent",
        }
    }
}

/// By what a metric is told apart. Each value comes from the configuration or
/// from a closed list, since each set of values costs as a metric of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// An endpoint of the configuration, or `unknown`.
    Endpoint,
    /// Its vendor.
    Vendor,
    /// The HTTP status of an answer.
    Answer,
    /// A type that a rule of the endpoint names, or `other`, `none`, `several`.
    Type,
    /// A closed word.
    Reason,
    /// The position of a secret, and `-previous` behind an older version.
    Secret,
    /// A destination of the configuration.
    Destination,
    /// How a call ended.
    Class,
    /// An action of the configuration.
    Action,
    /// Where an event stands.
    Status,
}

impl Dimension {
    /// Its name in CloudWatch.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Endpoint => "Endpoint",
            Self::Vendor => "Vendor",
            Self::Answer => "Answer",
            Self::Type => "Type",
            Self::Reason => "Reason",
            Self::Secret => "Secret",
            Self::Destination => "Destination",
            Self::Class => "Class",
            Self::Action => "Action",
            Self::Status => "Status",
        }
    }
}
