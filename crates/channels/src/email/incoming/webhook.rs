//! A mail that a provider hands over by HTTP. Providers sign such requests each in its own way, or not at all: the address itself has a word
//! that only they and we know.

use munshi_safety::vault::VaultSecret;
use munshi_types::TenantId;
use ring::hmac;
use serde_json::Value;

use super::mime::list_leaves;
use crate::accounts::ChannelAccountName;
use crate::incoming::{ChannelRefusal, ChannelRequest};

/// What providers call the field with the mail as it came: Mailgun, Postmark, and SendGrid.
const FIELDS: [&str; 4] = ["body-mime", "RawEmail", "email", "raw"];

/// The word of an account's address.
pub(super) fn build_path_secret(secret: &VaultSecret, tenant: TenantId, name: &ChannelAccountName) -> String {
    let tag = hmac::sign(&build_key(secret), &build_words(tenant, name));
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a request knows the word.
pub(super) fn is_path_secret(
    given: &str,
    secret: &VaultSecret,
    tenant: TenantId,
    name: &ChannelAccountName,
) -> bool {
    let Some(tag) = read_hex(given) else { return false };
    hmac::verify(&build_key(secret), &build_words(tenant, name), &tag).is_ok()
}

fn build_key(secret: &VaultSecret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes())
}

fn build_words(tenant: TenantId, name: &ChannelAccountName) -> Vec<u8> {
    format!("munshi mail webhook\0{tenant}\0{name}").into_bytes()
}

fn read_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..32).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()).collect()
}

/// The mail in a request.
pub(super) fn find_mail(request: &ChannelRequest) -> Result<Vec<u8>, ChannelRefusal> {
    let media_type = request.header("content-type").unwrap_or_default();
    let kind = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let found = match kind.as_str() {
        "message/rfc822" | "text/plain" | "application/octet-stream" => Some(request.body.clone()),
        "application/json" => find_in_json(&request.body),
        "application/x-www-form-urlencoded" => {
            let fields = request.form().unwrap_or_default();
            let mut named = FIELDS.iter().filter_map(|name| fields.iter().find(|(known, _)| known == name));
            named.next().map(|(_, mail)| mail.clone().into_bytes())
        }
        "multipart/form-data" => find_in_form(media_type, &request.body),
        _ => None,
    };
    found.filter(|mail| !mail.is_empty()).ok_or_else(|| {
        let what = "there is no whole mail in the request: have the provider send the raw MIME message";
        ChannelRefusal::Unreadable(what.to_owned())
    })
}

fn find_in_json(body: &[u8]) -> Option<Vec<u8>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let field = FIELDS.iter().find_map(|name| value.get(name)).and_then(Value::as_str);
    field.map(|mail| mail.as_bytes().to_vec())
}

fn find_in_form(media_type: &str, body: &[u8]) -> Option<Vec<u8>> {
    let raw = [b"Content-Type: ", media_type.as_bytes(), b"\r\n\r\n", body].concat();
    let leaves = list_leaves(&raw);
    FIELDS.iter().find_map(|name| {
        let named = format!("name=\"{name}\"");
        let is_named = |text: &str| text.contains(&named);
        let leaf =
            leaves.iter().find(|leaf| leaf.headers.first("content-disposition").is_some_and(is_named))?;
        Some(leaf.body().to_vec())
    })
}

#[cfg(test)]
mod tests {
    use munshi_types::Timestamp;

    use super::*;
    use crate::incoming::ChannelRequestMethod;

    const MAIL: &str = "From: meera@example.org\r\nSubject: Order\r\n\r\nTen bags.\r\n";

    fn request(media_type: &str, body: &[u8]) -> ChannelRequest {
        ChannelRequest {
            method: ChannelRequestMethod::Post,
            url: String::new(),
            path_secret: None,
            headers: vec![("content-type".to_owned(), media_type.as_bytes().to_vec())],
            query: Vec::new(),
            body: body.to_vec(),
            now: Timestamp::EPOCH,
        }
    }

    #[test]
    fn a_mail_is_found_in_whichever_form() {
        let json = serde_json::to_vec(&serde_json::json!({ "RawEmail": MAIL, "Subject": "Order" })).unwrap();
        let form =
            serde_urlencoded::to_string([("recipient", "shop@example.com"), ("body-mime", MAIL)]).unwrap();
        let parts = format!(
            "--b\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\nshop@example.com\r\n--b\r\n\
             Content-Disposition: form-data; name=\"email\"\r\n\r\n{MAIL}\r\n--b--\r\n"
        );
        for (media_type, body) in [
            ("message/rfc822", MAIL.as_bytes()),
            ("application/json; charset=utf-8", json.as_slice()),
            ("application/x-www-form-urlencoded", form.as_bytes()),
            ("multipart/form-data; boundary=b", parts.as_bytes()),
        ] {
            let found = find_mail(&request(media_type, body)).unwrap();
            assert_eq!(String::from_utf8(found).unwrap(), MAIL, "{media_type}");
        }
        for (media_type, body) in [("application/json", "{}"), ("text/html", MAIL), ("message/rfc822", "")] {
            let refused = find_mail(&request(media_type, body.as_bytes())).unwrap_err();
            assert!(matches!(refused, ChannelRefusal::Unreadable(_)), "{media_type}");
        }
    }

    #[test]
    fn an_address_is_one_accounts_alone() {
        let secret = VaultSecret::new("some words".to_owned()).unwrap();
        let tenant: TenantId = "01a1dd41-32c0-704f-b28c-400adb3d8fd2".parse().unwrap();
        let (mail, other) = ("mail".parse().unwrap(), "other".parse().unwrap());
        let word = build_path_secret(&secret, tenant, &mail);
        assert!(is_path_secret(&word, &secret, tenant, &mail));
        assert!(!is_path_secret(&word, &secret, tenant, &other));
        for wrong in ["", "zz", &word[1..], &word.replace(&word[..1], "g")] {
            assert!(!is_path_secret(wrong, &secret, tenant, &mail), "{wrong}");
        }
    }
}
