//! What must hold of every message, whatever is in it.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use munshi_sms::{NonPaymentReason, Payment, PaymentCertainty, Sms, SmsReading, read};
use proptest::prelude::*;

fn reading(text: &str) -> SmsReading {
    read(&Sms { text, ..Sms::default() })
}

fn payment(text: &str) -> Payment {
    reading(text).payment().cloned().unwrap_or_else(|| panic!("nothing in: {text}"))
}

/// Messages of several banks with a place for the amount, the balance and the reference.
const SHAPES: [&str; 8] = [
    "Sent Rs.{A} From HDFC Bank A/C *4471 To GANESH TIFFIN On 14/06/25 Ref {R} Not You? Call 18002586161",
    "Dear UPI user A/C X9021 debited by {A} on date 03Jul25 trf to BALAJI STORES Refno {R}. If not u? call 1800111109. -SBI",
    "ICICI Bank Acct XX318 debited for Rs {A} on 02-Jul-25; FRESHMART credited. UPI:{R}. Avl Bal Rs {B}. Call 18002662 for dispute.",
    "Dear Customer, Acct XX318 is credited with Rs {A} on 02-Jul-25 from SUNITA RAWAT. UPI:{R}-ICICI Bank.",
    "Rs.{A} Dr. from A/C XXXXXX2210 and Cr. to laxmi@ybl. Ref:{R}. AvlBal:Rs{B}(2025:05:24 20:11:09). Not you? Call 18005700",
    "A/c *8812 Debited for Rs:{A} on 09-06-2025 13:20:11 by Mob Bk ref no {R} Avl Bal Rs:{B}.If not you, Call 1800222243",
    "Received Rs.{A} in your Kotak Bank AC X6650 from anita@oksbi on 11-05-25.UPI Ref:{R}. Bal {B}",
    "An amount of INR {A} has been DEBITED to your account XXX5543 on 02/06/2025. UPI Ref {R}. Total Avail.bal INR {B}. - Canara Bank",
];

fn filled(shape: &str, paise: i64, balance: i64, reference: u64) -> String {
    let money = |paise: i64| munshi_types::Money::from_paise(paise).to_string();
    let reference = format!("5{reference:011}");
    shape.replace("{A}", &money(paise)).replace("{B}", &money(balance)).replace("{R}", &reference)
}

fn shape() -> impl Strategy<Value = &'static str> {
    prop::sample::select(SHAPES.to_vec())
}

