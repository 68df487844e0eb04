//! What a token says, and whether it is for us and for now.

use std::time::Duration;

use munshi_types::Timestamp;
use serde::{Deserialize, Deserializer};

use super::JwtError;

/// The claims that anybody here reads; others are passed over. One that is of another kind than it should be, such as a
/// time written as a text, refuses the whole token: it is never taken for missing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct JwtClaims {
    pub iss: Option<String>,
    pub sub: Option<String>,
    #[serde(default, deserialize_with = "deserialize_one_or_many")]
    pub aud: Vec<String>,
    /// Who asked for it, where it is for several.
    pub azp: Option<String>,
    pub exp: Option<NumericDate>,
    pub nbf: Option<NumericDate>,
    pub iat: Option<NumericDate>,
    pub nonce: Option<String>,
    pub email: Option<String>,
    #[serde(default, deserialize_with = "deserialize_bool_or_text")]
    pub email_verified: bool,
    pub name: Option<String>,
    /// With its country code; OpenID calls it so too.
    pub phone_number: Option<String>,
    pub locale: Option<String>,
    /// Where a bot's answers go, in what Microsoft's Bot Framework says.
    #[serde(rename = "serviceurl")]
    pub service_url: Option<String>,
}

/// A moment as tokens write it: seconds since 1970, perhaps with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct NumericDate(f64);

/// What must be true of a token besides its signature.
#[derive(Clone, Copy, Debug)]
pub struct ClaimRequirements<'a> {
    /// None where it does not matter.
    pub issuer: Option<&'a str>,
    pub audience: &'a str,
    /// How far clocks may differ.
    pub leeway: Duration,
    /// Older ones are not believed, whatever they say of themselves.
    pub max_age: Duration,
}

impl JwtClaims {
    /// Whether the token is for us and for now. `exp` may be left out where `iat` is there: it is too old after
    /// `max_age` in any case.
    pub fn check(&self, expected: &ClaimRequirements<'_>, now: Timestamp) -> Result<(), JwtError> {
        if expected.issuer.is_some_and(|issuer| self.iss.as_deref() != Some(issuer)) {
            return Err(JwtError::Issuer);
        }
        if !self.aud.iter().any(|audience| audience == expected.audience) {
            return Err(JwtError::Audience(expected.audience.to_owned()));
        }
        let now = NumericDate::from_timestamp(now);
        let (leeway, age) = (expected.leeway.as_secs_f64(), expected.max_age.as_secs_f64());
        let issued = self.iat.ok_or(JwtError::Missing("`iat` (issued at)"))?;
        if issued.0 > now.0 + leeway || self.nbf.is_some_and(|from| from.0 > now.0 + leeway) {
            return Err(JwtError::Future);
        }
        let ended = self.exp.is_some_and(|end| end.0 + leeway <= now.0);
        if ended || issued.0 + age + leeway <= now.0 {
            return Err(JwtError::Expired);
        }
        Ok(())
    }
}

impl JwtClaims {
    /// Whether it is for now, by its own word: for issuers whose tokens say when they end and not when they were made.
    pub fn check_lifetime(&self, leeway: Duration, now: Timestamp) -> Result<(), JwtError> {
        let (now, leeway) = (NumericDate::from_timestamp(now), leeway.as_secs_f64());
        let end = self.exp.ok_or(JwtError::Missing("`exp` (expires at)"))?;
        if self.nbf.is_some_and(|from| from.0 > now.0 + leeway) {
            return Err(JwtError::Future);
        }
        if end.0 + leeway <= now.0 {
            return Err(JwtError::Expired);
        }
        Ok(())
    }
}

impl NumericDate {
    fn from_timestamp(moment: Timestamp) -> Self {
        #[allow(clippy::cast_precision_loss, reason = "a moment in microseconds fits until the year 2255")]
        Self(moment.as_micros() as f64 / 1e6)
    }
}

impl<'de> Deserialize<'de> for NumericDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        // The year 9999; infinities and NaN can't be written in JSON.
        if (0.0..253_402_300_800.0).contains(&number) {
            return Ok(Self(number));
        }
        Err(serde::de::Error::custom("a timestamp is out of range"))
    }
}

fn deserialize_one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Said {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Said::deserialize(deserializer)? {
        Said::One(one) => vec![one],
        Said::Many(many) => many,
    })
}

/// Some services write it as a text.
fn deserialize_bool_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Said {
        Bool(bool),
        Text(String),
    }
    Ok(match Said::deserialize(deserializer)? {
        Said::Bool(said) => said,
        Said::Text(text) => text == "true",
    })
}
