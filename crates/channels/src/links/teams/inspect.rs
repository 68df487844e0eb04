//! What is to do in Microsoft's pages, and whether the app is believed.

use crate::link::{LinkParts, LinkReport, LinkStep};

/// In order.
pub(super) fn list_steps(parts: &LinkParts) -> Vec<String> {
    vec![
        "In the Azure portal make an Azure Bot (single tenant), and open its Configuration.".to_owned(),
        "Set the channel's account_id to its Microsoft App ID, and owner_id to its App Tenant ID.".to_owned(),
        "Under Manage Password make a client secret, and store its value (not its id) as the channel's `token`.".to_owned(),
        describe_endpoint(parts),
        "Under Channels add Microsoft Teams.".to_owned(),
        "In the Teams Developer Portal make an app with this bot in the scopes personal, team and group chat, and have it installed."
            .to_owned(),
    ]
}

fn describe_endpoint(parts: &LinkParts) -> String {
    match parts.webhook_url(None) {
        Some(url) => format!("In the bot's Configuration paste {url} as the Messaging endpoint."),
        None => "Microsoft must reach this server: set server.public_url in the settings to its address on the internet, which begins with https://."
            .to_owned(),
    }
}

pub(super) fn build_report(parts: &LinkParts, token: LinkStep) -> LinkReport {
    let has_failed = token.failed.is_some();
    let webhook = match parts.webhook_url(None) {
        Some(url) => LinkStep::passed("webhook", url),
        None => LinkStep::failed(
            "webhook",
            "Microsoft can't reach this server: set server.public_url in the settings",
        ),
    };
    let to_do = match has_failed {
        true => list_steps(parts),
        false => vec![describe_endpoint(parts)],
    };
    LinkReport { steps: vec![token, webhook], to_do }
}
