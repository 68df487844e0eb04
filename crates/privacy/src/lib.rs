//! What a cloud model may see, and what may leave.
//!
//! A turn asks [`known_people`] whom it knows, takes the conversation's [`PseudonymTable`], and gives its calls a [`PseudonymRedactor`]:
//! every text on its way to a cloud model goes through a [`PiiMasker`]; what comes back goes through a [`PseudonymRestorer`], or
//! through [`PseudonymTable::restore_json`] for the arguments of a tool. Tools get real values, cloud models never do.
//! Nothing but [`KnownPeopleCache::met`] does I/O.
//!
//! Not here: which profile a tenant's policy asks for (`munshi-safety`), sending anything (`munshi-llm`), and the rules on
//! a reply.
//!
//! # Layout
//! - [`kind`]: what is hidden; `token`: what stands for it meanwhile
//! - [`known`]: whom a turn knows; [`session`]: which token stands for what; [`mask`], [`restore`]: there and back
//! - [`veil`]: what the gateway asks; `hide`: a whole request, `reveal`: the events of an answer
//! - [`known_people`]: the people of a tenant, read and kept ready
//! - `join`: names and the endings written onto them
//! - [`patterns`]: numbers and codes nobody listed; [`aadhaar`]: the one that is refused, `spread`: with
//!   its digits apart
//! - [`profile`], [`fields`]: what may leave through a tool or a log; `traces`: what only the health rule hides
//! - [`scrub`]: secrets, taken out of whatever a tool, an error or a log says
//!
//! To hide another kind of value, add it to [`PiiKind`], find it in [`patterns`], and say in [`profile`] who hides it.

pub mod aadhaar;
mod compact;
mod digits;
pub mod fields;
mod hide;
mod join;
pub mod kind;
pub mod known;
pub mod known_people;
pub mod mask;
mod memo;
pub mod patterns;
pub mod profile;
pub mod restore;
mod reveal;
pub mod scrub;
pub mod session;
mod spread;
mod token;
mod traces;
pub mod veil;

pub use aadhaar::refuse_aadhaar;
pub use fields::HiddenFields;
pub use kind::{PiiKind, PiiMatch};
pub use known::{KnownEntities, ProtectedEntity};
pub use known_people::{KnownPeopleCache, ProtectedPeople};
pub use mask::PiiMasker;
pub use profile::{Redaction, RedactionProfile};
pub use restore::PseudonymRestorer;
pub use scrub::Scrubber;
pub use session::{ConversationMismatch, PseudonymTable};
pub use veil::PseudonymRedactor;

#[cfg(test)]
mod tests;
