//! What can be seen in a list of tools.

use std::collections::BTreeSet;

use munshi_tools::ToolRegistry;
use munshi_types::{Effect, ToolName};

use super::{ConnectorFinding, ConnectorTest, ConnectorVerdict, Said};
use crate::manifest::ConnectorManifest;
use crate::translate::{self, DRY_RUN, ManifestAcceptance, TranslationSource, find_argument};
use crate::transport::ConnectorHandle;

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

pub(super) fn run(
    trial: &ConnectorTest,
    manifest: &ConnectorManifest,
    tools: &[Said<'_>],
) -> Vec<ConnectorFinding> {
    vec![
        check_descriptions(tools),
        check_scopes(tools),
        check_dangerous(tools),
        check_dry_run(tools),
        check_idempotency_keys(tools),
        check_usable(trial, manifest),
    ]
}

fn filter_names<'a>(tools: &'a [Said<'_>], wrong: impl Fn(&Said<'_>) -> bool + 'a) -> Vec<String> {
    tools.iter().filter(|tool| wrong(tool)).map(|tool| tool.name.to_owned()).collect()
}

fn check_descriptions(tools: &[Said<'_>]) -> ConnectorFinding {
    if tools.is_empty() {
        return ConnectorFinding::new("tools_list", ConnectorVerdict::Fail, "no tools are listed")
            .with_advice("list at least one tool");
    }
    let mute = filter_names(tools, |tool| tool.listed.description.trim().is_empty());
    if !mute.is_empty() {
        return ConnectorFinding::from_violations(
            "tools_list",
            &mute,
            ("", "without a description"),
            ConnectorVerdict::Fail,
            "describe what each tool does and when to use it: the model chooses by the description",
        );
    }
    let unsaid = filter_names(tools, |tool| tool.find_declared(|said| said.effect).is_none());
    ConnectorFinding::from_violations(
        "tools_list",
        &unsaid,
        (
            "every tool has a description and declares its effect",
            "these declare no effect, so the connector is UNSAFE and read-only",
        ),
        ConnectorVerdict::Doubtful,
        "declare effect in `_meta` under \"munshi/tool\", or in connectors.toml under [NAME.tools.TOOL]",
    )
}

fn check_scopes(tools: &[Said<'_>]) -> ConnectorFinding {
    let lies = filter_names(tools, |tool| {
        let theirs = tool.listed.declared.as_ref().and_then(|said| said.effect);
        let hints = tool.listed.hints;
        theirs == Some(Effect::Read) && (hints.read_only == Some(false) || hints.destructive == Some(true))
    });
    if !lies.is_empty() {
        return ConnectorFinding::from_violations(
            "scopes",
            &lies,
            ("", "declared as read, but annotated as writes"),
            ConnectorVerdict::Fail,
            "make both agree; until then they are treated as undeclared writes",
        );
    }
    let odd = filter_names(tools, |tool| {
        tool.find_declared(|said| said.scope.clone()).is_some_and(|scope| !is_valid_scope(&scope))
    });
    ConnectorFinding::from_violations(
        "scopes",
        &odd,
        ("every scope is well-formed", "an invalid scope"),
        ConnectorVerdict::Fail,
        "use parts separated by dots or slashes, and `{name}` for a required argument: users/{id}/reset",
    )
}

fn is_valid_scope(scope: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./{}".contains(letter);
    !scope.is_empty() && scope.chars().all(plain) && scope.matches('{').count() == scope.matches('}').count()
}

fn check_dangerous(tools: &[Said<'_>]) -> ConnectorFinding {
    let risky = |tool: &Said<'_>| {
        let hinted = tool.listed.hints.destructive == Some(true);
        let words = tool.name.to_lowercase();
        hinted
            || words.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| RISKY.contains(&word))
    };
    let flagged = |tool: &Said<'_>| {
        let said =
            |of: fn(&crate::entries::ToolDeclaration) -> Option<bool>| tool.find_declared(of).is_some();
        said(|said| said.dangerous) || said(|said| said.destructive) || said(|said| said.money)
    };
    let unflagged = filter_names(tools, |tool| risky(tool) && !tool.is_read_only() && !flagged(tool));
    ConnectorFinding::from_violations(
        "dangerous",
        &unflagged,
        ("every tool that sounds harmful declares whether it is", "these sound harmful but don't declare it"),
        ConnectorVerdict::Fail,
        "declare dangerous, destructive or money as true or false",
    )
}

fn check_dry_run(tools: &[Said<'_>]) -> ConnectorFinding {
    let without = filter_names(tools, |tool| {
        let argument =
            find_argument(&tool.listed.schema, tool.find_declared(|said| said.dry_run.clone()), DRY_RUN);
        !tool.is_read_only() && argument.is_none()
    });
    ConnectorFinding::from_violations(
        "dry_run",
        &without,
        ("every write supports a dry run", "these support no dry run, so their effect can't be previewed"),
        ConnectorVerdict::Doubtful,
        "accept an argument dry_run: true, and return what would be done",
    )
}

fn check_idempotency_keys(tools: &[Said<'_>]) -> ConnectorFinding {
    let without = filter_names(tools, |tool| {
        let harmless = tool.own.is_some_and(|own| own.effect == Some(Effect::Keyed))
            || tool.listed.hints.idempotent == Some(true);
        let checked = tool.find_declared(|said| said.effect) == Some(Effect::Checked);
        !tool.is_read_only() && tool.key().is_none() && !harmless && !checked
    });
    ConnectorFinding::from_violations(
        "idempotency_key",
        &without,
        (
            "every write can be retried safely",
            "retrying these might do them twice, so after an interruption a person is asked whether it happened",
        ),
        ConnectorVerdict::Doubtful,
        "accept an argument idempotency_key and act once per key, or declare look_up",
    )
}

/// Whether each can be offered at all.
fn check_usable(trial: &ConnectorTest, manifest: &ConnectorManifest) -> ConnectorFinding {
    let (_, link) = ConnectorHandle::new(trial.name.to_string(), Default::default());
    let source = TranslationSource {
        name: &trial.name,
        entry: &trial.entry,
        manifest,
        accepted: ManifestAcceptance::Yes,
        link,
    };
    let taken = |_: &ToolName| false;
    let outcome = translate::add_tools(&source, &mut ToolRegistry::default(), &mut BTreeSet::new(), &taken);
    let left: Vec<String> =
        outcome.left_out.iter().map(|left| format!("{} ({})", left.tool, left.why)).collect();
    ConnectorFinding::from_violations(
        "usable",
        &left,
        ("every tool can be offered to a model", "these can't be offered"),
        ConnectorVerdict::Fail,
        "see docs/connectors.md for valid names, schemas and declarations",
    )
}
