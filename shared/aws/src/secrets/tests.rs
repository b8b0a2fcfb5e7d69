//! The keepers in AWS against a service that answers what a test tells it to.