/// Pieces that messages are made of, for nonsense that looks like one.
fn piece() -> impl Strategy<Value = String> {
    let known = [
        "Rs",
        "Rs.",
        "INR",
        "₹",
        "500",
        "1,23,456.78",
        "debited",
        "credited",
        "OTP",
        "is",
        "A/c",
        "XX1234",
        "*",
        "@",
        "upi",
        "/",
        "-",
        ".",
        "..",
        "to",
        "from",
        "Avl Bal",
        "12-03-25",
        "12Mar25",
        "18:20:11",
        "UPI/P2M/",
        "Ref",
        "https://a.in/",
        "खाते",
        "से",
        "डेबिट",
        "படும்",
        "x",
        "Dr.",
        "Cr",
        "will be",
        "not",
        "if",
        "99999999999999999999",
        "\u{200d}",
        "Info:",
        "by",
    ];
    prop_oneof![
        6 => prop::sample::select(known.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(|letter| letter.to_string()),
        1 => "[0-9,.]{1,14}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_makes_it_panic(text in any::<String>(), sender in proptest::option::of(any::<String>())) {
        read(&Sms { text: &text, sender: sender.as_deref(), day: None });
    }

    #[test]
    fn nor_does_what_looks_like_a_message(pieces in prop::collection::vec((piece(), any::<bool>()), 0..40)) {
        let text: String = pieces.iter().map(|(piece, blank)| format!("{piece}{}", if *blank { " " } else { "" })).collect();
        if let SmsReading::Payment(payment) = reading(&text) {
            prop_assert!(!payment.amount.is_negative());
            prop_assert_eq!(payment.fingerprint().len(), 25);
        }
    }

    #[test]
    fn amount_balance_and_reference_are_found_in_every_shape(shape in shape(), paise in 1i64..1_000_000_000, balance in 0i64..1_000_000_000, reference in 0u64..10_000_000_000) {
        let text = filled(shape, paise, balance, reference);
        let found = payment(&text);
        prop_assert_eq!(found.amount.as_paise(), paise, "{}", text);
        prop_assert_eq!(found.reference, Some(format!("5{reference:011}")), "{}", text);
        let expected = shape.contains("{B}").then_some(balance);
        prop_assert_eq!(found.balance.map(munshi_types::Money::as_paise), expected, "{}", text);
    }

    #[test]
    fn blanks_lines_and_case_change_nothing(shape in shape(), paise in 1i64..10_000_000, blanks in prop::collection::vec(0usize..4, 80), upper: bool) {
        let text = filled(shape, paise, 990_000, 777);
        let mut kinds = blanks.iter().cycle();
        let spread: String = text.chars().map(|letter| match letter {
            ' ' => [" ", "  ", "\n", "\r\n "][*kinds.next().unwrap()].to_owned(),
            letter => letter.to_string(),
        }).collect();
        let spread = if upper { spread.to_uppercase() } else { spread.to_lowercase() };
        let (one, other) = (payment(&text), payment(&spread));
        let small = |text: &Option<String>| text.as_ref().map(|text| text.to_lowercase());
        prop_assert_eq!((one.direction, one.amount, &one.account, one.balance, one.date, one.time, one.certainty),
            (other.direction, other.amount, &other.account, other.balance, other.date, other.time, other.certainty), "{}", spread);
        prop_assert_eq!((small(&one.counterparty), small(&one.reference)), (small(&other.counterparty), small(&other.reference)), "{}", spread);
        prop_assert_eq!(one.fingerprint(), other.fingerprint());
    }

    #[test]
    fn another_balance_is_the_same_payment(shape in shape(), paise in 1i64..10_000_000, balance in 0i64..1_000_000_000) {
        let (one, other) = (payment(&filled(shape, paise, 100, 42)), payment(&filled(shape, paise, balance, 42)));
        prop_assert_eq!((one.direction, one.amount, &one.account, &one.counterparty), (other.direction, other.amount, &other.account, &other.counterparty));
        prop_assert_eq!(one.fingerprint(), other.fingerprint());
    }

    #[test]
    fn a_code_makes_nothing_of_the_best_debit(shape in shape(), paise in 1i64..10_000_000, code in 1000u32..99_999_999, way in 0usize..6, front: bool) {
        let said = [
            format!("OTP is {code}."), format!("{code} is your OTP."), format!("Use OTP {code} to complete."),
            format!("Your One Time Password is {code}."), format!("Do not share OTP {code} with anyone."), format!("Verification code: {code}."),
        ][way].clone();
        let text = filled(shape, paise, 5_000, 99);
        let text = if front { format!("{said} {text}") } else { format!("{text}. {said}") };
        prop_assert_eq!(reading(&text), SmsReading::Nothing(NonPaymentReason::Otp), "{}", text);
    }

    #[test]
    fn advice_never_to_share_a_code_changes_nothing(shape in shape(), paise in 1i64..10_000_000, way in 0usize..4) {
        let said = ["Never share OTP with anyone.", "Bank never asks for OTP/PIN/CVV.", "Do not share your OTP.", "Don't disclose OTP to anybody."][way];
        let text = filled(shape, paise, 5_000, 99);
        prop_assert_eq!(payment(&format!("{text}. {said}")).amount.as_paise(), paise);
    }

    #[test]
    fn what_will_be_is_not_booked(paise in 1i64..10_000_000, word in prop::sample::select(vec!["will be", "shall be", "would be", "will get", "is scheduled to be", "will be auto", "is to be"])) {
        let amount = munshi_types::Money::from_paise(paise);
        let text = format!("Rs.{amount} {word} debited from A/c XX4471 on 20/06/25 towards TUNEBOX. Ref 516512345678");
        prop_assert!(reading(&text).payment().is_none(), "{}", text);
    }

    #[test]
    fn other_amounts_have_other_fingerprints(one in shape(), other in shape(), first in 1i64..1_000_000_000, second in 1i64..1_000_000_000, reference in 0u64..1000) {
        prop_assume!(first != second);
        let (one, other) = (payment(&filled(one, first, 100, reference)), payment(&filled(other, second, 100, reference)));
        prop_assert_ne!(one.fingerprint(), other.fingerprint());
    }
}

#[test]
fn one_payment_told_twice_has_one_fingerprint() {
    let bank =
        payment("Rs.340.00 debited from a/c **4471 on 14-06-25 to VPA ganesh@ybl (UPI Ref No 516588123401).");
    let app =
        payment("You paid ₹340 to Ganesh Tiffin from your bank a/c XX4471. UPI transaction ID 516588123401");
    assert_eq!(bank.fingerprint(), app.fingerprint());
    let plain = "INR 340 spent on card XX4471 at GANESH on 14-06-25 18:20:11";
    assert_eq!(payment(plain).fingerprint(), payment(&plain.replace("18:20:11", "18:20:45")).fingerprint());
    assert_ne!(payment(plain).fingerprint(), payment(&plain.replace("18:20:11", "18:21:11")).fingerprint());
}

#[test]
fn an_amount_with_a_minus_is_asked_about() {
    let found = payment("INR -500.00 debited from A/c XX4471 on 14-06-25 to GANESH TIFFIN. Ref 516588123401");
    assert_eq!((found.amount.as_paise(), found.certainty), (50_000, PaymentCertainty::Unsure));
    let overdrawn =
        payment("INR 500.00 debited from A/c XX4471 to GANESH TIFFIN. Ref 516588123401. Avl Bal INR -120.00");
    assert_eq!(overdrawn.balance.map(munshi_types::Money::as_paise), Some(-12_000));
}

#[test]
fn a_day_without_a_year_takes_it_from_the_day_it_came() {
    let day = jiff::civil::date(2026, 1, 2);
    let text = "Sent Rs.90.00 From HDFC Bank A/C *4471 To Suresh On 30-12 Ref 516512340066";
    let found = read(&Sms { text, sender: None, day: Some(day) });
    assert_eq!(found.payment().unwrap().date, Some(jiff::civil::date(2025, 12, 30)));
    assert_eq!(payment(text).date, None);
}
