use super::*;
use crate::manifest::tests::tool;
use munshi_types::Autonomy;
use proptest::prelude::*;

fn entry(text: &str) -> ConnectorEntry {
    let declared = crate::entries::parse_with_position(&format!("[x]\ncommand = [\"x\"]\n{text}")).unwrap();
    declared.0.into_values().next().unwrap()
}

/// The one tool of a server, as the tenant would get it.
fn translated(listed: Value, own: &str, accepted: ManifestAcceptance) -> Result<(ToolSpec, bool), String> {
    let (name, entry) = ("x".parse().unwrap(), entry(own));
    let manifest = ConnectorManifest::new("s", "1", vec![tool(listed)]);
    let (_, link) = ConnectorHandle::new("x".to_owned(), Default::default());
    let source = TranslationSource { name: &name, entry: &entry, manifest: &manifest, accepted, link };
    let mut registry = ToolRegistry::default();
    let outcome = add_tools(&source, &mut registry, &mut BTreeSet::new(), &|_| false);
    match registry.all().next() {
        Some(tool) => Ok((tool.known.spec.clone(), tool.known.connector.declares)),
        None => Err(outcome.left_out.first().map(|left| left.why.clone()).unwrap_or_default()),
    }
}

fn listed(more: &Value) -> Value {
    let mut listed = json!({ "name": "do_it", "description": "Does it.", "inputSchema": {
        "type": "object", "required": ["id"], "properties": { "id": { "type": "string" },
        "idempotency_key": { "type": "string" }, "dry_run": { "type": "boolean" } } } });
    for (key, value) in more.as_object().unwrap() {
        listed[key] = value.clone();
    }
    listed
}

#[test]
fn without_a_declaration_only_what_is_hinted_as_reading_reads() {
    let (spec, declares) = translated(listed(&json!({})), "", ManifestAcceptance::Yes).unwrap();
    assert_eq!((spec.effect, declares), (Effect::Once, false));
    let (spec, declares) =
        translated(listed(&json!({ "annotations": { "readOnlyHint": true } })), "", ManifestAcceptance::Yes)
            .unwrap();
    assert_eq!((spec.effect, declares), (Effect::Read, false));
    assert_eq!(spec.scope, "x.do_it");
    assert_eq!(spec.name.as_str(), "x_do_it");
}

#[test]
fn the_servers_own_word_counts_unless_its_hints_say_worse() {
    let keyed = json!({ "_meta": { "munshi/tool": { "effect": "keyed", "scope": "thing/{id}", "dangerous": true } } });
    let (spec, declares) = translated(listed(&keyed), "", ManifestAcceptance::Yes).unwrap();
    assert_eq!((spec.effect, declares, spec.dangerous, spec.dry_run), (Effect::Keyed, true, true, true));
    assert_eq!(spec.scope, "x.thing/{id}");
    assert!(spec.parameters["properties"].get("idempotency_key").is_none(), "keys are ours to give");
    assert!(spec.parameters["properties"].get("dry_run").is_none());
    let lie = json!({ "_meta": { "munshi/tool": { "effect": "read" } }, "annotations": { "destructiveHint": true } });
    let (spec, declares) = translated(listed(&lie), "", ManifestAcceptance::Yes).unwrap();
    assert_eq!((spec.effect, declares), (Effect::Once, false));
    let reach =
        json!({ "_meta": { "munshi/tool": { "effect": "read", "reach": "anyone", "always": true } } });
    let (spec, _) = translated(listed(&reach), "", ManifestAcceptance::Yes).unwrap();
    assert_eq!(spec.reach, Reach::Owner, "a server can't open itself to strangers");
}

#[test]
fn the_operators_word_wins_and_a_changed_list_is_held() {
    let own = "[x.tools.do_it]\neffect = \"keyed\"\ndestructive = false\nreach = \"business\"\n";
    let theirs = json!({ "annotations": { "destructiveHint": true } });
    let (spec, declares) = translated(listed(&theirs), own, ManifestAcceptance::Yes).unwrap();
    assert_eq!(
        (spec.effect, spec.destructive, declares, spec.reach),
        (Effect::Keyed, false, true, Reach::Business)
    );
    let (spec, declares) = translated(listed(&theirs), own, ManifestAcceptance::Held).unwrap();
    assert_eq!((spec.effect, declares), (Effect::Keyed, false), "it writes still, and so is refused");
    assert!(spec.least_autonomy >= Autonomy::Propose);
    assert_eq!(
        translated(listed(&json!({})), "[x.tools.do_it]\noff = true\n", ManifestAcceptance::Yes),
        Err(String::new())
    );
}

