//! Values that must not be printed. `reveal` is the one way to see them, so that it can be searched for.

use std::fmt;

use serde::{Serialize, Serializer};

/// What stands in place of a secret, whatever its length.
pub const DOTS: &str = "••••••••";

/// A password, key or anything that is shown as dots everywhere.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigSecret(String);

impl ConfigSecret {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConfigSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(DOTS)
    }
}

/// An address that may carry a password: shown whole but for that.
#[derive(Clone, PartialEq, Eq)]
pub struct RedactedUrl(String);

impl RedactedUrl {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The whole address with its password.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn is_postgres(&self) -> bool {
        has_scheme(&self.0, &["postgres://", "postgresql://"])
    }

    pub fn is_sqlite(&self) -> bool {
        has_scheme(&self.0, &["sqlite:"])
    }
}

/// Rather too much is hidden than too little: a password may hold an unescaped `@`, `/` or `?`.
impl fmt::Display for RedactedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = match self.0.find("://") {
            Some(at) => self.0.split_at(at + 3),
            None => ("", self.0.as_str()),
        };
        f.write_str(scheme)?;
        match rest.split_once('?') {
            None => f.write_str(&without_login_password(rest)),
            // Whether the `?` is part of a password can't be known.
            Some((head, query)) if query.contains('@') => match head.split_once(':') {
                Some((name, _)) => write!(f, "{name}:{DOTS}"),
                None => write!(f, "{head}?{DOTS}"),
            },
            Some((head, query)) => {
                write!(f, "{}?{}", without_login_password(head), without_password_parameter(query))
            }
        }
    }
}

/// `name:password@host` as `name:dots@host`.
fn without_login_password(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((login, place)) => match login.split_once(':') {
            Some((name, _)) => format!("{name}:{DOTS}@{place}"),
            None => text.to_owned(),
        },
        None => text.to_owned(),
    }
}

/// `?password=…` is the other place where Postgres takes one.
fn without_password_parameter(query: &str) -> String {
    let shown = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if name.to_lowercase().contains("pass") => format!("{name}={DOTS}"),
        _ => pair.to_owned(),
    });
    shown.collect::<Vec<_>>().join("&")
}

pub(crate) fn has_scheme(text: &str, schemes: &[&str]) -> bool {
    schemes.iter().any(|scheme| text.starts_with(scheme))
}

macro_rules! printed_as_shown {
    ($($name:ident),+) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )+};
}

printed_as_shown!(ConfigSecret, RedactedUrl);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_secret_is_dots_in_every_form() {
        let secret = ConfigSecret::new("hunter2".to_owned());
        let forms = [secret.to_string(), format!("{secret:?}"), serde_json::to_string(&secret).unwrap()];
        for form in forms {
            assert!(form.contains(DOTS) && !form.contains("hunter2"), "{form}");
        }
        assert_eq!(secret.reveal(), "hunter2");
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (written, shown) in [
            ("sqlite:/var/lib/munshi.db", "sqlite:/var/lib/munshi.db"),
            ("postgres://db.local:5432/munshi", "postgres://db.local:5432/munshi"),
            ("postgres://munshi@db.local/munshi", "postgres://munshi@db.local/munshi"),
            ("postgres://munshi:pa55@db.local/m", "postgres://munshi:••••••••@db.local/m"),
            ("postgres://munshi:p@s/s@db.local/m", "postgres://munshi:••••••••@db.local/m"),
            ("postgres://munshi:p@s/s?@db.local/m", "postgres://munshi:••••••••"),
            ("postgres://h/d?password=a@pa55", "postgres://h/d?••••••••"),
            ("postgres://db.local/m?user=x&password=pa55", "postgres://db.local/m?user=x&password=••••••••"),
        ] {
            let url = RedactedUrl::new(written.to_owned());
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), format!("RedactedUrl({shown})"));
        }
    }

    #[test]
    fn the_engine_is_told_by_the_scheme() {
        assert!(RedactedUrl::new("postgresql://x".to_owned()).is_postgres());
        assert!(RedactedUrl::new("sqlite:x".to_owned()).is_sqlite());
        assert!(!RedactedUrl::new("पोस्ट".to_owned()).is_postgres());
    }

    proptest! {
        #[test]
        fn no_password_is_ever_printed(password in "[!-~]{0,8}ZZZ[!-~]{0,8}") {
            let url = RedactedUrl::new(format!("postgres://munshi:{password}@host/db"));
            prop_assert!(!url.to_string().contains("ZZZ"));
        }
    }
}
