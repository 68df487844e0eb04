//! Operations from the command line: on the local database, or on a server. The same input, the same view, the same words.

use std::sync::Arc;
use std::time::Duration;

use munshi_config::Config;
use munshi_http::{HttpClientBuilder, ReachableAddresses, Url, read_body};
use munshi_identity::keys::ApiKeyCache;
use munshi_operations::{ActServicesSource, HouseCall, HouseServices, ListedOperation, find_operation};
use munshi_pack::operation::{
    IdempotencyKey, ListView, Operation, OperationCaller, OperationError, OperationErrorCode, OperationScope,
    OperationSpec, RouteMethod,
};
use munshi_types::{IdGenerator, SystemRandom, Tenant};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::operations::ConfiguredParts;
use munshi_wiring::packs;
use munshi_wiring::tools::build_act_services;
use serde_json::{Map, Value};

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

/// For one answer, from name lookup to the last byte.
const TIMEOUT: Duration = Duration::from_secs(60);
/// As many rows as one page may have.
pub(crate) const LARGEST_PAGE: u32 = 500;
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// A server whose operations are run instead of the local ones.
#[derive(Clone, Debug)]
pub(crate) struct ServerTarget {
    url: Url,
    key: String,
}

impl ServerTarget {
    /// A key goes over plain HTTP to this machine alone.
    pub(crate) fn new(url: &str, key: Option<String>) -> Result<Self> {
        let wrong = |what: String| CommandFailure::usage(what).hint("write it as https://munshi.example");
        let mut url = Url::parse(url).map_err(|error| wrong(format!("--server is no URL: {error}")))?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        if has_user || url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("--server takes no user, query or fragment".to_owned()));
        }
        // The name could lead elsewhere.
        if url.scheme() == "http" && url.host_str() == Some("localhost") {
            url.set_host(Some("127.0.0.1")).map_err(|error| wrong(format!("--server is no URL: {error}")))?;
        }
        let is_loopback = match url.host_str() {
            Some(host) => {
                let bare = host.trim_start_matches('[').trim_end_matches(']');
                bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
            }
            None => false,
        };
        match url.scheme() {
            "https" => {}
            "http" if is_loopback => {}
            "http" => {
                return Err(wrong(
                    "--server takes plain HTTP to this machine only: a key would be readable".to_owned(),
                ));
            }
            other => return Err(wrong(format!("--server does not speak {other}"))),
        }
        let key = key.filter(|key| !key.trim().is_empty()).ok_or_else(|| {
            CommandFailure::usage("--server needs an API key").hint("set MUNSHI_KEY, or use --server-key")
        })?;
        Ok(Self { url, key: key.trim().to_owned() })
    }
}

/// Whether a local database must be there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LocalTables {
    Required,
    MadeIfMissing,
}

/// Which tenant, and who asks.
pub(crate) struct OperationTarget<'a> {
    pub(crate) of: &'a TenantSelectorArguments,
    /// None where nothing is written.
    pub(crate) operator: Option<&'a OperatorArguments>,
}

impl<'a> OperationTarget<'a> {
    /// What belongs to no tenant.
    pub(crate) fn installation(operator: Option<&'a OperatorArguments>) -> Self {
        static NONE: TenantSelectorArguments = TenantSelectorArguments::none();
        Self { of: &NONE, operator }
    }
}

impl CommandContext {
    /// Runs an operation where it is to be run.
    pub(crate) fn run_operation<O: Operation<HouseServices>>(
        &self,
        target: &OperationTarget<'_>,
        input: &O::Input,
    ) -> Result<O::View> {
        self.run_typed::<O>(target, input, LocalTables::Required)
    }

    /// The same for what may come first on a machine: it makes the tables where there are none.
    pub(crate) fn run_operation_on_new<O: Operation<HouseServices>>(
        &self,
        target: &OperationTarget<'_>,
        input: &O::Input,
    ) -> Result<O::View> {
        self.run_typed::<O>(target, input, LocalTables::MadeIfMissing)
    }

    fn run_typed<O: Operation<HouseServices>>(
        &self,
        target: &OperationTarget<'_>,
        input: &O::Input,
        tables: LocalTables,
    ) -> Result<O::View> {
        let entry = find_operation(&O::SPEC);
        let entry = entry.ok_or_else(|| CommandFailure::failed("the operation is not listed"))?;
        let input = serde_json::to_value(input).map_err(|error| CommandFailure::failed(error.to_string()))?;
        let view = self.run_entry_on(target, &entry, input, tables)?;
        serde_json::from_value(view).map_err(|error| {
            CommandFailure::failed(format!("the answer can't be read: {error}"))
                .hint("check that this program and the server have the same version")
        })
    }