#[test]
fn what_comes_late_or_is_told_again_is_not_the_servers_to_choose() {
    let said = |soft: u16| json!({ "_meta": { "munshi/tool": { "effect": "read", "cacheable": true, "soft_seconds": soft } } });
    for (soft, waits) in [(0, 5), (1, 5), (9, 9)] {
        let (spec, _) = translated(listed(&said(soft)), "", ManifestAcceptance::Yes).unwrap();
        assert_eq!(spec.wait_at_most, Some(Duration::from_secs(waits)), "{soft}");
        assert!(!spec.cacheable);
    }
    let own = "[x.tools.do_it]\neffect = \"read\"\ncacheable = true\nsoft_seconds = 1\n";
    let (spec, _) = translated(listed(&said(9)), own, ManifestAcceptance::Yes).unwrap();
    assert_eq!(
        (spec.wait_at_most, spec.cacheable),
        (Some(Duration::from_secs(1)), true),
        "the operator's word wins"
    );
}

#[test]
fn whoever_says_so_has_nothing_kept_and_the_operator_may_say_otherwise() {
    let theirs = |transient: bool| json!({ "_meta": { "munshi/tool": { "effect": "read", "soft_seconds": 9, "transient": transient } } });
    let own = "[x.tools.do_it]\neffect = \"read\"\ncacheable = true\n";
    for (theirs, own, transient) in [
        (theirs(false), own.to_owned(), false),
        (theirs(true), own.to_owned(), true),
        (theirs(true), format!("{own}transient = false\n"), false),
        (theirs(false), format!("{own}transient = true\n").replace("cacheable = true\n", ""), true),
        (theirs(false), format!("transient = true\n{own}"), true),
        (theirs(false), format!("transient = true\n{own}transient = false\n"), false),
    ] {
        let (spec, _) = translated(listed(&theirs), &own, ManifestAcceptance::Yes).unwrap();
        assert_eq!(spec.transient, transient, "{theirs} {own}");
        assert!(!transient || (spec.wait_at_most.is_none() && !spec.cacheable));
    }
    let writes = json!({ "_meta": { "munshi/tool": { "effect": "keyed", "transient": true } } });
    let refused = translated(listed(&writes), "", ManifestAcceptance::Yes).unwrap_err();
    assert!(refused.contains("must only read"), "{refused}");
}

#[test]
fn what_somebody_has_to_agree_to_is_not_told_again() {
    let theirs = json!({ "_meta": { "munshi/tool": { "effect": "read", "consent": "records" } } });
    let own = "[x.tools.do_it]\neffect = \"read\"\ncacheable = true\n";
    for (theirs, own, consent) in [
        (json!({}), own.to_owned(), None),
        (theirs, own.to_owned(), Some("records")),
        (json!({}), format!("consent = \"credit_check\"\n{own}"), Some("credit_check")),
    ] {
        let (spec, _) = translated(listed(&theirs), &own, ManifestAcceptance::Yes).unwrap();
        let named = spec.consent.as_ref().map(munshi_types::ConsentPurposeName::as_str);
        assert_eq!((named, spec.cacheable), (consent, consent.is_none()), "{theirs} {own}");
    }
}

#[test]
fn whose_consent_counts_stays_where_the_operator_names_the_purpose() {
    let schema = json!({ "type": "object", "properties": { "of": { "type": "string" }, "to": { "type": "string" } },
        "required": ["of", "to"] });
    let theirs = |meta: Value| json!({ "inputSchema": schema, "_meta": { "munshi/tool": meta } });
    let both = json!({ "effect": "read", "consent": "records", "subject": "to" });
    for (theirs, own, subject) in [
        (theirs(both.clone()), "", Some("to")),
        (theirs(both.clone()), "consent = \"credit_check\"\n", Some("to")),
        (theirs(both.clone()), "consent = \"records\"\n", Some("to")),
        (theirs(both.clone()), "[x.tools.do_it]\nconsent = \"records\"\n", Some("to")),
        (theirs(both.clone()), "consent = \"credit_check\"\n[x.tools.do_it]\nsubject = \"of\"\n", Some("of")),
        (theirs(json!({ "effect": "read", "subject": "to" })), "consent = \"credit_check\"\n", Some("to")),
        (theirs(both.clone()), "[x.tools.do_it]\nconsent = \"records\"\nsubject = \"of\"\n", Some("of")),
        (theirs(json!({ "effect": "read", "subject": "to" })), "", None),
    ] {
        let (spec, _) = translated(listed(&theirs), own, ManifestAcceptance::Yes).unwrap();
        assert_eq!(spec.subject.as_deref(), subject, "{theirs} {own}");
    }
    let gone = theirs(json!({ "effect": "read", "consent": "records", "subject": "whom" }));
    for own in ["", "consent = \"credit_check\"\n"] {
        let refused = translated(listed(&gone), own, ManifestAcceptance::Yes).unwrap_err();
        assert!(refused.contains("required argument"), "{refused}");
    }
}

