//! Where one pack puts what it has, under its own name.

use std::sync::Arc;

use munshi_identity::keys::ApiAccess;
use munshi_jobs::schedule::Schedule;
use munshi_lang::{Locale, Phrasebook};
use munshi_tools::{ConnectorOrigin, ToolConnector, ToolHandler};
use munshi_types::{Conduct, ScopeGlob, ToolSpec};

use crate::check::PackCheck;
use crate::command::{self, PackCommand};
use crate::context::ContextSource;
use crate::error::InvalidPack;
use crate::heartbeat::Heartbeat;
use crate::interfaces::PackInterface;
use crate::job::{PackJob, PackJobEntry};
use crate::operation::{CallerClass, Operation, OperationEntry, OperationSpec, PackServices, RouteMethod};
use crate::page::PackPageHandler;
use crate::poll::PackPoll;
use crate::reader::PackReader;
use crate::registry::{FromPack, PackRegistry};
use crate::run_kind::RunKind;
use crate::run_starter::ToolRuns;
use crate::schedule::PackScheduleTime;
use crate::subjects::SubjectRecords;
use crate::tenant_template::{self, TenantTemplate};
use crate::turn_hook::TurnHook;
use crate::webhook::PackWebhook;

/// The pack's part of the registry while it is installed. What is put in belongs to the pack, and what would clash with
/// another's, or can't work, is refused here.
pub struct PackInstaller<'h> {
    pack: &'static str,
    conduct: Conduct,
    packs: &'h mut PackRegistry,
}

impl<'h> PackInstaller<'h> {
    pub(crate) fn new(pack: &'static str, conduct: Conduct, packs: &'h mut PackRegistry) -> Self {
        Self { pack, conduct, packs }
    }

    /// A tool that works on the pack's own tables. Its scope begins with the pack's name, so that a policy that opens
    /// one pack opens no other.
    pub fn add_tool(&mut self, spec: ToolSpec, body: ToolHandler) -> Result<(), InvalidPack> {
        let (name, conduct) = (self.pack.to_owned(), Some(self.conduct.clone()));
        self.register_tool(
            spec,
            ToolConnector { name, origin: ConnectorOrigin::BuiltIn, declares: true, conduct },
            body,
        )
    }

    /// A tool that goes elsewhere, under the connector it belongs to.
    pub fn add_foreign_tool(
        &mut self,
        spec: ToolSpec,
        connector: ToolConnector,
        body: ToolHandler,
    ) -> Result<(), InvalidPack> {
        if connector.origin != ConnectorOrigin::Foreign || connector.name == self.pack {
            return self.reject(format!("connector {} is not foreign", connector.name));
        }
        self.register_tool(spec, connector, body)
    }

    fn register_tool(
        &mut self,
        spec: ToolSpec,
        connector: ToolConnector,
        body: ToolHandler,
    ) -> Result<(), InvalidPack> {
        self.validate_scope(&spec.scope)?;
        self.packs
            .tools
            .add_of_pack(self.pack, spec, connector, body)
            .map_err(|bad| InvalidPack::Tool { pack: self.pack.to_owned(), bad })
    }

    pub fn add_context_source(&mut self, source: impl ContextSource + 'static) {
        self.packs.contexts.push(FromPack { pack: self.pack, what: Arc::new(source) });
    }

    pub fn add_reader(&mut self, reader: impl PackReader + 'static) {
        self.packs.readers.push(FromPack { pack: self.pack, what: Arc::new(reader) });
    }

    pub fn add_check(&mut self, check: impl PackCheck + 'static) {
        self.packs.checks.push(FromPack { pack: self.pack, what: Arc::new(check) });
    }

