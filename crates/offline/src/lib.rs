//! The model that needs no key: a provider like any other, for when there is no key, no network, or no model is
//! needed.
//!
//! It reads the same request as every model. Which of the offered tools is meant it tells by their own phrases and
//! examples; arguments come from what `lang` reads in the message, fitted to the tool's schema; what is missing or may
//! mean two things is asked for, in the person's language and script. It never invents: below its threshold it says
//! what it can do here. A sentence that asks, denies or supposes is never written down.
//!
//! No tool, pack or channel is named in this crate. To have a request recognised, give the tool phrases and examples;
//! `docs/models.md` says how they and the schema are read. The small words in `words/` are grammar: add to them when a
//! language marks giving and taking, asking or denying in a way that is not there yet.
//!
//! # Layout
//! - [`offline`]: [`OfflineProvider`], the provider; [`judgement`]: how sure it is
//! - `turn`, `continued`: one turn of a conversation, and one after a question; `state`: the question in between;
//!   `answered`: what an answer says of it and beside it
//! - `reading`, `leading`, `mood`, `spans`, `roles`, `stems`, `clauses`, `words`: a message by its grammar
//! - `counted`: numbers that count things; `palette`: tools made ready; `sight`: a message through them; `rank`: which one is meant; `account`,
//!   `named`, `plan`: and how surely
//! - `fill`, `when`: arguments; `json`: answers of a schema
//! - `say`, `tell`: words for people

mod account;
mod answered;
mod clauses;
mod continued;
mod counted;
mod fill;
mod json;
pub mod judgement;
mod leading;
mod mood;
mod named;
pub mod offline;
mod palette;
mod plan;
mod rank;
mod reading;
mod roles;
mod say;
mod sight;
mod spans;
mod state;
mod stems;
mod tell;
mod turn;
mod when;
mod words;

pub use judgement::{OfflineJudgement, OfflineVerdict};
pub use offline::OfflineProvider;
pub use plan::SURE;
