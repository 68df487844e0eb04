//! What the house's operations need besides a database.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use munshi_identity::keys::ApiKeyCache;
use munshi_pack::operation::OperationError;
use munshi_safety::audit::anchors::AnchorService;
use munshi_safety::budget::BudgetSettings;
use munshi_safety::vault::Vault;

#[derive(Clone)]
pub struct HouseServices {
    pub keys: ApiKeyCache,
    pub parts: Arc<dyn HouseParts>,
}

/// What is made of the settings, when an operation needs it: most need none of it.
#[async_trait]
pub trait HouseParts: Send + Sync {
    /// What plans and limits are by default.
    fn budget(&self) -> BudgetSettings;

    async fn open_vault(&self) -> Result<Vault, OperationError>;

    /// Where the audit is anchored outside of the database.
    fn open_anchors(&self) -> Result<AnchorService, OperationError>;
}

impl fmt::Debug for HouseServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HouseServices").field("keys", &self.keys).finish_non_exhaustive()
    }
}
