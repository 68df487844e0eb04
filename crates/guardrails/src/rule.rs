//! A rule, and what it finds.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::context::GuardrailContext;
use super::custom::CompiledPatternRule;
use super::lexicon::NamedPatterns;
use super::reading::GuardrailReading;
use super::rule_set::GuardrailParameters;

/// The tier a rule belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardrailTier {
    Human,
    Team,
    Agent,
}

/// What happens to what a rule finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardrailSeverity {
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
pub enum GuardrailScope {
    Sentence,
    /// All of it; when it blocks, nothing is sent before the end.
    Reply,
}

/// One rule: a sentence for the prompt and a check of the reply.
#[derive(Clone, Debug)]
pub struct GuardrailRule {
    pub id: Cow<'static, str>,
    pub tier: GuardrailTier,
    pub severity: GuardrailSeverity,
    pub scope: GuardrailScope,
    /// What the model is told.
    pub prompt: Cow<'static, str>,
    /// The phrase that is said instead of what was blocked, or after a reply that lacks it.
    pub phrase: &'static str,
    pub(crate) check: GuardrailCheck,
}

#[derive(Clone, Debug)]
pub(crate) enum GuardrailCheck {
    /// Patterns of the lexicon, and what they find.
    Patterns(&'static NamedPatterns, &'static str),
    /// Code that looks at sentences.
    Sentences(fn(&GuardrailView<'_>) -> Vec<GuardrailFinding>),
    /// Code that looks at a whole reply.
    Reply(fn(&[ReplyStretch], &GuardrailContext, &GuardrailParameters) -> Option<&'static str>),
    /// A tenant's own.
    Custom(std::sync::Arc<CompiledPatternRule>),
}

/// Some sentences of a reply as a rule sees them.
pub(crate) struct GuardrailView<'v> {
    pub text: &'v str,
    /// Where its sentences end.
    pub ends: &'v [usize],
    pub reading: &'v GuardrailReading,
    pub context: &'v GuardrailContext,
    pub parameters: &'v GuardrailParameters,
    /// What the reply said before.
    pub earlier: &'v [ReplyStretch],
}

/// A stretch of a reply that has been read.
#[derive(Debug)]
pub(crate) struct ReplyStretch {
    pub text: String,
    pub reading: GuardrailReading,
}

/// Something a rule found, in bytes of the view's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GuardrailFinding {
    pub span: Range<usize>,
    pub what: Cow<'static, str>,
    /// What it is rewritten to; none takes the whole sentence out.
    pub with: Option<String>,
}

impl GuardrailFinding {
    pub(crate) fn new(span: Range<usize>, what: &'static str) -> Self {
        Self { span, what: Cow::Borrowed(what), with: None }
    }

    pub(crate) fn with_replacement(span: Range<usize>, what: &'static str, with: String) -> Self {
        Self { span, what: Cow::Borrowed(what), with: Some(with) }
    }
}

/// A rule that a reply broke, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GuardrailViolation {
    pub rule: String,
    pub tier: GuardrailTier,
    pub severity: GuardrailSeverity,
    /// Where in the model's reply, in bytes. A rule of the whole reply names all of it.
    pub span: Range<usize>,
    /// What was found, in a few words; never the text itself, which may be what must not be kept.
    pub what: String,
}
