//! Lines that hold a secret or somebody's number. One too many is told and can be written again; one too few stands in
//! every prompt, so in doubt a line is withheld.
//!
//! # Layout
//! - `named_values`: a value that somebody called a password, a PIN or the like
//! - `patterns`: keys and numbers that are known by how they look

mod named_values;
mod patterns;

/// The text without such lines; each is told to `found` with its number and what it is, never what it says. The lines
/// stay as empty ones, so that the numbers of the others hold.
pub(super) fn redact(text: &str, mut found: impl FnMut(usize, &'static str)) -> String {
    let (mut in_key, mut announced) = (false, false);
    let lines = text.lines().enumerate().map(|(at, line)| {
        let begins = line.contains("-----BEGIN") && line.contains("PRIVATE KEY");
        let inside = in_key || begins;
        in_key = inside && !line.contains("-----END");
        let follows = announced && named_values::is_value(line);
        announced = named_values::announces_secret(line) || (announced && line.trim().is_empty());
        let kind = match (begins, follows) {
            (true, _) => Some("a private key"),
            (_, true) => Some(named_values::KIND),
            _ => kind(line),
        };
        match kind {
            Some(kind) => {
                found(at + 1, kind);
                ""
            }
            None if inside => "",
            None => line,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn kind(line: &str) -> Option<&'static str> {
    if patterns::is_key(line) {
        return Some("a key");
    }
    if named_values::has_named_secret(line) {
        return Some(named_values::KIND);
    }
    if patterns::is_address_with_password(line) {
        return Some("a URL with a password");
    }
    patterns::is_identity_number(line).then_some("an identity or card number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_and_not_repeated() {
        for line in [
            "OpenAI: sk-proj-abcdefghijklmnopqrst",
            "- **API key:** 9f8e7d6c5b4a",
            "password = hunter22",
            "Authorization: Bearer abcdefghijklmnop1234",
            "db: postgres://munshi:geheim@db.example/munshi",
            "aws AKIAABCDEFGHIJKLMNOP",
            "Aadhaar 1234 5678 9012",
            "card 4111-1111-1111-1111",
            "token eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0",
            "Gmail password is hunter2",
            "My gmail password is: s3same!open",
            "Wifi password - Shop@1234",
            "The wifi password for guests is swordfish",
            "password: correct horse battery",
            "login admin, pass admin123",
            "| Router password | Shop-1234 |",
            "Telegram token: 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0",
            "Bot token is 9d8f7a6b5c4d",
            "DB_PASS=chai",
            "smtp_password: chai-time",
            "SECRET_KEY_BASE=0a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f",
            "export MAPS_KEY=\"q1w2e3r4t5y6\"",
            "UPI PIN: 4821",
            "The OTP was 482913",
            "CVV 123",
            "पासवर्ड: meri-dukaan",
            "PAN ABCPE1234F",
            "hf_abcdefghijklmnopqrstuvwx",
            "SG.abcdefghijklmnop.qrstuvwxyz",
            "SK0123456789abcdef0123456789abcdef",
            "the hook is Zk3v9QpL2xT7mNc8RwYd4B",
            "https://api.example/v1?access_token=9f8e7d6c5b4a",
            "my card 378282246310005",
            "234123412346",
            "२३४५ ६७८९ ०१२४",
        ] {
            let mut seen = Vec::new();
            let safe = redact(&format!("before\n{line}\nafter"), |at, kind| seen.push((at, kind)));
            assert_eq!(safe, "before\n\nafter", "{line}");
            assert_eq!(seen.len(), 1, "{line}");
            assert_eq!(seen[0].0, 2);
        }
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----\nhello";
        assert_eq!(redact(key, |_, _| {}), "\n\n\n\nhello");
        assert_eq!(redact("## Gmail password\n\nhunter2\nhello", |_, _| {}), "## Gmail password\n\n\nhello");
    }

    #[test]
    fn a_key_of_every_known_shape_is_withheld() {
        let missed = munshi_detect::secrets::KEY_SHAPES
            .iter()
            .filter(|shape| !redact(&format!("use {} there", shape.example()), |_, _| {}).is_empty());
        assert_eq!(missed.map(|shape| shape.prefix).collect::<Vec<_>>(), Vec::<&str>::new());
    }

    #[test]
    fn honest_lines_stay() {
        for line in [
            "Never ask for a password.",
            "password: ask the owner for it",
            "api_key: $OPENAI_API_KEY",
            "token: vault:telegram",
            "Call +91 98123 45678 after 10",
            "secret: {{secret}}",
            "The secret of a good chai: patience.",
            "see https://docs.example/a:b and mail a@b.example",
            "ask-me-anything-about-the-shop-today",
            "The password is never shared with anybody.",
            "Passwords - never ask for one.",
            "A password is required before the bill is shown.",
            "Token budget: 4000",
            "max_tokens: 4000",
            "sort_key = name",
            "Gate pass: two people",
            "Shop 4, MG Road, Bengaluru, PIN: 560001",
            "PIN code 600042",
            "Order AANGAN-2024-000123 came on Monday",
            "Our GSTIN is 27AAPFU0939F1ZV",
            "91 98123 45678 is the shop's number",
            "## Passwords",
            "I pin 4 notes on the board every day",
            "see https://docs.example/guides/how-to-make-a-very-good-cup-of-tea-in-2024",
            "token: $TELEGRAM_TOKEN",
            "DB_PASS=vault:db",
        ] {
            assert_eq!(redact(line, |at, kind| panic!("{at} {kind}: {line}")), line);
        }
    }

    #[test]
    fn what_is_shipped_holds_no_secret() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (mut folders, mut files) = (vec![root.join("tenants")], vec![root.join("docs/tiers.md")]);
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        assert!(files.len() > 30);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let line = |at: usize| text.lines().nth(at - 1).unwrap();
            redact(&text, |at, kind| panic!("{}:{at}: {kind}: {}", file.display(), line(at)));
        }
    }
}
