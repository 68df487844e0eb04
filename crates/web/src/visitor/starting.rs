//! What the start page can do for somebody who has just begun. The binary knows how.

use async_trait::async_trait;
use munshi_identity::ContactAddress;
use munshi_lang::Locale;
use munshi_types::TenantName;
use serde::Serialize;

use crate::error::ApiError;

/// A tenant that comes ready in the binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyTenantOffer {
    pub tenant: TenantName,
    /// What it is for, in a sentence of the reader's language.
    pub about: String,
}

/// A model's key that somebody wants to try.
#[derive(Clone, Debug)]
pub struct ModelKeyTrial {
    /// As the settings name it: `anthropic`, `openai`.
    pub provider: String,
    pub model: String,
    pub key: String,
}

/// What came of it, in plain words of the reader's language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = Tried)]
pub struct ModelKeyTrialResult {
    pub works: bool,
    /// What happened.
    pub message: String,
    /// What to do next: for a key that works, how to keep it.
    pub hint: String,
    /// What to put into the settings to keep it; empty where it did not work.
    pub settings: String,
}

#[async_trait]
pub trait OnboardingService: Send + Sync + 'static {
    fn ready(&self, voice: Locale) -> Vec<ReadyTenantOffer>;

    /// Whether a tenant of this name comes ready.
    fn has(&self, tenant: &TenantName) -> bool;

    /// Makes a ready tenant that is not there yet. Whoever has the address owns it: what they made is theirs, and nobody
    /// gets a right over anything that was there before. A tenant that is there already is left alone, and nothing is given.
    /// Gives the place to talk at.
    async fn open(&self, tenant: &TenantName, owner: &ContactAddress) -> Result<Option<String>, ApiError>;

    /// Whether somebody with this address owns a tenant that came ready.
    async fn is_owner(&self, address: &ContactAddress) -> Result<bool, ApiError>;

    /// Whether any model but the built-in one is set up.
    fn has_models(&self) -> bool;

    /// The providers whose keys can be tried, each with the model that is asked.
    fn providers(&self) -> Vec<(String, String)>;

    /// Asks the model something with this key, once. Nothing is kept of it.
    async fn try_key(&self, wish: ModelKeyTrial, voice: Locale) -> Result<ModelKeyTrialResult, ApiError>;
}
