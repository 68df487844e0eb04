//! The record of what was done: read, checked, taken out.

mod anchor;
mod export;
mod list;
mod verify;
mod view;

pub use anchor::AnchorAudit;
pub use export::{AuditExportView, ExportAudit, ExportAuditInput};
pub use list::{ListAudit, ListAuditInput};
pub use verify::{AuditVerificationView, ChainVerificationView, VerifyAudit, VerifyAuditInput};
pub use view::{AuditActorView, AuditEntryView};
