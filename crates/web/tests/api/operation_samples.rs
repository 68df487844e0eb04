//! A request for every operation, and what it is about.

use munshi_pack::operation::OperationSpec;
use serde_json::{Value, json};

use super::operations::EACH;

const BARE: &str = "read_stats read_usage read_policy list_policy retry_jobs read_plan read_queue export_audit verify_audit \
                    anchor_audit export_folder make_backup rotate_tenant_key";

/// What one business has that operations are about.
pub(super) struct Subjects {
    pub(super) key: String,
    pub(super) act: String,
    /// One that was done and can be taken back.
    pub(super) undoable: String,
    pub(super) person: String,
    /// One who can leave, and one who can be forgotten, for each that may let them.
    pub(super) leavers: Vec<String>,
    pub(super) forgotten: Vec<String>,
    pub(super) erasure: String,
    /// One of the person for each that may withdraw it.
    pub(super) consents: Vec<String>,
    /// Messages that wait: one that stays, and one for each that may take it back.
    pub(super) outgoing: Vec<String>,
    pub(super) session: String,
    /// One that waits for each that may stop it.
    pub(super) runs: Vec<String>,
    /// One that waits for each that may answer it, and its digest.
    pub(super) approvals: Vec<(String, String)>,
    pub(super) keeper_key: String,
    pub(super) job: String,
    /// For each that may, one whose role changes, one who is removed and one who is proved.
    pub(super) operators: Vec<String>,
    /// One for each that may take it back.
    pub(super) invitations: Vec<String>,
    /// One for each that may grant it, and one for each that may refuse it, with its digest.
    pub(super) proposals: Vec<(String, String)>,
}

/// A request that would do; the number makes what is made anew another one each time.
pub(super) fn sample(spec: &OperationSpec, subjects: &Subjects, number: usize) -> (String, Option<Value>) {
    let found = sample_of_people(spec, subjects, number);
    let found = found.or_else(|| sample_of_installation(spec, subjects, number));
    found.unwrap_or_else(|| {
        let is_bare = spec.verb == "list" || BARE.split(' ').any(|id| id == spec.id());
        assert!(is_bare, "{} has no sample: write one, so that it is walked through", spec.id());
        (spec.path.to_owned(), None)
    })
}

/// What people, their conversations and what was asked of them are about.
fn sample_of_people(
    spec: &OperationSpec,
    subjects: &Subjects,
    number: usize,
) -> Option<(String, Option<Value>)> {
    let path = |id: &str| spec.path.replace("{id}", id);
    let plain = || spec.path.to_owned();
    let found = match spec.id().as_str() {
        "add_key" => {
            let new = json!({ "name": format!("key {number}"), "role": "viewer", "speaks_as": "program" });
            (plain(), Some(new))
        }
        "read_key" | "revoke_key" | "rotate_key" => (path(&subjects.key), None),
        "add_person" => (plain(), Some(json!({ "name": format!("Person {number}") }))),
        "change_person" => (path(&subjects.person), Some(json!({ "name": format!("Person {number}") }))),
        "change_reach" => {
            let zones = [
                "Asia/Kolkata",
                "UTC",
                "Asia/Dubai",
                "Asia/Tokyo",
                "Europe/Berlin",
                "Asia/Dhaka",
                "America/New_York",
            ];
            (path(&subjects.person), Some(json!({ "zone": zones[number % zones.len()] })))
        }
        "read_person" | "read_reach" | "export_person" | "list_consents" => (path(&subjects.person), None),
        "leave_person" => (path(&subjects.leavers[number % EACH]), None),
        "forget_person" => (path(&subjects.forgotten[number % EACH]), None),
        "read_session" | "list_messages" | "list_handoffs" => (path(&subjects.session), None),
        "list_whispers" | "take_session" | "give_back_session" | "draft_session" | "read_draft" => {
            (path(&subjects.session), None)
        }
        "write_session" | "whisper_session" => (path(&subjects.session), Some(json!({ "text": "hello" }))),
        "search_messages" => (format!("{}?q=hello", spec.path), None),
        "make_handoff" => (path(&subjects.session), Some(json!({ "to": "front" }))),
        "read_run" | "list_stored_prompts" => (path(&subjects.runs[0]), None),
        "cancel_run" => (path(&subjects.runs[number % EACH]), None),
        "read_approval" => (path(&subjects.approvals[0].0), None),
        "grant_approval" | "refuse_approval" => {
            let from = if spec.verb == "grant" { 0 } else { EACH };
            let (id, digest) = &subjects.approvals[from + number % EACH];
            (path(id), Some(json!({ "digest": digest })))
        }
        "read_proposal" | "grant_proposal" | "refuse_proposal" => sample_proposal(spec, subjects, number),
        "read_tier" | "list_tier_versions" | "diff_tier" => {
            (spec.path.replace("{kind}", "binding").replace("{name}", "counter"), None)
        }
        "read_binding" => (spec.path.replace("{name}", "counter"), None),
        "rollback_tier" => {
            let path = spec.path.replace("{kind}", "human").replace("{name}", "spare");
            (path, Some(json!({ "to": 1 + number % 3 })))
        }
        "test_policy" => (plain(), Some(json!({ "tool": "count", "as": "anonymous", "door": "work" }))),
        "apply_folder" | "diff_folder" => (plain(), Some(folder(&format!("fresh-{number}")))),
        "read_act" => (path(&subjects.act), None),
        "read_erasure" => (path(&subjects.erasure), None),
        "read_outgoing_message" | "retry_outgoing_message" => (path(&subjects.outgoing[EACH]), None),
        "cancel_outgoing_message" => (path(&subjects.outgoing[number % EACH]), None),
        "read_consent" | "withdraw_consent" => (path(&subjects.consents[number % EACH]), None),
        _ => return None,
    };
    Some(found)
}

