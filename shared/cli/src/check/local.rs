//! What works on one machine, in `make run`, and not in AWS.

use super::grants;
use super::template::Template;
use sekali::config::{Config, Destination, DestinationKind, Remark, Severity};
use sekali::problem::{Place, Problem};

/// Destinations that only `make run` calls: in AWS nothing but the function
/// itself is behind a loopback address, and calls to it are refused.
pub(super) fn destinations(config: &Config) -> Vec<Remark> {
    let local = config.destinations.values().filter(|destination| match &destination.kind {
        // Plain http is refused for every other address.
        DestinationKind::Http(url) => url.starts_with("http:"),
        _ => false,
    });
    let remark = |destination: &Destination| {
        let problem = Problem {
            place: destination.place.clone(),
            message: format!(
                "destination `{}` is on a loopback address, which works in `make run` only: in AWS every call to it is refused",
                destination.name
            ),
            remedy: Some("before it is deployed: an https address that AWS can reach".to_owned()),
        };
        Remark { severity: Severity::Warning, problem }
    };
    local.map(remark).collect()
}

/// Secrets in variables that `make run` hands on and this template does not.
pub(super) fn variables(config: &Config, template: &Template) -> Vec<Remark> {
    let remark = |(needs, function)| {
        let problem = Problem {
            place: Place::whole(&template.file),
            message: format!("{needs}, which `make run` gives {function} and this template does not"),
            remedy: Some(
                "before it is deployed: keep it in secretsmanager: or ssm:, or add what `sekali check --template FILE` prints"
                    .to_owned(),
            ),
        };
        Remark { severity: Severity::Note, problem }
    };
    grants::missing_variables(config, template).into_iter().map(remark).collect()
}
