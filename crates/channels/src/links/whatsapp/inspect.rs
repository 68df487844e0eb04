//! Whether an account works: its token, its secret, its number, what Meta calls, and its templates.

use ring::hmac;
use serde_json::{Value, json};

use super::WhatsappLink;
use super::content::read_text;
use super::errors::describe_answer;
use super::graph::GraphApi;
use super::number::read_number;
use super::signature::make_verify_token;
use crate::accounts::ReceiveWay;
use crate::link::{LinkFault, LinkParts, LinkReport, LinkStep};

/// What Meta is to tell of.
const FIELDS: &str = "messages, message_template_status_update, account_alerts, account_update, \
                      phone_number_quality_update, user_preferences";

/// No more templates are named.
const MOST_NAMED: usize = 10;

pub(super) fn list_guide(parts: &LinkParts) -> Vec<String> {
    let address = match parts.webhook_url(None) {
        Some(url) => format!("In WhatsApp > Configuration, set the callback URL to {url}"),
        None => {
            "Set server.public_url to the address by which this server is reached from outside".to_owned()
        }
    };
    vec![
        "At developers.facebook.com open your app. From WhatsApp > API Setup copy the phone number ID into account_id"
            .to_owned(),
        "In Business settings > System users make a token with whatsapp_business_messaging and \
         whatsapp_business_management, and put it into the vault"
            .to_owned(),
        "From App settings > Basic copy the app secret into the vault".to_owned(),
        format!("{address}; `munshi channel test {}` shows the verify token, and sets both where Meta lets it", parts.name),
        format!("In WhatsApp > Configuration, subscribe to these webhook fields: {FIELDS}"),
    ]
}

pub(super) async fn inspect(link: &WhatsappLink) -> LinkReport {
    let mut report = LinkReport::default();
    let parts = &link.parts;
    let Some(number) = inspect_number(parts, &mut report).await else { return report };
    inspect_secret(link, &mut report).await;
    if parts.account.receive == ReceiveWay::Webhook {
        inspect_webhook(link, &number, &mut report).await;
        inspect_subscription(parts, &mut report).await;
    }
    inspect_templates(parts, &mut report).await;
    report
}

/// What Meta says of the number; none where it says nothing.
async fn inspect_number(parts: &LinkParts, report: &mut LinkReport) -> Option<Value> {
    let fields = "verified_name,display_phone_number,quality_rating,webhook_configuration";
    let asked = ask(parts, &parts.account.account_id, &[("fields", fields)]).await;
    let number = match asked {
        Ok(number) => number,
        Err(why) => {
            let hint =
                "Check token and account_id: the id is the one of the phone number, not the number itself";
            report.steps.push(LinkStep::failed("token", format!("{why}. {hint}")));
            return None;
        }
    };
    report.steps.push(LinkStep::passed("token", ""));
    let shown = read_text(&number, "/display_phone_number").unwrap_or_default();
    let name = read_text(&number, "/verified_name").unwrap_or_default();
    let is_other =
        parts.account.number.as_deref().is_some_and(|own| read_number(shown).as_deref() != Some(own));
    report.steps.push(match is_other {
        true => LinkStep::failed(
            "number",
            format!("account_id belongs to {shown}: set number to that, or mend account_id"),
        ),
        false => {
            let quality = read_text(&number, "/quality_rating").unwrap_or("UNKNOWN").to_lowercase();
            LinkStep::passed("number", format!("{name}, {shown}, quality {quality}"))
        }
    });
    Some(number)
}

