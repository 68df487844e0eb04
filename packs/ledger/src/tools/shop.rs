//! The shop itself: what it is called, where it is, where to pay to, what it is to the tax office.

use munshi_identity::ContactAddress;
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ToolFailure, ToolOutput, WriteToolHandler};

use super::call::{LedgerServices, LedgerToolCall};
use super::result::LedgerToolResult;
use super::sentence_fields;
use crate::books::profile::{self, ShopProfile};
use crate::books::{GstScheme, details};
use crate::tax::find_state_number;

pub(crate) struct ShopDetailsTool(pub(crate) LedgerServices);

impl WriteToolHandler for ShopDetailsTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let before = profile::get(tx)?;
        let after = apply_changes(&call, before.clone())?;
        let list = describe_changes(&before, &after);
        if list.is_empty() {
            return Err(ToolFailure::permanent(
                "ledger_shop_nothing",
                "nothing of the shop was said: ask what to note",
            ));
        }
        profile::save(tx, &after, call.now)?;
        Ok(LedgerToolResult::default().with("list", list).phrase("shop").build())
    }

    fn read_back(
        &self,
        permit: &Permit,
        _: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let kept = profile::get(tx)?;
        let again = apply_changes(&call, kept.clone())?;
        Ok((again != kept).then(|| "the shop's details are others".to_owned()))
    }
}

/// The profile with what was said. What a model names counts; a model that only passes the sentence on leaves it to us.
fn apply_changes(call: &LedgerToolCall<'_>, mut profile: ShopProfile) -> Result<ShopProfile, ToolFailure> {
    let sentence = call.text("text").unwrap_or_default();
    let is_passed_on = !sentence.is_empty();
    let owned = |name: &str| call.text(name).map(str::to_owned);
    let business = if is_passed_on { sentence_fields::name(sentence) } else { owned("business") };
    let set = |to: &mut String, said: Option<String>| {
        if let Some(said) = said {
            *to = said;
        }
    };
    set(&mut profile.business, business);
    set(&mut profile.owner, owned("owner"));
    set(&mut profile.place, owned("place").or_else(|| sentence_fields::address(sentence)));
    set(&mut profile.state, owned("state"));
    // The digits of another number are no telephone's.
    let phone = owned("phone").filter(|text| !is_passed_on || is_phone(text));
    profile.phone = phone.or(profile.phone);
    profile.upi = owned("upi").or_else(|| sentence_fields::upi(sentence)).or(profile.upi);
    let gstin = owned("gstin")
        .or_else(|| sentence_fields::gstin(sentence))
        .or_else(|| sentence_fields::find_gstin_like(sentence));
    if let Some(gstin) = gstin {
        let gstin = details::parse_gstin(&gstin)?;
        find_state_number(&gstin).unwrap_or_default().clone_into(&mut profile.state);
        profile.gstin = Some(gstin);
        // Whoever has a number is registered; composition has to be said.
        if profile.scheme == GstScheme::Unregistered {
            profile.scheme = GstScheme::Regular;
        }
    }
    if let Some(scheme) = call.text("scheme") {
        profile.scheme = scheme.parse()?;
    }
    Ok(profile)
}

fn is_phone(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_digit).count() >= 10 && ContactAddress::phone(text).is_ok()
}

/// What is other than before, as it is told.
fn describe_changes(before: &ShopProfile, after: &ShopProfile) -> Vec<String> {
    let parts = |profile: &ShopProfile| {
        let some = |text: &Option<String>| text.clone().unwrap_or_default();
        let scheme = profile.scheme.as_str().to_owned();
        let texts = [&profile.business, &profile.owner, &profile.place].map(Clone::clone);
        let [business, owner, place] = texts;
        let gst = profile.gstin.as_ref().map(|gstin| format!("GSTIN {gstin} ({scheme})")).unwrap_or_default();
        [business, owner, place, some(&profile.phone), some(&profile.upi), gst]
    };
    let pairs = parts(before).into_iter().zip(parts(after));
    pairs.filter(|(old, new)| old != new && !new.is_empty()).map(|(_, new)| new).collect()
}
