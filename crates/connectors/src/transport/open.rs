//! Starting a connector, whichever way it is reached.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use munshi_http::{AllowedHosts, GuardedHttpClients};
use munshi_mcp::{BearerCredential, HandshakeMode, McpClient, McpHttpEndpoint, serve_stream};
use munshi_privacy::Scrubber;
use munshi_safety::vault::Vault;
use munshi_types::{ConnectorName, TenantId};
use tokio::io::{AsyncRead, AsyncWrite, duplex};
use tokio::time::{Instant, timeout};
use tokio_util::task::TaskTracker;
use url::Url;

use super::InProcessConnector;
use super::child::{ChildProcess, ChildSpec};
use super::logs::ConnectorLog;
use super::session::{ConnectorConnection, ConnectorSession};
use crate::confine::{ChildCommand, ConfinedCommand, Confinement};
use crate::entries::{ConnectorEntry, ConnectorTransport, MaybeSecret};
use crate::error::{Error, Result};
use crate::login::{ConnectorCredential, ConnectorLogins};
use crate::openapi::{self, OpenApiService, OpenApiServiceParts, ServiceAddresses, ServiceDocumentSource};

/// What a line in the process holds before its writer waits.
const LINE: usize = 64 * 1024;

/// What every connector is opened with.
pub(crate) struct ConnectorServices {
    /// None where there is no vault: then no connector gets a secret.
    pub vault: Option<Vault>,
    /// All that a child inherits: PATH and the like.
    pub basics: Vec<(OsString, OsString)>,
    pub confinement: Confinement,
    pub allowed: AllowedHosts,
    /// None where nobody can log in.
    pub logins: Option<ConnectorLogins>,
    pub inside: BTreeMap<String, Arc<dyn InProcessConnector>>,
    /// For what reads a child's errors, and for parts of this program.
    pub tasks: TaskTracker,
}

/// One connector to be opened.
pub(crate) struct ConnectorOpenRequest<'a> {
    pub way: &'a ConnectorServices,
    pub tenant: TenantId,
    pub entry: &'a ConnectorEntry,
    /// What lets us in, where its service asks for that.
    pub pass: Option<Arc<ConnectorCredential>>,
    /// The child's own folder.
    pub home: PathBuf,
    pub log: ConnectorLog,
    pub greeting: HandshakeMode,
}

/// Values with secrets in their place, and what hides those.
struct Filled {
    values: BTreeMap<String, String>,
    token: Option<String>,
    logins: BTreeMap<String, String>,
    scrubber: Scrubber,
}

impl ConnectorServices {
    /// What lets us into a connector, where its service may ask for that.
    pub(crate) fn build_credential(
        &self,
        tenant: TenantId,
        name: &ConnectorName,
        entry: &ConnectorEntry,
    ) -> Option<Arc<ConnectorCredential>> {
        let logins = self.logins.as_ref().filter(|_| entry.asks_for_login())?;
        let url = Url::parse(entry.url.as_deref()?).ok()?;
        Some(ConnectorCredential::new(logins.clone(), tenant, name.to_string(), url))
    }

    /// Whether a connector is a child that is confined.
    pub(crate) fn confines(&self, entry: &ConnectorEntry) -> bool {
        !entry.command.is_empty() && self.confinement.launcher.is_some()
    }
}

