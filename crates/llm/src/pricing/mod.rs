//! What calls cost: tokens counted here where nobody else counted them, prices with their dates.

mod cost;
mod price;
mod token_cache;
mod tokens;

pub use cost::Cost;
pub use price::{ModelPrice, PriceBook};
pub use tokens::{count_message, count_tokens, count_tokens_for, estimate_request};
