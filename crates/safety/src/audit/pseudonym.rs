//! Phones in the audit: the same person can be recognised, and nobody's number can be read.

use std::fmt;

use ring::hmac;
use zeroize::Zeroizing;

/// How much of the HMAC is kept: nobody else has the same by chance.
const KEPT_BYTES: usize = 16;

/// Makes a tenant's pseudonyms. It comes from the tenant's own key in the vault
/// ([`Vault::pseudonym_key`](crate::vault::Vault::pseudonym_key)): it outlives the rotation of the installation's key,
/// differs from tenant to tenant, and is gone when the tenant is forgotten.
pub struct PseudonymKey(Zeroizing<[u8; 32]>);

impl PseudonymKey {
    pub(crate) fn new(key: Zeroizing<[u8; 32]>) -> Self {
        Self(key)
    }
}

impl fmt::Debug for PseudonymKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PseudonymKey")
    }
}

/// `phone:` and 32 hexadecimal digits. A number's blanks, dashes, brackets and signs don't matter, nor whether `00`
/// stands for its `+`; its country code does, so hand it in as the channel gives it, with the code.
pub fn derive_pseudonym(key: &PseudonymKey, phone: &str) -> String {
    let digits: String =
        phone.chars().filter_map(|letter| letter.to_digit(10)).map(|digit| digit.to_string()).collect();
    let digits = digits.strip_prefix("00").unwrap_or(&digits);
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key.0[..]), digits.as_bytes());
    let hex: String = tag.as_ref().iter().take(KEPT_BYTES).map(|byte| format!("{byte:02x}")).collect();
    format!("phone:{hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_has_one_pseudonym_however_it_is_written() {
        let key = PseudonymKey::new(Zeroizing::new([7; 32]));
        let first = derive_pseudonym(&key, "+919876543210");
        for same in ["+91 98765 43210", "0091-98765-43210", "(+91) 98765.43210", "919876543210"] {
            assert_eq!(derive_pseudonym(&key, same), first, "{same}");
        }
        assert_ne!(derive_pseudonym(&key, "+919876543211"), first);
        assert_ne!(derive_pseudonym(&PseudonymKey::new(Zeroizing::new([8; 32])), "+919876543210"), first);
        assert!(!first.contains("98765") && first.len() == 38, "{first}");
        assert_eq!(format!("{key:?}"), "PseudonymKey");
    }
}
