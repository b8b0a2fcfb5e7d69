//! Random sequences of calls, made on the reference model and on another
//! store: both must answer alike and end up in the same state.

mod aim;
mod call;
mod pair;

pub use call::{Sequence, sequences};
pub use pair::agree;

/// Few keys and few contents, so that calls meet each other.
const EVENTS: [&str; 2] = ["evt_1", "evt_2"];
const ACTIONS: [&str; 2] = ["order_1", "order_2"];
const RESOURCES: [&str; 2] = ["pay_1", "pay_2"];
const CONTENTS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

/// One of a few, by position.
type Pick = usize;
