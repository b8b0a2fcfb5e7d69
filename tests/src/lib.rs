//! What the tests of Sekali share: the in-memory reference model of the ports,
//! fault decorators around them, and the contract that every store keeps.
//! Nothing here is part of what is deployed.

pub mod bench;
pub mod contract;
pub mod e2e;
pub mod emulator;
pub mod fault;
pub mod memory;
pub mod metered;
pub mod model;
pub mod sim;