#[test]
fn what_may_leave_and_what_is_shown_is_the_operators_to_say() {
    let read = json!({ "munshi/tool": { "effect": "read" } });
    let closed = json!({ "openWorldHint": false });
    let (asks, allows) = (Egress::Ask, Egress::Allow);
    let declared = "[x.tools.do_it]\neffect = \"read\"\n";
    for (theirs, own, accepted, egress) in [
        (json!({}), "", ManifestAcceptance::Yes, asks),
        (json!({ "annotations": closed }), "", ManifestAcceptance::Yes, asks),
        (json!({ "_meta": read }), "", ManifestAcceptance::Yes, asks),
        (json!({ "_meta": read, "annotations": closed }), "", ManifestAcceptance::Yes, asks),
        (json!({}), declared, ManifestAcceptance::Yes, asks),
        (json!({ "annotations": closed }), declared, ManifestAcceptance::Yes, allows),
        (json!({ "annotations": closed }), declared, ManifestAcceptance::Held, asks),
        (
            json!({ "_meta": read, "annotations": closed }),
            "egress = \"deny\"\n",
            ManifestAcceptance::Yes,
            Egress::Deny,
        ),
        (json!({}), "egress = \"allow\"\n", ManifestAcceptance::Yes, allows),
    ] {
        let (spec, _) = translated(listed(&theirs), own, accepted).unwrap();
        assert_eq!((spec.egress, spec.shows), (egress, false), "{theirs} {own}");
    }
    let (spec, _) = translated(listed(&json!({})), "shows = true\n", ManifestAcceptance::Yes).unwrap();
    assert!(spec.shows);
    let lie = json!({ "_meta": { "munshi/tool": { "effect": "read", "shows": true } } });
    assert!(translated(listed(&lie), "", ManifestAcceptance::Yes).is_err(), "a server has no such word");
}

#[test]
fn a_schema_that_leads_elsewhere_is_left_out() {
    for reference in ["https://evil.example/x.json", "file:///etc/passwd", "other.json#/a"] {
        let odd =
            json!({ "inputSchema": { "type": "object", "properties": { "a": { "$ref": reference } } } });
        assert!(
            translated(listed(&odd), "", ManifestAcceptance::Yes).unwrap_err().contains("another document")
        );
    }
    let own = json!({ "inputSchema": { "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": { "a": { "$ref": "#/definitions/a" } }, "definitions": { "a": { "type": "string" } } } });
    assert!(translated(listed(&own), "", ManifestAcceptance::Yes).is_ok());
}

proptest! {
    /// Whatever a server says of itself, it gains nothing over saying nothing that a policy did not give: it stays the
    /// owner's, foreign, under its own name, and what its hints call a write is never a read that somebody vouches for.
    #[test]
    fn no_annotation_and_no_meta_opens_what_the_operator_did_not(
        read_only in prop::option::of(any::<bool>()),
        destructive in prop::option::of(any::<bool>()),
        idempotent in prop::option::of(any::<bool>()),
        effect in prop::option::of(prop::sample::select(vec!["read", "keyed", "checked", "once", "inside"])),
        scope in prop::option::of("[a-z.*/{}]{0,12}"),
        held in any::<bool>(),
    ) {
        let annotations = json!({ "readOnlyHint": read_only, "destructiveHint": destructive, "idempotentHint": idempotent });
        let mut said = json!({ "reach": "anyone", "dangerous": false, "destructive": false, "always": true });
        if let Some(effect) = effect { said["effect"] = json!(effect); }
        if let Some(scope) = scope { said["scope"] = json!(scope); }
        let clean: Map<String, Value> = annotations.as_object().unwrap().iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.clone(), v.clone())).collect();
        let one = listed(&json!({ "annotations": clean, "_meta": { "munshi/tool": said } }));
        let accepted = if held { ManifestAcceptance::Held } else { ManifestAcceptance::Yes };
        if let Ok((spec, declares)) = translated(one, "", accepted) {
            prop_assert_eq!(spec.reach, Reach::Owner);
            prop_assert!(spec.scope.starts_with("x."));
            prop_assert!(!(declares && held));
            prop_assert!(!(declares && effect.is_none()));
            let writes_by_hint = read_only == Some(false) || destructive == Some(true);
            prop_assert!(!(writes_by_hint && declares && !spec.effect.writes()));
            prop_assert!(!(destructive == Some(true) && spec.effect.writes() && !spec.destructive));
            prop_assert!(spec.effect != Effect::Inside);
        }
    }
}
