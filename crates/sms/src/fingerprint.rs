//! What tells that two messages speak of one payment.

use sha2::{Digest, Sha256};

use super::reading::{Payment, PaymentDirection};

impl Payment {
    /// The same for one payment, whoever tells of it. With a reference that is it, with the amount and the way it went:
    /// the two sides of a payment between two own accounts have one reference. Without one, everything that is known.
    pub fn fingerprint(&self) -> String {
        let mut parts = vec![
            match self.direction {
                PaymentDirection::Credit => "credit".to_owned(),
                PaymentDirection::Debit => "debit".to_owned(),
            },
            self.amount.to_string(),
            self.currency.as_str().to_owned(),
        ];
        match &self.reference {
            Some(reference) => parts.push(normalize_identifier(reference)),
            None => {
                parts.push(self.account.clone().unwrap_or_default());
                parts.push(self.counterparty.as_deref().map(normalize_identifier).unwrap_or_default());
                parts.push(self.date.map(|date| date.to_string()).unwrap_or_default());
                parts.push(
                    self.time
                        .map(|time| format!("{:02}:{:02}", time.hour(), time.minute()))
                        .unwrap_or_default(),
                );
            }
        }
        let hash = Sha256::digest(parts.join("\n"));
        let made_of = if self.reference.is_some() { BY_REFERENCE } else { BY_THE_REST };
        let digits = hash.iter().take(12).map(|byte| format!("{byte:02x}"));
        std::iter::once(made_of.to_string()).chain(digits).collect()
    }

    /// Whether a fingerprint was made of the payment's own number: two such that differ are two payments.
    pub fn is_by_reference(fingerprint: &str) -> bool {
        fingerprint.starts_with(BY_REFERENCE)
    }
}

/// What a fingerprint begins with.
const BY_REFERENCE: char = 'r';
const BY_THE_REST: char = 's';

/// Letters and digits in small letters; zeros before a number are no part of it.
pub fn normalize_identifier(text: &str) -> String {
    let letters: String =
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    letters.trim_start_matches('0').to_owned()
}
