//! What tenants use and may use, as people see it.

use munshi_llm::pricing::Cost;
use munshi_safety::budget::{BudgetAccount, BudgetAmount, BudgetGovernor, BudgetLane, BudgetSettings};
use munshi_test_support::DatabaseEngine;
use munshi_types::{Clock, IdGenerator, SystemClock, TenantId, Zone};

use crate::app::support::Installation;

fn shop(installation: &Installation) -> TenantId {
    installation.json(&["tenant", "add", "sharma"])["id"].as_str().unwrap().parse().unwrap()
}

/// One person's message with its call, and a heartbeat.
async fn seed(installation: &Installation, tenant: TenantId) -> BudgetAccount {
    let (db, ids) = (installation.open().await, IdGenerator::system());
    let governor = BudgetGovernor::new(BudgetSettings::default(), ids.clone());
    let people = BudgetAccount {
        binding: Some(ids.next()),
        person: Some(ids.next()),
        lane: BudgetLane::People,
        zone: Zone::default(),
    };
    let background =
        BudgetAccount { binding: None, person: None, lane: BudgetLane::Background, ..people.clone() };
    let account = people.clone();
    let money = Some(Cost::from_micros(1_500));
    let spent = BudgetAmount { tokens: 120, output: 20, money, ..BudgetAmount::interaction() };
    db.write(tenant, move |tx| {
        let now = SystemClock.now();
        for account in [&people, &background] {
            let reserved = governor.reserve(tx, account, &spent, now)?;
            governor.settle(tx, reserved.id, &spent)?;
        }
        Ok::<_, munshi_safety::Error>(())
    })
    .await
    .unwrap();
    account
}

async fn usage_is_told_and_limits_are_set(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    assert_eq!(installation.json(&["usage"])["items"], serde_json::json!([]));
    installation.run(&["usage", "--tenant", "nobody", "--json"]).refused_as(5, "not_found");
    let tenant = shop(&installation);
    let account = seed(&installation, tenant).await;

    let usage = installation.json(&["usage", "--tenant", "sharma"]);
    let item = &usage["items"][0];
    assert_eq!((&item["plan"], &item["unsettled"]["count"]), (&"business".into(), &0.into()));
    assert_eq!(item["used"].as_array().unwrap().len(), 2, "a line for each lane");
    assert_eq!((&item["used"][0]["lane"], &item["used"][0]["money"]), (&"people".into(), &1_500.into()));
    assert_eq!(item["used"][0]["output_tokens"], 20);
    let persons = installation.json(&["usage", "--by", "person"]);
    assert_eq!(persons["items"][0]["used"][0]["id"], account.person.unwrap().to_string());
    let later = installation.json(&["usage", "--by", "binding", "--since", "2999-01-01"]);
    assert_eq!(later["items"][0]["used"], serde_json::json!([]));

    assert_eq!(installation.json(&["usage", "plan", "sharma"])["plan"], "business");
    assert_eq!(installation.json(&["usage", "plan", "sharma", "free"])["interactions"], 50);
    installation.json(&["usage", "limit", "sharma", "tenant.day.tokens", "100"]);
    let person = account.person.unwrap().to_string();
    installation.json(&["usage", "limit", "sharma", "person.day.money", "0.25", "--only", &person]);
    let item = &installation.json(&["usage"])["items"][0];
    let limits = item["limits"].as_array().unwrap();
    let standing = |measure: &str, period: &str| {
        let found = limits.iter().find(|limit| {
            limit["lane"] == "people" && limit["measure"] == measure && limit["period"] == period
        });
        found.map(|limit| (limit["used"].as_i64().unwrap(), limit["left"].as_i64().unwrap()))
    };
    assert_eq!(standing("interactions", "month"), Some((1, 49)));
    assert_eq!(standing("tokens", "day"), Some((120, 0)), "a limit below what is used");
    assert_eq!(standing("money", "month"), Some((1_500, 998_500)));

    let ceiling = ["usage", "limit", "sharma", "tenant.month.money", "none", "--json"];
    installation.run(&ceiling).refused_as(2, "invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_is_told_and_limits_are_set_on_sqlite() {
    usage_is_told_and_limits_are_set(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_is_told_and_limits_are_set_on_postgres() {
    usage_is_told_and_limits_are_set(DatabaseEngine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_for_people() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let tenant = shop(&installation);
    let empty = installation.run(&["usage", "--since", "2026-11-01"]).ok();
    seed(&installation, tenant).await;
    let plan = installation.run(&["usage", "plan", "sharma", "free"]).ok();
    let limit = installation.run(&["usage", "limit", "sharma", "binding.day.money", "2.50"]).ok();
    let back = installation.run(&["usage", "limit", "sharma", "background.tenant.day.tokens", "none"]).ok();
    let usage = installation.run(&["usage"]).ok();
    let all = [empty, plan, limit, back, usage].join("---\n");
    insta::assert_snapshot!(installation.masked(&all));
}

#[test]
fn what_can_not_be_meant_is_a_usage_error() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "sharma"]);
    for arguments in [
        &["usage", "--by", "colour"][..],
        &["usage", "--since", "yesterday"],
        &["usage", "plan"],
        &["usage", "plan", "sharma", "gold"],
        &["usage", "limit", "sharma", "tenant.year.money", "5"],
        &["usage", "limit", "sharma", "tenant.month.money", "lots"],
        &["usage", "--by", "day", "plan", "sharma"],
    ] {
        let ran = installation.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.err.starts_with("error: "), "{ran:?}");
    }
}
