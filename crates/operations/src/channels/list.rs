//! A tenant's channels, by name.

use munshi_channels::accounts::ReceiveWay;
use munshi_channels::incoming::heard::load_hearing;
use munshi_channels::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};

use super::ChannelView;
use super::rules::refuse_program;
use super::setup::{SecretSight, describe_setup};
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
        about: "List the accounts by which messages leave and come, and when each was heard last.",
        needs: CallerClass::Member(Area::Channels, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/channels",
    };

    async fn run(call: &HouseCall, input: NameListInput) -> Result<ListView<ChannelView>, OperationError> {
        let (declared, all) = call
            .read(move |tx| {
                let (_, declared) = rows::load_accounts(tx).map_err(convert_channel_error)?;
                let mut all = Vec::new();
                for (name, account) in &declared.0 {
                    let hearing = load_hearing(tx, name)?;
                    all.push(ChannelView::new(name.clone(), account, hearing));
                }
                Ok::<_, OperationError>((declared, all))
            })
            .await?;
        let mut page = input.paginate(all, |one: &ChannelView| one.name.to_string())?;
        let is_called = |view: &ChannelView| view.receive == Some(ReceiveWay::Webhook);
        if page.items.iter().any(is_called)
            && let Ok(senders) = call.services.parts.build_channel_senders().await
        {
            for view in page.items.iter_mut().filter(|view| is_called(view)) {
                let Some(account) = declared.0.get(&view.name) else { continue };
                let setup = describe_setup(call, &senders, (&view.name, account), sight(call)).await;
                view.webhook = setup.webhook;
            }
        }
        Ok(page)
    }
}

/// Whoever may change a channel gives its address to the provider.
fn sight(call: &HouseCall) -> SecretSight {
    let changes = call.caller.authorize(CallerClass::Member(Area::Channels, ApiAccess::Write));
    match changes.is_ok() && refuse_program(&call.caller).is_ok() {
        true => SecretSight::Shown,
        false => SecretSight::Hidden,
    }
}
