//! A tenant's channels, by name.

use munshi_channels::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};

use super::ChannelView;
use crate::channel_errors::convert_channel_error;
use crate::named_list::NameListInput;
use crate::{HouseCall, HouseServices};

pub struct ListChannels;

impl Operation<HouseServices> for ListChannels {
    type Input = NameListInput;
    type View = ListView<ChannelView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "channels",
        noun: "channel",
        command: "channel",
        verb: "list",
        about: "List the accounts by which messages leave.",
        needs: CallerClass::Member(Area::Channels, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/channels",
    };

    async fn run(call: &HouseCall, input: NameListInput) -> Result<ListView<ChannelView>, OperationError> {
        let all = call.read(move |tx| {
            let (_, declared) = rows::load_accounts(tx).map_err(convert_channel_error)?;
            let shown = declared.0.into_iter();
            Ok::<_, OperationError>(shown.map(|(name, account)| ChannelView::new(name, &account)).collect())
        });
        input.paginate(all.await?, |one: &ChannelView| one.name.to_string())
    }
}
