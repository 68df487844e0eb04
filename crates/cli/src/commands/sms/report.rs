//! A reading as JSON and in words.

use munshi_sms::{NonPaymentReason, Payment, PaymentCertainty, PaymentDirection, SmsReading};
use serde::Serialize;

use crate::output::TextStyler;
use crate::output::table::sanitize_line;

/// Amounts are decimal strings; what is not known is null.
#[derive(Debug, Default, Serialize)]
pub(super) struct SmsReadReport {
    kind: &'static str,
    amount: Option<String>,
    account: Option<String>,
    counterparty: Option<String>,
    reference: Option<String>,
    balance: Option<String>,
    certainty: &'static str,
    why: String,
    /// Why there is not a payment, in one word for scripts.
    reason: Option<NonPaymentReason>,
    currency: Option<String>,
    date: Option<String>,
    time: Option<String>,
    bank: Option<&'static str>,
    /// The same for one payment, whoever tells of it.
    fingerprint: Option<String>,
}

impl SmsReadReport {
    pub(super) fn from_reading(reading: &SmsReading) -> Self {
        match reading {
            SmsReading::Payment(payment) => Self::from_payment(payment),
            SmsReading::Nothing(nothing) => Self {
                kind: "none",
                certainty: PaymentCertainty::Sure.as_str(),
                why: nothing.as_str().to_owned(),
                reason: Some(*nothing),
                ..Self::default()
            },
        }
    }

    fn from_payment(payment: &Payment) -> Self {
        Self {
            kind: match payment.direction {
                PaymentDirection::Credit => "credit",
                PaymentDirection::Debit => "debit",
            },
            amount: Some(payment.amount.to_string()),
            account: payment.account.clone(),
            counterparty: payment.counterparty.clone(),
            reference: payment.reference.clone(),
            balance: payment.balance.map(|balance| balance.to_string()),
            certainty: payment.certainty.as_str(),
            why: explain_certainty(payment),
            reason: None,
            currency: Some(payment.currency.as_str().to_owned()),
            date: payment.date.map(|date| date.to_string()),
            time: payment.time.map(|time| time.to_string()),
            bank: payment.bank,
            fingerprint: Some(payment.fingerprint()),
        }
    }
}

fn explain_certainty(payment: &Payment) -> String {
    if payment.doubts.is_empty() {
        return format!("it says \u{201c}{}\u{201d}", payment.said);
    }
    payment.doubts.iter().map(|doubt| doubt.as_str()).collect::<Vec<_>>().join("; ")
}

pub(super) fn render_text(answer: &SmsReadReport, paint: TextStyler) -> String {
    let Some(amount) = &answer.amount else {
        return format!("{}: {}", paint.dim("not a payment"), answer.why);
    };
    let currency = answer.currency.as_deref().unwrap_or_default();
    let way = if answer.kind == "credit" { "received" } else { "paid" };
    let mut lines = vec![paint.good(&format!("{currency} {amount} {way}"))];
    let when = [&answer.date, &answer.time].into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
    let rows = [
        (if answer.kind == "credit" { "from" } else { "to" }, answer.counterparty.clone()),
        ("account", answer.account.clone()),
        ("when", Some(when).filter(|when| !when.is_empty())),
        ("reference", answer.reference.clone()),
        ("balance", answer.balance.clone()),
        ("bank", answer.bank.map(str::to_owned)),
    ];
    let known = rows.into_iter().filter_map(|(name, value)| Some((name, value?)));
    lines.extend(
        known.map(|(name, value)| format!("{} {}", paint.dim(&format!("{name:10}")), sanitize_line(&value))),
    );
    let certainty = format!("{}: {}", answer.certainty, sanitize_line(&answer.why));
    lines.push(if answer.certainty == "sure" { paint.dim(&certainty) } else { paint.doubtful(&certainty) });
    lines.join("\n")
}
