//! The store of keys on both engines, through the keyring, as units of work use it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod destroyed_bytes;
mod out_of_touch;
mod store;
mod tenant_rotation;
