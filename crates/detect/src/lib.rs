//! Finds in a text what must not be shown, by its shape alone.
//!
//! Three crates look for the same things: `munshi-privacy` scrubs what tools, errors and logs say, `munshi-tiers` withholds
//! lines of an imported workspace, and `munshi-guardrails` rewrites a reply. What they look for stands here once; what each
//! does about it, and what only one of them suspects, stands there. Pure code: no I/O, no clock.
//!
//! Not here: secrets and numbers that are known by the words beside them, values that were opened for a call, and names.
//!
//! # Layout
//! - [`secrets`]: keys and tokens of known makers
//! - [`digits`]: runs of digits, however they are parted
//! - [`identity_numbers`]: whether digits are an Aadhaar or a card number
//!
//! # To add a maker's key
//! Add its beginning to [`secrets::KEY_SHAPES`]: a test of each of the three crates goes through
//! that list.

pub mod digits;
pub mod identity_numbers;
pub mod secrets;
