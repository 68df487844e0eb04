//! What somebody at a page has to agree to before a tool is called for them.

use munshi_identity::{ContactAddress, persons};
use munshi_store::Tx;
use munshi_test_app::notes::OPEN_POLICY;
use munshi_test_support::TestDb;
use munshi_test_support::models::ScriptedTurn;
use serde_json::{Value, json};

use super::{Browser, FRONT, cookie};
use crate::api::support::{HOST_SECRET, Installation, claims, files, signed};

const PHONE: &str = "+919812345678";
const CONSENTS: &str = "SELECT COUNT(*) FROM consents WHERE tenant_id = $1";
const WORDS: &str = "May we look up your credit? You can take it back.";
const PURPOSES: &str = "[consent.purposes.credit_check]\ndays = 30\n\
    words = \"May we look up your credit? You can take it back.\"\n";
const AGENT: &str = "name = \"Plain\"\ntools = [\"score\"]\n\
                     [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

/// A shop whose agent can look up what somebody has to agree to.
pub(crate) async fn opened(test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Installation {
    let house = Installation::open(test, script).await;
    let policy = format!("{OPEN_POLICY}{PURPOSES}");
    house.apply_tenant(&files("shop").with_agent(AGENT).with_policy(&policy)).await;
    house
}

fn look() -> ScriptedTurn {
    ScriptedTurn::call("score", &json!({ "text": "Asha" }))
}

/// A page of the host, which says that it is the customer with this phone.
fn vouched(house: &Installation) -> Browser {
    let mut told = claims(house.now());
    told["phone_number"] = json!(PHONE);
    let token = signed(&json!({ "alg": "HS256", "kid": "one" }), &told, HOST_SECRET);
    Browser::on("shop.example").with("authorization", format!("Bearer {token}"))
}

/// Somebody who was just asked, and the question.
async fn asked(house: &Installation) -> (Browser, Value) {
    let (headers, told) = Browser::default().say(house, "how is my credit?", "1").await;
    assert_eq!(told.last().unwrap().data["state"], "waiting_approval", "{told:?}");
    let known = Browser::default().with("cookie", cookie(&headers));
    let (_, thread) = known.get(house, FRONT).await;
    (known, thread["approvals"][0].clone())
}

async fn agree(house: &Installation, known: &Browser, question: &Value) {
    let path = format!("{FRONT}/approvals/{}/grant", question["id"].as_str().unwrap());
    let body = json!({ "digest": question["digest"] });
    let (status, answered, _) = known.call(house, "POST", &path, Some(body)).await;
    assert_eq!((status, &answered["state"]), (200, &json!("granted")), "{answered}");
}

on_both! {
    async fn the_page_asks_in_the_words_that_are_recorded(test: TestDb) {
        let house = opened(&test, [look(), ScriptedTurn::text("It is good.")]).await;
        let (known, question) = asked(&house).await;
        let words = question["words"].as_str().unwrap();
        assert!(words.starts_with(WORDS) && question["yours"] == true, "{question}");
        agree(&house, &known, &question).await;
        let read = |tx: &mut munshi_store::Tx<'_>| -> munshi_store::Result<Vec<munshi_types::ConsentId>> {
            tx.all("SELECT id FROM consents WHERE tenant_id = $1", munshi_store::params![], |row| row.get(0))
        };
        let given = house.db.read(house.shop.tenant, read).await.unwrap();
        let id = given[0];
        let read = move |tx: &mut munshi_store::Tx<'_>| munshi_safety::consents::find(tx, id);
        let consent = house.db.read(house.shop.tenant, read).await.unwrap().unwrap();
        assert!(words.starts_with(&consent.words), "{words}");
    }

    async fn a_host_says_nobodys_yes(test: TestDb) {
        let house = opened(&test, [look()]).await;
        house.host_key().await;
        let (ids, now) = (house.ids.clone(), house.now());
        let add = move |tx: &mut Tx<'_>| {
            persons::find_or_add(tx, &ids, &[ContactAddress::phone(PHONE).unwrap()], "Asha", now)
        };
        let asha = house.db.write(house.shop.tenant, add).await.unwrap().person.id;
        let page = vouched(&house);
        let (_, told) = page.say(&house, "how is my credit?", "1").await;
        assert_eq!(told.last().unwrap().data["state"], "waiting_approval", "{told:?}");
        let (_, thread) = page.get(&house, FRONT).await;
        let question = &thread["approvals"][0];
        assert_eq!(question["yours"], false, "{question}");
        let path = format!("{FRONT}/approvals/{}/grant", question["id"].as_str().unwrap());
        let body = json!({ "digest": question["digest"] });
        assert_eq!(page.call(&house, "POST", &path, Some(body)).await.0, 403);
        page.say(&house, "yes", "2").await;
        assert_eq!(house.read_number(house.shop.tenant, CONSENTS).await, 0);
        // Nor does a phone become hers, which could say it.
        for (path, body) in [("link", json!({ "phone": "+919812340000" })), ("confirm", json!({ "code": "123456" }))] {
            let refused = page.call(&house, "POST", &format!("{FRONT}/{path}"), Some(body)).await;
            assert_eq!(refused.0, 409, "{path}: {}", refused.1);
            assert!(refused.1.to_string().contains("A host says"), "{path}: {}", refused.1);
        }
        let of = move |tx: &mut Tx<'_>| persons::list_addresses(tx, asha);
        let known = house.db.read(house.shop.tenant, of).await.unwrap();
        assert_eq!(known.len(), 2, "it was asked in her name: {known:?}");
    }

    async fn whoever_agreed_at_a_page_takes_it_back_there(test: TestDb) {
        let script = [look(), ScriptedTurn::text("It is good."), ScriptedTurn::text("Hello."), look()];
        let house = opened(&test, script).await;
        let (known, question) = asked(&house).await;
        let mine = format!("{FRONT}/consents");
        assert_eq!(known.get(&house, &mine).await, (200, json!({ "consents": [] })));
        agree(&house, &known, &question).await;
        assert_eq!(known.get(&house, FRONT).await.1["consents"], true);
        let (_, listed) = known.get(&house, &mine).await;
        let given = &listed["consents"][0];
        assert_eq!((&given["words"], &given["state"]), (&json!(WORDS), &json!("valid")));
        let path = format!("{mine}/{}/withdraw", given["id"].as_str().unwrap());
        let (headers, _) = Browser::default().say(&house, "hello", "9").await;
        let other = Browser::default().with("cookie", cookie(&headers));
        for stranger in [Browser::default(), other] {
            assert_eq!(stranger.get(&house, &mine).await.1, json!({ "consents": [] }));
            assert_eq!(stranger.call(&house, "POST", &path, None).await.0, 404);
        }
        for _ in 0..2 {
            let (status, withdrawn, _) = known.call(&house, "POST", &path, None).await;
            assert_eq!((status, &withdrawn["state"]), (200, &json!("withdrawn")), "{withdrawn}");
        }
        assert_eq!(known.get(&house, FRONT).await.1["consents"], false);
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'consent.withdrawn'";
        assert_eq!(house.read_number(house.shop.tenant, told).await, 1);
        let (_, told) = known.say(&house, "and now?", "2").await;
        assert_eq!(told.last().unwrap().data["state"], "waiting_approval", "they are asked anew: {told:?}");
    }
}
