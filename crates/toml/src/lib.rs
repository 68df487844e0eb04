//! What every TOML file of Munshi shares: where a value stands, how a problem reads, which word was probably meant, and how
//! a value is written.
//!
//! Which keys a file has is not here: `config` has the settings, `tiers` the files of tiers, `safety` the policy and
//! `connectors` their own file.
//!
//! # Layout
//! - [`position`]: lines and columns
//! - [`suggestion`]: the known word nearest to an unknown one
//! - [`problem`]: a problem and a value in words
//! - [`source`]: bytes as text, and a text read past its syntax errors, for readers that report every problem
//! - [`typed`]: a text read into a type, for readers that report the first problem
//! - [`writer`]: JSON values as TOML, the same bytes for the same value
//!
//! To add a kind of file, read it with [`typed::read`], or with [`source::TomlSource`] where every problem is to be told,
//! and write it with [`writer`].

pub mod position;
pub mod problem;
pub mod source;
pub mod suggestion;
pub mod typed;
pub mod writer;

pub use position::{TextPosition, locate};
pub use problem::{ProblemText, QuotedValue, count_problems};
pub use source::{SyntaxProblem, TomlSource, decode_utf8, describe_value};
pub use suggestion::{find_nearest, render_hint};
pub use typed::{TomlError, read};
