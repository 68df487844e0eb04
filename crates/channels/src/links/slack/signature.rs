//! Whether a request is Slack's: it signs the body and the time with the app's signing secret.

use munshi_types::Timestamp;
use ring::hmac;

use crate::incoming::{ChannelRefusal, ChannelRequest};

/// Older requests are somebody's who has recorded them.
const LONGEST_AGE: i64 = 5 * 60;

pub(super) fn verify_signature(secret: &str, request: &ChannelRequest) -> Result<(), ChannelRefusal> {
    let refuse = |why: &str| ChannelRefusal::Unverified(why.to_owned());
    let told = request.header("x-slack-request-timestamp").ok_or_else(|| refuse("no time of Slack's"))?;
    let at: i64 = told.parse().map_err(|_| refuse("its time is no number"))?;
    if is_old(at, request.now) {
        return Err(refuse("it is more than five minutes off: is this machine's clock right?"));
    }
    let signature = request.header("x-slack-signature").and_then(read_signature);
    let signature = signature.ok_or_else(|| refuse("no signature of Slack's"))?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signed = [b"v0:", told.as_bytes(), b":", request.body.as_slice()].concat();
    hmac::verify(&key, &signed, &signature).map_err(|_| refuse("the signature does not match"))
}

fn is_old(at: i64, now: Timestamp) -> bool {
    let seconds = now.as_micros().div_euclid(1_000_000);
    seconds.saturating_sub(at).unsigned_abs() > LONGEST_AGE.unsigned_abs()
}

/// `v0=` and 64 digits.
fn read_signature(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("v0=")?;
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..32).map(|at| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::incoming::ChannelRequestMethod;

    /// What Slack's own library makes of it.
    const SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
    const BODY: &str = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J";
    const SIGNATURE: &str = "v0=bca5eef5dd737ed259b428b18cd24f679baa18c3fc5f1cb2a6ac9f03e717969a";
    const AT: i64 = 1_531_420_618;

    fn request(body: &str, signature: &str, seconds_later: u64) -> ChannelRequest {
        let headers = [("x-slack-request-timestamp", "1531420618"), ("x-slack-signature", signature)];
        ChannelRequest {
            method: ChannelRequestMethod::Post,
            url: "https://munshi.example/channels/sharma/slack".to_owned(),
            path_secret: None,
            headers: headers.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec())).to_vec(),
            query: Vec::new(),
            body: body.as_bytes().to_vec(),
            now: Timestamp::from_micros(AT * 1_000_000).plus(Duration::from_secs(seconds_later)),
        }
    }

    #[test]
    fn what_slack_signed_is_believed_for_five_minutes() {
        assert_eq!(verify_signature(SECRET, &request(BODY, SIGNATURE, 0)), Ok(()));
        assert_eq!(verify_signature(SECRET, &request(BODY, SIGNATURE, 300)), Ok(()));
        assert!(verify_signature(SECRET, &request(BODY, SIGNATURE, 301)).is_err());
        let mut early = request(BODY, SIGNATURE, 0);
        early.now = Timestamp::from_micros((AT - 301) * 1_000_000);
        assert!(verify_signature(SECRET, &early).is_err());
    }

    #[test]
    fn anything_that_differs_is_not_believed() {
        assert!(verify_signature("another", &request(BODY, SIGNATURE, 0)).is_err());
        assert!(verify_signature(SECRET, &request(&format!("{BODY}1"), SIGNATURE, 0)).is_err());
        for signature in
            ["", "v0=", "v1=00", &SIGNATURE[3..], &SIGNATURE[..66], &format!("{SIGNATURE}0"), "v0=é"]
        {
            assert!(verify_signature(SECRET, &request(BODY, signature, 0)).is_err(), "{signature}");
        }
        let mut twice = request(BODY, SIGNATURE, 0);
        twice.headers.push(("x-slack-signature".to_owned(), SIGNATURE.as_bytes().to_vec()));
        assert!(verify_signature(SECRET, &twice).is_err(), "nobody knows which of two is meant");
    }
}
