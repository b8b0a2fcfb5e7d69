//! Deliveries that are stopped before and after they are verified.
