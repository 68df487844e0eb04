//! What routes answer with: each resource as a client sees it, with what the document says about it.

pub(crate) mod attachment;
pub(crate) mod event;
pub(crate) mod file;
pub(crate) mod outcome;
pub(crate) mod visit;
pub(crate) mod visit_consent;
pub(crate) mod visit_event;
