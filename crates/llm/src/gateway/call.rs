//! A call as its caller makes it.

use std::sync::Arc;

use munshi_types::TenantId;

use super::budget::Budget;
use super::route::{Route, Use};
use super::tab::{About, Tab};
use super::veil::Veil;
use crate::chat::ChatRequest;
use crate::money::PriceBook;

/// It owns what it holds, since a stream outlives the function that began it.
#[derive(Clone)]
pub struct Call {
    pub wanted: Use,
    pub route: Arc<Route>,
    pub request: Arc<ChatRequest>,
    pub account: Account,
    /// Hides people from models that may not see them; none where nobody is named, or nobody is to be hidden.
    pub veil: Option<Arc<dyn Veil>>,
}

/// Who pays for calls, and where they are written down.
#[derive(Clone)]
pub struct Account {
    pub tenant: TenantId,
    pub about: About,
    /// Asked before every attempt, retries included.
    pub budget: Arc<dyn Budget>,
    /// Gets every attempt, however it ended.
    pub tab: Arc<dyn Tab>,
    /// The tenant's own prices, over the installation's.
    pub prices: Option<Arc<PriceBook>>,
}