    /// All pages of a list, for commands that show it whole.
    pub(crate) fn run_whole_list<O, T>(
        &self,
        target: &OperationTarget<'_>,
        page_after: impl Fn(Option<String>) -> Result<O::Input>,
    ) -> Result<ListView<T>>
    where
        O: Operation<HouseServices, View = ListView<T>>,
    {
        let mut all = self.run_operation::<O>(target, &page_after(None)?)?;
        while let Some(next) = all.next.take() {
            let page = self.run_operation::<O>(target, &page_after(Some(next))?)?;
            all.items.extend(page.items);
            all.next = page.next;
        }
        Ok(all)
    }

    /// The same by what a list knows of it.
    pub(crate) fn run_entry(
        &self,
        target: &OperationTarget<'_>,
        entry: &ListedOperation,
        input: Value,
    ) -> Result<Value> {
        self.run_entry_on(target, entry, input, LocalTables::Required)
    }

    fn run_entry_on(
        &self,
        target: &OperationTarget<'_>,
        entry: &ListedOperation,
        input: Value,
        tables: LocalTables,
    ) -> Result<Value> {
        match &self.server {
            Some(server) => {
                let key = self.next_idempotency_key(&entry.spec);
                self.block_on(async { ask_server(server, target, &entry.spec, input, key).await })
            }
            None => {
                let config = Arc::new(self.config()?);
                let database = ConfiguredDatabase::single_connection(&config)?;
                self.block_on(async {
                    let db = match tables {
                        LocalTables::Required => database.open().await?,
                        LocalTables::MadeIfMissing => database.open_or_create(&config, self.now()).await?,
                    };
                    let parts = ConfiguredParts::new(config.clone(), db.clone(), self.clock.clone());
                    let tenant = match (entry.spec.needs.scope(), target.of.name()) {
                        (OperationScope::Installation, _) | (OperationScope::Either, None) => {
                            Tenant::installation()
                        }
                        (OperationScope::Tenant | OperationScope::Either, _) => target.of.find(&db).await?,
                    };
                    let somebody = OperatorArguments::new("somebody");
                    let operator = target.operator.unwrap_or(&somebody);
                    let actor = operator.resolve_actor(self, &db, tenant.id).await?;
                    let call = HouseCall {
                        services: HouseServices {
                            keys: ApiKeyCache::new(db.clone(), self.clock.clone()),
                            engine: None,
                            act_services: self.act_services_source(config),
                            parts: Arc::new(parts),
                        },
                        db,
                        ids: IdGenerator::system(),
                        random: Arc::new(SystemRandom),
                        now: self.now(),
                        caller: OperationCaller::machine(actor),
                        tenant,
                        idempotency: IdempotencyKey::new(self.next_idempotency_key(&entry.spec)),
                    };
                    Ok(entry.execute(&call, input).await?)
                })
            }
        }
    }
}

impl CommandContext {
    /// As the server decides acts, with what packs want to hear of a refusal.
    fn act_services_source(&self, config: Arc<Config>) -> ActServicesSource {
        let clock = self.clock.clone();
        Arc::new(move || {
            let packs =
                packs::load_registry().map_err(|failure| OperationError::internal(failure.message))?;
            Ok(Arc::new(build_act_services(&config, clock.clone()).on_refusal(packs)))
        })
    }
}

async fn ask_server(
    server: &ServerTarget,
    target: &OperationTarget<'_>,
    spec: &OperationSpec,
    input: Value,
    key: Option<String>,
) -> Result<Value> {
    let failed = |what: String| CommandFailure::failed(format!("can't reach {}: {what}", server.url));
    let client = HttpClientBuilder::new().and_then(|builder| builder.build(TIMEOUT, ReachableAddresses::Any));
    let client = client.map_err(|error| failed(error.to_string()))?;
    let (url, rest) = build_url(server, spec, input)?;
    let mut request = match spec.method {
        RouteMethod::Get => client.get(url),
        RouteMethod::Create | RouteMethod::Post => client.post(url),
        RouteMethod::Patch => client.patch(url),
    };
    request = request.bearer_auth(&server.key).timeout(TIMEOUT);
    if let Some(tenant) = target.of.name() {
        request = request.header("x-munshi-tenant", tenant.as_str());
    }
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    if let Some(body) = rest {
        request = request.header("content-type", "application/json").body(Value::Object(body).to_string());
    }
    let mut response =
        request.send().await.map_err(|error| failed(munshi_http::list_causes(&error).join(": ")))?;
    let status = response.status();
    let mut body = Vec::new();
    let read = read_body(&mut response, LARGEST_ANSWER, &mut body).await;
    read.map_err(|error| failed(error.to_string()))?;
    let body: Option<Value> = serde_json::from_slice(&body).ok();
    match body {
        Some(view) if status.is_success() => Ok(view),
        body => Err(read_refusal(status.as_u16(), &body.unwrap_or_default())),
    }
}