/// What a business and its installation are made of.
fn sample_of_installation(
    spec: &OperationSpec,
    subjects: &Subjects,
    number: usize,
) -> Option<(String, Option<Value>)> {
    let path = |id: &str| spec.path.replace("{id}", id);
    let named = |name: &str| spec.path.replace("{name}", name);
    let plain = || spec.path.to_owned();
    let found = match spec.id().as_str() {
        // Its tool is not there: it is refused, and may be asked for again.
        "undo_act" => (path(&subjects.undoable), None),
        "add_tenant" => (plain(), Some(json!({ "name": format!("tenant-{number}") }))),
        "read_tenant" | "pause_tenant" => (named("awake"), None),
        "resume_tenant" => (named("asleep"), None),
        "archive_tenant" => (named("over"), None),
        "add_channel" => {
            let from = format!("far{number}@far.example");
            (
                plain(),
                Some(
                    json!({ "name": format!("far{number}"), "kind": "email", "host": "mail.far.example", "from": from }),
                ),
            )
        }
        "test_channel" | "remove_channel" => (named("nowhere"), None),
        "add_connector" => {
            (plain(), Some(json!({ "name": format!("far{number}"), "url": "https://far.example/mcp" })))
        }
        "login_connector" | "logout_connector" | "test_connector" => (named("odd"), None),
        "read_connector" | "logs_connector" | "accept_connector" | "remove_connector" => (named("odd"), None),
        "read_job" | "retry_job" => (path(&subjects.job), None),
        "revoke_keeper_key" => (path(&subjects.keeper_key), None),
        "set_limit" => (plain(), Some(json!({ "limit": "tenant.day.tokens", "amount": "100000" }))),
        "set_plan" => (plain(), Some(json!({ "plan": "pro" }))),
        "test_model" => (named("offline"), None),
        "set_model_capability" => {
            (spec.path.replace("{capability}", "cheap"), Some(json!({ "models": ["offline"] })))
        }
        "add_host_key" => {
            let (kid, jwks) = (format!("k{number}"), "https://shop.example/keys");
            (plain(), Some(json!({ "kid": kid, "host": kid, "jwks": jwks, "algorithm": "RS256" })))
        }
        "retire_host_key" => (spec.path.replace("{kid}", "front"), None),
        "set_secret" => (named("spare"), Some(json!({ "value": "s3cret" }))),
        "remove_secret" => (named("gone"), None),
        "invite_operator" => {
            (plain(), Some(json!({ "email": format!("new{number}@shop.example"), "role": "viewer" })))
        }
        "invite_keeper" => (plain(), Some(json!({ "email": format!("keeper{number}@house.example") }))),
        "withdraw_invitation" => (path(&subjects.invitations[number % EACH]), None),
        "withdraw_invitations" => (plain(), Some(json!({ "email": "waiting@shop.example" }))),
        "link_operator" => (path(&subjects.operators[number % EACH]), None),
        "change_operator" => (path(&subjects.operators[number % EACH]), Some(json!({ "role": "viewer" }))),
        "remove_operator" => (path(&subjects.operators[EACH + number % EACH]), None),
        "prove_operator" => (path(&subjects.operators[2 * EACH + number % EACH]), None),
        _ => return None,
    };
    Some(found)
}

fn sample_proposal(spec: &OperationSpec, subjects: &Subjects, number: usize) -> (String, Option<Value>) {
    let from = if spec.verb == "refuse" { EACH } else { 0 };
    let (id, digest) = &subjects.proposals[from + number % EACH];
    (spec.path.replace("{id}", id), (spec.verb == "grant").then(|| json!({ "digest": digest })))
}

pub(super) fn folder(words: &str) -> Value {
    let text = format!("+++\nname = \"Spare\"\nidentity = \"{words}\"\n+++\n");
    json!({ "folders": [{ "files": [{ "path": "humans/spare.md", "text": text }] }] })
}
