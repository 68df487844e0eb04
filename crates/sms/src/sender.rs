//! What the sender's id tells: `AX-HDFCBK-S` is HDFC Bank about a service. It is a hint and never needed.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SmsSenderKind {
    /// No sender is known.
    Unknown,
    /// A registered name; `-P` behind it says that it advertises.
    Business { promotes: bool },
    /// A person's number, which anybody can have.
    Person,
}

/// A part of the id, and whose it is.
const BANKS: [(&str, &str); 52] = [
    ("hdfc", "HDFC Bank"),
    ("sbicrd", "SBI Card"),
    ("sbi", "State Bank of India"),
    ("icici", "ICICI Bank"),
    ("axis", "Axis Bank"),
    ("kotak", "Kotak Mahindra Bank"),
    ("pnb", "Punjab National Bank"),
    ("bobcrd", "BOB Card"),
    ("bob", "Bank of Baroda"),
    ("canbnk", "Canara Bank"),
    ("canara", "Canara Bank"),
    ("union", "Union Bank of India"),
    ("ubi", "Union Bank of India"),
    ("indbnk", "Indian Bank"),
    ("indusb", "IndusInd Bank"),
    ("indus", "IndusInd Bank"),
    ("idbi", "IDBI Bank"),
    ("idfc", "IDFC FIRST Bank"),
    ("fedbnk", "Federal Bank"),
    ("federl", "Federal Bank"),
    ("yesb", "Yes Bank"),
    ("rbl", "RBL Bank"),
    ("boi", "Bank of India"),
    ("cboi", "Central Bank of India"),
    ("cenbnk", "Central Bank of India"),
    ("iob", "Indian Overseas Bank"),
    ("uco", "UCO Bank"),
    ("mahabk", "Bank of Maharashtra"),
    ("psb", "Punjab & Sind Bank"),
    ("ktk", "Karnataka Bank"),
    ("kvb", "Karur Vysya Bank"),
    ("sib", "South Indian Bank"),
    ("csb", "CSB Bank"),
    ("cub", "City Union Bank"),
    ("dcb", "DCB Bank"),
    ("bandhn", "Bandhan Bank"),
    ("aubank", "AU Small Finance Bank"),
    ("aubk", "AU Small Finance Bank"),
    ("equita", "Equitas Small Finance Bank"),
    ("ujjivn", "Ujjivan Small Finance Bank"),
    ("jkb", "Jammu & Kashmir Bank"),
    ("dbs", "DBS Bank"),
    ("hsbc", "HSBC"),
    ("scb", "Standard Chartered"),
    ("citi", "Citibank"),
    ("amex", "American Express"),
    ("paytm", "Paytm"),
    ("phonpe", "PhonePe"),
    ("gpay", "Google Pay"),
    ("amazon", "Amazon Pay"),
    ("airbnk", "Airtel Payments Bank"),
    ("ippb", "India Post Payments Bank"),
];

pub(crate) fn classify(sender: Option<&str>) -> SmsSenderKind {
    let Some(sender) = sender.map(str::trim).filter(|sender| !sender.is_empty()) else {
        return SmsSenderKind::Unknown;
    };
    let digits = sender.chars().filter(char::is_ascii_digit).count();
    if !sender.chars().any(char::is_alphabetic) {
        // Banks have short numbers too; ten digits and more are a phone's.
        return if digits >= 10 { SmsSenderKind::Person } else { SmsSenderKind::Unknown };
    }
    let last = sender.rsplit('-').next().unwrap_or_default();
    SmsSenderKind::Business { promotes: sender.contains('-') && last.eq_ignore_ascii_case("p") }
}

/// Whose id it is. The name stands behind the two letters of the network: `VM-HDFCBK`.
pub(crate) fn bank(sender: Option<&str>) -> Option<&'static str> {
    let sender = sender?.to_ascii_lowercase();
    let mut parts = sender.split('-').filter(|part| part.len() > 2);
    let name = parts.next().unwrap_or(&sender);
    BANKS
        .iter()
        .find(|(code, _)| name.starts_with(code) || (code.len() > 3 && name.contains(code)))
        .map(|(_, bank)| *bank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_their_bank_and_kind() {
        assert_eq!(bank(Some("VM-HDFCBK")), Some("HDFC Bank"));
        assert_eq!(bank(Some("JD-SBIUPI-S")), Some("State Bank of India"));
        assert_eq!(bank(Some("AX-ZZTOPX")), None);
        assert_eq!(classify(Some("AD-OFFERS-P")), SmsSenderKind::Business { promotes: true });
        assert_eq!(classify(Some("VM-HDFCBK")), SmsSenderKind::Business { promotes: false });
        assert_eq!(classify(Some("+91 98765 43210")), SmsSenderKind::Person);
        assert_eq!(classify(Some("56767")), SmsSenderKind::Unknown);
        assert_eq!(classify(Some(" ")), SmsSenderKind::Unknown);
    }
}
