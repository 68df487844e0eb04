//! What is kept of people, in the order it goes in.

use munshi_identity::PersonalData;

/// What is read most first. The row of the person is last: it leads to the others.
pub(crate) fn list_kinds() -> impl DoubleEndedIterator<Item = &'static PersonalData> {
    [
        munshi_conversations::erasure::PERSONAL_DATA,
        munshi_safety::acts::PERSONAL_DATA,
        munshi_safety::consents::PERSONAL_DATA,
        munshi_blobs::PERSONAL_DATA,
        munshi_pack::alerts::PERSONAL_DATA,
        munshi_identity::persons::PERSONAL_DATA,
    ]
    .into_iter()
    .flatten()
}
