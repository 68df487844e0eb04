//! The door for people at a page: visitors of our own pages and of the widget on others'.
//!
//! Somebody at a page may talk on the binding the page is of, see their own thread there, follow and stop their own
//! turns, and answer the questions that are theirs. They are known by a token that is made with their first message, by
//! what the host of the page has signed, or by a sign-in of ours.
//!
//! # Layout
//! - `binding_lookup`: which binding a page is of; `origin`: whose page it is, and whether that may ask
//! - `token`: what a browser is known by; [`authenticator`]: what others have proved; `page_visitor`: who asks, with all of that
//! - `admit`: every limit before a message is taken; `challenge`: the little work that a browser does
//! - `client_address`: which address a request is counted by
//! - `installation_access`: who sits at the machine, and who may set the installation up; [`local_session`]: what proves it; [`onboarding`]: what the start page does for them
//! - `visit_events`: a turn's events as visitors hear them; `phrases`: what pages say themselves
//! - [`VisitorServices`]: what the binary hands in

pub(crate) mod admit;
pub mod authenticator;
pub(crate) mod binding_lookup;
pub(crate) mod challenge;
pub(crate) mod client_address;
pub(crate) mod installation_access;
pub mod local_session;
pub mod onboarding;
pub(crate) mod origin;
pub(crate) mod page_visitor;
pub(crate) mod phrases;
pub(crate) mod token;
pub(crate) mod visit_events;

use std::net::IpAddr;
use std::sync::Arc;

use munshi_lang::Phrasebook;
use munshi_pack::PackRegistry;
use munshi_types::ToolSpec;

use self::authenticator::{AnonymousAuthenticator, VisitorAuthenticator};
use self::onboarding::OnboardingService;

pub use self::client_address::UNNAMED_PROXY;
pub use self::phrases::add_phrases;

/// What visitors are received with.
pub struct VisitorServices {
    /// With the phrases of packs and of pages.
    pub book: Arc<Phrasebook>,
    /// The tools there are: what is being done is told by what they touch.
    pub tools: Vec<Arc<ToolSpec>>,
    pub proofs: Arc<dyn VisitorAuthenticator>,
    /// What the start page offers; none where there is nothing to begin with.
    pub starting: Option<Arc<dyn OnboardingService>>,
    pub challenge: ChallengeSettings,
    /// Those whose word about who asked is taken.
    pub proxies: Vec<IpAddr>,
    /// Whose pages are shown.
    pub house: Arc<PackRegistry>,
}

/// When and how much work is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChallengeSettings {
    /// So many messages are free.
    pub after: u32,
    /// Zero bits in front of the hash; each one more doubles the work, and 0 asks for none.
    pub bits: u32,
}

impl Default for ChallengeSettings {
    fn default() -> Self {
        Self { after: 3, bits: 16 }
    }
}

impl Default for VisitorServices {
    fn default() -> Self {
        Self {
            book: phrases::default_phrasebook(),
            tools: Vec::new(),
            proofs: Arc::new(AnonymousAuthenticator),
            starting: None,
            challenge: ChallengeSettings::default(),
            proxies: Vec::new(),
            house: Arc::new(PackRegistry::default()),
        }
    }
}
