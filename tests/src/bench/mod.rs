//! How fast, how small, how dear: the real binaries, driven by a Runtime API
//! of our own against AWS with a meter and without delay. Beside them, in the
//! same run, the least that a function could do, and what people would build
//! instead.

pub mod figures;
pub mod growth;
pub mod measure;
pub mod plot;
pub mod process;
pub mod quota;
pub mod report;
pub mod shop;
pub mod subject;
