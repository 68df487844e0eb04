//! Three tiers and a turn to one prompt.
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
//! - [`static_prompt`]: the three tiers as text, made once a version; `blocks`: what each of them says
//! - [`turn_context`]: all that is true of one turn
//! - [`text`]: text with its count; [`fence`]: what others wrote, made harmless
//! - `connector_tools`: tools of connectors; `hand_over_tool`: the tool of teams that may hand over; `fit`: what stays; `assemble`: the prompt; [`report`]: what became of every part
//!
//! # To add another part
//! Add it to [`PromptSection`], to [`TurnContext`], to what `fit` weighs and to what `assemble` writes.

mod assemble;
mod blocks;
mod connector_tools;
mod envelope;
pub mod fence;
mod fit;
mod hand_over_tool;
mod languages;
pub mod report;
pub mod static_prompt;
pub mod text;
pub mod turn_context;
mod whispers;

pub use assemble::{AssembledPrompt, assemble};
pub use fence::FenceKey;
pub use fit::PromptTooLarge;
pub(crate) use fit::check_minimum_room;
pub use languages::reply_language;
pub use report::{PromptCut, PromptCutReason, PromptReport, PromptSection, SectionShare};
pub(crate) use static_prompt::count_block_tokens;
pub use static_prompt::{PromptTiers, StaticPrompt, tool_tokens};
pub use text::{CountedText, UntrustedText, UtteranceText};
pub use turn_context::{
    ConnectorToolSpec, PersonFact, PromptExchange, PromptSpeaker, PromptToolAnswer, PromptTurn, RecallItem,
    RecallItemKind, TenantWord, TurnContext, TurnEnvelope,
};
