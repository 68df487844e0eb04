//! Who really sent a mail, as far as the server that took it says so.
//!
//! Anybody can write any `From`. The server that takes mails for us looks at signatures and says in a line of its own,
//! `Authentication-Results`, what it found. Such a line can be forged, too: only the topmost counts, and only by a name that is known to be
//! that server's.

use super::mime::MailHeaders;

/// Providers that put such a line above every mail, by the end of the name of their IMAP server; what they call themselves there, by its
/// end. Microsoft calls itself nothing.
const KNOWN: [(&str, &str); 9] = [
    ("imap.gmail.com", "mx.google.com"),
    ("outlook.office365.com", ""),
    ("outlook.office.com", ""),
    ("imap.zoho.com", "zohomail.com"),
    ("imap.zoho.in", "zohomail.in"),
    ("imappro.zoho.in", "zohomail.in"),
    ("imap.fastmail.com", "messagingengine.com"),
    ("imap.mail.yahoo.com", "mail.yahoo.com"),
    ("imap.mail.me.com", "icloud.com"),
];

/// Domains under which anybody registers, of two labels.
const SHARED_ENDS: [&str; 22] = [
    "co.in", "net.in", "org.in", "gen.in", "firm.in", "ind.in", "ac.in", "edu.in", "gov.in", "nic.in",
    "res.in", "co.uk", "org.uk", "ac.uk", "com.au", "com.br", "co.za", "com.sg", "com.pk", "com.bd",
    "com.np", "com.lk",
];

/// Whose results are believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TrustedResults {
    /// Those of this server.
    Named(String),
    /// Those of a provider, whose servers' names end so; empty where it has none.
    Provider(&'static str),
    Nobodys,
}

/// What a server found out of a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SenderProof {
    /// The address is whose it says, and how that was found.
    Proved(&'static str),
    /// Nobody says so.
    Unproved,
    /// The owner of the domain says that it is not.
    Refuted,
}

/// One finding, such as `dkim=pass header.d=example.com`.
struct SenderFinding {
    method: String,
    result: String,
    properties: Vec<(String, String)>,
}

impl TrustedResults {
    /// By what the account says, else by who the provider is.
    pub(super) fn of(auth_server: Option<&str>, imap_host: Option<&str>) -> Self {
        if let Some(name) = auth_server {
            return Self::Named(name.to_owned());
        }
        let host = imap_host.unwrap_or_default().to_ascii_lowercase();
        let known = KNOWN.iter().find(|(end, _)| host == *end);
        known.map_or(Self::Nobodys, |(_, name)| Self::Provider(name))
    }

    fn includes(&self, name: &str) -> bool {
        match self {
            Self::Named(own) => name == own,
            Self::Provider("") => name.is_empty(),
            Self::Provider(end) => {
                name == *end || name.strip_suffix(*end).is_some_and(|rest| rest.ends_with('.'))
            }
            Self::Nobodys => false,
        }
    }
}

/// Whether a mail is from this address. `from` is in small letters.
pub(super) fn prove_sender(headers: &MailHeaders, from: &str, trusted: &TrustedResults) -> SenderProof {
    let Some(results) = headers.first("authentication-results") else { return SenderProof::Unproved };
    let (name, findings) = parse_results(results);
    let Some((_, domain)) = from.rsplit_once('@') else { return SenderProof::Unproved };
    if !trusted.includes(&name) || headers.all("from").count() != 1 {
        return SenderProof::Unproved;
    }
    let has = |method: &str, result: &str, is_aligned: &dyn Fn(&SenderFinding) -> bool| {
        findings.iter().any(|one| one.method == method && one.result == result && is_aligned(one))
    };
    let names_from =
        |one: &SenderFinding| one.find("header.from").is_none_or(|named| is_aligned(named, domain));
    if has("dmarc", "pass", &names_from) {
        return SenderProof::Proved("dmarc");
    }
    let is_signed_by_domain = |one: &SenderFinding| {
        let signer = one.find("header.d").or_else(|| one.find("header.i"));
        signer.is_some_and(|signer| is_aligned(signer.rsplit('@').next().unwrap_or_default(), domain))
    };
    if has("dkim", "pass", &is_signed_by_domain) {
        return SenderProof::Proved("dkim");
    }
    match has("dmarc", "fail", &names_from) {
        true => SenderProof::Refuted,
        false => SenderProof::Unproved,
    }
}

/// What the server calls itself that says something of this mail; for whoever sets an account up.
pub(super) fn read_server_name(headers: &MailHeaders) -> Option<String> {
    let (name, _) = parse_results(headers.first("authentication-results")?);
    (!name.is_empty()).then_some(name)
}

/// Whether two domains are the same organisation's: one lies under the other, and the upper one is somebody's.
pub(super) fn is_aligned(signer: &str, from: &str) -> bool {
    let (signer, from) = (signer.trim_end_matches('.').to_ascii_lowercase(), from.to_ascii_lowercase());
    let is_under =
        |lower: &str, upper: &str| lower.strip_suffix(upper).is_some_and(|rest| rest.ends_with('.'));
    let is_owned = |domain: &str| domain.contains('.') && !SHARED_ENDS.contains(&domain);
    if signer == from {
        return is_owned(&signer);
    }
    (is_under(&from, &signer) && is_owned(&signer)) || (is_under(&signer, &from) && is_owned(&from))
}

