//! Where a secret is kept. The configuration names the place and never holds
//! the secret itself.

use std::fmt;

/// The name of a place that keeps a secret, e.g. `env:STRIPE_SECRET`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretRef {
    keeper: Keeper,
    name: String,
}

/// Who keeps a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Keeper {
    /// The function's environment.
    Environment,
    /// AWS Secrets Manager.
    SecretsManager,
    /// A parameter of AWS Systems Manager.
    ParameterStore,
    /// A file beside the function.
    File,
}

/// Why a text names no secret. The text is never shown: it may be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotASecretRef {
    /// It does not begin with a known keeper.
    #[error("this does not say where the secret is kept; a secret itself must never stand in this file")]
    NoKeeper,
    /// Nothing, or white space, comes after the keeper.
    #[error("the name of the secret is missing or holds white space")]
    NoName,
    /// Not the name of an environment variable.
    #[error("the name of an environment variable is made of A-Z, a-z, 0-9 and _ and begins with no digit")]
    NotAVariable,
}

const KEEPERS: [(&str, Keeper); 4] = [
    ("env:", Keeper::Environment),
    ("secretsmanager:", Keeper::SecretsManager),
    ("ssm:", Keeper::ParameterStore),
    ("file:", Keeper::File),
];

impl SecretRef {
    /// Reads `keeper:name`.
    pub fn parse(text: &str) -> Result<Self, NotASecretRef> {
        let (prefix, keeper) = KEEPERS
            .into_iter()
            .find(|(prefix, _)| text.starts_with(prefix))
            .ok_or(NotASecretRef::NoKeeper)?;
        let name = &text[prefix.len()..];
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(NotASecretRef::NoName);
        }
        if keeper == Keeper::Environment && !is_variable(name) {
            return Err(NotASecretRef::NotAVariable);
        }
        Ok(Self { keeper, name: name.to_owned() })
    }

    /// Who keeps it.
    pub fn keeper(&self) -> Keeper {
        self.keeper
    }

    /// Its name there.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix =
            KEEPERS.into_iter().find(|(_, keeper)| *keeper == self.keeper).map_or("", |(prefix, _)| prefix);
        write!(f, "{prefix}{}", self.name)
    }
}

fn is_variable(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_shown_as_it_was_written() {
        for text in ["env:STRIPE_SECRET", "secretsmanager:prod/stripe", "ssm:/prod/github", "file:secrets/a"]
        {
            assert_eq!(SecretRef::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_secret_itself_is_refused_and_not_shown() {
        let refused = SecretRef::parse("whsec_invented").unwrap_err();
        assert_eq!(refused, NotASecretRef::NoKeeper);
        assert!(!refused.to_string().contains("whsec"));
    }

    #[test]
    fn a_name_that_is_blank_or_no_variable_is_refused() {
        assert_eq!(SecretRef::parse("env:"), Err(NotASecretRef::NoName));
        assert_eq!(SecretRef::parse("ssm: "), Err(NotASecretRef::NoName));
        assert_eq!(SecretRef::parse("env:STRIPE-SECRET"), Err(NotASecretRef::NotAVariable));
        assert_eq!(SecretRef::parse("env:1"), Err(NotASecretRef::NotAVariable));
    }
}
