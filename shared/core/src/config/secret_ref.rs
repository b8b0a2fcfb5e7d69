//! Where a secret is kept. The configuration names the place and never holds
//! the secret itself.

use crate::ids::Tenant;
use std::fmt;

/// Stands in a name for the tenant of the delivery.
const TENANT: &str = "{tenant}";

/// The place of a secret as declared, e.g. `env:STRIPE_SECRET` or, one for
/// each tenant, `secretsmanager:prod/{tenant}/stripe`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretRef {
    keeper: Keeper,
    name: String,
    member: Option<String>,
}

/// The name of one secret, with the tenant in it where the declaration asks
/// for one: what a keeper can be asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretName(SecretRef);

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
    #[error("this does not say where the secret is kept; a secret itself is never written in its place")]
    NoKeeper,
    /// Nothing, or white space, comes after the keeper.
    #[error("the name of the secret is missing or holds white space")]
    NoName,
    /// Not the name of an environment variable.
    #[error("the name of an environment variable is made of A-Z, a-z, 0-9 and _ and begins with no digit")]
    NotAVariable,
    /// A character that no name has at this keeper.
    #[error("a name in AWS is made of A-Z, a-z, 0-9 and / _ . - (in Secrets Manager also + = @)")]
    NotANameInAws,
    /// `#` with nothing behind it.
    #[error("`#` is followed by the name of a member of the secret, which is then a JSON object")]
    NoMember,
    /// A brace that is not part of `{tenant}`.
    #[error("the only thing in braces is {{tenant}}")]
    Braces,
    /// `{tenant}` where a tenant could choose among secrets that are not its own.
    #[error(
        "something fixed comes before {{tenant}} (in a file's name a folder), so that no tenant's name leads to another secret"
    )]
    TenantFirst,
    /// `{tenant}` in the name of an environment variable.
    #[error("secrets of tenants are not kept in the environment, which holds 4 KB")]
    TenantInEnvironment,
}

const KEEPERS: [(&str, Keeper); 4] = [
    ("env:", Keeper::Environment),
    ("secretsmanager:", Keeper::SecretsManager),
    ("ssm:", Keeper::ParameterStore),
    ("file:", Keeper::File),
];

impl SecretRef {
    /// Reads `keeper:name`, in AWS also `keeper:name#member`.
    ///
    /// # Errors
    /// The text names no place; the message is for the one who wrote it.
    pub fn parse(text: &str) -> Result<Self, NotASecretRef> {
        let (prefix, keeper) = KEEPERS
            .into_iter()
            .find(|(prefix, _)| text.starts_with(prefix))
            .ok_or(NotASecretRef::NoKeeper)?;
        let rest = &text[prefix.len()..];
        let in_aws = matches!(keeper, Keeper::SecretsManager | Keeper::ParameterStore);
        let (name, member) = match rest.split_once('#') {
            Some((_, "")) if in_aws => return Err(NotASecretRef::NoMember),
            Some((name, member)) if in_aws => (name, Some(member.to_owned())),
            _ => (rest, None),
        };
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(NotASecretRef::NoName);
        }
        check_name(keeper, name)?;
        Ok(Self { keeper, name: name.to_owned(), member })
    }

    /// Who keeps it.
    pub fn keeper(&self) -> Keeper {
        self.keeper
    }

    /// Its name there, as declared.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether each tenant has one of its own.
    pub fn is_per_tenant(&self) -> bool {
        self.name.contains(TENANT)
    }

    /// The secret of this tenant; the same one for all where the declaration
    /// asks for no tenant. `None`: there is no tenant, or one whose name must
    /// not stand in the name of a secret (INV-7: it leads nowhere else).
    pub fn of(&self, tenant: Option<&Tenant>) -> Option<SecretName> {
        if !self.is_per_tenant() {
            return Some(SecretName(self.clone()));
        }
        let tenant = Tenant::in_path(tenant?.as_str())?;
        let name = self.name.replace(TENANT, tenant.as_str());
        Some(SecretName(Self { keeper: self.keeper, name, member: self.member.clone() }))
    }
}

impl SecretName {
    /// Who keeps it.
    pub fn keeper(&self) -> Keeper {
        self.0.keeper
    }

