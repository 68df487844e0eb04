//! A file as it lies in the store: a header, then chunks that are sealed one by one, so that neither way needs more of it in memory.
//!
//! Each writing has a key of its own, made of the file's key and a random salt in the header; so a nonce is the chunk's number and whether it
//! is the last, and none is used twice. Tenant, file, variant and number are bound into each chunk. So a chunk opens nowhere else,
//! chunks can't change places, and a file that was cut short lacks its last one.

use munshi_keys::SealKey;
use munshi_types::{BlobId, Id, Random, TenantId};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::error::{Error, Result};

/// Plain bytes of a chunk; only the last one is shorter.
const CHUNK: usize = 64 * 1024;
const TAG: usize = 16;
const SALT: usize = 32;
/// This way of writing, in the first byte.
const FORM: u8 = 1;
const HEADER: usize = 1 + SALT;

/// Which bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlobVariant {
    /// As it was given.
    Original,
    /// What is shown of a picture: smaller, and without metadata.
    Preview,
}

impl BlobVariant {
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::Original => 0,
            Self::Preview => 1,
        }
    }

    pub(crate) const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Original),
            1 => Some(Self::Preview),
            _ => None,
        }
    }
}

/// What bytes belong to, and are named by in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlobObject {
    pub tenant: TenantId,
    pub blob: BlobId,
    pub variant: BlobVariant,
}

/// The cipher of one writing.
struct ChunkCipher {
    key: LessSafeKey,
    object: BlobObject,
    number: u32,
}

impl ChunkCipher {
    fn new(file_key: &SealKey, salt: &[u8], object: BlobObject) -> Result<Self> {
        let bytes = file_key.hash(&[b"munshi blob stream\0", &[FORM], salt]);
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| Error::Damaged(object.blob))?;
        Ok(Self { key: LessSafeKey::new(key), object, number: 0 })
    }

    /// The nonce and the place of the next chunk.
    fn next(&mut self, is_last: bool) -> Result<(Nonce, Aad<[u8; 38]>)> {
        let number = self.number.to_be_bytes();
        self.number = self.number.checked_add(1).ok_or(Error::Damaged(self.object.blob))?;
        let mut nonce = [0; NONCE_LEN];
        nonce[7..11].copy_from_slice(&number);
        nonce[11] = u8::from(is_last);
        let mut place = [0; 38];
        place[..16].copy_from_slice(self.object.tenant.as_uuid().as_bytes());
        place[16..32].copy_from_slice(self.object.blob.as_uuid().as_bytes());
        place[32] = self.object.variant.byte();
        place[33..37].copy_from_slice(&number);
        place[37] = u8::from(is_last);
        Ok((Nonce::assume_unique_for_key(nonce), Aad::from(place)))
    }
}

/// Seals a file that comes in pieces. Each call answers what is to be written.
pub(crate) struct ChunkSealer {
    cipher: ChunkCipher,
    waiting: Vec<u8>,
}

impl ChunkSealer {
    /// The sealer, and the header that is written first.
    pub(crate) fn new(
        file_key: &SealKey,
        object: BlobObject,
        random: &dyn Random,
    ) -> Result<(Self, [u8; HEADER])> {
        let mut header = [FORM; HEADER];
        random.fill(&mut header[1..]);
        let cipher = ChunkCipher::new(file_key, &header[1..], object)?;
        Ok((Self { cipher, waiting: Vec::with_capacity(CHUNK + TAG) }, header))
    }

