//! What a cloud model may see, and what may leave.
//!
//! A turn asks [`known_people`] whom it knows, takes the conversation's [`Session`], and gives its calls a [`TokenVeil`]:
//! every text on its way to a cloud model goes through a [`Mask`]; what comes back goes through a [`Restorer`], or
//! through [`Session::restore_json`] for the arguments of a tool. Tools get real values, cloud models never do.
//! Nothing but [`KnownPeople::met`] does I/O.
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
//! To hide another kind of value, add it to [`Kind`], find it in [`patterns`], and say in [`profile`] who hides it.

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
pub use fields::Fields;
pub use kind::{Found, Kind};
pub use known::{Entity, Known};
pub use known_people::{KnownPeople, People};
pub use mask::Mask;
pub use profile::{Profile, Redaction};
pub use restore::Restorer;
pub use scrub::Scrubber;
pub use session::{Crossed, Session};
pub use veil::TokenVeil;

#[cfg(test)]
mod tests;
