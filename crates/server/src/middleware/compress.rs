//! Compresses what is worth it.

use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, NotForContentType, Predicate, SizeAbove};

type Worthwhile = And<And<SizeAbove, NotForContentType>, NotForContentType>;

/// Below this a packet is a packet.
const SMALLEST: u64 = 1024;

/// gzip only: every client has it, and brotli would cost more to build than all of the server. Never an event
/// stream, whose events would wait in the compressor, and never an image, which is compressed already.
pub(super) fn layer() -> CompressionLayer<Worthwhile> {
    let worthwhile = SizeAbove::new(SMALLEST).and(NotForContentType::SSE).and(NotForContentType::IMAGES);
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(worthwhile)
}
