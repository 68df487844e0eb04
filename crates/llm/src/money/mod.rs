//! What calls cost: tokens counted here where nobody else counted them, prices with their dates.

mod cost;
mod kept;
mod price;
mod tokens;

pub use cost::Cost;
pub use price::{ModelPrice, PriceBook};
pub use tokens::{count, count_for, count_message, estimate_request};
