//! The keys of what is sealed at rest, their store, and their end.
//!
//! The installation's key, outside every database, wraps a key for each tenant; that wraps the tenant's data keys, one for
//! each person and three of its own. Data keys lie in the store of keys, a database of its own that no backup of the main one
//! contains. The main database says which person has which key, and every sealed value names its key: so two persons merge
//! without rewriting anything, and destroying a person's keys forgets them in every copy of the main database.
//!
//! A key is in the store before anything names it. Keys for persons to come are made ahead, so that a first message waits
//! for no disk but its own.
//!
//! Not here: what is sealed (each table's crate says so), who has which key (`identity`), secrets (`safety`'s vault, which uses the
//! same cipher and the same installation's key).
//!
//! # Layout
//! - [`SealKey`]: the cipher; [`MasterKeySource`], [`MasterKeys`], [`MasterKey`]: the installation's key; [`VaultSecret`]: a secret in memory
//! - [`bind_store`]: the main database and its store know each other
//! - [`CachedKeyring`]: the keys as units of work use them; [`KeySource`], [`KeyWorker`]: the thread that owns the store; `key_store`, `key_loading`: what
//!   lies in it; [`KeyKind`]: what each is for; `erasures`: the end of keys; `key_traces`: what they leave behind; `key_wrapper`, `master_rotation`, `tenant_rotation`: how it is wrapped, and wrapped anew

mod binding;
mod cipher;
mod erasures;
mod error;
mod key_kind;
mod key_loading;
mod key_store;
mod key_traces;
mod key_wrapper;
mod keyring;
mod master;
mod master_rotation;
mod masters;
mod secret;
mod tenant_rotation;
mod two_generations;
mod worker;

pub use binding::{bind_store, find_rewritten, find_store, mark_rewritten};
pub use cipher::SealKey;
pub use error::{Error, Result};
pub use key_kind::KeyKind;
pub use key_store::{OwnKey, StoredKey};
pub use keyring::{CachedKeyring, DestroyedKey, KeySource};
pub use master::{MasterKey, MasterKeySource};
pub use masters::MasterKeys;
pub use secret::VaultSecret;
pub use tenant_rotation::{TenantKeyRotation, TenantRotationStart, TenantRotationStep};
pub use worker::{KeyStorePlace, KeyWorker, WantedStore};

/// What the main database knows of the store of keys.
pub const MIGRATIONS: &[munshi_store::Migration] = &[
    munshi_store::migration!("0063_sealed_by"),
    munshi_store::migration!("0067_rewritten"),
    munshi_store::migration!("0172_rewrite_again"),
];

/// The tables of the store of keys. They are no part of the main database.
pub const KEY_STORE_MIGRATIONS: &[munshi_store::Migration] = &[
    munshi_store::migration!("0061_key_store"),
    munshi_store::migration!("0071_key_erasures"),
    munshi_store::migration!("0095_index_keys"),
    munshi_store::migration!("0175_rewrapped"),
];