    /// The files that [`phrase_files!`](munshi_lang::phrase_files) names: in every voice, with the same slots, each
    /// name beginning with the pack's. Gives the pack's own book.
    pub fn add_phrases(&mut self, files: &[(Locale, &str)]) -> Result<Phrasebook, InvalidPack> {
        let bad = |why| InvalidPack::Phrases { pack: self.pack.to_owned(), why };
        let mut own = Phrasebook::default();
        own.add_files(files).and_then(|()| own.check()).map_err(bad)?;
        let prefix = format!("{}-", self.pack);
        if let Some(name) = own.names().find(|name| !name.starts_with(&prefix)) {
            return self.reject(format!("phrase `{name}` must start with `{prefix}`"));
        }
        self.packs.book.add_book(&own).map_err(bad)?;
        Ok(own)
    }

    /// A kind of job, as the pack itself enqueues it or a schedule does.
    pub fn add_job<J: PackJob>(&mut self, job: J) -> Result<(), InvalidPack> {
        let kind = J::KIND.name();
        let word = kind.strip_prefix(self.pack).and_then(|rest| rest.strip_prefix('.'));
        if !word.is_some_and(is_plain) {
            return self.reject(format!("job kind `{kind}` must be `{}.` and a plain word", self.pack));
        }
        if self.packs.jobs.iter().any(|other| other.kind.name() == kind) {
            return self.reject(format!("duplicate job kind {kind}"));
        }
        self.packs.jobs.push(PackJobEntry::new(self.pack, job));
        Ok(())
    }

    /// Has a job made by the clock for every active tenant: once, whatever number of nodes there are, and once for all the
    /// times that were missed while none was up. While the last one is waiting or running, no other is made.
    pub fn add_schedule<J: PackJob>(
        &mut self,
        name: &str,
        time: PackScheduleTime,
        payload: &J::Payload,
    ) -> Result<(), InvalidPack> {
        let (full_name, kind) = (format!("{}.{name}", self.pack), J::KIND.name());
        let is_taken = self.packs.schedules.iter().any(|other| other.name == full_name);
        self.validate_name(name, is_taken, "schedule")?;
        if !self.packs.jobs.iter().any(|job| job.pack == self.pack && job.kind.name() == kind) {
            return self.reject(format!("schedule {name}: add its job {kind} first"));
        }
        let rule = time.to_rule().or_else(|why| self.reject(format!("schedule {name}: {why}")))?;
        let schedule = Schedule::new(full_name, kind, payload, rule)
            .or_else(|error| self.reject(format!("schedule {name}: {error}")))?;
        self.packs.schedules.push(schedule);
        Ok(())
    }

    pub fn add_heartbeat(&mut self, heartbeat: impl Heartbeat + 'static) -> Result<(), InvalidPack> {
        let name = heartbeat.name();
        let is_taken = self.packs.heartbeats.iter().any(|of| of.pack == self.pack && of.what.name() == name);
        self.validate_name(name, is_taken, "heartbeat")?;
        heartbeat.schedule().to_rule().or_else(|why| self.reject(format!("heartbeat {name}: {why}")))?;
        self.packs.heartbeats.push(FromPack { pack: self.pack, what: Arc::new(heartbeat) });
        Ok(())
    }

    pub fn add_run_kind(&mut self, kind: impl RunKind + 'static) -> Result<(), InvalidPack> {
        let name = kind.name();
        let is_taken = self.packs.run_kinds.iter().any(|of| of.pack == self.pack && of.what.name() == name);
        self.validate_name(name, is_taken, "run kind")?;
        if let Some(scope) = kind.scopes().iter().find(|scope| scope.parse::<ScopeGlob>().is_err()) {
            return self.reject(format!("run kind {name}: `{scope}` is not a scope"));
        }
        self.packs.run_kinds.push(FromPack { pack: self.pack, what: Arc::new(kind) });
        Ok(())
    }

    /// How the pack's tools begin runs on behalf of those who use them.
    pub fn tool_runs(&self) -> ToolRuns {
        self.packs.tool_runs.clone()
    }

