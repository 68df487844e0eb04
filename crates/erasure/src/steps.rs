//! What goes, in the order it goes in.

use munshi_identity::ErasureStep;

/// What is read most first. The row of the person is last: it leads to the others.
pub(crate) fn list_steps() -> impl Iterator<Item = &'static ErasureStep> {
    [
        munshi_conversations::erasure::ERASURE,
        munshi_safety::acts::ERASURE,
        munshi_blobs::ERASURE,
        munshi_identity::persons::ERASURE,
    ]
    .into_iter()
    .flatten()
}
