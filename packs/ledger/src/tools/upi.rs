//! Where money can be paid to: the link that every UPI app opens, also as a code for a camera.

use std::fmt::Write;

use munshi_lang::format::rupees;
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ReadToolHandler, ToolFailure, ToolOutput};
use munshi_types::Money;
use munshi_types::attachment::{Attachment, FIELD};
use serde_json::Value;

use super::call::LedgerServices;
use super::contact_match;
use super::result::LedgerToolResult;
use crate::books::profile::{self, ShopProfile};

/// UPI apps refuse a longer note.
const LONGEST_NOTE: usize = 50;

pub(crate) struct PaymentLinkTool(pub(crate) LedgerServices);

impl ReadToolHandler for PaymentLinkTool {
    /// Of the amount that was said; without one, of what the person owes.
    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let profile = profile::get(tx)?;
        let contact = call.text("person").map(|_| contact_match::resolve_contact(tx, &call)).transpose()?;
        let owed = contact.as_ref().map(|contact| contact.balance).filter(|balance| *balance > Money::ZERO);
        let amount = call.given_amount().or(owed);
        let note = contact.as_ref().map(|contact| contact.name.as_str());
        let link = link(&profile, amount, note).ok_or_else(no_upi)?;
        let told = LedgerToolResult::default().with("shop", payee_name(&profile)).with("link", link.as_str());
        let (told, title) = match amount {
            Some(amount) => (told.money("amount", amount).phrase("pay"), rupees(amount)),
            None => (told.phrase("pay-any"), payee_name(&profile).to_owned()),
        };
        Ok(told.with(FIELD, build_attachments(&link, &title)?).build())
    }
}

pub(crate) fn no_upi() -> ToolFailure {
    ToolFailure::permanent("ledger_no_upi", "the shop's UPI address is not known: ask the owner for it")
}

/// What the shop is called where money is paid to it.
pub(crate) fn payee_name(profile: &ShopProfile) -> &str {
    let names = [&profile.business, &profile.owner];
    names.into_iter().map(|name| name.trim()).find(|name| !name.is_empty()).unwrap_or("Shop")
}

/// None where nobody has said where to pay to.
pub(crate) fn link(profile: &ShopProfile, amount: Option<Money>, note: Option<&str>) -> Option<String> {
    let to = profile.upi.as_deref()?;
    let mut link = format!("upi://pay?pa={}&pn={}", percent_encode(to), percent_encode(payee_name(profile)));
    if let Some(amount) = amount {
        let paise = amount.as_paise();
        // Writing to memory can't fail.
        let _written = write!(link, "&am={}.{:02}", paise / 100, paise % 100);
    }
    if let Some(note) = note {
        let short: String = note.chars().take(LONGEST_NOTE).collect();
        link.push_str("&tn=");
        link.push_str(&percent_encode(&short));
    }
    link.push_str("&cu=INR");
    Some(link)
}

/// A code to read with a camera, and the link for whoever is on the phone already.
pub(crate) fn build_attachments(link: &str, title: &str) -> Result<Value, ToolFailure> {
    let (text, title) = (link.to_owned(), title.to_owned());
    let both =
        [Attachment::Qr { text: text.clone(), title: title.clone() }, Attachment::Link { url: text, title }];
    serde_json::to_value(both).map_err(|error| ToolFailure::permanent("not_shown", error.to_string()))
}

/// As it may stand in a query. The `@` of a UPI address stays: some apps read it only so.
pub(crate) fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'@' => {
                out.push(byte.into());
            }
            other => {
                let _written = write!(out, "%{other:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shop() -> ShopProfile {
        ShopProfile {
            business: "Gupta & Sons".to_owned(),
            upi: Some("gupta@okbank".to_owned()),
            ..ShopProfile::default()
        }
    }

    #[test]
    fn a_link_is_as_upi_apps_read_it() {
        let link = |amount: Option<i64>, note| link(&shop(), amount.map(Money::from_paise), note).unwrap();
        assert_eq!(
            link(Some(50_005), Some("राम")),
            "upi://pay?pa=gupta@okbank&pn=Gupta%20%26%20Sons&am=500.05&tn=%E0%A4%B0%E0%A4%BE%E0%A4%AE&cu=INR"
        );
        assert_eq!(link(None, None), "upi://pay?pa=gupta@okbank&pn=Gupta%20%26%20Sons&cu=INR");
        assert_eq!(super::link(&ShopProfile::default(), None, None), None);
    }

    proptest! {
        #[test]
        fn nobodys_name_adds_a_part_to_a_link(name in "\\PC{0,80}", paise in 1..1_000_000_000_i64) {
            let link = link(&shop(), Some(Money::from_paise(paise)), Some(&name)).unwrap();
            let parts: Vec<&str> = link.split(['?', '&']).map(|part| part.split('=').next().unwrap()).collect();
            prop_assert_eq!(parts, ["upi://pay", "pa", "pn", "am", "tn", "cu"]);
            prop_assert!(link.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#'));
        }
    }
}
