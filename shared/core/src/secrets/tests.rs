//! The keyring: rotation, bad signatures, blanks, tenants.
