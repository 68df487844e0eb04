//! What is declared about an operation.

use munshi_identity::Role;
use munshi_identity::keys::{ApiAccess, Area, AreaGrant, minimum_role};

/// Everything but the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationSpec {
    /// As routes and documents say it: `keys`.
    pub resource: &'static str,
    /// As errors say it: `key`.
    pub noun: &'static str,
    /// The command it stands under: `munshi key add`.
    pub command: &'static str,
    pub verb: &'static str,
    /// One line, for the help, the document and other agents.
    pub about: &'static str,
    pub needs: CallerClass,
    pub effect: OperationEffect,
    pub method: RouteMethod,
    /// Fields of the input that stand in the path are in braces.
    pub path: &'static str,
}

/// Who may, and for whom: a tenant, or the installation itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerClass {
    /// Whoever sits at the machine. No route leads there.
    Machine,
    /// Whoever keeps the installation, for the installation.
    Keeper,
    /// Whoever keeps the installation, for one of its tenants.
    KeeperOfTenant,
    /// Whoever's role reaches the area, with a key that opens it.
    Member(Area, ApiAccess),
    /// The same; what is the installation's own is its keeper's.
    MemberOrKeeper(Area, ApiAccess),
    /// Whoever has at least this role and may do it by the tenant's policy, which knows the scope as it knows those of tools,
    /// with a key that opens `packs`. For packs.
    Scope { scope: &'static str, access: ApiAccess, least: Role },
}

/// What an operation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationScope {
    Tenant,
    Installation,
    /// A tenant where one is named, else the installation.
    Either,
}

/// What it does, and what the audit hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationEffect {
    Read,
    /// A read that is written down, such as opening somebody's conversation.
    AuditedRead(&'static [&'static str]),
    /// Each of the events it may write.
    Write(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteMethod {
    Get,
    /// Answers `201 Created`.
    Create,
    Post,
    Patch,
}

impl OperationSpec {
    /// How the document and spans name it: `add_key`, `list_keys`.
    pub fn id(&self) -> String {
        // A log is the list of what came before, and a search gives one.
        let lists = matches!(self.verb, "list" | "log" | "search");
        let noun = if lists { self.resource } else { self.noun };
        // What a person is shown, a program reads; what a person sets, it changes in part.
        let verb = match (self.verb, self.method) {
            ("show", _) => "read",
            ("log", _) => "list",
            (_, RouteMethod::Patch) => "change",
            (verb, _) => verb,
        };
        format!("{verb}_{noun}").replace([' ', '-'], "_")
    }

    /// Whether the API has it.
    pub const fn has_route(&self) -> bool {
        !matches!(self.needs, CallerClass::Machine)
    }

    pub const fn writes(&self) -> bool {
        matches!(self.effect, OperationEffect::Write(_))
    }

    pub const fn grant(&self) -> Option<AreaGrant> {
        match self.needs {
            CallerClass::Machine | CallerClass::Keeper | CallerClass::KeeperOfTenant => None,
            CallerClass::Member(area, access) | CallerClass::MemberOrKeeper(area, access) => {
                Some(AreaGrant { area, access })
            }
            CallerClass::Scope { access, .. } => Some(AreaGrant { area: Area::Packs, access }),
        }
    }

    /// The names of the input's fields that stand in the path.
    pub fn path_fields(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    pub fn events(&self) -> &'static [&'static str] {
        match self.effect {
            OperationEffect::Read => &[],
            OperationEffect::AuditedRead(events) | OperationEffect::Write(events) => events,
        }
    }
}

impl CallerClass {
    /// The lowest role; none for keepers.
    pub fn minimum_role(self) -> Option<Role> {
        match self {
            Self::Machine | Self::Keeper | Self::KeeperOfTenant => None,
            Self::Member(area, access) | Self::MemberOrKeeper(area, access) => minimum_role(area, access),
            Self::Scope { least, .. } => Some(least),
        }
    }

    pub const fn scope(self) -> OperationScope {
        match self {
            Self::Machine | Self::Keeper => OperationScope::Installation,
            Self::KeeperOfTenant | Self::Member(..) | Self::Scope { .. } => OperationScope::Tenant,
            Self::MemberOrKeeper(..) => OperationScope::Either,
        }
    }
}

impl RouteMethod {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Create | Self::Post => "POST",
            Self::Patch => "PATCH",
        }
    }

    pub const fn status(self) -> u16 {
        match self {
            Self::Create => 201,
            Self::Get | Self::Post | Self::Patch => 200,
        }
    }
}
