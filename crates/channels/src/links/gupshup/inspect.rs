//! Whether an account at Gupshup works, as far as Gupshup says.

use serde_json::Value;

use super::send::OWN_URL;
use crate::accounts::ReceiveWay;
use crate::link::{LinkParts, LinkReport, LinkStep};
use crate::links::whatsapp::mask_numbers;
use crate::provider_call::ask;

/// What it costs to send is taken from a wallet; asking for it shows whether the key is right.
const WALLET_PATH: &str = "sm/api/v2/wallet/balance";

pub(super) fn list_guide(parts: &LinkParts) -> Vec<String> {
    let name = &parts.name;
    vec![
        "At gupshup.io open your WhatsApp app. Its name is account_id, its number is number".to_owned(),
        "Copy the API key (the account's menu > API keys) into the vault: it is token".to_owned(),
        format!(
            "`munshi channel test {name}` shows the callback URL. Whoever has it can write in anybody's name: show it to nobody but Gupshup"
        ),
        "In the app's Webhooks page paste it, with payload format Gupshup (v2), and tick message events: \
         delivered, read, failed; user events: opted in, opted out; template and account events"
            .to_owned(),
    ]
}

pub(super) async fn inspect(parts: &LinkParts) -> LinkReport {
    let mut report = LinkReport::default();
    report.steps.push(inspect_token(parts).await);
    if parts.account.receive != ReceiveWay::Webhook {
        return report;
    }
    let secret = match parts.make_path_secret().await {
        Ok(secret) => secret,
        Err(fault) => {
            report.steps.push(LinkStep::failed("webhook", fault.what));
            return report;
        }
    };
    match parts.webhook_url(Some(&secret)) {
        Some(url) => {
            report
                .to_do
                .push(format!("In the app's Webhooks page at Gupshup, set the callback URL to {url}"));
            report.to_do.push(
                "There, choose payload format Gupshup (v2), and tick delivered, read, failed, opted in and opted out"
                    .to_owned(),
            );
            report.to_do.push("Show that URL to nobody else: it is all that proves a message".to_owned());
        }
        None => {
            let why = "nobody outside reaches this server: set server.public_url to its https address";
            report.steps.push(LinkStep::failed("webhook", why));
        }
    }
    report
}

async fn inspect_token(parts: &LinkParts) -> LinkStep {
    let failed = |why: String| LinkStep::failed("token", why);
    let url = match parts.build_url(OWN_URL, WALLET_PATH) {
        Ok(url) => url,
        Err(fault) => return failed(fault.what),
    };
    let token = match parts.open(&parts.account.token).await {
        Ok(token) => token,
        Err(fault) => return failed(fault.what),
    };
    let answer = match ask(parts.get(url).header("apikey", token.expose())).await {
        Ok(answer) => answer,
        Err(fault) => return failed(fault.why),
    };
    match answer.status.as_u16() {
        200..=299 => {
            let told = answer.json().unwrap_or_default();
            LinkStep::passed("token", describe_wallet(&told).unwrap_or_default())
        }
        404 | 405 => LinkStep::passed("token", "Gupshup offers no look at it: write to the number to try it"),
        401 | 403 => failed("Gupshup does not know this API key: copy it again".to_owned()),
        _ => failed(format!(
            "Gupshup does not say whether the key is right: {}",
            mask_numbers(&answer.reason())
        )),
    }
}

fn describe_wallet(told: &Value) -> Option<String> {
    let amount = told.get("balance").or_else(|| told.pointer("/walletResponse/currentBalance"))?;
    let currency = told.get("currency").or_else(|| told.pointer("/walletResponse/currency"));
    let currency = currency.and_then(Value::as_str).unwrap_or_default();
    Some(format!("wallet {amount} {currency}").trim().to_owned())
}
