//! Where one pack puts what it has, under its own name.

use std::sync::Arc;

use munshi_lang::{Locale, Phrasebook};
use munshi_tools::{ConnectorOrigin, ToolConnector, ToolHandler};
use munshi_types::{Conduct, ToolSpec};

use crate::bad::InvalidPack;
use crate::check::PackCheck;
use crate::command::{self, PackCommand};
use crate::context::ContextSource;
use crate::heartbeat::Heartbeat;
use crate::house::{FromPack, PackRegistry};
use crate::page::PackPageHandler;
use crate::reader::PackReader;
use crate::ready::{self, TenantTemplate};

/// The pack's part of the house while it is installed. What is put in belongs to the pack, and what would clash with
/// another's, or can't work, is refused here.
pub struct PackInstaller<'h> {
    pack: &'static str,
    conduct: Conduct,
    house: &'h mut PackRegistry,
}

impl<'h> PackInstaller<'h> {
    pub(crate) fn new(pack: &'static str, conduct: Conduct, house: &'h mut PackRegistry) -> Self {
        Self { pack, conduct, house }
    }

    /// A tool that works on the pack's own tables. Its scope begins with the pack's name, so that a policy that opens
    /// one pack opens no other.
    pub fn tool(&mut self, spec: ToolSpec, body: ToolHandler) -> Result<(), InvalidPack> {
        let (name, conduct) = (self.pack.to_owned(), Some(self.conduct.clone()));
        self.tool_of(
            spec,
            ToolConnector { name, maker: ConnectorOrigin::House, declares: true, conduct },
            body,
        )
    }

    /// A tool that goes elsewhere, under the connector it belongs to.
    pub fn foreign_tool(
        &mut self,
        spec: ToolSpec,
        connector: ToolConnector,
        body: ToolHandler,
    ) -> Result<(), InvalidPack> {
        if connector.maker != ConnectorOrigin::Foreign || connector.name == self.pack {
            return self.other(format!("the connector {} is no foreign one", connector.name));
        }
        self.tool_of(spec, connector, body)
    }

    fn tool_of(
        &mut self,
        spec: ToolSpec,
        connector: ToolConnector,
        body: ToolHandler,
    ) -> Result<(), InvalidPack> {
        self.in_scope(&spec.scope)?;
        self.house
            .tools
            .add(spec, connector, body)
            .map_err(|bad| InvalidPack::Tool { pack: self.pack.to_owned(), bad })
    }

    pub fn context(&mut self, source: impl ContextSource + 'static) {
        self.house.contexts.push(Arc::new(source));
    }

    pub fn reader(&mut self, reader: impl PackReader + 'static) {
        self.house.readers.push(Arc::new(reader));
    }

    pub fn check(&mut self, check: impl PackCheck + 'static) {
        self.house.checks.push(Arc::new(check));
    }

    /// The files that [`phrase_files!`](munshi_lang::phrase_files) names: in every voice, with the same slots, each
    /// name beginning with the pack's.
    pub fn phrases(&mut self, files: &[(Locale, &str)]) -> Result<(), InvalidPack> {
        let bad = |why| InvalidPack::Phrases { pack: self.pack.to_owned(), why };
        let mut own = Phrasebook::default();
        own.add_files(files).and_then(|()| own.check()).map_err(bad)?;
        let prefix = format!("{}-", self.pack);
        if let Some(name) = own.names().find(|name| !name.starts_with(&prefix)) {
            return self.other(format!("the phrase `{name}` must begin with `{prefix}`"));
        }
        self.house.book.add_files(files).map_err(bad)
    }

    pub fn heartbeat(&mut self, heartbeat: impl Heartbeat + 'static) -> Result<(), InvalidPack> {
        let name = heartbeat.name();
        let is_taken = self.house.heartbeats.iter().any(|of| of.pack == self.pack && of.what.name() == name);
        self.plain(name, is_taken, "heartbeat")?;
        self.house.heartbeats.push(FromPack { pack: self.pack, what: Arc::new(heartbeat) });
        Ok(())
    }

    pub fn page(&mut self, page: impl PackPageHandler + 'static) -> Result<(), InvalidPack> {
        let path = page.path();
        self.in_scope(page.scope())?;
        if !path.is_empty() && !path.split('/').all(is_plain) {
            return self
                .other(format!("the page `{path}` has no plain path: small letters, digits and hyphens"));
        }
        if self.house.pages.iter().any(|of| of.pack == self.pack && of.what.path() == path) {
            return self.other(format!("it has two pages at `{path}`"));
        }
        self.house.pages.push(FromPack { pack: self.pack, what: Arc::new(page) });
        Ok(())
    }

    pub fn command(&mut self, command: impl PackCommand + 'static) -> Result<(), InvalidPack> {
        let name = command.name();
        let is_taken = self.house.commands.iter().any(|of| of.pack == self.pack && of.what.name() == name);
        self.plain(name, is_taken, "command")?;
        if let Some(what) = command::fault(command.arguments()) {
            return self.other(format!("the command {name}: {what}"));
        }
        self.house.commands.push(FromPack { pack: self.pack, what: Arc::new(command) });
        Ok(())
    }

    pub fn tenant(&mut self, tenant: TenantTemplate) -> Result<(), InvalidPack> {
        if let Some(what) = ready::fault(&tenant) {
            return self.other(what);
        }
        if let Some(other) = self.house.tenants.iter().find(|(_, other)| other.name == tenant.name) {
            return self.other(format!("{} brings a ready tenant {} too", other.0, tenant.name));
        }
        self.house.tenants.push((self.pack, tenant));
        Ok(())
    }

    fn plain(&self, name: &str, is_taken: bool, what: &str) -> Result<(), InvalidPack> {
        if !is_plain(name) {
            return self
                .other(format!("`{name}` is no {what}'s name: use small letters, digits and hyphens"));
        }
        if is_taken { self.other(format!("it has two of the {what} {name}")) } else { Ok(()) }
    }

    fn in_scope(&self, scope: &str) -> Result<(), InvalidPack> {
        let module = scope.split(['.', '/']).next().unwrap_or_default();
        if module == self.pack {
            return Ok(());
        }
        self.other(format!("the scope `{scope}` must begin with `{}.`", self.pack))
    }

    fn other<T>(&self, what: String) -> Result<T, InvalidPack> {
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
