//! Numbers that name beside numbers that count.

use crate::amounts::NumberKind::{self, Account, Money, Phone, Plain};
use crate::understand::{UnderstandingContext, understand};

fn said(message: &str) -> Vec<(NumberKind, String)> {
    let found = understand(message, &UnderstandingContext::default()).numbers;
    found.into_iter().map(|one| (one.kind, one.digits.unwrap_or_else(|| one.value.to_string()))).collect()
}

#[test]
fn a_run_ends_where_it_is_whole() {
    for (message, expected) in [
        ("98765 43210 500 bhejo", &[(Phone, "9876543210"), (Money, "500")][..]),
        ("9876543210 500 bhejo", &[(Phone, "9876543210"), (Money, "500")]),
        ("+91 98765 43210 500 bhejo", &[(Phone, "919876543210"), (Money, "500")]),
        ("75000 25000 bheje", &[(Money, "75000"), (Money, "25000")]),
        ("a/c 1234 5000 bhejo", &[(Account, "1234"), (Money, "5000")]),
        ("a/c 123456789 500 transfer", &[(Account, "123456789"), (Money, "500")]),
        ("Aadhaar 1234 5678 9012 500 diye", &[(Account, "123456789012"), (Money, "500")]),
        ("ac 123456 me 5000 bhejo", &[(Account, "123456"), (Money, "5000")]),
        ("a/c 5010 0123 4567 89", &[(Account, "50100123456789")]),
        ("number 98765 43210", &[(Phone, "9876543210")]),
        ("phone ka 9876543210", &[(Phone, "9876543210")]),
        ("1800 123 4567", &[(Phone, "18001234567")]),
    ] {
        let found = said(message);
        let found: Vec<(NumberKind, &str)> =
            found.iter().map(|(kind, value)| (*kind, value.as_str())).collect();
        assert_eq!(found, expected, "{message}");
    }
    let round = said("65000 75000 rupaye");
    assert!(round.iter().all(|(kind, _)| matches!(kind, Money | Plain)), "{round:?}");
}

#[test]
fn a_price_after_goods_is_no_account() {
    for message in [
        "mobile 15000 ka liya",
        "phone 12000 mein becha",
        "AC 35000 ka liya",
        "card 5000 ka bill",
        "phone ka 500 diya",
        "mobile 15000",
    ] {
        let found = said(message);
        assert!(matches!(found.as_slice(), [(Money | Plain, _)]), "{message}: {found:?}");
    }
}

#[test]
fn what_has_a_number_is_named_by_it() {
    for (message, name, money) in [
        ("cheque 123456 ka 5000", "123456", "5000"),
        ("flat no 302 ka rent 15000", "302", "15000"),
        ("bill no 45 ka 1200", "45", "1200"),
        ("bill no. 45 ka 1200", "45", "1200"),
        ("room number 7 ka rent 4000", "7", "4000"),
    ] {
        let expected = [(Account, name.to_owned()), (Money, money.to_owned())];
        assert_eq!(said(message), expected, "{message}");
    }
}
