//! Lets a host's key end.

use std::time::Duration;

use munshi_identity::hosts;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{HostKeyView, note};
use crate::{HouseCall, HouseServices};

const GRACE: u32 = 1;
const LONGEST_GRACE: u32 = 720;
const HOUR: Duration = Duration::from_secs(60 * 60);

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = HostKeyRetirement)]
pub struct RetireHostKeyInput {
    /// Key id.
    pub kid: String,
    /// Hours until it expires; 0 expires it at once. Default 1.
    #[schema(minimum = 0, maximum = 720)]
    pub grace: Option<u32>,
}

pub struct RetireHostKey;

impl Operation<HouseServices> for RetireHostKey {
    type Input = RetireHostKeyInput;
    type View = HostKeyView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "host-keys",
        noun: "host key",
        command: "host-key",
        verb: "retire",
        about: "Expire a host's key.",
        needs: CallerClass::Member(Area::Keys, ApiAccess::Write),
        effect: OperationEffect::Write(&["host_key.retired"]),
        method: RouteMethod::Post,
        path: "/v1/host-keys/{kid}/retire",
    };

    async fn run(call: &HouseCall, input: RetireHostKeyInput) -> Result<HostKeyView, OperationError> {
        let hours = input.grace.unwrap_or(GRACE);
        if hours > LONGEST_GRACE {
            return Err(OperationError::field("grace", "must be from 0 to 720 hours"));
        }
        let now = call.now;
        let ends_at = now.plus(HOUR.saturating_mul(hours));
        let retired = call.write(move |tx| {
            let missing = || {
                OperationError::not_found("host key", &input.kid)
                    .hint("`munshi host-key list` shows them all.")
            };
            let retired = hosts::retire(tx, &input.kid, ends_at)?.ok_or_else(missing)?;
            note(tx, "host_key.retired", &retired);
            Ok(retired)
        });
        Ok(HostKeyView::new(retired.await?, now))
    }
}
