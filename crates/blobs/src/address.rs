//! Addresses of files that need no login and end by themselves: for a page's pictures, and for a link somebody opens.
//!
//! An address is one word that says tenant, file, variant and end, and a keyed hash of that by the tenant's key. Whoever has it sees
//! that file until then, and nothing else.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use munshi_store::Tx;
use munshi_types::{BlobId, Id, TenantId, Timestamp};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use crate::chunk_cipher::{BlobObject, BlobVariant};
use crate::error::{Error, Result};
use crate::rows::{self, Blob};

const PURPOSE: &str = "blob address";
/// Tenant, file, variant, and seconds since 1970.
const CLAIM: usize = 16 + 16 + 1 + 4;
const SIGNATURE: usize = 16;

/// What an address says, before anybody has looked whether it is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobAddress {
    pub object: BlobObject,
    pub expires_at: Timestamp,
    claim: [u8; CLAIM],
    signature: [u8; SIGNATURE],
}

/// Makes an address that lasts at least so long, and at most twice. Its end is rounded up, so that a page that is loaded again shows the same
/// address, which the browser has cached.
pub fn sign(
    tx: &Tx<'_>,
    blob: BlobId,
    variant: BlobVariant,
    (now, least): (Timestamp, Duration),
) -> Result<String> {
    let step = i64::try_from(least.as_secs()).unwrap_or(i64::MAX).max(1);
    let seconds = now.as_micros() / 1_000_000;
    let end = (seconds / step + 2).saturating_mul(step);
    let object = BlobObject { tenant: tx.tenant(), blob, variant };
    let claim = encode(object, u32::try_from(end).map_err(|_| Error::Address)?);
    let signature = compute(tx, &claim)?;
    Ok(URL_SAFE_NO_PAD.encode([&claim[..], &signature[..]].concat()))
}

impl BlobAddress {
    /// None for what no address looks like.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (claim, signature) = bytes.split_at_checked(CLAIM)?;
        let (claim, signature): ([u8; CLAIM], [u8; SIGNATURE]) =
            (claim.try_into().ok()?, signature.try_into().ok()?);
        let object = BlobObject {
            tenant: TenantId::from_uuid(Uuid::from_slice(&claim[..16]).ok()?),
            blob: BlobId::from_uuid(Uuid::from_slice(&claim[16..32]).ok()?),
            variant: BlobVariant::from_byte(claim[32])?,
        };
        let end = u32::from_be_bytes(claim[33..].try_into().ok()?);
        let expires_at = Timestamp::EPOCH.plus(Duration::from_secs(end.into()));
        Some(Self { object, expires_at, claim, signature })
    }

    /// The file, if the address is ours and has not ended. In a unit of the address's tenant. The file is looked for first: a tenant that
    /// somebody invents gets no key.
    pub(crate) fn verify(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<Blob> {
        if now >= self.expires_at {
            return Err(Error::Address);
        }
        let blob = rows::find(tx, self.object.blob)?.ok_or(Error::Address)?;
        let expected = compute(tx, &self.claim)?;
        if bool::from(expected.ct_eq(&self.signature)) { Ok(blob) } else { Err(Error::Address) }
    }
}

fn encode(object: BlobObject, end: u32) -> [u8; CLAIM] {
    let mut claim = [0; CLAIM];
    claim[..16].copy_from_slice(object.tenant.as_uuid().as_bytes());
    claim[16..32].copy_from_slice(object.blob.as_uuid().as_bytes());
    claim[32] = object.variant.byte();
    claim[33..].copy_from_slice(&end.to_be_bytes());
    claim
}

fn compute(tx: &Tx<'_>, claim: &[u8; CLAIM]) -> Result<[u8; SIGNATURE]> {
    let hash = tx.keyring()?.hash(tx.tenant(), PURPOSE, claim)?;
    let mut signature = [0; SIGNATURE];
    signature.copy_from_slice(&hash[..SIGNATURE]);
    Ok(signature)
}
