//! What a cloud model may see, and what may leave.
//!
//! A turn asks [`known_people`] whom it knows, takes the conversation's [`PseudonymTable`], and gives its calls a [`PseudonymRedactor`]:
//! every text on its way to a cloud model goes through a [`PiiMasker`]; what comes back goes through a [`PseudonymRestorer`], or
//! through [`PseudonymTable::restore_json`] for the arguments of a tool. Tools get real values, cloud models never do.
//! Nothing but [`KnownPeopleCache::load_met`] does I/O.
//!
//! Not here: which profile a tenant's policy asks for (`munshi-safety`), sending anything (`munshi-llm`), and the rules on
//! a reply.
//!
//! # Layout
//! - [`kind`]: what is hidden; `pseudonym`: what stands for it meanwhile
//! - [`known_entities`]: whom a turn knows; `known_values`: their numbers
//! - [`pseudonym_table`]: which token stands for what; [`mask`], [`restore`]: there and back
//! - [`redactor`]: what the gateway asks; `chat_masking`: a whole request, `revealer`: the events of an answer
//! - [`known_people`]: the people of a tenant, read and kept ready
//! - `suffix_joining`: names and the endings written onto them
//! - [`patterns`]: numbers and codes nobody listed; [`aadhaar`]: the one that is refused, `spaced_aadhaar`: with
//!   its digits apart
//! - [`redaction`], [`fields`]: what may leave through a tool or a log; `health_identifiers`: what only the health rule hides
//! - [`scrub`]: secrets, taken out of whatever a tool, an error or a log says
//!
//! # To hide another kind of value
//! Add it to [`PiiKind`], find it in [`patterns`], and say in [`redaction`] who hides it.

pub mod aadhaar;
mod chat_masking;
mod compact;
mod digits;
pub mod fields;
mod health_identifiers;
pub mod kind;
pub mod known_entities;
pub mod known_people;
mod known_values;
pub mod mask;
pub mod patterns;
mod pseudonym;
pub mod pseudonym_table;
pub mod redaction;
pub mod redactor;
pub mod restore;
mod revealer;
mod scan_cache;
pub mod scrub;
mod spaced_aadhaar;
mod suffix_joining;

pub use aadhaar::find_aadhaar;
pub use fields::HiddenFields;
pub use kind::{PiiKind, PiiMatch};
pub use known_entities::{KnownEntities, ProtectedEntity};
pub use known_people::{KnownPeopleCache, ProtectedPeople};
pub use mask::PiiMasker;
pub use pseudonym_table::{ConversationMismatch, PseudonymTable};
pub use redaction::{Redaction, RedactionProfile};
pub use redactor::PseudonymRedactor;
pub use restore::PseudonymRestorer;
pub use scrub::Scrubber;

#[cfg(test)]
mod tests;
