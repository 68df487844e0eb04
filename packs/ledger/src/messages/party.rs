//! Whose a payment is: a contact of that very name or telephone number, and nobody where it may be another.

use munshi_sms::Payment;
use munshi_store::Tx;

use crate::books::{Contact, NameMatch, contacts};
use crate::error::{Error, Result};

/// The digits of a telephone number before the @ of a payment address.
const DIGITS: usize = 10;

pub(super) fn find_contact(tx: &mut Tx<'_>, payment: &Payment) -> Result<Option<Contact>> {
    let Some(name) = payment.counterparty.as_deref() else { return Ok(None) };
    if let Some(phone) = phone(name) {
        let mut known = list_by_phone(tx, phone)?;
        return Ok(known.pop().filter(|_| known.is_empty()));
    }
    match contacts::find(tx, name) {
        Ok(NameMatch::One(contact)) => Ok(Some(contact)),
        Ok(NameMatch::Nobody | NameMatch::Choices(_)) => Ok(None),
        // A name too long to be one is nobody's.
        Err(Error::Invalid(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn list_by_phone(tx: &mut Tx<'_>, phone: &str) -> Result<Vec<Contact>> {
    match contacts::list_by_phone(tx, phone) {
        Err(Error::Phone(_)) => Ok(Vec::new()),
        known => known,
    }
}

/// The number in `9876543210@ybl` or `9876543210-2@ybl`.
fn phone(counterparty: &str) -> Option<&str> {
    let (front, _) = counterparty.split_once('@')?;
    let number = front.split_once('-').map_or(front, |(number, _)| number);
    (number.len() == DIGITS && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::phone;

    #[test]
    fn a_payment_address_may_be_a_telephone_number() {
        assert_eq!(phone("9876543210@ybl"), Some("9876543210"));
        assert_eq!(phone("9876543210-2@okaxis"), Some("9876543210"));
        for other in ["ramesh@ybl", "98765@ybl", "9876543210", "q98765432101@ybl"] {
            assert_eq!(phone(other), None, "{other}");
        }
    }
}
