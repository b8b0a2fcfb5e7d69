//! Secrets of the function's environment. Other keepers are not built yet.

use sekali::config::{Keeper, SecretRef};
use sekali::secret::{NotASecret, Secret};
use std::os::unix::ffi::OsStringExt;
use thiserror::Error;

/// Why an endpoint or destination has no secret. It goes offline (INV-10:
/// verification fails closed); the others go on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoSecret {
    /// Nothing reads from this keeper yet.
    #[error("{0}: only `env:` secrets are available yet")]
    NotAvailableYet(SecretRef),
    /// The variable is not set.
    #[error("the environment variable {0} is not set")]
    Unset(String),
    /// It holds nothing that could be a secret.
    #[error("the environment variable {0}: {1}")]
    Unusable(String, NotASecret),
}

/// Reads an `env:NAME` secret, byte for byte: whether white space around it
/// was meant is for the vendor's description to say.
///
/// # Errors
/// See [`NoSecret`]; the texts name the variable and never its content.
pub fn read_env(secret: &SecretRef) -> Result<Secret, NoSecret> {
    if secret.keeper() != Keeper::Environment {
        return Err(NoSecret::NotAvailableYet(secret.clone()));
    }
    let name = secret.name();
    let value = std::env::var_os(name).ok_or_else(|| NoSecret::Unset(name.to_owned()))?;
    Secret::new(value.into_vec()).map_err(|reason| NoSecret::Unusable(name.to_owned(), reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> SecretRef {
        SecretRef::parse(text).unwrap()
    }

    #[test]
    fn a_variable_is_read_as_it_is() {
        // Every process that runs these tests has one.
        let expected = std::env::var_os("PATH").unwrap().into_vec();
        assert_eq!(read_env(&secret("env:PATH")).unwrap().expose(), expected);
    }

    // INV-10
    #[test]
    fn a_variable_that_is_not_set_is_no_empty_secret() {
        let error = read_env(&secret("env:SEKALI_NEVER_SET_IN_TESTS")).unwrap_err();
        assert_eq!(error, NoSecret::Unset("SEKALI_NEVER_SET_IN_TESTS".into()));
    }

    #[test]
    fn another_keeper_is_said_not_to_be_available_yet() {
        let other = secret("secretsmanager:prod/stripe");
        assert_eq!(read_env(&other), Err(NoSecret::NotAvailableYet(other)));
    }
}
