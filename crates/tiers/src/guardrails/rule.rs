//! A rule, and what it finds.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::context::Context;
use super::custom::Compiled;
use super::lexicon::Listed;
use super::reading::Reading;
use super::set::Parameters;

/// The tier a rule belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    Human,
    Team,
    Agent,
}

/// What happens to what a rule finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is not sent; a phrase is said instead.
    Block,
    /// It is sent changed.
    Rewrite,
    /// It is sent, and recorded.
    Log,
}

/// How much of the reply a rule has to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Sentence,
    /// All of it; when it blocks, nothing is sent before the end.
    Reply,
}

/// One rule: a sentence for the prompt and a check of the reply.
#[derive(Clone, Debug)]
pub struct Rule {
    pub id: Cow<'static, str>,
    pub tier: Tier,
    pub severity: Severity,
    pub scope: Scope,
    /// What the model is told.
    pub prompt: Cow<'static, str>,
    /// The phrase that is said instead of what was blocked, or after a reply that lacks it.
    pub phrase: &'static str,
    pub(crate) check: Check,
}

#[derive(Clone, Debug)]
pub(crate) enum Check {
    /// Patterns of the lexicon, and what they find.
    Patterns(&'static Listed, &'static str),
    /// Code that looks at sentences.
    Sentences(fn(&View<'_>) -> Vec<Found>),
    /// Code that looks at a whole reply.
    Reply(fn(&[Part], &Context, &Parameters) -> Option<&'static str>),
    /// A tenant's own.
    Custom(std::sync::Arc<Compiled>),
}

/// Some sentences of a reply as a rule sees them.
pub(crate) struct View<'v> {
    pub text: &'v str,
    /// Where its sentences end.
    pub ends: &'v [usize],
    pub reading: &'v Reading,
    pub context: &'v Context,
    pub parameters: &'v Parameters,
    /// What the reply said before.
    pub earlier: &'v [Part],
}

/// A stretch of a reply that has been read.
#[derive(Debug)]
pub(crate) struct Part {
    pub text: String,
    pub reading: Reading,
}

/// Something a rule found, in bytes of the view's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub span: Range<usize>,
    pub what: Cow<'static, str>,
    /// What it is rewritten to; none takes the whole sentence out.
    pub with: Option<String>,
}

impl Found {
    pub(crate) fn new(span: Range<usize>, what: &'static str) -> Self {
        Self { span, what: Cow::Borrowed(what), with: None }
    }

    pub(crate) fn rewritten(span: Range<usize>, what: &'static str, with: String) -> Self {
        Self { span, what: Cow::Borrowed(what), with: Some(with) }
    }
}

/// A rule that a reply broke, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    pub rule: String,
    pub tier: Tier,
    pub severity: Severity,
    /// Where in the model's reply, in bytes. A rule of the whole reply names all of it.
    pub span: Range<usize>,
    /// What was found, in a few words; never the text itself, which may be what must not be kept.
    pub what: String,
}