    /// An address where others send something, `/hooks/TENANT/PACK/NAME`.
    pub fn add_webhook(&mut self, webhook: impl PackWebhook + 'static) -> Result<(), InvalidPack> {
        let name = webhook.name();
        self.validate_name(name, self.packs.find_webhook(self.pack, name).is_some(), "webhook")?;
        self.validate_name(webhook.source(), false, "source")?;
        let has_capital = |header: &&&str| header.chars().any(|letter| letter.is_ascii_uppercase());
        if let Some(header) = webhook.kept_headers().iter().find(has_capital) {
            return self.reject(format!("webhook {name}: write the header {header} in small letters"));
        }
        self.packs.webhooks.push(FromPack { pack: self.pack, what: Arc::new(webhook) });
        Ok(())
    }

    /// Asks others for what is new, for every active tenant, one poll of a tenant at a time.
    pub fn add_poll(&mut self, poll: impl PackPoll + 'static) -> Result<(), InvalidPack> {
        let name = poll.name();
        self.validate_name(name, self.packs.find_poll(self.pack, name).is_some(), "poll")?;
        self.validate_name(poll.source(), false, "source")?;
        poll.schedule().to_rule().or_else(|why| self.reject(format!("poll {name}: {why}")))?;
        self.packs.polls.push(FromPack { pack: self.pack, what: Arc::new(poll) });
        Ok(())
    }

