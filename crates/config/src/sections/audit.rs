use crate::kinds::{CountKind, EndpointKind};
use crate::section::section;

section! {
    /// The audit log: a hash chain per tenant, and the anchors that prove nobody changed it.
    AuditSection in "audit" {
        /// URL that receives each anchor as JSON, in addition to `audit-anchors.jsonl` in the data folder and the log.
        /// Use a machine that this server's administrators can't change. Empty disables it.
        anchor_webhook: EndpointKind = "",
        /// Anchor a tenant's audit chain after this many new entries (checked every minute), and at least daily.
        anchor_entries: CountKind<1, 1_000_000> = 1000,
    }
}
