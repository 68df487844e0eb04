//! What visitors are received with.

use std::net::IpAddr;
use std::sync::Arc;

use munshi_lang::Phrasebook;
use munshi_pack::{PackRegistry, PackServices};
use munshi_server::access::authenticator::{AnonymousAuthenticator, VisitorAuthenticator};
use munshi_server::phrases;
use munshi_types::ToolSpec;

use super::onboarding::OnboardingService;

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
    pub packs: Arc<PackRegistry>,
    /// What packs work with when others send them something.
    pub pack_services: PackServices,
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
            packs: Arc::new(PackRegistry::default()),
            pack_services: PackServices::default(),
        }
    }
}
