//! Between a caller and the wires: which model, whether it may, what if it fails, and what it cost.

mod breaker;
mod budget;
mod route;

pub use breaker::{Breaker, Permission};
pub use budget::{Budget, MemoryBudget, Reservation, Spend};
pub use route::{Route, Use};
