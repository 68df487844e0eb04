//! How much of people's files a tenant keeps.

use serde::{Deserialize, Deserializer, Serialize};

/// A hundred terabytes, as the installation's own setting.
pub(super) const MOST_MB: u32 = 100_000_000;

/// Within what the installation permits: of the two limits the lower one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FileLimits {
    /// In megabytes, sealed and with previews. A file that would not fit is refused; those that are there stay.
    #[serde(deserialize_with = "deserialize_megabytes")]
    pub quota_mb: Option<u32>,
}

impl FileLimits {
    pub fn quota_bytes(&self) -> Option<u64> {
        self.quota_mb.map(|megabytes| u64::from(megabytes) << 20)
    }
}

fn deserialize_megabytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let Some(given) = Option::<i64>::deserialize(deserializer)? else { return Ok(None) };
    let fits = u32::try_from(given).ok().filter(|megabytes| (1..=MOST_MB).contains(megabytes));
    let refused = || serde::de::Error::custom(format!("files.quota_mb must be from 1 to {MOST_MB}"));
    fits.map(Some).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[test]
    fn a_quota_is_read_in_megabytes() {
        let quota = |text: &str| parse(text).map(|policy| policy.files.quota_bytes());
        assert_eq!(quota("").unwrap(), None);
        assert_eq!(quota("[files]\nquota_mb = 3\n").unwrap(), Some(3 << 20));
        for text in ["[files]\nquota_mb = 0\n", "[files]\nquota_mb = 100000001\n"] {
            let error = quota(text).unwrap_err().to_string();
            assert!(error.contains("policy.toml:2: files.quota_mb must be from 1 to 100000000"), "{error}");
        }
    }
}