    /// Its name there.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The member of the JSON object that is kept under the name; `None`
    /// where the whole of what is kept is the secret.
    pub fn member(&self) -> Option<&str> {
        self.0.member.as_deref()
    }
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix =
            KEEPERS.into_iter().find(|(_, keeper)| *keeper == self.keeper).map_or("", |(prefix, _)| prefix);
        write!(f, "{prefix}{}", self.name)?;
        match &self.member {
            Some(member) => write!(f, "#{member}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn check_name(keeper: Keeper, name: &str) -> Result<(), NotASecretRef> {
    let fixed = name.replace(TENANT, "");
    if keeper == Keeper::Environment {
        return match (fixed.len() == name.len(), is_variable(name)) {
            (false, _) => Err(NotASecretRef::TenantInEnvironment),
            (true, false) => Err(NotASecretRef::NotAVariable),
            (true, true) => Ok(()),
        };
    }
    if fixed.contains(['{', '}']) {
        return Err(NotASecretRef::Braces);
    }
    let of_name =
        |c: char, more: &[char]| c.is_ascii_alphanumeric() || "/_.-:".contains(c) || more.contains(&c);
    let well_made = match keeper {
        Keeper::SecretsManager => fixed.chars().all(|c| of_name(c, &['+', '=', '@'])),
        Keeper::ParameterStore => fixed.chars().all(|c| of_name(c, &[])),
        Keeper::File | Keeper::Environment => true,
    };
    if !well_made {
        return Err(NotASecretRef::NotANameInAws);
    }
    // A tenant chooses the text of its name: without something fixed before it
    // `{tenant}` could be made to mean any other secret, or a file whose
    // content is known to everybody.
    match name.find(TENANT) {
        Some(0) => Err(NotASecretRef::TenantFirst),
        Some(at) if keeper == Keeper::File && !name[..at].contains('/') => Err(NotASecretRef::TenantFirst),
        _ => Ok(()),
    }
}

fn is_variable(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_reference_is_shown_as_it_was_written() {
        for text in [
            "env:STRIPE_SECRET",
            "secretsmanager:prod/stripe",
            "secretsmanager:prod/stripe#signing",
            "secretsmanager:prod/{tenant}/stripe",
            "ssm:/prod/github",
            "file:secrets/a",
            "file:secrets/{tenant}",
        ] {
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
    fn a_name_that_its_keeper_cannot_have_is_refused() {
        for (text, refused) in [
            ("env:", NotASecretRef::NoName),
            ("ssm: ", NotASecretRef::NoName),
            ("env:STRIPE-SECRET", NotASecretRef::NotAVariable),
            ("env:1", NotASecretRef::NotAVariable),
            ("secretsmanager:prod/ä", NotASecretRef::NotANameInAws),
            ("ssm:/prod/a@b", NotASecretRef::NotANameInAws),
            ("secretsmanager:prod/a#", NotASecretRef::NoMember),
            ("secretsmanager:#a", NotASecretRef::NoName),
            ("secretsmanager:prod/{account}", NotASecretRef::Braces),
            ("ssm:/prod/{tenant", NotASecretRef::Braces),
            ("env:STRIPE_{tenant}", NotASecretRef::TenantInEnvironment),
        ] {
            assert_eq!(SecretRef::parse(text), Err(refused), "{text}");
        }
    }

    // INV-7
    #[test]
    fn no_tenant_may_choose_the_beginning_of_a_name() {
        for text in
            ["secretsmanager:{tenant}", "secretsmanager:{tenant}/stripe", "file:{tenant}", "file:a{tenant}"]
        {
            assert_eq!(SecretRef::parse(text), Err(NotASecretRef::TenantFirst), "{text}");
        }
    }

    #[test]
    fn the_tenant_stands_in_the_name_of_its_secret() {
        let own = SecretRef::parse("secretsmanager:prod/{tenant}/stripe#signing").unwrap();
        let name = own.of(Some(&"acme".into())).unwrap();
        assert_eq!((name.name(), name.member()), ("prod/acme/stripe", Some("signing")));
        assert_eq!(own.of(None), None);
        let shared = SecretRef::parse("ssm:/prod/github").unwrap();
        assert_eq!(shared.of(Some(&"acme".into())), shared.of(None));
    }

    proptest! {
        // INV-7: whatever a tenant is called, the name stays below its prefix.
        #[test]
        fn no_tenant_leaves_the_folder_of_its_secret(tenant in ".{0,12}|[./a-z]{0,8}|\\.\\./[a-z]{1,3}") {
            let own = SecretRef::parse("file:secrets/{tenant}/key").unwrap();
            if let Some(name) = own.of(Some(&Tenant::new(tenant.clone()))) {
                let steps: Vec<&str> = name.name().split('/').collect();
                prop_assert_eq!(&steps, &["secrets", tenant.as_str(), "key"]);
                prop_assert!(!tenant.starts_with('.'));
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "(env:|ssm:|file:|secretsmanager:)?[a-z{}#/.]{0,20}") {
            let _ = SecretRef::parse(&text);
        }
    }
}