/// Where the operation is, and what is sent besides.
fn build_url(
    server: &ServerTarget,
    spec: &OperationSpec,
    input: Value,
) -> Result<(Url, Option<Map<String, Value>>)> {
    let Value::Object(mut fields) = input else {
        return Err(CommandFailure::failed("an operation's input is an object"));
    };
    // In a body null may say something; a query has no word for it.
    if spec.method == RouteMethod::Get {
        fields.retain(|_, value| !value.is_null());
    }
    let mut url = server.url.clone();
    {
        let mut segments = url
            .path_segments_mut()
            .map_err(|()| CommandFailure::usage("--server has no path that a route could follow"))?;
        segments.pop_if_empty();
        for part in spec.path.split('/').filter(|part| !part.is_empty()) {
            match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
                Some(field) => {
                    let text = to_text(&fields.remove(field).unwrap_or_default());
                    if matches!(text.as_str(), "" | "." | "..") {
                        return Err(CommandFailure::usage(format!(
                            "`{text}` can't be asked for on a server"
                        )));
                    }
                    segments.push(&text)
                }
                None => segments.push(part),
            };
        }
    }
    if spec.method != RouteMethod::Get {
        return Ok((url, (!fields.is_empty()).then_some(fields)));
    }
    for (name, value) in &fields {
        url.query_pairs_mut().append_pair(name, &to_text(value));
    }
    Ok((url, None))
}

fn to_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The server's words, as the same operation says them here.
fn read_refusal(status: u16, body: &Value) -> CommandFailure {
    let error = &body["error"];
    let (Some(code), Some(message)) = (error["code"].as_str(), error["message"].as_str()) else {
        return CommandFailure::failed(format!("the server answered with status {status}"))
            .hint("check that --server leads to a Munshi server");
    };
    let known = match code {
        // What stands in a URL; the same operation calls it invalid.
        "bad_request" | "too_large" => Some(OperationErrorCode::Invalid),
        "timeout" | "slow_request" => Some(OperationErrorCode::Unavailable),
        code => OperationErrorCode::ALL.into_iter().find(|known| known.as_str() == code),
    };
    let mut refused = OperationError::new(known.unwrap_or(OperationErrorCode::Internal), message);
    refused.problems = error.get("problems").filter(|problems| problems.is_array()).cloned();
    match error["hint"].as_str() {
        Some(hint) => refused.hint(hint).into(),
        None => refused.into(),
    }
}

#[cfg(test)]
mod tests {
    use munshi_operations::keys::{KeyInput, ListKeys, RevokeKey};
    use munshi_pack::operation::ListInput;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_sent_in_the_clear_to_this_machine_alone() {
        let key = || Some("mk_1".to_owned());
        for good in
            ["https://munshi.example", "http://127.0.0.1:8080", "http://localhost:1/x/", "http://[::1]:80"]
        {
            assert!(ServerTarget::new(good, key()).is_ok(), "{good}");
        }
        for bad in [
            "http://munshi.example",
            "http://10.0.0.1",
            "ftp://127.0.0.1",
            "munshi.example",
            "http://localhost.evil.example",
            "https://u:p@munshi.example",
            "https://munshi.example/?x",
        ] {
            assert!(ServerTarget::new(bad, key()).is_err(), "{bad}");
        }
        assert!(ServerTarget::new("https://munshi.example", None).is_err());
    }

    #[test]
    fn an_input_becomes_a_request() {
        let server = ServerTarget::new("https://munshi.example/shop", Some("mk_1".to_owned())).unwrap();
        let input = json!(KeyInput { id: "till & more/..".to_owned() });
        let (url, body) = build_url(&server, &RevokeKey::SPEC, input).unwrap();
        assert_eq!(url.as_str(), "https://munshi.example/shop/v1/keys/till%20&%20more%2F../revoke");
        assert!(body.is_none());
        let input = json!(ListInput { limit: Some(50), ..ListInput::default() });
        let (url, body) = build_url(&server, &ListKeys::SPEC, input).unwrap();
        assert_eq!((url.as_str(), body), ("https://munshi.example/shop/v1/keys?limit=50", None));
    }
}
