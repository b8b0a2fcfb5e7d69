//! What vendors send: small deliveries in real shapes, with invented data.

use super::setup::{LOTS, SIGNALS};
use sekali::http::{Headers, Request};
use sekali::secret::Secret;
use sekali::time::UnixMillis;
use sekali::vendor::sign::sign;
use sekali::vendor::{Params, Vendor, builtin};
use std::sync::LazyLock;
use std::time::Duration;

/// What the two Stripe and shop endpoints verify with, and the batch vendor.
pub const STRIPE_SECRET: &str = "whsec_invented_for_the_simulation";
/// Of the shop.
pub const SHOP_SECRET: &str = "whsec_aW52ZW50ZWQgZm9yIHRoZSBzaW11bGF0aW9u";
/// Of the vendor that sends lots.
pub const LOTS_SECRET: &str = "invented-for-the-simulation-of-lots";

/// The signal after which the job does not change any more.
pub const LAST_SIGNAL: &str = "sig_3";

/// One delivery that a vendor makes, again and again until it is acknowledged.
#[derive(Debug, Clone)]
pub struct Sent {
    /// When it is first made, from the beginning of the run.
    pub at: Duration,
    /// After how long it is made again, each time that it was not acknowledged.
    pub again: &'static [Duration],
    /// What it says.
    pub says: Says,
}

/// What a delivery says.
#[derive(Debug, Clone)]
pub enum Says {
    /// Stripe: the payment of an order was authorized; a status and no action.
    Authorized(Payment),
    /// Stripe: an order is paid.
    Paid(Payment),
    /// Stripe: the payment was refunded.
    Refunded(Payment),
    /// The shop: an order is paid.
    ShopPaid {
        /// The event.
        id: &'static str,
        /// The order; empty leaves the key part out.
        order: &'static str,
    },
    /// Several items sold, each an event: id and order.
    Lots(Vec<(&'static str, &'static str)>),
    /// Something happened that is told once for each event.
    Told {
        /// The event.
        id: &'static str,
        /// Drawn anew for each delivery by the vendor; no part of the event.
        delivery: &'static str,
    },
    /// An item sold, at an endpoint that serves many.
    OfTenant {
        /// Whose it is.
        tenant: &'static str,
        /// The event.
        id: &'static str,
        /// The order.
        order: &'static str,
    },
    /// Something happened to the job: come and look.
    Changed {
        /// The event.
        id: &'static str,
        /// The number of the state that the job has by now.
        n: u32,
    },
    /// The vendor wants to be called back before it sends anything.
    Subscribes {
        /// The event.
        id: &'static str,
    },
    /// The vendor hands over the secret that it will sign with; anybody can.
    HandsOver(&'static str),
}

/// A payment as Stripe tells of it.
#[derive(Debug, Clone, Copy)]
pub struct Payment {
    /// The event.
    pub id: &'static str,
    /// The order.
    pub order: &'static str,
    /// When Stripe says it happened, in seconds after the first.
    pub created: i64,
    /// The amount.
    pub amount: u32,
}

/// The event ids are of this endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// The endpoint.
    pub endpoint: &'static str,
    /// The tenant, where the endpoint serves many.
    pub tenant: Option<&'static str>,
    /// The vendor's event id.
    pub id: &'static str,
}

