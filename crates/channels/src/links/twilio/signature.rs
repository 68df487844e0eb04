//! Whether a request is Twilio's: the address that it calls and the fields that it sends, signed.
//!
//! It signs by the account's auth token with SHA-1, or by a shared key with SHA-256, as a header says. The port of the address is signed
//! at times and at times not.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac};

use crate::incoming::ChannelRequest;

const SIGNATURE: &str = "x-twilio-signature";
const SETTINGS: &str = "x-twilio-webhooks-signature-settings";
const BODY_HASH: &str = "bodySHA256";

/// What a request is signed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TwilioSignature {
    AuthToken,
    SharedKey,
}

/// By which of the account's secrets it says that it is signed; none for a way that nobody knows.
pub(super) fn read_way(request: &ChannelRequest) -> Option<TwilioSignature> {
    if !request.headers.iter().any(|(name, _)| name == SETTINGS) {
        return Some(TwilioSignature::AuthToken);
    }
    let settings = request.header(SETTINGS)?;
    let named = settings.split(',').find_map(|part| {
        let (name, value) = part.split_once('=')?;
        (name.trim() == "algorithm").then(|| value.trim().to_ascii_uppercase())
    });
    match named.as_deref() {
        None | Some("" | "HMAC_SHA1") => Some(TwilioSignature::AuthToken),
        Some("HMAC_SHA256") => Some(TwilioSignature::SharedKey),
        Some(_) => None,
    }
}

/// Whether it is signed with this secret.
pub(super) fn is_signed(request: &ChannelRequest, way: TwilioSignature, secret: &str) -> bool {
    let algorithm = match way {
        TwilioSignature::AuthToken => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        TwilioSignature::SharedKey => hmac::HMAC_SHA256,
    };
    let Some(given) = request.header(SIGNATURE).and_then(|text| STANDARD.decode(text.trim()).ok()) else {
        return false;
    };
    let Some(fields) = list_signed_fields(request) else { return false };
    let key = hmac::Key::new(algorithm, secret.as_bytes());
    spell_url(&request.url)
        .iter()
        .any(|url| hmac::verify(&key, format!("{url}{fields}").as_bytes(), &given).is_ok())
}

/// The fields as they are signed behind the address; empty where the hash of the body stands in the address, or there is no body. None where
/// the body is neither.
fn list_signed_fields(request: &ChannelRequest) -> Option<String> {
    if let Some(mut fields) = request.form() {
        fields.sort();
        fields.dedup();
        return Some(fields.into_iter().map(|(name, value)| name + &value).collect());
    }
    let Some(hash) = request.query(BODY_HASH) else {
        return request.body.is_empty().then(String::new);
    };
    let own = digest::digest(&digest::SHA256, &request.body);
    let own: String = own.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    // The address is signed, and with it the hash: who could guess it has what it is of.
    own.eq_ignore_ascii_case(hash).then(String::new)
}

/// The address without its port, and with it.
fn spell_url(url: &str) -> Vec<String> {
    let Some((scheme, rest)) = url.split_once("://") else { return vec![url.to_owned()] };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if is_port(port) => (host, Some(port)),
        _ => (authority, None),
    };
    let usual = if scheme == "https" { "443" } else { "80" };
    let port = port.unwrap_or(usual);
    vec![format!("{scheme}://{host}{path}"), format!("{scheme}://{host}:{port}{path}")]
}

#[cfg(test)]
mod tests {
    use munshi_types::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::incoming::ChannelRequestMethod;

    /// A form as Twilio sends it, with a signature.
    fn post(url: &str, fields: &[(&str, &str)], signature: &str) -> ChannelRequest {
        let query = url.split_once('?').map_or("", |(_, query)| query);
        ChannelRequest {
            method: ChannelRequestMethod::Post,
            url: url.to_owned(),
            path_secret: None,
            headers: vec![
                ("content-type".to_owned(), b"application/x-www-form-urlencoded; charset=utf-8".to_vec()),
                (SIGNATURE.to_owned(), signature.as_bytes().to_vec()),
            ],
            query: serde_urlencoded::from_str(query).unwrap(),
            body: serde_urlencoded::to_string(fields).unwrap().into_bytes(),
            now: Timestamp::EPOCH,
        }
    }

