//! Every test of this crate from outside, in one binary: each further one is linked by itself.

mod conversation;
mod robust;
#[path = "../shop/mod.rs"]
mod shop;
mod understanding;
mod unsaid;