/// Meta checks what is made of the secret and the token, where it is given both.
async fn inspect_secret(link: &WhatsappLink, report: &mut LinkReport) {
    let parts = &link.parts;
    let opened = match (link.open_app_secret().await, parts.open(&parts.account.token).await) {
        (Ok(secret), Ok(token)) => {
            let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
            let proof = hmac::sign(&key, token.expose().as_bytes());
            Ok(proof.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
        (Err(fault), _) | (_, Err(fault)) => Err(fault.what),
    };
    let asked = match opened {
        Ok(proof) => {
            let query = [("fields", "id"), ("appsecret_proof", proof.as_str())];
            ask(parts, &parts.account.account_id, &query).await.map(drop)
        }
        Err(why) => Err(why),
    };
    report.steps.push(match asked {
        Ok(()) => LinkStep::passed("secret", ""),
        Err(why) => {
            LinkStep::failed("secret", format!("{why}. Copy the app secret of the app that made the token"))
        }
    });
}

/// Whether Meta calls us; where it does not, it is told to.
async fn inspect_webhook(link: &WhatsappLink, number: &Value, report: &mut LinkReport) {
    let parts = &link.parts;
    let Some(ours) = parts.webhook_url(None).filter(|url| url.starts_with("https://")) else {
        let why = "nobody outside reaches this server: set server.public_url to its https address";
        report.steps.push(LinkStep::failed("webhook", why));
        return;
    };
    let secret = match link.open_app_secret().await {
        Ok(secret) => secret,
        Err(fault) => return report.steps.push(LinkStep::failed("webhook", fault.what)),
    };
    let token = make_verify_token(secret.expose(), &link.token_of());
    // The closest counts.
    let set = ["phone_number", "whatsapp_business_account", "application"]
        .iter()
        .find_map(|at| read_text(number, &format!("/webhook_configuration/{at}")));
    if set == Some(ours.as_str()) {
        return report.steps.push(LinkStep::passed("webhook", ours));
    }
    let override_with =
        json!({ "webhook_configuration": { "override_callback_uri": ours, "verify_token": token } });
    match post(parts, &parts.account.account_id, &override_with).await {
        Ok(()) => report.steps.push(LinkStep::passed("webhook", format!("{ours}, set now"))),
        Err(why) => {
            report.steps.push(LinkStep::failed("webhook", format!("Meta does not call {ours} yet: {why}")));
            report.to_do.push(format!("In WhatsApp > Configuration, set the callback URL to {ours}"));
            report.to_do.push(format!("There, set the verify token to {token}"));
        }
    }
    report
        .to_do
        .push(format!("In WhatsApp > Configuration, see that these webhook fields are subscribed: {FIELDS}"));
}

/// The business account tells an app only once the app is subscribed to it.
async fn inspect_subscription(parts: &LinkParts, report: &mut LinkReport) {
    let Some(owner) = &parts.account.owner_id else {
        let what = "Set owner_id to the WhatsApp Business Account ID of WhatsApp > API Setup: then the app is subscribed \
                    to it from here, and templates are shown";
        return report.to_do.push(what.to_owned());
    };
    let path = format!("{owner}/subscribed_apps");
    let known = match ask(parts, &path, &[]).await {
        Ok(told) => told.pointer("/data/0").is_some(),
        Err(why) => return report.steps.push(LinkStep::failed("subscription", why)),
    };
    if known {
        return report.steps.push(LinkStep::passed("subscription", ""));
    }
    report.steps.push(match post(parts, &path, &json!({})).await {
        Ok(()) => LinkStep::passed("subscription", "subscribed now"),
        Err(why) => LinkStep::failed("subscription", why),
    });
}

/// Which templates may be sent.
async fn inspect_templates(parts: &LinkParts, report: &mut LinkReport) {
    let Some(owner) = &parts.account.owner_id else { return };
    let query = [("fields", "name,language,status"), ("limit", "100")];
    let told = match ask(parts, &format!("{owner}/message_templates"), &query).await {
        Ok(told) => told,
        Err(why) => return report.steps.push(LinkStep::failed("templates", why)),
    };
    let all = told.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let state = |template: &&Value| read_text(template, "/status").unwrap_or_default().to_lowercase();
    let approved = all.iter().filter(|template| state(template) == "approved").count();
    let others = all.iter().filter(|template| state(template) != "approved").take(MOST_NAMED);
    let named: Vec<String> = others
        .map(|template| {
            let word = |at: &str| read_text(template, at).unwrap_or_default();
            format!("{} ({}) {}", word("/name"), word("/language"), state(&template))
        })
        .collect();
    let found = format!("{approved} approved");
    let found = if named.is_empty() { found } else { format!("{found}; {}", named.join(", ")) };
    report.steps.push(LinkStep::passed("templates", found));
}

async fn ask(parts: &LinkParts, path: &str, query: &[(&str, &str)]) -> Result<Value, String> {
    let answer = GraphApi { parts }.get(path, query).await.map_err(|fault| fault.what)?;
    match answer.status.is_success() {
        true => answer.read().map_err(|fault| fault.what),
        false => Err(describe_answer(&answer)),
    }
}

async fn post(parts: &LinkParts, path: &str, body: &Value) -> Result<(), String> {
    let answer = GraphApi { parts }.post(path, body).await.map_err(|fault| LinkFault::from(fault).what)?;
    match answer.status.is_success() {
        true => Ok(()),
        false => Err(describe_answer(&answer)),
    }
}