    /// The same, rightly signed.
    fn signed(url: &str, fields: &[(&str, &str)], secret: &str) -> ChannelRequest {
        let bare = post(url, fields, "");
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret.as_bytes());
        let text = format!("{url}{}", list_signed_fields(&bare).unwrap());
        post(url, fields, &STANDARD.encode(hmac::sign(&key, text.as_bytes())))
    }

    const URL: &str = "https://mycompany.com/myapp.php?foo=1&bar=2";
    const FIELDS: [(&str, &str); 5] = [
        ("To", "+18005551212"),
        ("From", "+14158675309"),
        ("Digits", "1234"),
        ("Caller", "+14158675309"),
        ("CallSid", "CA1234567890ABCDE"),
    ];
    /// As Twilio's own SDK signs it.
    const EXPECTED: &str = "RSOYDt4T1cUTdK1PDd93/VVr8B8=";

    #[test]
    fn what_twilio_signs_is_taken() {
        let request = post(URL, &FIELDS, EXPECTED);
        assert_eq!(read_way(&request), Some(TwilioSignature::AuthToken));
        assert!(is_signed(&request, TwilioSignature::AuthToken, "12345"));
        assert!(!is_signed(&request, TwilioSignature::AuthToken, "12346"));
        assert!(!is_signed(&request, TwilioSignature::SharedKey, "12345"));
        let changed = post(URL, &[("To", "+18005551213")], EXPECTED);
        assert!(!is_signed(&changed, TwilioSignature::AuthToken, "12345"));
        let elsewhere = post("https://mycompany.com/other", &FIELDS, EXPECTED);
        assert!(!is_signed(&elsewhere, TwilioSignature::AuthToken, "12345"));
    }

    #[test]
    fn a_port_may_be_signed_or_not() {
        let ported = "https://mycompany.com:443/myapp.php?foo=1&bar=2";
        assert!(is_signed(&post(ported, &FIELDS, EXPECTED), TwilioSignature::AuthToken, "12345"));
        let request = signed(ported, &FIELDS, "12345");
        let plain = ChannelRequest { url: URL.to_owned(), ..request };
        assert!(is_signed(&plain, TwilioSignature::AuthToken, "12345"));
    }

    #[test]
    fn another_body_is_bound_by_its_hash() {
        let body = b"{\"a\":1}";
        let hash: String =
            digest::digest(&digest::SHA256, body).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        let url = format!("https://mycompany.com/hook?bodySHA256={hash}");
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"12345");
        let signature = STANDARD.encode(hmac::sign(&key, url.as_bytes()));
        let mut request = post(&url, &[], &signature);
        request.headers[0].1 = b"application/json".to_vec();
        request.body = body.to_vec();
        request.headers.push((SETTINGS.to_owned(), b"key=k1,algorithm=HMAC_SHA256".to_vec()));
        assert_eq!(read_way(&request), Some(TwilioSignature::SharedKey));
        assert!(is_signed(&request, TwilioSignature::SharedKey, "12345"));
        request.body = b"{\"a\":2}".to_vec();
        assert!(!is_signed(&request, TwilioSignature::SharedKey, "12345"));
        request.headers.pop();
        request.headers.push((SETTINGS.to_owned(), b"algorithm=HMAC_MD5".to_vec()));
        assert_eq!(read_way(&request), None);
    }

    proptest! {
        #[test]
        fn nothing_unsigned_is_taken(
            url in ".{0,80}",
            body in proptest::collection::vec(any::<u8>(), 0..200),
            signature in "[A-Za-z0-9+/=]{0,60}",
            settings in proptest::option::of(".{0,40}"),
            kind in "application/(json|x-www-form-urlencoded)",
        ) {
            let mut request = post("https://a.example", &[], &signature);
            request.url = url;
            request.body = body;
            request.headers[0].1 = kind.into_bytes();
            if let Some(settings) = settings {
                request.headers.push((SETTINGS.to_owned(), settings.into_bytes()));
            }
            if let Some(way) = read_way(&request) {
                prop_assert!(!is_signed(&request, way, "12345"));
            }
        }
    }
}