impl Says {
    /// The endpoint that it is sent to.
    pub fn endpoint(&self) -> &'static str {
        match self {
            Self::Authorized(_) | Self::Paid(_) | Self::Refunded(_) => "stripe",
            Self::ShopPaid { .. } => "shop",
            Self::Lots(_) | Self::Told { .. } => "lots",
            Self::OfTenant { .. } => "shared",
            Self::Changed { .. } | Self::Subscribes { .. } => "signals",
            Self::HandsOver(_) => "newcomer",
        }
    }

    /// The tenant of its URL.
    pub fn tenant(&self) -> Option<&'static str> {
        match self {
            Self::OfTenant { tenant, .. } => Some(tenant),
            _ => None,
        }
    }

    /// The events that it carries.
    pub fn events(&self) -> Vec<Named> {
        let (endpoint, tenant) = (self.endpoint(), self.tenant());
        let named = |id| Named { endpoint, tenant, id };
        match self {
            Self::Authorized(payment) | Self::Paid(payment) | Self::Refunded(payment) => {
                vec![named(payment.id)]
            }
            Self::ShopPaid { id, .. }
            | Self::Told { id, .. }
            | Self::OfTenant { id, .. }
            | Self::Changed { id, .. }
            | Self::Subscribes { id } => vec![named(id)],
            Self::Lots(items) => items.iter().map(|(id, _)| named(id)).collect(),
            Self::HandsOver(_) => Vec::new(),
        }
    }

    /// The delivery, signed at `now`.
    ///
    /// # Errors
    /// It cannot be signed: the simulation's own descriptions are at fault.
    pub fn request(&self, now: UnixMillis) -> anyhow::Result<Request> {
        let endpoint = self.endpoint();
        let (vendor, secret) = match endpoint {
            "stripe" => (&VENDORS.stripe, STRIPE_SECRET),
            "shop" => (&VENDORS.shop, SHOP_SECRET),
            "signals" => (&VENDORS.signals, LOTS_SECRET),
            _ => (&VENDORS.lots, LOTS_SECRET),
        };
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        match self {
            Self::ShopPaid { id, .. } => headers.push(("webhook-id".to_owned(), (*id).to_owned())),
            Self::Told { delivery, .. } => headers.push(("x-delivery".to_owned(), (*delivery).to_owned())),
            _ => {}
        }
        let unsigned = Request {
            method: "POST".to_owned(),
            path: format!("/webhooks/{endpoint}"),
            query: String::new(),
            headers: Headers::new(headers.clone()),
            body: self.body().into_bytes(),
        };
        if matches!(self, Self::HandsOver(_)) {
            return Ok(unsigned);
        }
        let secret = Secret::new(secret)?;
        headers.extend(sign(vendor, &unsigned, &secret, &Params::default(), now, String::new)?);
        Ok(Request { headers: Headers::new(headers), ..unsigned })
    }

    fn body(&self) -> String {
        match self {
            Self::Authorized(payment) => {
                payment.body("charge.succeeded", &format!(r#""captured":false,"amount":{}"#, payment.amount))
            }
            Self::Paid(payment) => payment.body(
                "checkout.session.completed",
                &format!(
                    r#""payment_status":"paid","amount_total":{},"metadata":{{"order_id":"{}"}}"#,
                    payment.amount, payment.order
                ),
            ),
            Self::Refunded(payment) => payment.body("charge.refunded", r#""refunded":true"#),
            Self::ShopPaid { order: "", .. } => r#"{"type":"order.paid","data":{"total":4200}}"#.to_owned(),
            Self::ShopPaid { order, .. } => {
                format!(r#"{{"type":"order.paid","data":{{"order_id":"{order}","total":4200}}}}"#)
            }
            Self::Lots(items) => {
                let items: Vec<_> = items
                    .iter()
                    .map(|(id, order)| format!(r#"{{"id":"{id}","type":"sold","order":"{order}"}}"#))
                    .collect();
                format!(r#"{{"events":[{}]}}"#, items.join(","))
            }
            Self::OfTenant { id, order, .. } => Self::Lots(vec![(id, order)]).body(),
            Self::Changed { id, n } => {
                format!(r#"{{"id":"{id}","type":"changed","job":"J-1","n":{n}}}"#)
            }
            Self::Subscribes { id } => {
                format!(
                    r#"{{"id":"{id}","type":"subscribe","url":"https://confirm.example.com/?token=t-1"}}"#
                )
            }
            Self::HandsOver(token) => format!(r#"{{"token":"{token}"}}"#),
            Self::Told { id, .. } => format!(r#"{{"events":[{{"id":"{id}","type":"told"}}]}}"#),
        }
    }
}

impl Payment {
    fn body(&self, event_type: &str, object: &str) -> String {
        let Self { id, order, created, .. } = self;
        let created = FIRST_CREATED + created;
        format!(
            r#"{{"id":"{id}","type":"{event_type}","api_version":"2024-06-20","created":{created},"data":{{"object":{{"payment_intent":"pi_{order}",{object}}}}}}}"#
        )
    }
}

/// When the first event happened, in seconds.
const FIRST_CREATED: i64 = 1_700_000_000;

/// When a run begins.
pub const BEGINNING: UnixMillis = UnixMillis((FIRST_CREATED + 100) * 1000);

struct Vendors {
    stripe: Vendor,
    shop: Vendor,
    lots: Vendor,
    signals: Vendor,
}

#[expect(clippy::expect_used, reason = "the simulation's own descriptions; a test reads them")]
static VENDORS: LazyLock<Vendors> = LazyLock::new(|| {
    let built_in = |name| {
        let text = builtin::text(name).expect("a built-in vendor");
        Vendor::parse(name, name, text).expect("a built-in description")
    };
    Vendors {
        stripe: built_in("stripe"),
        shop: built_in("standard-webhooks"),
        lots: Vendor::parse("lots", "vendors/lots.toml", LOTS).expect("the description of lots"),
        signals: Vendor::parse("signals", "vendors/signals.toml", SIGNALS)
            .expect("the description of signals"),
    }
});
