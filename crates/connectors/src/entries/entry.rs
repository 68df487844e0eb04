//! One connector as it is declared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use munshi_types::{ConsentPurposeName, Egress};
use serde::{Deserialize, Serialize};
use url::{Origin, Url};

use super::{MaybeSecret, ToolDeclaration};
use crate::openapi::{self, ServiceDocumentSource};

const LONGEST_TIMEOUT: u16 = 600;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConnectorEntry {
    /// The program and its arguments, for a connector that runs as our child.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Where the child runs; a folder of its own unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// Files and folders that the child may read, beside its own and what programs need to run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<PathBuf>,
    /// Files and folders that the child may read and write, beside its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<PathBuf>,
    /// Whether the child may listen on TCP ports of this machine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub listens: bool,
    /// All the child gets of an environment beside PATH and the like.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, MaybeSecret>,
    /// Streamable HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A service's OpenAPI document: an address, a whole path, or the document itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openapi: Option<String>,
    /// Where the document's operations are called, where that is not what it says itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The only places that are called, each a host, `host:port` or `http://host:port`; without it, those of `openapi` and
    /// `server`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What opens it, by the names of the document's security schemes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub logins: BTreeMap<String, MaybeSecret>,
    /// Sent as `Authorization: Bearer …`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<MaybeSecret>,
    /// Who we are to the service that lets people in, where it does not find that out by itself.
    #[serde(skip_serializing_if = "OAuthClientConfig::is_default")]
    pub client: OAuthClientConfig,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, MaybeSecret>,
    /// A part of this program, by its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// How long a call may take.
    #[serde(skip_serializing_if = "is_default_timeout")]
    pub timeout_seconds: u16,
    /// How long it may take to start and to say what it can do. A program with many parts takes its time on a small machine.
    #[serde(skip_serializing_if = "is_default_start")]
    pub start_seconds: u16,
    /// What happens where a look could carry away what a run knows. Without it each tool is asked about, unless somebody
    /// vouches for it and it says that it meets no open world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress: Option<Egress>,
    /// What its tools attach to their results is shown beside replies: codes to pay by, links, pictures.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shows: bool,
    /// What its tools say is told to the turn that asked and kept nowhere: health, public registries. Those that write are left
    /// out. A tool's own word comes first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
    /// What people have to have agreed to before its tools are called for them; a tool's own word comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<ConsentPurposeName>,
    /// What its tools do, by the server's own names for them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ToolDeclaration>,
}

/// Ourselves, as whoever runs the service that lets people in has noted us down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OAuthClientConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<MaybeSecret>,
    /// What is asked for, in place of what the service wants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

impl OAuthClientConfig {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for ConnectorEntry {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            folder: None,
            reads: Vec::new(),
            writes: Vec::new(),
            listens: false,
            environment: BTreeMap::new(),
            url: None,
            openapi: None,
            server: None,
            hosts: Vec::new(),
            logins: BTreeMap::new(),
            token: None,
            client: OAuthClientConfig::default(),
            headers: BTreeMap::new(),
            inside: None,
            timeout_seconds: 20,
            start_seconds: 60,
            egress: None,
            shows: false,
            transient: false,
            consent: None,
            tools: BTreeMap::new(),
        }
    }
}

fn is_default_timeout(seconds: &u16) -> bool {
    *seconds == ConnectorEntry::default().timeout_seconds
}

fn is_default_start(seconds: &u16) -> bool {
    *seconds == ConnectorEntry::default().start_seconds
}

/// How a connector is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectorTransport {
    Child,
    Http(Url),
    /// A document, and where its operations are called if the operator says so.
    OpenApi(ServiceDocumentSource, Option<Url>),
    Inside(String),
}

impl ConnectorEntry {
    /// Whether something on this machine itself is started or read for it. A document at an address is fetched as any page is.
    pub fn uses_machine(&self) -> bool {
        match self.resolve_transport() {
            Ok(ConnectorTransport::Http(_)) => false,
            Ok(ConnectorTransport::OpenApi(source, ..)) => matches!(source, ServiceDocumentSource::File(_)),
            Ok(ConnectorTransport::Child | ConnectorTransport::Inside(_)) | Err(_) => true,
        }
    }

    /// Whether the same is started and read for another.
    pub(super) fn uses_machine_as(&self, other: &Self) -> bool {
        let parts = |entry: &Self| {
            let Self { command, folder, reads, writes, listens, environment, inside, openapi, .. } =
                entry.clone();
            (command, folder, reads, writes, listens, environment, inside, openapi)
        };
        parts(self) == parts(other)
    }

