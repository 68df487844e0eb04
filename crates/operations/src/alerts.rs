//! What somebody should look at, newest first: what packs' heartbeats found, and messages of which nobody knows whether they arrived.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::alerts::{self, AlertFilter, StoredAlert};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::{AlertId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::list_input::list_input;
use crate::{HouseCall, HouseServices};

list_input! {
    #[derive(Copy, Default)]
    pub struct ListAlertsInput: ListInput {
        /// Include alerts that have been cleared.
        pub all: Option<bool>,
    }
}

/// Something that a pack's heartbeat found, or the house itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Alert)]
pub struct AlertView {
    #[schema(value_type = uuid::Uuid)]
    pub id: AlertId,
    /// How soon somebody should know: `notice`, `warning` or `urgent`.
    pub severity: String,
    /// In English.
    pub text: String,
    /// `house` for what belongs to no pack.
    pub pack: String,
    pub heartbeat: String,
    /// What it is about, within its heartbeat.
    pub key: String,
    #[schema(value_type = String, format = DateTime)]
    pub first_seen: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub last_seen: Timestamp,
    /// When it was told, once. Today that is the tenant's audit and the log.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub told_at: Option<Timestamp>,
    /// When its heartbeat no longer found it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub cleared_at: Option<Timestamp>,
}

impl From<StoredAlert> for AlertView {
    fn from(alert: StoredAlert) -> Self {
        let StoredAlert { id, pack, heartbeat, key, severity, text, .. } = alert;
        let StoredAlert { first_seen, last_seen, told_at, cleared_at, .. } = alert;
        let severity = severity.as_str().to_owned();
        Self { id, severity, text, pack, heartbeat, key, first_seen, last_seen, told_at, cleared_at }
    }
}

pub struct ListAlerts;

impl Operation<HouseServices> for ListAlerts {
    type Input = ListAlertsInput;
    type View = ListView<AlertView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "alerts",
        noun: "alert",
        command: "alerts",
        verb: "list",
        about: "List what somebody should look at, such as what packs' heartbeats found, newest first: what is open, or all.",
        needs: CallerClass::Member(Area::Packs, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/alerts",
    };

    async fn run(call: &HouseCall, input: ListAlertsInput) -> Result<ListView<AlertView>, OperationError> {
        let filter = if input.all == Some(true) { AlertFilter::All } else { AlertFilter::Open };
        let request = input.page().page_request()?;
        let page = call.read(move |tx| Ok(alerts::list(tx, filter, &request)?)).await?;
        Ok(ListView::from_page(page, |one| Some(one.into())))
    }
}
