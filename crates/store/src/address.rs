//! Where the database is: one URL picks the engine.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::Error;

/// `sqlite:/path/to/file.db` or `postgres://user@host/database`.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseAddress {
    Sqlite(PathBuf),
    Postgres(PostgresAddress),
}

/// A Postgres URL, with the parts the driver does not know taken out.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresAddress {
    url: String,
    /// `sslrootcert=`: the authority that signed the server's certificate, when it is not a public one.
    pub(crate) root_certificate: Option<PathBuf>,
}

impl DatabaseAddress {
    pub fn sqlite(path: impl AsRef<Path>) -> Self {
        Self::Sqlite(path.as_ref().to_owned())
    }

    pub const fn engine(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgres",
        }
    }

    /// Whether both lead to one database, as far as can be told without asking: by whichever login, and by whichever way to a file.
    pub fn is_same_database(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sqlite(one), Self::Sqlite(other)) => resolve_file(one) == resolve_file(other),
            (Self::Postgres(one), Self::Postgres(other)) => {
                one == other || one.find_place().is_some_and(|place| other.find_place() == Some(place))
            }
            _ => false,
        }
    }
}

/// A file that is not there yet stands in a folder that may be.
fn resolve_file(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let in_folder = || Some(folder.canonicalize().ok()?.join(file.file_name()?));
    file.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| file.to_owned())
}

impl PostgresAddress {
    pub(crate) fn driver_config(&self) -> Result<tokio_postgres::Config, Error> {
        self.url.parse().map_err(|error| Error::Address(format!("invalid Postgres address: {error}")))
    }

    /// The servers and the database, whoever logs in.
    fn find_place(&self) -> Option<(Vec<tokio_postgres::config::Host>, Vec<u16>, String)> {
        let config = self.driver_config().ok()?;
        let ports = if config.get_ports().is_empty() { vec![5432] } else { config.get_ports().to_vec() };
        // Without a name it is the login's.
        let name = config.get_dbname().or(config.get_user())?.to_owned();
        Some((config.get_hosts().to_vec(), ports, name))
    }
}

impl FromStr for DatabaseAddress {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(rest) = text.strip_prefix("sqlite:") {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            if path.is_empty() || path.starts_with(":memory:") {
                let hint =
                    "name a file, such as sqlite:munshi.db; an in-memory database would lose every message";
                return Err(Error::Address(format!("`{text}` can't be used: {hint}")));
            }
            return Ok(Self::sqlite(path));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            let address = split_root_certificate(text);
            address.driver_config()?;
            return Ok(Self::Postgres(address));
        }
        let shown = text.split(':').next().unwrap_or_default();
        Err(Error::Address(format!(
            "`{shown}:…` is not a supported database: use sqlite:FILE or postgres://USER@HOST/DATABASE"
        )))
    }
}

fn split_root_certificate(text: &str) -> PostgresAddress {
    let Some((base, query)) = text.split_once('?') else {
        return PostgresAddress { url: text.to_owned(), root_certificate: None };
    };
    let (ours, rest): (Vec<&str>, Vec<&str>) =
        query.split('&').partition(|pair| pair.starts_with("sslrootcert="));
    let root_certificate = ours.first().and_then(|pair| pair.split_once('=')).map(|(_, path)| path.into());
    let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
    PostgresAddress { url, root_certificate }
}

/// Never shows a password: neither in `user:password@` nor as a `password=` parameter.
impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(address) => {
                let (scheme, rest) = address.url.split_once("://").unwrap_or(("postgres", ""));
                let before_query = |text: &str| text.split('?').next().unwrap_or_default().to_owned();
                match rest.rsplit_once('@') {
                    Some((login, place)) => {
                        let user = login.split([':', '?']).next().unwrap_or_default();
                        let dots = if login.contains(':') { ":••••" } else { "" };
                        write!(f, "{scheme}://{user}{dots}@{}", before_query(place))
                    }
                    None => write!(f, "{scheme}://{}", before_query(rest)),
                }
            }
        }
    }
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresAddress(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_picks_the_engine() {
        assert_eq!("sqlite:a/b.db".parse::<DatabaseAddress>().unwrap(), DatabaseAddress::sqlite("a/b.db"));
        assert_eq!(
            "sqlite:///a/b.db".parse::<DatabaseAddress>().unwrap(),
            DatabaseAddress::sqlite("/a/b.db")
        );
        assert_eq!("postgres://h/d".parse::<DatabaseAddress>().unwrap().engine(), "postgres");
    }

    #[test]
    fn one_database_has_many_addresses() {
        let same = |one: &str, other: &str| {
            one.parse::<DatabaseAddress>().unwrap().is_same_database(&other.parse().unwrap())
        };
        assert!(same("postgres://a:x@h/d", "postgresql://b@h:5432/d?sslmode=require"));
        assert!(
            !same("postgres://a@h/d", "postgres://a@h/e") && !same("postgres://a@h/d", "postgres://a@i/d")
        );
        let here = std::env::current_dir().unwrap();
        assert!(same("sqlite:a.db", &format!("sqlite:{}/./a.db", here.display())));
        assert!(!same("sqlite:a.db", "sqlite:b.db") && !same("sqlite:a.db", "postgres://h/a.db"));
    }

    #[test]
    fn what_can_not_be_used_says_what_can() {
        for bad in
            ["", "sqlite:", "sqlite::memory:", "mysql://root:hunter2@h/d", "munshi.db", "postgres://h:x/d"]
        {
            let error = bad.parse::<DatabaseAddress>().unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        let error = "mysql://root:hunter2@h/d".parse::<DatabaseAddress>().unwrap_err().to_string();
        assert!(error.contains("use sqlite:FILE or postgres://"), "{error}");
    }

    #[test]
    fn a_password_is_never_shown() {
        for url in [
            "postgres://me:hunter2@h:5/d?sslmode=disable",
            "postgres://h/d?password=hunter2&user=me",
            "postgres://h/d?password=hunter2&user=me@here",
            "postgres://me:hunter2?x@h/d",
        ] {
            let shown = match url.parse::<DatabaseAddress>() {
                Ok(address) => format!("{address} {address:?}"),
                Err(error) => error.to_string(),
            };
            assert!(!shown.contains("hunter2"), "{shown}");
        }
        let shown = "postgres://me:hunter2@h:5/d".parse::<DatabaseAddress>().unwrap().to_string();
        assert_eq!(shown, "postgres://me:••••@h:5/d");
    }

    #[test]
    fn the_root_certificate_is_taken_out_for_us() {
        let DatabaseAddress::Postgres(address) =
            "postgres://h/d?sslmode=require&sslrootcert=/etc/ca.pem".parse::<DatabaseAddress>().unwrap()
        else {
            panic!("not Postgres")
        };
        assert_eq!(address.root_certificate, Some("/etc/ca.pem".into()));
        assert_eq!(address.url, "postgres://h/d?sslmode=require");
    }
}
