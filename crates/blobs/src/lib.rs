//! Files that people give: from the bytes of an upload to an address under which they are shown.
//!
//! A file is stored by its content within one key: the same bytes of one person are there once, and nobody can tell that two people
//! have the same. It comes in as a stream, gets its type from its bytes, and is sealed in chunks by a key of its own, which is sealed by its
//! person's. What is written is written in this order: the key, the row, the bytes, and the row made visible. So a crash leaves
//! nothing but what [`SweepJob`] removes, and whatever lies in the store has a row.
//!
//! A picture is shown only as what its pixels were encoded to anew; everything else is only downloaded. What a file hangs on is
//! a row too: without one it is swept.
//!
//! Not here: who may upload or see what, HTTP, and which message has which file beyond the reference row.
//!
//! # Layout
//! - [`BlobService`]: [`upload`](BlobService::upload), [`open`](BlobService::open), [`sweep`](BlobService::sweep); [`SweepJob`]
//! - [`MediaType`]: the types that are taken; `type_detector`: finding one in a stream; [`UploadRefusal`]: why a file is not taken
//! - `chunk_cipher`: the sealed form; `spool`: files on their way; `picture`: what is shown
//! - [`storage`]: a folder, S3
//! - [`rows`]: what is known of a file; [`references`]: what it hangs on; `usage`: how much a tenant has
//! - [`address`]: addresses that expire
//!
//! # To take another type
//! Add it to [`MediaType`] and its first bytes to `recognise`. It is then stored and downloaded. It is shown only once it is decoded in
//! `picture`, within a bound.

pub mod address;
mod chunk_cipher;
mod erase;
mod error;
mod limits;
mod media_type;
mod picture;
pub mod references;
mod refusal;
pub mod rows;
mod service;
mod spool;
pub mod storage;
mod sweep;
mod type_detector;
mod usage;

pub use chunk_cipher::{BlobObject, BlobVariant};
pub use erase::{PERSONAL_DATA, expire};
pub use error::{Error, Result};
pub use limits::{BlobLimits, NoTenantQuota, TenantQuota};
pub use media_type::MediaType;
pub use references::{BlobHolder, attach, release};
pub use refusal::UploadRefusal;
pub use rows::Blob;
pub use service::{BlobContent, BlobService, BlobServiceParts, UploadRequest, UploadSlot, UploadStream};
pub use spool::SpooledFile;
pub use sweep::{SWEEP, SweepJob, SweepReport};
pub use usage::{BlobUsage, load_usage};

pub const MIGRATIONS: &[munshi_store::Migration] =
    &[munshi_store::migration!("0070_blobs"), munshi_store::migration!("0087_blobs_by_person")];
