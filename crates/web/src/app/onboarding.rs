//! What the start page can do for somebody who has just begun. The binary knows how.

use async_trait::async_trait;
use munshi_identity::ContactAddress;
use munshi_lang::Locale;
use munshi_server::error::ApiError;
use munshi_types::TenantName;
use serde::Serialize;

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

/// The result, in the reader's language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = Tried)]
pub struct ModelKeyTrialResult {
    pub works: bool,
    /// The result in plain words.
    pub message: String,
    /// What to do next; for a working key, how to store it.
    pub hint: String,
    /// The settings to store it; empty if the key failed.
    pub settings: String,
}

#[async_trait]
pub trait OnboardingService: Send + Sync + 'static {
    fn list_ready_tenants(&self, voice: Locale) -> Vec<ReadyTenantOffer>;

    /// Whether a tenant of this name comes ready.
    fn has_ready_tenant(&self, tenant: &TenantName) -> bool;

    /// Makes a ready tenant that is not there yet. Whoever has the address owns it: what they made is theirs, and nobody
    /// gets a right over anything that was there before. A tenant that is there already is left alone, and nothing is given.
    /// Gives the place to talk at.
    async fn create_tenant(
        &self,
        tenant: &TenantName,
        owner: &ContactAddress,
    ) -> Result<Option<String>, ApiError>;

    /// Whether somebody with this address owns a tenant that came ready.
    async fn is_owner(&self, address: &ContactAddress) -> Result<bool, ApiError>;

    /// Whether any model but the built-in one is set up.
    fn has_models(&self) -> bool;

    /// The providers whose keys can be tried, each with the model that is asked.
    fn providers(&self) -> Vec<(String, String)>;

    /// Asks the model something with this key, once. Nothing is kept of it.
    async fn try_key(&self, wish: ModelKeyTrial, voice: Locale) -> Result<ModelKeyTrialResult, ApiError>;
}
