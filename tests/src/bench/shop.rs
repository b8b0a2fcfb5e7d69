//! The traffic that is measured: a shop whose payments move and whose paid
//! orders are packed, as in the first example of the documentation.

use crate::e2e::vendors::{Delivery, Vendors};
use anyhow::{Result, bail};
use sekali::config::load;
use std::fs;
use std::path::Path;

/// The endpoint that is called.
pub const ENDPOINT: &str = "stripe";

/// Endpoints, of which only the first is called; each has the same rules.
pub fn endpoints(count: usize, destination: u16) -> String {
    let names =
        std::iter::once(ENDPOINT.to_owned()).chain((1..count).map(|number| format!("stripe-{number}")));
    let endpoints: String = names.map(|name| endpoint(&name)).collect();
    format!(
        r#"{endpoints}
[resource.payment]
order = "time"
moves = ["pending -> paid -> refunded", "pending -> failed"]

[action]
pack = {{ key = ["order"], to = "packing" }}

[destination]
packing = {{ http = "http://127.0.0.1:{destination}/packing", honours_key_for = "24h", in_doubt = "retry" }}
"#
    )
}

fn endpoint(name: &str) -> String {
    format!(
        r#"
[endpoint.{name}]
vendor = "stripe"
secrets = ["env:STRIPE_WEBHOOK_SECRET"]
max_body = "4500KiB"
resource.payment = "/data/object/payment_intent"

[[endpoint.{name}.rule]]
type = "checkout.session.completed"
when = {{ "/data/object/payment_status" = "paid" }}
status = "paid"
action.pack = {{ order = "/data/object/metadata/order_id", amount = "/data/object/amount_total" }}
late = "act"

[[endpoint.{name}.rule]]
type = "charge.refunded"
status = "refunded"
"#
    )
}

/// Writes the configuration as it travels beside a binary, and gives whoever
/// signs for its vendor.
///
/// # Errors
/// It cannot be written, or does not hold together.
pub fn open(folder: &Path, count: usize, destination: u16) -> Result<Vendors> {
    fs::create_dir_all(folder)?;
    let text = endpoints(count, destination);
    fs::write(folder.join("endpoints.toml"), &text)?;
    match load(("endpoints.toml", &text), &[]) {
        Ok(config) => Ok(Vendors::new(config)),
        Err(problems) => bail!("the shop's configuration: {problems:?}"),
    }
}

/// A delivery of a paid order, with so many bytes of text beside it.
pub fn delivery(id: &str, filler: usize) -> Delivery {
    let created = sekali::time::Clock::now(&sekali_aws::SystemClock).0 / 1_000;
    Delivery::new(ENDPOINT, body("checkout.session.completed", id, id, created, filler))
}

/// A checkout session as Stripe sends one, of about 2 KB and so many bytes
/// more.
pub fn body(event_type: &str, event: &str, order: &str, created: i64, filler: usize) -> Vec<u8> {
    let filler: String = "an invented line of a parcel ".chars().cycle().take(filler).collect();
    format!(
        r#"{{
  "id": "{event}",
  "object": "event",
  "api_version": "2024-06-20",
  "created": {created},
  "data": {{
    "object": {{
      "id": "cs_live_a1bInventedInventedInventedInventedInventedInventedInvented0",
      "object": "checkout.session",
      "after_expiration": null,
      "allow_promotion_codes": null,
      "amount_subtotal": 4900,
      "amount_total": 4900,
      "automatic_tax": {{ "enabled": false, "liability": null, "status": null }},
      "billing_address_collection": "auto",
      "cancel_url": "https://shop.example.com/cancelled?session=cs_live_a1bInvented",
      "client_reference_id": "customer-8842",
      "currency": "eur",
      "customer": "cus_InventedCustomer1",
      "customer_details": {{
        "address": {{ "city": "Ljubljana", "country": "SI", "line1": "Invented street 12", "line2": null, "postal_code": "1000", "state": null }},
        "email": "customer@example.com",
        "name": "Invented Customer",
        "phone": null,
        "tax_exempt": "none",
        "tax_ids": []
      }},
      "expires_at": 1930086400,
      "invoice": null,
      "livemode": true,
      "locale": "auto",
      "metadata": {{ "order_id": "{order}", "channel": "web", "campaign": "autumn-2026", "note": "{filler}" }},
      "mode": "payment",
      "payment_intent": "pi_3OInvented{order}",
      "payment_method_options": {{ "card": {{ "request_three_d_secure": "automatic" }} }},
      "payment_method_types": ["card", "link", "sepa_debit"],
      "payment_status": "paid",
      "phone_number_collection": {{ "enabled": false }},
      "shipping_cost": {{ "amount_subtotal": 490, "amount_tax": 0, "amount_total": 490, "shipping_rate": "shr_1OInventedRate" }},
      "status": "complete",
      "submit_type": null,
      "success_url": "https://shop.example.com/thanks?session=cs_live_a1bInvented",
      "total_details": {{ "amount_discount": 0, "amount_shipping": 490, "amount_tax": 884 }}
    }}
  }},
  "livemode": true,
  "pending_webhooks": 1,
  "request": {{ "id": "req_InventedRequest", "idempotency_key": "2f1c1d1e-invented-4c51-8d8e-0a1b2c3d4e5f" }},
  "type": "{event_type}"
}}"#
    )
    .into_bytes()
}
