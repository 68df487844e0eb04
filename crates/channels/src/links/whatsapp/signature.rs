//! Whether a request is Meta's: it signs what it tells with the app's secret, and asks once for a word that was agreed on.

use ring::hmac;

use crate::incoming::{ChannelAnswer, ChannelRefusal, ChannelRequest, ChannelVerdict};

/// Meta's challenges are numbers of ten digits.
const LONGEST_CHALLENGE: usize = 100;

pub(super) fn verify_signature(secret: &str, request: &ChannelRequest) -> Result<(), ChannelRefusal> {
    let signature = request.header("x-hub-signature-256").and_then(|text| text.strip_prefix("sha256="));
    let signature = signature.and_then(read_hex).ok_or_else(|| refuse("no signature of Meta's"))?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    hmac::verify(&key, &request.body, &signature)
        .map_err(|_| refuse("the signature does not match: is `secret` the app's secret?"))
}

/// The word by which Meta asks whether an address is ours: made of the app's secret, so that nobody has to think of one. `of` is the account.
pub(super) fn make_verify_token(secret: &str, of: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let made = hmac::sign(&key, &name_token(of));
    made.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Meta asks when somebody writes the address into its pages.
pub(super) fn answer_verification(
    secret: &str,
    of: &str,
    request: &ChannelRequest,
) -> Result<ChannelVerdict, ChannelRefusal> {
    if request.query("hub.mode") != Some("subscribe") {
        return Err(refuse("no question of Meta's"));
    }
    let given = request.query("hub.verify_token").map(str::trim).and_then(read_hex);
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let is_ours = given.is_some_and(|given| hmac::verify(&key, &name_token(of), &given).is_ok());
    if !is_ours {
        return Err(refuse("the verify token is another: copy it from `munshi channel test`"));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let challenge = request
        .query("hub.challenge")
        .filter(|text| (1..=LONGEST_CHALLENGE).contains(&text.len()) && text.chars().all(is_plain));
    let challenge = challenge.ok_or_else(|| refuse("nothing to answer with"))?;
    Ok(ChannelVerdict::Answer(ChannelAnswer::plain(challenge)))
}

fn name_token(of: &str) -> Vec<u8> {
    format!("munshi.whatsapp.verify\0{of}").into_bytes()
}

fn refuse(why: &str) -> ChannelRefusal {
    ChannelRefusal::Unverified(why.to_owned())
}

fn read_hex(text: &str) -> Option<Vec<u8>> {
    let is_whole = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits = is_whole.then_some(text)?;
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()).collect()
}