/// The server's name in small letters, and what it found. Microsoft begins with the findings.
fn parse_results(text: &str) -> (String, Vec<SenderFinding>) {
    let text = strip_comments(text);
    let mut parts = text.split(';').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let is_finding = first.contains('=');
    let name = if is_finding { "" } else { first.split_ascii_whitespace().next().unwrap_or_default() };
    let name = name.trim_matches('"').to_ascii_lowercase();
    let findings = is_finding.then_some(first).into_iter().chain(parts).filter_map(parse_finding);
    (name, findings.take(50).collect())
}

fn parse_finding(text: &str) -> Option<SenderFinding> {
    let mut words = text.split_ascii_whitespace();
    let (method, result) = words.next()?.split_once('=')?;
    let properties = words
        .filter_map(|word| word.split_once('='))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim_matches('"').to_ascii_lowercase()));
    Some(SenderFinding {
        method: method.split('/').next().unwrap_or_default().to_ascii_lowercase(),
        result: result.to_ascii_lowercase(),
        properties: properties.collect(),
    })
}

/// What stands in parentheses was said by whoever sent the mail, at times.
fn strip_comments(text: &str) -> String {
    let (mut depth, mut is_quoted) = (0_usize, false);
    let mut stripped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' if depth == 0 => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => {
                depth = depth.saturating_sub(1);
                continue;
            }
            // A quoted semicolon ends nothing.
            ';' if is_quoted => continue,
            _ => {}
        }
        if depth == 0 {
            stripped.push(letter);
        }
    }
    stripped
}

impl SenderFinding {
    fn find(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prove(results: &str, from: &str, trusted: &TrustedResults) -> SenderProof {
        let headers =
            MailHeaders::parse(format!("Authentication-Results: {results}\r\nFrom: <{from}>\r\n").as_bytes());
        prove_sender(&headers, from, trusted)
    }

    #[test]
    fn a_sender_is_proved_by_our_own_server_alone() {
        let own = TrustedResults::Named("mx.example.com".to_owned());
        let google = TrustedResults::of(None, Some("imap.gmail.com"));
        let microsoft = TrustedResults::of(None, Some("outlook.office365.com"));
        let dkim = SenderProof::Proved("dkim");
        for (results, from, trusted, proof) in [
            ("mx.example.com; dkim=pass header.d=shop.example", "a@shop.example", &own, dkim.clone()),
            (
                "mx.example.com 1; dkim=pass (2048 bit) header.i=@mail.shop.example",
                "a@shop.example",
                &own,
                dkim.clone(),
            ),
            ("other.example; dkim=pass header.d=shop.example", "a@shop.example", &own, SenderProof::Unproved),
            (
                "mx.example.com; dkim=pass header.d=evil.example",
                "a@shop.example",
                &own,
                SenderProof::Unproved,
            ),
            (
                "mx.example.com; dkim=fail header.d=shop.example",
                "a@shop.example",
                &own,
                SenderProof::Unproved,
            ),
            (
                "mx.example.com; spf=pass smtp.mailfrom=shop.example",
                "a@shop.example",
                &own,
                SenderProof::Unproved,
            ),
            (
                "mx.example.com; dkim=fail (dkim=pass header.d=shop.example)",
                "a@shop.example",
                &own,
                SenderProof::Unproved,
            ),
            (
                "mx.example.com; dkim=none reason=\"; dkim=pass header.d=shop.example\"",
                "a@shop.example",
                &own,
                SenderProof::Unproved,
            ),
            (
                "mx.google.com; dmarc=pass (p=NONE) header.from=gmail.com",
                "a@gmail.com",
                &google,
                SenderProof::Proved("dmarc"),
            ),
            (
                "mx.google.com; dmarc=fail (p=NONE) header.from=gmail.com",
                "a@gmail.com",
                &google,
                SenderProof::Refuted,
            ),
            (
                "evil.mx.google.com.example; dmarc=pass header.from=gmail.com",
                "a@gmail.com",
                &google,
                SenderProof::Unproved,
            ),
            (
                "spf=pass (sender IP is 1.2.3.4) smtp.mailfrom=b.example; dkim=pass header.d=b.example;dmarc=pass action=none \
                 header.from=b.example;compauth=pass",
                "a@b.example",
                &microsoft,
                SenderProof::Proved("dmarc"),
            ),
            (
                "mx.example.com; dmarc=pass header.from=gmail.com",
                "a@gmail.com",
                &TrustedResults::Nobodys,
                SenderProof::Unproved,
            ),
        ] {
            assert_eq!(prove(results, from, trusted), proof, "{results}");
        }
    }

    #[test]
    fn a_mail_with_two_senders_is_nobodys() {
        let own = TrustedResults::Named("mx.example.com".to_owned());
        let text = "Authentication-Results: mx.example.com; dmarc=pass header.from=a.example\r\nFrom: x@a.example\r\nFrom: y@a.example\r\n";
        assert_eq!(
            prove_sender(&MailHeaders::parse(text.as_bytes()), "x@a.example", &own),
            SenderProof::Unproved
        );
        let below = "Authentication-Results: other.example; none\r\nAuthentication-Results: mx.example.com; dmarc=pass\r\nFrom: x@a.example\r\n";
        assert_eq!(
            prove_sender(&MailHeaders::parse(below.as_bytes()), "x@a.example", &own),
            SenderProof::Unproved
        );
    }

    #[test]
    fn domains_are_one_organisations_where_one_lies_under_the_other() {
        assert!(
            is_aligned("a.example", "a.example")
                && is_aligned("mail.a.co.in", "a.co.in")
                && is_aligned("a.co.in", "x.a.co.in")
        );
        for (signer, from) in
            [("co.in", "a.co.in"), ("com", "a.com"), ("ba.example", "a.example"), ("b.example", "a.example")]
        {
            assert!(!is_aligned(signer, from), "{signer} {from}");
        }
    }
}
