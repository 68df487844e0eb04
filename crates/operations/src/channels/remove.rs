//! Removes a channel. What waits for it stays until another serves it, or is given up.

use munshi_channels::accounts::ChannelAccountName;
use munshi_channels::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::rules::refuse_program;
use super::{CHANGED, not_found, save_accounts};
use crate::channel_errors::convert_channel_error;
use crate::{HouseCall, HouseServices};

/// The channel that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelInput {
    /// Its name.
    #[schema(value_type = String)]
    pub name: ChannelAccountName,
}

/// A channel that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RemovedChannel)]
pub struct RemovedChannelView {
    #[schema(value_type = String)]
    pub channel: ChannelAccountName,
    /// Of the tenant's list of channels, without it.
    pub version: i64,
}

pub struct RemoveChannel;

impl Operation<HouseServices> for RemoveChannel {
    type Input = ChannelInput;
    type View = RemovedChannelView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "channels",
        noun: "channel",
        command: "channel",
        verb: "remove",
        about: "Remove a channel: nothing leaves or comes by it any more. Its secrets stay in the vault.",
        needs: CallerClass::Member(Area::Channels, ApiAccess::Write),
        effect: OperationEffect::Write(&[CHANGED]),
        method: RouteMethod::Post,
        path: "/v1/channels/{name}/remove",
    };

    async fn run(call: &HouseCall, input: ChannelInput) -> Result<RemovedChannelView, OperationError> {
        refuse_program(&call.caller)?;
        let (by, now, name) = (call.caller.actor().id.clone(), call.now, input.name);
        call.write(move |tx| {
            let (_, mut declared) = rows::load_accounts(tx).map_err(convert_channel_error)?;
            if declared.0.remove(&name).is_none() {
                return Err(not_found(&name));
            }
            let version = save_accounts(tx, &declared, &by, &format!("remove {name}"), now)?;
            Ok(RemovedChannelView { channel: name, version })
        })
        .await
    }
}