impl ConnectorOpenRequest<'_> {
    /// Within the time it has, or not at all.
    pub(crate) async fn open(&self) -> Result<(ConnectorConnection, Scrubber)> {
        let limit = Duration::from_secs(u64::from(self.entry.start_seconds));
        let begun = Instant::now();
        let filled = self.resolve_secrets().await?;
        let opened = timeout(limit, self.connect(&filled))
            .await
            .map_err(|_| Error::TooSlow(format!("no answer within {} s of starting", limit.as_secs())))?;
        let (session, manifest) = opened?;
        Ok((ConnectorConnection { session, manifest, took: begun.elapsed() }, filled.scrubber))
    }

    async fn connect(
        &self,
        filled: &Filled,
    ) -> Result<(Arc<ConnectorSession>, crate::manifest::ConnectorManifest)> {
        match self.entry.resolve_transport().map_err(Error::Invalid)? {
            ConnectorTransport::Child => self.connect_child(filled).await,
            ConnectorTransport::Http(url) => self.connect_http(&url, filled).await,
            ConnectorTransport::OpenApi(source, server) => self.connect_openapi(source, server, filled).await,
            ConnectorTransport::Inside(name) => self.connect_in_process(&name).await,
        }
    }

    async fn resolve_secrets(&self) -> Result<Filled> {
        let mut values = BTreeMap::new();
        let mut opened = Vec::new();
        for (name, given) in self.entry.environment.iter().chain(&self.entry.headers) {
            values.insert(name.clone(), self.resolve_value(given, &mut opened).await?);
        }
        let token = match &self.entry.token {
            Some(given) => Some(self.resolve_value(given, &mut opened).await?),
            None => None,
        };
        let mut logins = BTreeMap::new();
        for (name, given) in &self.entry.logins {
            let value = self.resolve_value(given, &mut opened).await?;
            if let MaybeSecret::Secret(_) = given {
                opened.extend(split_secrets(&value).map(str::to_owned));
            }
            logins.insert(name.clone(), value);
        }
        if let Some(pass) = &self.pass {
            pass.redact_secrets(&opened);
        }
        Ok(Filled { values, token, logins, scrubber: Scrubber::new(opened) })
    }

    async fn resolve_value(&self, given: &MaybeSecret, opened: &mut Vec<String>) -> Result<String> {
        match (given, &self.way.vault) {
            (MaybeSecret::Plain(text), _) => Ok(text.clone()),
            (MaybeSecret::Secret(name), Some(vault)) => {
                let secret = vault.open(self.tenant, name).await?;
                opened.push(secret.expose().to_owned());
                Ok(secret.expose().to_owned())
            }
            (MaybeSecret::Secret(name), None) => {
                Err(Error::Invalid(format!("{name} can't be opened: no vault is configured")))
            }
        }
    }

    async fn connect_child(
        &self,
        filled: &Filled,
    ) -> Result<(Arc<ConnectorSession>, crate::manifest::ConnectorManifest)> {
        self.way.confinement.admit_child().await?;
        let isolated = self.way.confinement.probe_isolation().await;
        if let (Err(why), true) = (&isolated, self.way.confines(self.entry)) {
            static TOLD: std::sync::Once = std::sync::Once::new();
            TOLD.call_once(|| {
                tracing::warn!(why, "connector programs can reach sockets of this user's services");
            });
        }
        let starting = self.build_child_spec(filled, isolated.is_ok())?;
        if !self.way.confines(self.entry) {
            tracing::warn!(command = ?self.entry.command.first(), "connector program runs unconfined");
        }
        let (child, streams) = ChildProcess::start(&starting)?;
        let (log, scrubber) = (self.log.clone(), filled.scrubber.clone());
        self.way.tasks.spawn(async move { log.drain(streams.errors, &scrubber).await });
        self.connect_streams(Box::new(streams.output), Box::new(streams.input), Some(child)).await
    }

    /// The command, behind the launcher where there is one.
    fn build_child_spec(&self, filled: &Filled, is_isolated: bool) -> Result<ChildSpec> {
        let bad = |error: std::io::Error| Error::Invalid(format!("its folder can't be created: {error}"));
        // It lies in the child's own folder, so that nothing of others is ever in it.
        let scratch = self.home.join("tmp");
        std::fs::create_dir_all(&scratch).map_err(bad)?;
        let own = [("HOME", &self.home), ("TMPDIR", &scratch)];
        let own = own.map(|(name, path)| (OsString::from(name), path.clone().into_os_string()));
        let named = filled.values.iter().map(|(name, value)| (name.into(), value.into()));
        // What is named comes last: it may say HOME and PATH differently.
        let environment: Vec<_> = self.way.basics.iter().cloned().chain(own).chain(named).collect();
        let folder = self.entry.folder.clone().unwrap_or_else(|| self.home.clone());
        std::fs::create_dir_all(&folder).map_err(bad)?;
        let confinement = &self.way.confinement;
        let Some(launcher) = &confinement.launcher else {
            let (program, arguments) = self
                .entry
                .command
                .split_first()
                .ok_or_else(|| Error::Invalid("the command is missing".to_owned()))?;
            let arguments = arguments.iter().map(Into::into).collect();
            return Ok(ChildSpec { program: program.into(), arguments, folder, environment });
        };
        let (entry, home) = (self.entry, self.home.as_path());
        let command = ChildCommand { entry, home, folder: &folder, environment: &environment, is_isolated };
        let ConfinedCommand { program, arguments, environment } = command.confine(launcher, confinement)?;
        Ok(ChildSpec { program, arguments, folder, environment })
    }

    async fn connect_in_process(
        &self,
        name: &str,
    ) -> Result<(Arc<ConnectorSession>, crate::manifest::ConnectorManifest)> {
        let part = self.way.inside.get(name).cloned();
        let part = part
            .ok_or_else(|| Error::Invalid(format!("this program has no built-in connector named {name}")))?;
        let (ours, theirs) = duplex(LINE);
        self.way.tasks.spawn(async move { part.serve(theirs).await });
        let (read, write) = tokio::io::split(ours);
        self.connect_streams(Box::new(read), Box::new(write), None).await
    }

    async fn connect_openapi(
        &self,
        source: ServiceDocumentSource,
        server: Option<Url>,
        filled: &Filled,
    ) -> Result<(Arc<ConnectorSession>, crate::manifest::ConnectorManifest)> {
        let mut headers: HeaderMap = parse_headers(&filled.values)?.into_iter().collect();
        if let Some(token) = &filled.token {
            let bad = |_| {
                Error::Invalid(
                    "the token can't be sent: it contains characters that a header can't hold".to_owned(),
                )
            };
            let mut value = HeaderValue::from_str(&format!("Bearer {token}")).map_err(bad)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let always = !headers.is_empty();
        let slowest = self.entry.tools.values().filter_map(|tool| tool.timeout_seconds).max();
        let limit = self.entry.timeout_seconds.max(slowest.unwrap_or_default());
        let parts = OpenApiServiceParts {
            clients: GuardedHttpClients::new(self.way.allowed.clone())?,
            places: ServiceAddresses { source, server, hosts: self.entry.hosts.clone() },
            logins: openapi::ServiceCredentialSet { named: filled.logins.clone(), always },
            headers,
            limit: Duration::from_secs(u64::from(limit)),
        };
        let (service, left_out) = OpenApiService::open(parts).await?;
        for (operation, why) in left_out {
            self.log.write_line(&format!("munshi: {operation} skipped: {why}"), &filled.scrubber).await;
        }
        let (ours, theirs) = duplex(LINE);
        self.way.tasks.spawn(serve_stream(Arc::new(service), theirs));
        let (read, write) = tokio::io::split(ours);
        self.connect_streams(Box::new(read), Box::new(write), None).await
    }

    async fn connect_streams(
        &self,
        read: Box<dyn AsyncRead + Send + Unpin>,
        write: Box<dyn AsyncWrite + Send + Unpin>,
        child: Option<ChildProcess>,
    ) -> Result<(Arc<ConnectorSession>, crate::manifest::ConnectorManifest)> {
        let client = McpClient::connect_streams(read, write, self.greeting).await?;
        ConnectorSession::open(client, child).await
    }

    async fn connect_http(
        &self,
        url: &Url,
        filled: &Filled,
    ) -> Result<(Arc<ConnectorSession>, crate::manifest::ConnectorManifest)> {
        if let Some(why) = self.way.allowed.find_refusal(url) {
            return Err(Error::Invalid(why));
        }
        let clients = GuardedHttpClients::new(self.way.allowed.clone())?;
        let endpoint = McpHttpEndpoint {
            client: clients.select(url).clone(),
            url: url.to_string(),
            headers: parse_headers(&filled.values)?,
            token: filled.token.clone(),
            credential: self.pass.clone().map(|pass| pass as Arc<dyn BearerCredential>),
        };
        ConnectorSession::open(McpClient::connect_http(endpoint, self.greeting).await?, None).await
    }
}

/// What is secret by itself in `user:password`: the password, and a user that is a key in truth.
fn split_secrets(login: &str) -> impl Iterator<Item = &str> {
    const KEY: usize = 16;
    let (user, password) = login.split_once(':').unwrap_or_default();
    let is_key = password.is_empty() || user.len() >= KEY;
    [Some(password), is_key.then_some(user)].into_iter().flatten()
}

fn parse_headers(values: &BTreeMap<String, String>) -> Result<HashMap<HeaderName, HeaderValue>> {
    let mut headers = HashMap::new();
    for (name, value) in values {
        let bad =
            || Error::Invalid(format!("`{name}` is not a valid header name, or its value is not valid"));
        let header: HeaderName = name.parse().map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}
