//! Secrets in the function's environment.

use super::secret;
use sekali::ports::NoSecret;
use sekali::secret::Secret;
use std::os::unix::ffi::OsStringExt;

/// Reads a variable, byte for byte: whether white space around it was meant is
/// for the vendor's description to say.
pub(super) fn read(variable: &str) -> Result<Secret, NoSecret> {
    let value = std::env::var_os(variable).ok_or(NoSecret::Absent)?;
    secret(value.into_vec(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_read_as_it_is() {
        // Every process that runs these tests has one.
        let expected = std::env::var_os("PATH").unwrap().into_vec();
        assert_eq!(read("PATH").unwrap().expose(), expected);
    }

    // INV-10
    #[test]
    fn a_variable_that_is_not_set_is_no_empty_secret() {
        assert_eq!(read("SEKALI_NEVER_SET_IN_TESTS"), Err(NoSecret::Absent));
    }
}
