//! What lies there: books, versions, secrets, accounts, keys, the audit.

use std::process::Command;

use munshi_safety::budget::BUDGET;
use munshi_store::across_tenants;
use munshi_test_support::environment;
use serde_json::json;

use super::fixture::{UpgradedInstallation, UpgradedServer};

pub(super) fn is_all_there(upgraded: &UpgradedInstallation) {
    is_sound(upgraded);
    let installation = &upgraded.installation;
    let entries = [
        "credit_given 500.00 Ramesh Kumar",
        "credit_given 700.00 Ramesh Patel",
        "expense 60.00 chai",
        "sale 1200.00",
        "sale 1250.00",
    ];
    assert_eq!(upgraded.entries(), entries);
    let tenants = installation.json(&["tenant", "list"]);
    let states: Vec<_> = tenants["items"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(states, ["paused", "active", "active"], "{tenants}");
    let policy = upgraded.shop_json(&["policy", "log"]);
    assert_eq!(policy["versions"][0]["changes"][0]["key"], "rates.writes_per_minute", "{policy}");
    let tier = installation.json(&["tier", "log", "kirana", "agent", "desk"]);
    assert_eq!(
        (&tier["versions"][0]["version"], &tier["versions"][0]["note"]),
        (&json!(2), &json!("the second"))
    );
    let secrets = upgraded.shop_json(&["vault", "list"]);
    assert_eq!(secrets["items"][0]["name"], "razorpay.key", "{secrets}");
    let operators = installation.json(&["operator", "list"]);
    assert_eq!(operators["items"].as_array().unwrap().len(), 2, "{operators}");
    let invited = installation.json(&["operator", "list", "--invited"]);
    assert_eq!(invited["items"][0]["email"], "zoya@shop.example", "{invited}");
    let usage = installation.json(&["usage", "--tenant", "kirana"]);
    assert_eq!(usage["items"][0]["plan"], "pro", "{usage}");
    assert_eq!(count_reservations(upgraded), 7, "one for each turn under way");
    is_dead_letter_listed(upgraded);
}

/// How many turns of all tenants have set something aside.
pub(super) fn count_reservations(upgraded: &UpgradedInstallation) -> i64 {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let db = upgraded.installation.open().await;
        let count = "SELECT COUNT(*) FROM usage_reservations WHERE state = 'held'";
        let platform = db.platform(BUDGET);
        platform.read(move |tx| tx.one(across_tenants(count), &[], |row| row.get(0))).await.unwrap()
    })
}

pub(super) fn is_dead_letter_listed(upgraded: &UpgradedInstallation) {
    let dead = upgraded.installation.json(&["jobs", "list"]);
    let kinds: Vec<_> = dead["items"].as_array().unwrap().iter().map(|job| &job["kind"]).collect();
    assert_eq!(kinds, ["outbox.deliver"], "{dead}");
}

pub(super) fn is_sound(upgraded: &UpgradedInstallation) {
    let verified = upgraded.installation.json(&["audit", "verify"]);
    assert_eq!((&verified["ok"], &verified["flaw"]), (&json!(true), &json!(null)), "{verified}");
    upgraded.shop_json(&["ledger", "check"]);
}

pub(super) fn lets_everybody_in(served: &UpgradedServer) {
    let people = &served.upgraded.people;
    let sign_in = |password: &str| {
        let form = format!("email=asha%40shop.example&password={}", password.replace(' ', "+"));
        served.post_form("/account/sign-in", &form).status
    };
    assert_eq!(sign_in(people["password"].as_str().unwrap()), 303);
    assert_eq!(sign_in("another password"), 401);
    let cookie = |name: &str| format!("cookie: {}\r\n", people[name].as_str().unwrap());
    let account = served.send("GET /account", &cookie("keeper_cookie"), None);
    assert!(account.status == 200 && account.body.contains("farid@house.example"), "{}", account.body);
    let thread = served.send("GET /visit/rangoli", &cookie("visitor_cookie"), None).json();
    assert!(thread.to_string().contains("When do you open?"), "{thread}");
    let vouched =
        format!("authorization: Bearer {}\r\n", sign_as_host(people["host_secret"].as_str().unwrap()));
    let vouched = served.send("GET /visit/rangoli", &vouched, None);
    assert_eq!(vouched.status, 200, "{}", vouched.body);
    let forged = format!("authorization: Bearer {}\r\n", sign_as_host("fedcba9876543210fedcba9876543210"));
    assert_eq!(served.send("GET /visit/rangoli", &forged, None).status, 401);
    assert_eq!(served.send_as("rohan", "GET /v1/bindings", None).status, 200);
    assert_eq!(served.send_as("revoked", "GET /v1/bindings", None).status, 401);
}

/// What the server of a host says of its visitor.
fn sign_as_host(secret: &str) -> String {
    let program = "import base64, hashlib, hmac, json, sys, time\n\
        part = lambda data: base64.urlsafe_b64encode(data).rstrip(b'=')\n\
        head = part(json.dumps({'alg': 'HS256', 'kid': 'one'}).encode())\n\
        body = part(json.dumps({'sub': 'c-17', 'aud': 'shop', 'iat': int(time.time())}).encode())\n\
        mark = part(hmac.new(sys.argv[1].encode(), head + b'.' + body, hashlib.sha256).digest())\n\
        print((head + b'.' + body + b'.' + mark).decode())";
    let mut python = Command::new("python3");
    let ran =
        python.env_clear().env("PATH", environment::path()).args(["-c", program, secret]).output().unwrap();
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}
