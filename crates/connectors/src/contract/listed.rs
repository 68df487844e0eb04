//! What can be seen in a list of tools.

use std::collections::BTreeSet;

use munshi_tools::ToolRegistry;
use munshi_types::{Effect, ToolName};

use super::{ConnectorFinding, ConnectorTest, ConnectorVerdict, Said};
use crate::link::ConnectorHandle;
use crate::manifest::ConnectorManifest;
use crate::translate::{self, DRY_RUN, ManifestAcceptance, TranslationSource, argument};

/// Words of names and descriptions that speak of what can't be taken back.
const RISKY: &[&str] = &[
    "delete",
    "remove",
    "drop",
    "destroy",
    "erase",
    "wipe",
    "purge",
    "overwrite",
    "truncate",
    "cancel",
    "revoke",
    "pay",
    "payment",
    "refund",
    "transfer",
    "charge",
    "terminate",
    "shutdown",
    "reset",
];

pub(super) fn findings(
    trial: &ConnectorTest,
    manifest: &ConnectorManifest,
    tools: &[Said<'_>],
) -> Vec<ConnectorFinding> {
    vec![
        described(tools),
        scopes(tools),
        dangerous(tools),
        dry_run(tools),
        keyed(tools),
        usable(trial, manifest),
    ]
}

fn names<'a>(tools: &'a [Said<'_>], wrong: impl Fn(&Said<'_>) -> bool + 'a) -> Vec<String> {
    tools.iter().filter(|tool| wrong(tool)).map(|tool| tool.name.to_owned()).collect()
}

fn described(tools: &[Said<'_>]) -> ConnectorFinding {
    if tools.is_empty() {
        return ConnectorFinding::new("tools_list", ConnectorVerdict::Fail, "it lists no tool")
            .advised("a connector without tools is of no use");
    }
    let mute = names(tools, |tool| tool.listed.description.trim().is_empty());
    if !mute.is_empty() {
        return ConnectorFinding::of(
            "tools_list",
            &mute,
            ("", "without a description"),
            ConnectorVerdict::Fail,
            "say what each tool does and when to use it: the model chooses by these words",
        );
    }
    let unsaid = names(tools, |tool| tool.declared(|said| said.effect).is_none());
    ConnectorFinding::of(
        "tools_list",
        &unsaid,
        (
            "every tool has a description and says what it does",
            "nobody says what these do, so the connector is UNSAFE and only looks",
        ),
        ConnectorVerdict::Doubtful,
        "declare effect in `_meta` under \"munshi/tool\", or in connectors.toml under [NAME.tools.TOOL]",
    )
}

fn scopes(tools: &[Said<'_>]) -> ConnectorFinding {
    let lies = names(tools, |tool| {
        let theirs = tool.listed.declared.as_ref().and_then(|said| said.effect);
        let hints = tool.listed.hints;
        theirs == Some(Effect::Read) && (hints.read_only == Some(false) || hints.destructive == Some(true))
    });
    if !lies.is_empty() {
        return ConnectorFinding::of(
            "scopes",
            &lies,
            ("", "declared as read, while the annotations say that they write"),
            ConnectorVerdict::Fail,
            "make both say the same; until then they are taken for writes that nobody vouches for",
        );
    }
    let odd =
        names(tools, |tool| tool.declared(|said| said.scope.clone()).is_some_and(|scope| !is_scope(&scope)));
    ConnectorFinding::of(
        "scopes",
        &odd,
        ("every scope is well-formed", "a scope that is none"),
        ConnectorVerdict::Fail,
        "write parts with dots or slashes between them, `{name}` for a required argument: users/{id}/reset",
    )
}

fn is_scope(scope: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./{}".contains(letter);
    !scope.is_empty() && scope.chars().all(plain) && scope.matches('{').count() == scope.matches('}').count()
}

fn dangerous(tools: &[Said<'_>]) -> ConnectorFinding {
    let risky = |tool: &Said<'_>| {
        let hinted = tool.listed.hints.destructive == Some(true);
        let words = tool.name.to_lowercase();
        hinted
            || words.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| RISKY.contains(&word))
    };
    let flagged = |tool: &Said<'_>| {
        let said = |of: fn(&crate::declared::ToolDeclaration) -> Option<bool>| tool.declared(of).is_some();
        said(|said| said.dangerous) || said(|said| said.destructive) || said(|said| said.money)
    };
    let unflagged = names(tools, |tool| risky(tool) && !tool.only_looks() && !flagged(tool));
    ConnectorFinding::of(
        "dangerous",
        &unflagged,
        (
            "whatever sounds as if it could do harm says whether it does",
            "these sound as if they could do harm, and don't say",
        ),
        ConnectorVerdict::Fail,
        "declare dangerous, destructive or money as true or false",
    )
}

fn dry_run(tools: &[Said<'_>]) -> ConnectorFinding {
    let without = names(tools, |tool| {
        let argument = argument(&tool.listed.schema, tool.declared(|said| said.dry_run.clone()), DRY_RUN);
        !tool.only_looks() && argument.is_none()
    });
    ConnectorFinding::of(
        "dry_run",
        &without,
        (
            "every write can be tried out",
            "these can't be tried out, so nobody sees beforehand what would happen",
        ),
        ConnectorVerdict::Doubtful,
        "take an argument dry_run: true, and answer with what would be done",
    )
}

fn keyed(tools: &[Said<'_>]) -> ConnectorFinding {
    let without = names(tools, |tool| {
        let harmless = tool.own.is_some_and(|own| own.effect == Some(Effect::Keyed))
            || tool.listed.hints.idempotent == Some(true);
        let checked = tool.declared(|said| said.effect) == Some(Effect::Checked);
        !tool.only_looks() && tool.key().is_none() && !harmless && !checked
    });
    ConnectorFinding::of(
        "idempotency_key",
        &without,
        (
            "every write can be repeated without doing it twice",
            "repeating these might do them twice, so after a break a person is asked whether it happened",
        ),
        ConnectorVerdict::Doubtful,
        "take an argument idempotency_key and do the same key once, or declare look_up",
    )
}

/// Whether each can be offered at all.
fn usable(trial: &ConnectorTest, manifest: &ConnectorManifest) -> ConnectorFinding {
    let (_, link) = ConnectorHandle::new(trial.name.to_string(), Default::default());
    let source = TranslationSource {
        name: &trial.name,
        entry: &trial.entry,
        manifest,
        accepted: ManifestAcceptance::Yes,
        link,
    };
    let taken = |_: &ToolName| false;
    let outcome = translate::add(&source, &mut ToolRegistry::default(), &mut BTreeSet::new(), &taken);
    let left: Vec<String> =
        outcome.left_out.iter().map(|left| format!("{} ({})", left.tool, left.why)).collect();
    ConnectorFinding::of(
        "usable",
        &left,
        ("every tool can be offered to a model", "these can't be offered"),
        ConnectorVerdict::Fail,
        "see docs/connectors.md for what names, schemas and declarations may be",
    )
}
