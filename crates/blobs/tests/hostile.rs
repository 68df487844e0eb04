//! Two hundred hostile files: a clear answer to each, in bounded memory.

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use munshi_blobs::{BlobLimits, BlobVariant, Error};
use munshi_test_support::hostile_files::{HIDDEN, HostileFile, TAKEN, hostile_files};
use munshi_test_support::on_both_engines;

use crate::support::Shop;

const MB: u64 = 1 << 20;
const PICTURE_MEMORY: u64 = 64 * MB;

async fn give(shop: &Shop, file: &HostileFile) -> (&'static str, Option<munshi_blobs::Blob>) {
    let head = stream::iter((!file.head.is_empty()).then(|| Ok(Bytes::from(file.head.clone()))));
    let endless = file.endless.clone().map(Bytes::from);
    let rest = stream::iter(endless).flat_map(|piece| stream::repeat_with(move || Ok(piece.clone())));
    match shop.files.upload(shop.request(shop.ravi), head.chain(rest).boxed()).await {
        Ok(blob) => (TAKEN, Some(blob)),
        Err(Error::Refused(refusal)) => (refusal.code(), None),
        Err(error) => panic!("{}: {error}", file.name),
    }
}

/// Resident memory in bytes: now, and the most since it was last asked to begin anew.
fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim_matches(|letter: char| !letter.is_ascii_digit()).parse::<u64>().unwrap() * 1024
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_blobs::MIGRATIONS];

    async fn each_is_answered_clearly_in_bounded_memory(test: TestDb) {
        let limits = BlobLimits { picture_memory: PICTURE_MEMORY, file_bytes: 8 * MB, uploads_of_one_person: 16, ..BlobLimits::default() };
        let shop = Shop::with_limits(test, limits).await;
        let files = hostile_files();
        assert!(files.len() >= 200, "{}", files.len());
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let before = memory("VmRSS:");
        let mut wrong = Vec::new();
        for file in &files {
            let (outcome, blob) = give(&shop, file).await;
            if !file.outcomes.contains(&outcome) {
                wrong.push(format!("{}: {outcome}, not {:?}", file.name, file.outcomes));
            }
            let Some(blob) = blob else { continue };
            let whole = shop.read(blob.id, BlobVariant::Original).await.unwrap();
            assert!(whole == file.head, "{} is kept as it was given", file.name);
            assert_eq!(blob.preview.is_some(), blob.media_type.is_picture(), "{}", file.name);
            if blob.preview.is_some() {
                let shown = shop.read(blob.id, BlobVariant::Preview).await.unwrap();
                assert!(shown.starts_with(&[0xFF, 0xD8, 0xFF]), "{}", file.name);
                assert!(!shown.windows(HIDDEN.len()).any(|part| part == HIDDEN.as_bytes()), "{}", file.name);
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let grown = memory("VmHWM:").saturating_sub(before);
        assert!(grown < PICTURE_MEMORY + 64 * MB, "memory grew by {} MB", grown / MB);
        assert!(shop.on_their_way().is_empty() || {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            shop.on_their_way().is_empty()
        });
    }
}
