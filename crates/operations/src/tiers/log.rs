//! How a tier came about.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::SortOrder;
use munshi_tiers::history::{self, TierHistoryEntry};
use munshi_types::tier::{TierKind, TierName};

use super::TierLogView;
use crate::list_input::list_input;
use crate::{HouseCall, HouseServices};

list_input! {
    pub struct LogTierInput: NameListInput {
        /// `human`, `team`, `agent` or `binding`.
        #[schema(value_type = crate::schemas::TierKindSchema)]
        pub kind: TierKind,
        /// The name of the tier.
        #[schema(value_type = String, max_length = 63, example = "meera")]
        pub name: TierName,
    }
}

pub struct LogTier;

impl Operation<HouseServices> for LogTier {
    type Input = LogTierInput;
    type View = TierLogView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "tier_versions",
        noun: "tier version",
        command: "tier",
        verb: "log",
        about: "List a tier's versions, newest first, each with what changed.",
        needs: CallerClass::Member(Area::Tiers, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/tiers/{kind}/{name}/versions",
    };

    async fn run(call: &HouseCall, input: LogTierInput) -> Result<TierLogView, OperationError> {
        let log = history::load(&call.db, &call.tenant.name, input.kind, &input.name).await?;
        // Numbers that fall, written so that they rise.
        let place = |entry: &TierHistoryEntry| format!("{:010}", u32::MAX - entry.version.version);
        let page = input.page().paginate_from(SortOrder::Descending, log.versions, place)?;
        let mut events = log.events;
        if input.order == Some(SortOrder::Ascending) {
            events.reverse();
        }
        Ok(TierLogView {
            kind: log.kind,
            name: log.name,
            status: log.status,
            items: page.items.into_iter().map(Into::into).collect(),
            next: page.next,
            events,
        })
    }
}