    /// Something that other packs may use, as `PACK.NAME`.
    pub fn offer_interface<T: ?Sized + Send + Sync + 'static>(
        &mut self,
        name: &str,
        what: Arc<T>,
    ) -> Result<(), InvalidPack> {
        let is_new = self.packs.interfaces.offer(format!("{}.{name}", self.pack), what);
        self.validate_name(name, !is_new, "interface")
    }

    /// What another pack offers, `ledger.stock`. Without it, or where it is something else, nothing starts. It is there when all
    /// packs are in: two packs may need each other.
    pub fn require_interface<T: ?Sized + Send + Sync + 'static>(&mut self, name: &str) -> PackInterface<T> {
        self.packs.interfaces.ask(self.pack, name)
    }

    /// Something that is done when a turn has ended.
    pub fn add_turn_hook(&mut self, hook: impl TurnHook + 'static) {
        self.packs.turn_hooks.push(FromPack { pack: self.pack, what: Arc::new(hook) });
    }

    /// Whom the pack's tables know, so that they can be forgotten.
    pub fn add_subject_records(&mut self, records: impl SubjectRecords + 'static) -> Result<(), InvalidPack> {
        let name = records.name();
        let is_taken = self.packs.subjects.iter().any(|of| of.pack == self.pack);
        self.validate_name(name, is_taken, "kind of subject records")?;
        self.packs.subjects.push(FromPack { pack: self.pack, what: Arc::new(records) });
        Ok(())
    }

    pub fn add_page(&mut self, page: impl PackPageHandler + 'static) -> Result<(), InvalidPack> {
        let path = page.path();
        self.validate_scope(page.scope())?;
        page.write_scope().map_or(Ok(()), |scope| self.validate_scope(scope))?;
        if !path.is_empty() && !path.split('/').all(is_plain) {
            return self.reject(format!(
                "page `{path}` has an invalid path: use lowercase letters, digits and hyphens"
            ));
        }
        if self.packs.pages.iter().any(|of| of.pack == self.pack && of.what.path() == path) {
            return self.reject(format!("duplicate page `{path}`"));
        }
        self.packs.pages.push(FromPack { pack: self.pack, what: Arc::new(page) });
        Ok(())
    }

    pub fn add_command(&mut self, command: impl PackCommand + 'static) -> Result<(), InvalidPack> {
        let name = command.name();
        let words = format!("{} {name}", self.pack);
        let is_taken = self.packs.commands.iter().any(|of| of.pack == self.pack && of.what.name() == name)
            || self.packs.operations.iter().any(|other| other.spec.command == words);
        self.validate_name(name, is_taken, "command")?;
        if let Some(what) = command::find_argument_problem(command.arguments()) {
            return self.reject(format!("command {name}: {what}"));
        }
        self.packs.commands.push(FromPack { pack: self.pack, what: Arc::new(command) });
        Ok(())
    }

    /// An administrative verb: `munshi PACK WORD` and a route below `/v1/packs/PACK`. Where one shows something and another
    /// changes it, they may have the same word.
    pub fn add_operation<O: Operation<PackServices>>(&mut self) -> Result<(), InvalidPack> {
        let entry = OperationEntry::of::<O>();
        if let Some(what) = self.find_operation_problem(&entry.spec) {
            return self.reject(format!("operation {}: {what}", entry.spec.id()));
        }
        self.packs.operations.push(entry);
        Ok(())
    }

    fn find_operation_problem(&self, spec: &OperationSpec) -> Option<String> {
        let pack = self.pack;
        let word = spec.command.strip_prefix(pack).and_then(|rest| rest.strip_prefix(' '));
        let Some(word) = word.filter(|word| is_plain(word)) else {
            return Some(format!("its command must be `{pack}` and a word, not `{}`", spec.command));
        };
        let is_own =
            |name: &str, between: char| name.strip_prefix(pack).is_some_and(|rest| rest.starts_with(between));
        if !is_own(spec.noun, ' ') || !is_own(spec.resource, '-') {
            return Some(format!("its noun must begin with `{pack} ` and its resource with `{pack}-`"));
        }
        let CallerClass::Scope { scope, access, .. } = spec.needs else {
            return Some("it must need a scope of the pack".to_owned());
        };
        if let Err(bad) = self.validate_scope(scope) {
            return Some(bad.to_string());
        }
        if spec.writes() != (access == ApiAccess::Write) || spec.writes() == (spec.method == RouteMethod::Get)
        {
            return Some("its effect, its method and the access it needs do not go together".to_owned());
        }
        if !spec.path.starts_with(&format!("/v1/packs/{pack}/")) {
            return Some(format!("its path must begin with `/v1/packs/{pack}/`"));
        }
        if let Some(event) = spec.events().iter().find(|event| !event.starts_with(&format!("{pack}."))) {
            return Some(format!("its event `{event}` must begin with `{pack}.`"));
        }
        let is_same = |other: &OperationSpec| {
            other.id() == spec.id()
                || (other.path, other.method) == (spec.path, spec.method)
                || (other.command, other.writes()) == (spec.command, spec.writes())
        };
        let is_taken = self.packs.operations.iter().any(|other| is_same(&other.spec))
            || self.packs.commands.iter().any(|of| of.pack == pack && of.what.name() == word);
        is_taken.then(|| "another has its name, its path or its command".to_owned())
    }

    pub fn add_tenant_template(&mut self, tenant: TenantTemplate) -> Result<(), InvalidPack> {
        if let Some(what) = tenant_template::find_problem(&tenant) {
            return self.reject(what);
        }
        if let Some(other) = self.packs.tenants.iter().find(|(_, other)| other.name == tenant.name) {
            return self.reject(format!("pack {} already has a tenant template {}", other.0, tenant.name));
        }
        self.packs.tenants.push((self.pack, tenant));
        Ok(())
    }

    fn validate_name(&self, name: &str, is_taken: bool, what: &str) -> Result<(), InvalidPack> {
        if !is_plain(name) {
            return self.reject(format!(
                "`{name}` is not a valid {what} name: use lowercase letters, digits and hyphens"
            ));
        }
        if is_taken { self.reject(format!("duplicate {what} {name}")) } else { Ok(()) }
    }

    fn validate_scope(&self, scope: &str) -> Result<(), InvalidPack> {
        let module = scope.split(['.', '/']).next().unwrap_or_default();
        if module == self.pack {
            return Ok(());
        }
        self.reject(format!("scope `{scope}` must start with `{}.`", self.pack))
    }

    fn reject<T>(&self, what: String) -> Result<T, InvalidPack> {
        Err(InvalidPack::Other { pack: self.pack.to_owned(), what })
    }
}

/// A word that can stand in a path and on a command line.
pub(crate) fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=32).contains(&word.len())
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.ends_with(plain)
        && word.chars().all(|c| plain(c) || c == '-')
}
