//! The vocabulary every floor shares.
//!
//! What is here has no I/O and no async: plain values, and the two sources of surprise (time and chance)
//! as traits, so that a test can hold them still.
//!
//! # Layout
//! - [`clock`]: [`Timestamp`], the [`Clock`] everyone is handed, and [`FakeClock`]
//! - [`random`]: [`Random`], the system's and a seeded one
//! - [`id`]: newtype ids, UUIDv7 made by [`IdGenerator`] from a clock and a random source
//! - [`tenant`]: [`Tenant`], its name, zone and status
//! - [`tier`]: [`Human`](tier::Human), [`Team`](tier::Team), [`Agent`](tier::Agent), [`Binding`](tier::Binding)
//! - [`tool`]: [`ToolSpec`], all that is known of a tool; [`ConsentPurposeName`]: what somebody is asked to agree to
//! - [`attachment`]: what a reply carries beside its words
//! - [`envelope`]: [`InboundMessage`], one shape for every channel; [`outbound`]: [`OutboundMessage`], what leaves, and why
//! - [`money`]: [`Money`] in whole paise
//! - [`language`]: [`Language`] and [`Script`]; `name`: the form of short names; `invisible`: letters that hide
//! - [`word_list`]: the lines of lexicons, phrases and other lists that are compiled in
//!
//! To add another id, add a line to `for_each_id!` in `id.rs`.

pub mod attachment;
pub mod clock;
mod consent;
pub mod envelope;
pub mod id;
mod invisible;
pub mod language;
pub mod money;
mod name;
pub mod outbound;
pub mod policy;
pub mod random;
pub mod tenant;
mod tenant_packs;
pub mod tier;
pub mod tool;
pub mod word_list;

pub use clock::{Clock, FakeClock, SystemClock, Timestamp};
pub use consent::{ConsentPurposeName, ConsentPurposeNameError};
pub use envelope::{AttachedFile, ClientScreen, InboundMessage, InboundSender, InboundTarget, ReplyAddress};
pub use id::{
    ActId, AlertId, ApprovalId, BindingId, BlobId, CallId, CodeId, ConsentId, DataKeyId, DeliveryId, EntryId,
    ErasureId, HandoffId, HoldId, HolderId, HumanRequestId, Id, IdError, IdGenerator, JobId, KeyId, LeaseId,
    LinkId, LoginLossId, MessageId, OperatorId, PersonId, ProposalId, ReservationId, RunId, SessionId,
    SignInId, TenantId, TierId, WhisperId,
};
pub use invisible::is_invisible;
pub use language::{Language, LanguageError, Script};
pub use money::{Money, MoneyError};
pub use outbound::{OutboundAttachment, OutboundMessage, OutboundPurpose, OutboundTemplate};
pub use policy::{Autonomy, Conduct, Reach, ScopeGlob, ScopeGlobError};
pub use random::{Random, SeededRandom, SystemRandom};
pub use tenant::{Tenant, TenantName, TenantNameError, TenantStatus, Zone, ZoneError};
pub use tenant_packs::{HOUSE, TenantPacks};
pub use tool::{
    ConnectorName, ConnectorNameError, Effect, Egress, FallbackSearch, HAND_OVER, SendArguments, ToolExample,
    ToolName, ToolNameError, ToolSpec, is_volatile_name,
};