    /// A full chunk is sealed once more follows: only then is it known not to be the last.
    pub(crate) fn push(
        &mut self,
        mut piece: &[u8],
        write: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        while !piece.is_empty() {
            if self.waiting.len() == CHUNK {
                self.seal(false, write)?;
            }
            let (now, later) = piece.split_at(piece.len().min(CHUNK - self.waiting.len()));
            self.waiting.extend_from_slice(now);
            piece = later;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self, write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.seal(true, write)
    }

    fn seal(&mut self, is_last: bool, write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (nonce, place) = self.cipher.next(is_last)?;
        let sealed = self.cipher.key.seal_in_place_append_tag(nonce, place, &mut self.waiting);
        sealed.map_err(|_| Error::Storage("encryption failed".to_owned()))?;
        write(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }
}

/// Opens a file that comes in pieces, however it was cut.
pub(crate) struct ChunkOpener {
    file_key: SealKey,
    object: BlobObject,
    /// None until the header is there.
    cipher: Option<ChunkCipher>,
    waiting: Vec<u8>,
}

impl ChunkOpener {
    pub(crate) fn new(file_key: SealKey, object: BlobObject) -> Self {
        Self { file_key, object, cipher: None, waiting: Vec::with_capacity(CHUNK + TAG) }
    }

    /// Appends what opens to `out`.
    pub(crate) fn push(&mut self, mut piece: &[u8], out: &mut Vec<u8>) -> Result<()> {
        while !piece.is_empty() {
            let full = if self.cipher.is_none() { HEADER } else { CHUNK + TAG };
            if self.waiting.len() == full {
                self.take(false, out)?;
                continue;
            }
            let (now, later) = piece.split_at(piece.len().min(full - self.waiting.len()));
            self.waiting.extend_from_slice(now);
            piece = later;
        }
        Ok(())
    }

    /// What is left is the last chunk, or the file was cut.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) -> Result<()> {
        if self.cipher.is_none() {
            return Err(Error::Damaged(self.object.blob));
        }
        self.take(true, out)
    }

    fn take(&mut self, is_last: bool, out: &mut Vec<u8>) -> Result<()> {
        let damaged = Error::Damaged(self.object.blob);
        match &mut self.cipher {
            None => {
                let Some((&FORM, salt)) = self.waiting.split_first() else { return Err(damaged) };
                self.cipher = Some(ChunkCipher::new(&self.file_key, salt, self.object)?);
            }
            Some(cipher) => {
                let (nonce, place) = cipher.next(is_last)?;
                let opened = cipher.key.open_in_place(nonce, place, &mut self.waiting);
                out.extend_from_slice(opened.map_err(|_| damaged)?);
            }
        }
        self.waiting.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use munshi_types::SystemRandom;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn object(tenant: u128, blob: u128, variant: BlobVariant) -> BlobObject {
        let (tenant, blob) =
            (TenantId::from_uuid(Uuid::from_u128(tenant)), BlobId::from_uuid(Uuid::from_u128(blob)));
        BlobObject { tenant, blob, variant }
    }

    fn key(byte: u8) -> SealKey {
        SealKey::from_bytes(&[byte; 32]).unwrap()
    }

    fn seal(content: &[u8], object: BlobObject, piece: usize) -> Vec<u8> {
        let (mut sealer, header) = ChunkSealer::new(&key(1), object, &SystemRandom).unwrap();
        let mut sealed = header.to_vec();
        let mut write = |bytes: &[u8]| {
            sealed.extend_from_slice(bytes);
            Ok(())
        };
        content.chunks(piece).try_for_each(|piece| sealer.push(piece, &mut write)).unwrap();
        sealer.finish(&mut write).unwrap();
        sealed
    }

    fn open(sealed: &[u8], file_key: SealKey, object: BlobObject, piece: usize) -> Result<Vec<u8>> {
        let (mut opener, mut out) = (ChunkOpener::new(file_key, object), Vec::new());
        sealed.chunks(piece).try_for_each(|piece| opener.push(piece, &mut out))?;
        opener.finish(&mut out)?;
        Ok(out)
    }

    const HERE: (u128, u128, BlobVariant) = (1, 2, BlobVariant::Original);

    fn here() -> BlobObject {
        object(HERE.0, HERE.1, HERE.2)
    }

    fn content(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn files_of_every_length_around_a_chunk_come_back() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 7] {
            for piece in [1000, CHUNK, 5 * CHUNK] {
                let sealed = seal(&content(length), here(), piece);
                assert_eq!(open(&sealed, key(1), here(), 777).unwrap(), content(length), "{length}");
            }
        }
    }

    #[test]
    fn it_opens_for_its_key_tenant_file_and_variant_alone() {
        let sealed = seal(&content(100), here(), 100);
        assert!(open(&sealed, key(2), here(), 100).is_err());
        for elsewhere in [
            object(9, 2, BlobVariant::Original),
            object(1, 9, BlobVariant::Original),
            object(1, 2, BlobVariant::Preview),
        ] {
            assert!(matches!(open(&sealed, key(1), elsewhere, 100), Err(Error::Damaged(_))));
        }
    }

    #[test]
    fn chunks_cannot_be_cut_off_swapped_repeated_or_taken_from_another_writing() {
        let full = CHUNK + TAG;
        let sealed = seal(&content(3 * CHUNK), here(), CHUNK);
        let (header, body) = sealed.split_at(HEADER);
        let chunks: Vec<&[u8]> = body.chunks(full).collect();
        assert_eq!(chunks.len(), 3);
        let other = seal(&content(3 * CHUNK), here(), CHUNK);
        let foreign = &other[HEADER..HEADER + full];
        for (what, parts) in [
            ("cut at a chunk", vec![chunks[0], chunks[1]]),
            ("without any", vec![]),
            ("swapped", vec![chunks[1], chunks[0], chunks[2]]),
            ("repeated", vec![chunks[0], chunks[0], chunks[1], chunks[2]]),
            ("one missing", vec![chunks[0], chunks[2]]),
            ("more after the last", vec![chunks[0], chunks[1], chunks[2], chunks[2]]),
            ("of another writing", vec![foreign, chunks[1], chunks[2]]),
        ] {
            let altered = [header, &parts.concat()].concat();
            assert!(matches!(open(&altered, key(1), here(), 4096), Err(Error::Damaged(_))), "{what}");
        }
    }

    #[test]
    fn the_same_content_is_sealed_differently_each_time() {
        assert_ne!(seal(b"hello", here(), 10), seal(b"hello", here(), 10));
    }

    proptest! {
        #[test]
        fn whatever_is_altered_or_cut_does_not_open(at: usize, bit in 0..8_u8, cut: usize) {
            let sealed = seal(&content(200), here(), 64);
            let mut altered = sealed.clone();
            let at = at % altered.len();
            altered[at] ^= 1 << bit;
            prop_assert!(open(&altered, key(1), here(), 50).is_err());
            prop_assert!(open(&sealed[..cut % sealed.len()], key(1), here(), 50).is_err());
        }
    }
}
