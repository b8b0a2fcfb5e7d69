//! `sekali vendors`: who can send, and what an endpoint needs for it.

use crate::ended::Ended;
use crate::paint::{Paint, Tone};
use crate::say::say;
use crate::team;
use anyhow::Result;
use clap::Args;
use sekali::vendor::{SecretNeed, Summary, builtin};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Show the vendors that are described: event types, secrets, parameters.
#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:
  sekali vendors                   all of them, one to a line
  sekali vendors stripe            one, and how its endpoint begins
  sekali vendors --json | jq '.[] | select(.secret == \"none\") | .vendor'

{}",
    crate::ended::EXIT_CODES
))]
pub struct Vendors {
    /// The vendor, under any name that people know it by.
    name: Option<String>,
    /// A team's own descriptions [default: infra/vendors, here or above].
    #[arg(long, value_name = "FOLDER")]
    vendors: Option<PathBuf>,
    /// JSON instead of lines: one object, or a list of all.
    #[arg(long)]
    json: bool,
}

impl Vendors {
    /// Shows them.
    ///
    /// # Errors
    /// There is no such vendor, or a description cannot be used.
    pub fn run(&self) -> Result<Ended> {
        let own = self.own()?;
        if let Some(name) = &self.name {
            let summary = team::vendor(name, &own)?.summary();
            match self.json {
                true => say(as_json(&summary)),
                false => say_one(&summary, Paint::for_output()),
            }
            return Ok(Ended::Well);
        }
        let stem = |file: &str| Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let of_team = own.iter().filter_map(|(file, _)| stem(file));
        let names: BTreeSet<String> = of_team.chain(builtin::names().map(str::to_owned)).collect();
        let all: Vec<Summary> =
            names.iter().map(|name| Ok(team::vendor(name, &own)?.summary())).collect::<Result<_>>()?;
        match self.json {
            true => say(Value::Array(all.iter().map(as_json).collect())),
            false => say_all(&all, Paint::for_output()),
        }
        Ok(Ended::Well)
    }

    fn own(&self) -> Result<Vec<(String, String)>> {
        team::own(self.vendors.as_deref())
    }
}

fn say_all(all: &[Summary], paint: Paint) {
    let head = ["vendor", "secret", "besides", "event type"].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(all.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (name, secret, besides) = (width(0), width(1), width(2).min(40));
    for (index, [a, b, c, d]) in rows.iter().enumerate() {
        let line = format!("{a:name$}  {b:secret$}  {c:besides$}  {d}");
        match index {
            0 => say(paint.text(Tone::Place, line)),
            _ => say(line),
        }
    }
    say("\n* how it signs is not proven by an SDK or a published example; sekali vendors NAME says more");
}

fn row(summary: &Summary) -> [String; 4] {
    let mark = if summary.confirmed { "" } else { " *" };
    [
        format!("{}{mark}", summary.name),
        summary.secret.as_str().to_owned(),
        plain(&summary.configured_with()),
        plain(&summary.event_type),
    ]
}

fn say_one(summary: &Summary, paint: Paint) {
    let secret = match summary.secret {
        SecretNeed::Needed => "needed",
        SecretNeed::Published => "none: the vendor publishes its keys, which are fetched",
        SecretNeed::None => "none: nothing is signed",
    };
    let confirmed = match summary.confirmed {
        true => "by an SDK, the documentation or a published example",
        false => "no: an endpoint says allow_unconfirmed = true, once a real delivery has verified",
    };
    let orders = match summary.orders[..] {
        [] => "rank".to_owned(),
        ref orders => format!("{} or rank", orders.join(", ")),
    };
    let lines: [(&str, &str); 12] = [
        ("confirmed", confirmed),
        ("secret", secret),
        ("event type", &summary.event_type),
        ("event id", &summary.id),
        ("order", &orders),
        ("signed by", &summary.signed_by),
        ("proves", summary.proves),
        ("signed time", &summary.signed_time),
        ("waits", &summary.waits),
        ("repeats", &summary.repeats),
        ("resent", &summary.resent),
        ("handshakes", &summary.handshakes),
    ];
    for (what, text) in lines {
        say(format_args!("{}  {}", paint.text(Tone::Place, format_args!("{what:<11}")), plain(text)));
    }
    if let Some(list) = &summary.list {
        say(format_args!("{}  {list}", paint.text(Tone::Place, "its list   ")));
    }
    for param in &summary.params {
        let default = param.default.as_ref().map(|text| format!(" [default: {text}]")).unwrap_or_default();
        say(format_args!(
            "{}  {}: {}{default}",
            paint.text(Tone::Place, "param      "),
            param.name,
            param.about
        ));
    }
    say(format_args!("\n{}", summary.example().trim_end()));
}

fn as_json(summary: &Summary) -> Value {
    let param = |param: &sekali::vendor::Param| json!({"name": param.name, "about": param.about, "default": param.default});
    json!({
        "vendor": summary.name,
        "confirmed": summary.confirmed,
        "secret": summary.secret.as_str(),
        "params": summary.params.iter().map(param).collect::<Vec<_>>(),
        "public_url": summary.public_url,
        "event_type": plain(&summary.event_type),
        "event_id": plain(&summary.id),
        "orders": summary.orders,
        "signed_by": summary.signed_by,
        "proves": summary.proves,
        "signed_time": summary.signed_time,
        "waits": summary.waits,
        "repeats": summary.repeats,
        "resent": summary.resent,
        "handshakes": summary.handshakes,
        "list": summary.list,
        "example": summary.example(),
    })
}

/// Without the marks that a page wants around places.
fn plain(text: &str) -> String {
    text.replace('`', "")
}
