//! How the senders of webhooks sign: checked here without telling by time how much of a signature was right.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use munshi_safety::vault::VaultSecret;
use ring::hmac;
use subtle::ConstantTimeEq;

/// How a sender writes its signature down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureEncoding {
    Hex,
    Base64,
}

/// The hash that a sender signs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureHash {
    Sha1,
    Sha256,
    Sha512,
}

/// Whether a signature is the HMAC of these parts, one after the other, under the secret.
pub fn verify_hmac(
    (hash, encoding): (SignatureHash, SignatureEncoding),
    secret: &VaultSecret,
    parts: &[&[u8]],
    signature: &str,
) -> bool {
    let algorithm = match hash {
        SignatureHash::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        SignatureHash::Sha256 => hmac::HMAC_SHA256,
        SignatureHash::Sha512 => hmac::HMAC_SHA512,
    };
    let mut context = hmac::Context::with_key(&hmac::Key::new(algorithm, secret.expose().as_bytes()));
    parts.iter().for_each(|part| context.update(part));
    let decoded = match encoding {
        SignatureEncoding::Hex => decode_hex(signature),
        SignatureEncoding::Base64 => STANDARD.decode(signature).ok(),
    };
    decoded.is_some_and(|decoded| context.sign().as_ref().ct_eq(&decoded).into())
}

/// Whether a text that was sent is the secret itself, as senders that don't sign have it in a header.
pub fn verify_token(secret: &VaultSecret, sent: &str) -> bool {
    secret.expose().as_bytes().ct_eq(sent.as_bytes()).into()
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> VaultSecret {
        VaultSecret::new(text.to_owned()).unwrap()
    }

    /// Signatures that Razorpay's, Slack's and Twilio's own libraries make.
    #[test]
    fn what_real_senders_sign_is_verified_and_nothing_else() {
        use SignatureEncoding::{Base64, Hex};
        use SignatureHash::{Sha1, Sha256};
        let body = br#"{"entity":"event","event":"payment_link.paid","payload":{"payment":{"entity":{"amount":125000}}}}"#;
        let good = "6dae412d04b7fcaf863cfba497a2a6ad51f2f7f1acbfed8b8bc228e79b0b6169";
        let own = secret("whsec_test");
        assert!(verify_hmac((Sha256, Hex), &own, &[body], good));
        for bad in ["", "6d", "zz", &good[..62], &good.replace('6', "7"), "💥💥"] {
            assert!(!verify_hmac((Sha256, Hex), &own, &[body], bad), "{bad}");
        }
        assert!(!verify_hmac((Sha256, Hex), &secret("another"), &[body], good));
        assert!(!verify_hmac((Sha256, Hex), &own, &[body, b" "], good));
        let slack = secret("8f742231b10e8888abcd99yyyzzz85a5");
        let parts: [&[u8]; 2] = [b"v0:1531420618:", b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J"];
        let signature = "bca5eef5dd737ed259b428b18cd24f679baa18c3fc5f1cb2a6ac9f03e717969a";
        assert!(verify_hmac((Sha256, Hex), &slack, &parts, signature));
        let call = b"https://mycompany.com/myapp.php?foo=1&bar=2CallSidCA1234567890ABCDECaller+14158675309Digits1234From+14158675309To+18005551212";
        assert!(verify_hmac((Sha1, Base64), &secret("12345"), &[call], "RSOYDt4T1cUTdK1PDd93/VVr8B8="));
        assert!(
            verify_token(&own, "whsec_test") && !verify_token(&own, "whsec_tes") && !verify_token(&own, "")
        );
    }
}
