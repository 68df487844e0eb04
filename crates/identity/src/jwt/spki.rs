//! Public keys as OpenSSL writes them: `-----BEGIN PUBLIC KEY-----`, read into the one form that is kept.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::key::Jwk;
use crate::base64url;

const BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const END: &str = "-----END PUBLIC KEY-----";

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BITS: u8 = 0x03;

/// rsaEncryption with its NULL; id-ecPublicKey on prime256v1; id-Ed25519.
const RSA: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];
const P256: &[u8] = &[
    0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03,
    0x01, 0x07,
];
const ED25519: &[u8] = &[0x06, 0x03, 0x2b, 0x65, 0x70];

/// None for what is no public key of a kind that is understood, such as a private one or a certificate.
pub fn from_pem(text: &str) -> Option<Jwk> {
    let body = text.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
    let body: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    let der = STANDARD.decode(body).ok()?;
    let mut outer = Reader(Reader(&der).read_only_element(SEQUENCE)?);
    let algorithm = outer.read_element(SEQUENCE)?;
    // How many bits of the last byte are unused: none.
    let (0, point) = outer.read_only_element(BITS)?.split_first()? else { return None };
    let jwk = match algorithm {
        RSA => rsa(point)?,
        P256 => {
            let (4, rest) = point.split_first()? else { return None };
            let (x, y) = (rest.get(..32)?, rest.get(32..)?);
            Jwk { crv: Some("P-256".to_owned()), y: Some(base64url::encode(y)), ..build_jwk("EC", x) }
        }
        ED25519 => Jwk { crv: Some("Ed25519".to_owned()), ..build_jwk("OKP", point) },
        _ => return None,
    };
    jwk.to_verification_key().is_some().then_some(jwk)
}

fn rsa(der: &[u8]) -> Option<Jwk> {
    let mut numbers = Reader(Reader(der).read_only_element(SEQUENCE)?);
    let n = numbers.read_element(INTEGER)?;
    let e = numbers.read_only_element(INTEGER)?;
    let number = |bytes: &[u8]| {
        let first = bytes.iter().position(|byte| *byte != 0)?;
        Some(base64url::encode(bytes.get(first..)?))
    };
    Some(Jwk { x: None, n: Some(number(n)?), e: Some(number(e)?), ..build_jwk("RSA", &[]) })
}

fn build_jwk(kty: &str, x: &[u8]) -> Jwk {
    Jwk {
        kty: kty.to_owned(),
        kid: None,
        alg: None,
        purpose: None,
        crv: None,
        n: None,
        e: None,
        x: Some(base64url::encode(x)),
        y: None,
    }
}

/// Elements one after the other, each a tag, a length and its content.
struct Reader<'d>(&'d [u8]);

impl<'d> Reader<'d> {
    fn read_element(&mut self, tag: u8) -> Option<&'d [u8]> {
        let (first, rest) = self.0.split_first()?;
        let (short, rest) = rest.split_first()?;
        let (length, rest) = match short {
            0..=0x7f => (usize::from(*short), rest),
            0x81 => (usize::from(*rest.first()?), rest.get(1..)?),
            0x82 => (usize::from(*rest.first()?) << 8 | usize::from(*rest.get(1)?), rest.get(2..)?),
            _ => return None,
        };
        let (content, rest) = (rest.get(..length)?, rest.get(length..)?);
        self.0 = rest;
        (*first == tag).then_some(content)
    }

    /// The one element there is.
    fn read_only_element(&mut self, tag: u8) -> Option<&'d [u8]> {
        let content = self.read_element(tag)?;
        self.0.is_empty().then_some(content)
    }
}