    /// How it is reached, or what is wrong with it.
    pub fn resolve_transport(&self) -> Result<ConnectorTransport, String> {
        let seconds = [("timeout_seconds", self.timeout_seconds), ("start_seconds", self.start_seconds)];
        if let Some((key, _)) = seconds.iter().find(|(_, seconds)| !(1..=LONGEST_TIMEOUT).contains(seconds)) {
            return Err(format!("{key} must be 1 to {LONGEST_TIMEOUT}"));
        }
        if let Some(name) = self.environment.keys().find(|name| !is_variable(name)) {
            return Err(format!(
                "`{name}` is not a valid variable name: use letters, digits and underscores"
            ));
        }
        let takes_client = self.url.is_some() && self.asks_for_login();
        if !self.client.is_default() && !takes_client {
            return Err("client is only for a url without a token: it identifies Munshi at login".to_owned());
        }
        if self.client.secret.is_some() && self.client.id.is_none() {
            return Err("client.secret needs client.id".to_owned());
        }
        let is_document = self.server.is_some() || !self.hosts.is_empty() || !self.logins.is_empty();
        if is_document && self.openapi.is_none() {
            return Err("server, hosts and logins are only for an openapi document".to_owned());
        }
        match (self.command.first(), &self.url, &self.openapi, &self.inside) {
            (Some(program), None, None, None) => self.resolve_child(program),
            (None, Some(address), None, None) => self.resolve_http(address),
            (None, None, Some(document), None) => self.resolve_openapi(document),
            (None, None, None, Some(name)) => Ok(ConnectorTransport::Inside(name.clone())),
            (None, None, None, None) => {
                Err("set how to reach it: command = [\"program\", …], url = \"https://…\" or \
                                             openapi = \"https://…\""
                    .to_owned())
            }
            _ => Err("set exactly one of command, url, openapi and inside".to_owned()),
        }
    }

    /// What opens a door and stands there for everybody to read, by its key: it belongs into the vault.
    pub fn list_plain_secrets(&self) -> Vec<String> {
        let is_bare = |given: &&MaybeSecret| matches!(given, MaybeSecret::Plain(_));
        let own = [("token", &self.token), ("client.secret", &self.client.secret)];
        let own = own.into_iter().filter(|(_, given)| given.as_ref().filter(is_bare).is_some());
        let logins = self.logins.iter().filter(|(_, given)| is_bare(given));
        let is_shown = |name: &str| name.eq_ignore_ascii_case("authorization");
        let headers = self.headers.iter().filter(|(name, given)| is_bare(given) && is_shown(name));
        own.map(|(key, _)| key.to_owned())
            .chain(logins.map(|(name, _)| format!("logins.{name}")))
            .chain(headers.map(|(name, _)| format!("headers.{name}")))
            .collect()
    }

    /// Whether a value stands in it that may be a secret, and is not in the vault.
    pub fn holds_plain_values(&self) -> bool {
        let given = self.environment.values().chain(self.headers.values()).chain(self.logins.values());
        let mut given = given.chain(&self.token).chain(&self.client.secret);
        given.any(|value| matches!(value, MaybeSecret::Plain(_)))
    }

    /// Whose service it is, where somebody may log in there.
    pub(crate) fn origin(&self) -> Option<Origin> {
        Url::parse(self.url.as_deref()?).ok().map(|url| url.origin())
    }

    /// Whether it is nobody's but the service's own business how we are let in.
    pub fn asks_for_login(&self) -> bool {
        let is_said = |name: &String| name.eq_ignore_ascii_case("authorization");
        self.token.is_none() && !self.headers.keys().any(is_said)
    }

    /// Every path that is named for the child, with its key.
    pub(crate) fn named_paths(&self) -> Vec<(&'static str, &Path)> {
        let folder = self.folder.iter().map(|path| ("folder", path.as_path()));
        let reads = self.reads.iter().map(|path| ("reads", path.as_path()));
        let writes = self.writes.iter().map(|path| ("writes", path.as_path()));
        folder.chain(reads).chain(writes).collect()
    }

    fn has_child_settings(&self) -> bool {
        !self.environment.is_empty() || !self.named_paths().is_empty() || self.listens
    }

    fn resolve_openapi(&self, place: &str) -> Result<ConnectorTransport, String> {
        if self.has_child_settings() {
            return Err(
                "environment, folder, reads, writes and listens are only for a command; use logins and headers for a document"
                    .to_owned(),
            );
        }
        let source = match place.chars().next() {
            Some('/') => ServiceDocumentSource::File(place.into()),
            Some('{') => ServiceDocumentSource::Text(place.to_owned()),
            _ => ServiceDocumentSource::Web(parse_url("openapi", place)?),
        };
        let server = self.server.as_deref().map(|server| parse_url("server", server)).transpose()?;
        self.hosts.iter().try_for_each(|host| openapi::parse_host(host).map(|_| ()))?;
        Ok(ConnectorTransport::OpenApi(source, server))
    }

    fn resolve_child(&self, program: &str) -> Result<ConnectorTransport, String> {
        if program.is_empty() || self.command.iter().any(|part| part.contains('\0')) {
            return Err("command must begin with the program's name and contain no NUL".to_owned());
        }
        if self.token.is_some() || !self.headers.is_empty() {
            return Err(
                "token and headers are only for a url; pass secrets to a program by environment".to_owned()
            );
        }
        if let Some((key, _)) = self.named_paths().into_iter().find(|(_, path)| !path.is_absolute()) {
            return Err(format!("{key} must be an absolute path, such as /srv/files"));
        }
        Ok(ConnectorTransport::Child)
    }

    fn resolve_http(&self, address: &str) -> Result<ConnectorTransport, String> {
        if self.has_child_settings() {
            return Err(
                "environment, folder, reads, writes and listens are only for a command; use headers for a url"
                    .to_owned(),
            );
        }
        self::parse_url("url", address).map(ConnectorTransport::Http)
    }
}

fn parse_url(key: &str, text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("`{text}` is not a valid URL: {error}"))?;
    let fits = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    if !fits || !url.username().is_empty() || url.password().is_some() {
        return Err(format!(
            "{key} must begin with https:// or http:// and contain no password; set a token instead"
        ));
    }
    Ok(url)
}

fn is_variable(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') && name.bytes().all(fits)
}
