//! Requests signed as AWS wants them (Signature Version 4), with the headers that we send and no others.

use munshi_http::Url;
use munshi_types::Timestamp;
use ring::hmac;
use sha2::{Digest, Sha256};

/// Whose signature, and for where.
pub(super) struct SigningKey<'a> {
    pub(super) access_key: &'a str,
    pub(super) secret_key: &'a str,
    pub(super) region: &'a str,
}

/// What a request carries.
#[derive(Clone, Copy, Debug)]
pub(super) enum Payload {
    Empty,
    /// Bytes of this SHA-256.
    Hash([u8; 32]),
}

/// The values of three headers.
#[derive(Debug)]
pub(super) struct SignedHeaders {
    pub(super) date: String,
    pub(super) payload: String,
    pub(super) authorization: String,
}

impl SigningKey<'_> {
    /// The address must be as it is sent: its path is encoded already, and it has no query.
    pub(super) fn sign(
        &self,
        method: &str,
        url: &Url,
        payload: Payload,
        now: Timestamp,
    ) -> Result<SignedHeaders, String> {
        let date = now.to_jiff().strftime("%Y%m%dT%H%M%SZ").to_string();
        let payload = match payload {
            Payload::Empty => encode_hex(&Sha256::digest(b"")),
            Payload::Hash(hash) => encode_hex(&hash),
        };
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (Some(host), None) => host.to_owned(),
            (None, _) => return Err("blobs.endpoint has no host".to_owned()),
        };
        let headers = format!("host:{host}\nx-amz-content-sha256:{payload}\nx-amz-date:{date}\n");
        let names = "host;x-amz-content-sha256;x-amz-date";
        let canonical = format!("{method}\n{}\n\n{headers}\n{names}\n{payload}", url.path());
        let authorization = self.authorize(&canonical, names, &date);
        Ok(SignedHeaders { date, payload, authorization })
    }

    fn authorize(&self, canonical: &str, names: &str, date: &str) -> String {
        let day = date.get(..8).unwrap_or_default();
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let hashed = encode_hex(&Sha256::digest(canonical));
        let to_sign = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashed}");
        let secret = format!("AWS4{}", self.secret_key);
        let key = [day, self.region, "s3", "aws4_request"]
            .iter()
            .fold(secret.into_bytes(), |key, part| authenticate(&key, part));
        let signature = encode_hex(&authenticate(&key, &to_sign));
        let access_key = self.access_key;
        format!(
            "AWS4-HMAC-SHA256 Credential={access_key}/{scope},SignedHeaders={names},Signature={signature}"
        )
    }
}

fn authenticate(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example "GET Object" of Amazon's own description of Signature Version 4 for S3.
    #[test]
    fn a_signature_is_the_one_of_the_description() {
        let key = SigningKey {
            access_key: "AKIAIOSFODNN7EXAMPLE",
            secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            region: "us-east-1",
        };
        let canonical = "GET\n/test.txt\n\nhost:examplebucket.s3.amazonaws.com\nrange:bytes=0-9\n\
            x-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n\
            x-amz-date:20130524T000000Z\n\nhost;range;x-amz-content-sha256;x-amz-date\n\
            e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let authorization =
            key.authorize(canonical, "host;range;x-amz-content-sha256;x-amz-date", "20130524T000000Z");
        assert_eq!(
            authorization,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
             SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,\
             Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
    }

    #[test]
    fn what_is_sent_is_what_is_signed() {
        let key = SigningKey { access_key: "A", secret_key: "S", region: "r" };
        let url: Url = "http://127.0.0.1:9000/bucket/a%20b".parse().unwrap();
        let now = Timestamp::from_micros(1_794_713_400_000_000);
        let signed = key.sign("PUT", &url, Payload::Hash([1; 32]), now).unwrap();
        assert_eq!(
            (signed.date.as_str(), signed.payload.as_str()),
            ("20261115T033000Z", "01".repeat(32).as_str())
        );
        let other = key.sign("PUT", &url, Payload::Hash([2; 32]), now).unwrap();
        assert_ne!(signed.authorization, other.authorization);
    }
}
