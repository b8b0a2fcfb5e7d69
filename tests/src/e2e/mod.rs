//! End to end: the real functions against an emulated AWS, with vendors and a
//! destination that misbehave.
//!
//! [`deployed`] is the whole receiver as the template says it, behind a
//! gateway and a queue. [`driven`] has the same functions without Lambda: the
//! test hands them their events, and can kill or freeze them at any call that
//! they make. Faults are made outside of the functions, in [`proxy`] and
//! [`destination`]; no function knows that it is tested.

pub mod configuration;
pub mod deployed;
pub mod desk;
pub mod destination;
pub mod driven;
pub mod gate;
pub mod ground;
pub mod kept;
pub mod proxy;
pub mod rest;
pub mod runtime_api;
pub mod serve;
pub mod storm;
pub mod time;
pub mod until;
pub mod vendors;
pub mod worker;
