use crate::kinds::{CountKind, EndpointKind};
use crate::section::section;

section! {
    /// The record of what was done, and the anchors by which it is seen that nobody changed it.
    AuditSection in "audit" {
        /// Where anchors are sent as JSON, besides the file `audit-anchors.jsonl` in the data folder and the log.
        /// Best on a machine that whoever runs this one can't change. Empty means nowhere.
        anchor_webhook: EndpointKind = "",
        /// After how many new entries a tenant's record is anchored, within a minute; once a day it is anyway.
        anchor_entries: CountKind<1, 1_000_000> = 1000,
    }
}
