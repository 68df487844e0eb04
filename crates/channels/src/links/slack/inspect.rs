//! Whether an app works: its token, what it may do, and what is left to do in Slack's pages.

use munshi_http::{header::CONTENT_TYPE, read_body};
use serde_json::Value;

use super::api::{build_request, read_answer};
use crate::link::{LinkFault, LinkParts, LinkReport, LinkStep};
use crate::provider_call::{ProviderAnswer, open};

const LARGEST: usize = 64 * 1024;

/// Without these nothing works.
const NEEDED: [&str; 3] = ["chat:write", "im:history", "app_mentions:read"];
/// Without each of these something does not.
const USEFUL: [(&str, &str); 7] = [
    ("channels:history", "follow threads in public channels"),
    ("groups:history", "follow threads in private channels"),
    ("mpim:history", "follow threads in group messages"),
    ("files:read", "take files that people send"),
    ("files:write", "send files"),
    ("im:write", "write to somebody first"),
    ("reactions:write", "show that it works on an answer"),
];

/// What Slack says of the token.
pub(super) struct SlackIdentity {
    pub user: Option<String>,
    team: String,
    team_id: String,
    name: String,
    scopes: Vec<String>,
}

/// What is to be done in Slack's pages, in order.
pub(super) fn list_steps(parts: &LinkParts) -> Vec<String> {
    let wanted: Vec<&str> = NEEDED.into_iter().chain(USEFUL.map(|(scope, _)| scope)).collect();
    let mut steps = vec![
        "Make an app at https://api.slack.com/apps (From scratch), in the workspace it is for.".to_owned(),
        format!("Under OAuth & Permissions add the bot token scopes {}.", wanted.join(", ")),
        "Press Install to Workspace, and store the Bot User OAuth Token, which begins with xoxb-, as the channel's `token`."
            .to_owned(),
        "Store the Signing Secret of Basic Information as the channel's `secret`.".to_owned(),
    ];
    steps.extend(list_addresses(parts));
    steps.push(
        "Under App Home tick Allow users to send messages from the messages tab. In a channel, write /invite @NAME-OF-THE-APP."
            .to_owned(),
    );
    steps
}

fn list_addresses(parts: &LinkParts) -> Vec<String> {
    let Some(url) = parts.webhook_url(None) else {
        return vec![
            "Slack must reach this server: set server.public_url in the settings to its address on the internet, which begins with https://."
                .to_owned(),
        ];
    };
    vec![
        format!(
            "Under Event Subscriptions switch on events, paste {url} as the Request URL, and subscribe to the bot events \
             message.im, app_mention, message.channels, message.groups, message.mpim, app_uninstalled and tokens_revoked."
        ),
        format!(
            "Under Interactivity & Shortcuts switch it on and paste {url} as its Request URL: buttons need it."
        ),
    ]
}

pub(super) async fn inspect_app(parts: &LinkParts) -> (LinkReport, Option<String>) {
    let mut report = LinkReport::default();
    let identity = match identify(parts).await {
        Ok(identity) => identity,
        Err(fault) => {
            report.steps.push(LinkStep::failed("token", fault.what));
            report.to_do = list_steps(parts);
            return (report, None);
        }
    };
    report.steps.push(LinkStep::passed("token", format!("{} in {}", identity.name, identity.team)));
    if let Some(own) = parts.account.owner_id.as_deref().filter(|own| *own != identity.team_id) {
        let why = format!("the token is of the workspace {}, and owner_id says {own}", identity.team_id);
        report.steps.push(LinkStep::failed("workspace", why));
    }
    report.steps.push(check_scopes(&identity));
    report.steps.push(match parts.webhook_url(None) {
        Some(url) => LinkStep::passed("webhook", url),
        None => LinkStep::failed(
            "webhook",
            "Slack can't reach this server: set server.public_url in the settings",
        ),
    });
    report.to_do = list_addresses(parts);
    let has = |scope: &str| identity.scopes.iter().any(|known| known == scope);
    let missing = USEFUL.into_iter().filter(|(scope, _)| !has(scope));
    report.to_do.extend(missing.map(|(scope, what)| {
        format!(
            "To let it {what}, add the scope {scope} under OAuth & Permissions and install the app again."
        )
    }));
    let opened = parts.account.secret.as_ref();
    if let Some(secret) = opened
        && let Err(fault) = parts.open(secret).await
    {
        report.steps.push(LinkStep::failed("secret", fault.what));
    }
    (report, identity.user)
}

fn check_scopes(identity: &SlackIdentity) -> LinkStep {
    let is_missing = |scope: &&&str| !identity.scopes.iter().any(|known| known == **scope);
    let missing: Vec<&str> = NEEDED.iter().filter(is_missing).copied().collect();
    match missing.is_empty() {
        true => LinkStep::passed("scopes", identity.scopes.join(", ")),
        false => LinkStep::failed(
            "scopes",
            format!("add {} under OAuth & Permissions, then install the app again", missing.join(", ")),
        ),
    }
}

/// Who the token is. What it may do stands in a header.
async fn identify(parts: &LinkParts) -> Result<SlackIdentity, LinkFault> {
    let request = build_request(parts, "auth.test").await?;
    let request = request.header(CONTENT_TYPE, "application/json; charset=utf-8").body("{}");
    let mut response = open(request).await?;
    let scopes = response.headers().get("x-oauth-scopes").and_then(|told| told.to_str().ok());
    let scopes = scopes.unwrap_or_default().split(',').map(|scope| scope.trim().to_owned());
    let scopes = scopes.filter(|scope| !scope.is_empty()).collect();
    let mut body = Vec::new();
    let broken = |_| LinkFault::passing("Slack's answer broke off");
    read_body(&mut response, LARGEST, &mut body).await.map_err(broken)?;
    let answer = ProviderAnswer { status: response.status(), retry_after: None, body };
    let told = read_answer(&answer)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(SlackIdentity {
        user: told["user_id"].as_str().map(str::to_owned),
        team: text(&told["team"]),
        team_id: text(&told["team_id"]),
        name: text(&told["user"]),
        scopes,
    })
}
