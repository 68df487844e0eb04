//! The reference page of operations, made from what they declare.

use std::fmt::Write as _;

use munshi_pack::operation::{CallerClass, OperationEntry, OperationSpec, PackServices};

use crate::{is_offered_to_agents, list_operations};

const HEAD: &str = "# Operations\n\nAdministrative verbs. Each is written once and is the same from every surface: the same rules, the same answer\n(`--json` prints what the API sends), the same errors. With `munshi --server URL` (or `MUNSHI_SERVER`, and a key in\n`MUNSHI_KEY`) a command runs on a server instead of the local database. This page is made from the code\n(`UPDATE_DOCS=1 cargo test -p munshi-wiring`).\n\nOver MCP those that say so are offered to keys that name `administration`, and to keepers' keys: `yes` is answered at\nonce, `proposed` is stored until a person grants it (`munshi proposals`).\n\n| Command | API | Who may | Audit | MCP | What it does |\n|---|---|---|---|---|---|\n";

/// How commands are typed that an operation is behind under other words.
const TYPED: &[(&str, &str)] = &[
    ("apply_folder", "apply DIR"),
    ("diff_folder", "diff DIR"),
    ("export_folder", "export TENANT DIR"),
    ("anchor_audit", "audit verify --anchor"),
    ("read_plan", "usage plan TENANT"),
    ("read_policy", "policy show"),
    ("retry_jobs", "jobs retry --all"),
    ("set_limit", "usage limit TENANT LIMIT AMOUNT"),
    ("set_plan", "usage plan TENANT PLAN"),
];

/// The page as it stands in `docs/operations.md`.
pub fn render_reference(packs: &[OperationEntry<PackServices>]) -> String {
    let mut page = HEAD.to_owned();
    for entry in list_operations(packs) {
        let spec = &entry.spec;
        let fields: Vec<String> = spec.path_fields().map(str::to_uppercase).collect();
        // What is the only one of its kind is shown by its name alone.
        let verb = (spec.verb != "show" || !fields.is_empty()).then(|| spec.verb.to_owned());
        let verb = verb.filter(|_| !entry.is_packs());
        let words = [spec.command.to_owned()].into_iter().chain(verb).chain(fields);
        let typed = TYPED.iter().find(|(id, _)| *id == spec.id());
        let command =
            typed.map_or_else(|| words.collect::<Vec<_>>().join(" "), |(_, words)| (*words).to_owned());
        let who = match spec.needs {
            CallerClass::Machine => "whoever sits at the machine".to_owned(),
            CallerClass::Keeper | CallerClass::KeeperOfTenant => "keeper".to_owned(),
            CallerClass::Member(..) => render_member(spec),
            CallerClass::Scope { scope, .. } => {
                format!("{}, where the policy leaves `{scope}` open", render_member(spec))
            }
            CallerClass::MemberOrKeeper(..) => {
                format!("{}; of the installation's own: keeper", render_member(spec))
            }
        };
        let events: Vec<String> = spec.events().iter().map(|event| format!("`{event}`")).collect();
        let events = if events.is_empty() { "-".to_owned() } else { events.join(", ") };
        let route = match spec.has_route() {
            true => format!("`{} {}`", spec.method.as_str(), spec.path),
            false => "-".to_owned(),
        };
        // Writing to a string can't fail.
        let (agents, about) = (render_agents(spec), spec.about);
        let _ = writeln!(page, "| `munshi {command}` | {route} | {who} | {events} | {agents} | {about} |");
    }
    page
}

fn render_agents(spec: &OperationSpec) -> &'static str {
    match (is_offered_to_agents(spec), spec.writes()) {
        (false, _) => "-",
        (true, false) => "yes",
        (true, true) => "proposed",
    }
}

fn render_member(spec: &OperationSpec) -> String {
    let role = spec.needs.minimum_role().map_or_else(|| "anybody".to_owned(), |role| role.to_string());
    let grant = spec.grant().map(|grant| format!(", key with `{grant}`")).unwrap_or_default();
    format!("{role}{grant}")
}
