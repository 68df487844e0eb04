//! What a conversation has spoken of, and what the person is asked and offered in it.
//!
//! Everything here is made from a message, a tool's result and the phrasebook. Not here: any I/O, a model, a table; what
//! is kept is kept by whoever calls.
//!
//! # Layout
//! - [`entities`]: things that tools named, and what a message means among them
//! - [`choices`]: a name that is several people's, or nobody's
//! - [`suggest`]: what the person may want to say next
//! - [`act_words`]: what they are asked about, in their language

pub mod act_words;
pub mod choices;
pub mod entities;
pub mod suggest;
