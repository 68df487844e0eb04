//! Three tiers and a moment to one prompt.
//!
//! What never changes between turns stands first, in the order human, team, agent: the soul is the first thing a model
//! reads and how to use the tools the last. There the provider's cache ends. Behind it comes what this turn is about:
//! what is known of the person, what comes to mind, what was said before, the time and the place; then the
//! conversation itself as messages.
//!
//! Nothing here waits or looks anything up, and the same values give the same bytes. Every text carries its tokens,
//! counted when it was made, so that fitting a prompt into its budgets is only adding up. Human and team are never
//! trimmed; of the rest goes what matters least, and the [`PromptReport`] says what went and why.
//!
//! Text that others wrote ([`UntrustedText`]) stands in fences that it can't end: see [`fence`].
//!
//! # Layout
//! - [`cast`]: the three tiers as text, made once a version; `blocks`: what each of them says
//! - [`moment`]: all that is true of one turn
//! - [`text`]: text with its count; [`fence`]: what others wrote, made harmless
//! - `guests`: tools of connectors; `fit`: what stays; `assemble`: the prompt; [`report`]: what became of every part
//!
//! # To add another part
//! Add it to [`PromptSection`], to [`TurnContext`], to what `fit` weighs and to what `assemble` writes.

mod assemble;
mod blocks;
pub mod cast;
mod envelope;
pub mod fence;
mod fit;
mod guests;
pub mod moment;
pub mod report;
mod speech;
pub mod text;

pub use assemble::{AssembledPrompt, assemble};
pub(crate) use cast::written;
pub use cast::{PromptTiers, StaticPrompt, tool_tokens};
pub use fence::FenceKey;
pub use fit::PromptTooLarge;
pub(crate) use fit::without_room;
pub use moment::{
    ConnectorToolSpec, PersonFact, PromptExchange, PromptSpeaker, PromptToolAnswer, PromptTurn, RecallItem,
    RecallItemKind, TenantWord, TurnContext, TurnEnvelope,
};
pub use report::{PromptCut, PromptCutReason, PromptReport, PromptSection, SectionShare};
pub use speech::reply_language;
pub use text::{CountedText, UntrustedText, UtteranceText};
