//! Files that people give.
pub mod chunk_cipher; mod error; mod media_type; mod picture; mod refusal; mod spool; pub mod storage; mod type_detector;
