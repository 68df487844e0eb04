//! A secret in memory.

use std::fmt;

use zeroize::Zeroizing;

use crate::error::Error;

/// The value of a secret. It is wiped when dropped, and there is no way to print, compare, copy or store it by
/// accident: [`expose`](Self::expose) is the one way to see it, so that it can be searched for.
///
/// ```compile_fail
/// let secret = munshi_keys::VaultSecret::new("hunter2".to_owned()).unwrap();
/// println!("{secret}");
/// ```
/// ```compile_fail
/// let secret = munshi_keys::VaultSecret::new("hunter2".to_owned()).unwrap();
/// serde_json::to_string(&secret).unwrap();
/// ```
/// ```compile_fail
/// let secret = munshi_keys::VaultSecret::new("hunter2".to_owned()).unwrap();
/// let copy = secret.clone();
/// ```
pub struct VaultSecret(Zeroizing<String>);

/// A value larger than this is no secret but a document.
const LARGEST: usize = 64 * 1024;

impl VaultSecret {
    pub fn new(value: String) -> Result<Self, Error> {
        let value = Zeroizing::new(value);
        match value.len() {
            0 => Err(Error::Invalid("the secret is empty".to_owned())),
            size if size > LARGEST => {
                Err(Error::Invalid(format!("the secret has {size} bytes; the maximum is {LARGEST}")))
            }
            _ => Ok(Self(value)),
        }
    }

    /// From bytes that were just unsealed; none where they are no text.
    pub fn from_bytes(bytes: &Zeroizing<Vec<u8>>) -> Option<Self> {
        std::str::from_utf8(bytes).ok().map(|text| Self(Zeroizing::new(text.to_owned())))
    }

    /// The value itself, for the client that sends it and nobody else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for VaultSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VaultSecret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_nothing_but_that_it_is_one() {
        let secret = VaultSecret::new("hunter2".to_owned()).unwrap();
        assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "VaultSecret Some(\n    VaultSecret,\n)");
        assert_eq!(secret.expose(), "hunter2");
        assert!(VaultSecret::new(String::new()).is_err());
        assert!(VaultSecret::new("x".repeat(LARGEST + 1)).is_err());
    }
}
