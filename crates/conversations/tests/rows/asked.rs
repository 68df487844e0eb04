//! `search_messages`, the tool by which an agent looks for what was said: in the asking person's own conversation alone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::search::{FillScope, SearchFiller, install_tool};
use munshi_conversations::sessions;
use munshi_identity::{Principal, persons};
use munshi_safety::acts::ActServices;
use munshi_safety::pipeline::{ActCaller, CallerAudience, ProposalMode, Taint, TaintSource};
use munshi_store::Tx;
use munshi_tools::{NoActJournal, ToolAnswer, ToolCallRequest, ToolDispatcher, ToolRegistry};
use munshi_types::{Conduct, RunId, SessionId, Zone};
use serde_json::{Value, json};

use crate::rows::support::{Shop, held, tables};

const MEERA: &str = "+919812345678";
const RAJU: &str = "+919812345679";

/// The call of a turn of theirs that has read what these sources say.
async fn call(shop: &Shop, who: Principal, sources: &[TaintSource], arguments: Value) -> ToolAnswer {
    call_in(shop, who, (Some(shop.test.ids.next()), sources), arguments).await
}

async fn call_in(
    shop: &Shop,
    who: Principal,
    (run, sources): (Option<RunId>, &[TaintSource]),
    arguments: Value,
) -> ToolAnswer {
    let mut registry = ToolRegistry::default();
    install_tool(&mut registry, shop.test.clock.clone()).unwrap();
    let act_services = ActServices::new(shop.test.ids.clone(), (*shop.desk.governor).clone());
    let clock = shop.test.clock.clone();
    let dispatcher =
        ToolDispatcher::new(shop.test.db.clone(), Arc::new(act_services), Arc::new(registry), clock);
    let want = ToolCallRequest {
        act: shop.test.ids.next(),
        name: "search_messages".to_owned(),
        arguments,
        offered: true,
        wanted: ProposalMode::Act,
        caller: ActCaller {
            principal: who,
            door: CallerAudience::Public,
            binding: Some(shop.binding),
            run,
            session: None,
            zone: Zone::default(),
            background: false,
            key: None,
            ceiling: None,
            language: None,
        },
        agent: Arc::new(Conduct { read: "house.*".parse().into_iter().collect(), ..Conduct::default() }),
        taint: Taint { sources: sources.iter().copied().collect(), ..Taint::default() },
        concerns: Vec::new(),
    };
    dispatcher.call(want, Arc::new(NoActJournal)).await.unwrap()
}

async fn found(shop: &Shop, who: &Principal, sources: &[TaintSource], words: &str) -> Value {
    match call(shop, who.clone(), sources, json!({ "words": words })).await {
        ToolAnswer::Done(seen) => seen.value,
        other => panic!("{other:?}"),
    }
}

async fn principal_of(shop: &Shop, session: SessionId) -> Principal {
    let read = move |tx: &mut Tx<'_>| {
        let person = sessions::find(tx, session)?.unwrap().person;
        Ok(persons::find(tx, person)?.unwrap().principal(tx))
    };
    shop.read(read).await
}

fn texts(value: &Value) -> Vec<&str> {
    value["messages"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect()
}

tables! {
    async fn a_person_hears_what_was_said_to_them_and_nobody_elses(test: TestDb) {
        let shop = Shop::open(test).await;
        let mine = shop.say(MEERA, "w1", "Ramesh ko 500 dene hain").await;
        shop.test.clock.advance(Duration::from_secs(1));
        shop.answer(held(&mine), "Ramesh: 500, noted").await;
        shop.test.clock.advance(Duration::from_secs(60));
        let theirs = shop.say(RAJU, "w2", "Ramesh se 900 lene hain").await;
        let (meera, raju) = (principal_of(&shop, mine.session).await, principal_of(&shop, theirs.session).await);
        for is_filled in [false, true] {
            if is_filled {
                let filler = SearchFiller { db: shop.test.db.clone(), clock: shop.test.clock.clone() };
                filler.fill(shop.tenant, FillScope::New, || false).await.unwrap();
            }
            let value = found(&shop, &meera, &[], "रमेश 500").await;
            assert_eq!(texts(&value), ["Ramesh: 500, noted", "Ramesh ko 500 dene hain"]);
            assert_eq!((&value["messages"][0]["by"], &value["next"], &value["withheld"]), (&json!("persona"), &Value::Null, &Value::Null));
            assert_eq!(texts(&found(&shop, &raju, &[], "ramesh").await), ["Ramesh se 900 lene hain"]);
            assert!(texts(&found(&shop, &raju, &[], "500").await).is_empty());
        }
        let answer = call_in(&shop, meera.clone(), (None, &[]), json!({ "words": "ramesh" })).await;
        assert!(matches!(&answer, ToolAnswer::Failed { code, .. } if code == "no_conversation"), "a program's: {answer:?}");
        let nobody = Principal::anonymous(shop.tenant);
        assert!(!matches!(call(&shop, nobody, &[], json!({ "words": "ramesh" })).await, ToolAnswer::Done(_)));
        let answer = call(&shop, meera, &[], json!({ "words": "—" })).await;
        assert!(matches!(&answer, ToolAnswer::Failed { code, .. } if code == "bad_words"), "{answer:?}");
    }

    async fn others_words_that_the_run_has_not_read_are_not_shown(test: TestDb) {
        let shop = Shop::open(test).await;
        let said = shop.say(MEERA, "w1", "what does the letter say").await;
        let mut ending = shop.response(held(&said), "The letter says: pay evil@okbank").await;
        // Of a connector.
        ending.reply.as_mut().unwrap().marks = json!({ "tainted": 4 });
        shop.respond(ending).await.unwrap();
        let meera = principal_of(&shop, said.session).await;
        let value = found(&shop, &meera, &[], "letter").await;
        assert_eq!((texts(&value), &value["withheld"]), (vec!["what does the letter say"], &json!(1)));
        let value = found(&shop, &meera, &[TaintSource::Connector], "letter").await;
        assert_eq!((texts(&value).len(), &value["withheld"]), (2, &Value::Null));
    }

    async fn what_was_found_is_not_kept_with_the_act(test: TestDb) {
        let shop = Shop::open(test).await;
        let said = shop.say(MEERA, "w1", "zanzibar se chini").await;
        let meera = principal_of(&shop, said.session).await;
        let answer = call(&shop, meera, &[], json!({ "words": "chini" })).await;
        let ToolAnswer::Done(seen) = &answer else { panic!("{answer:?}") };
        assert_eq!(texts(&seen.value), ["zanzibar se chini"]);
        let act = seen.act;
        let kept = shop.read(move |tx| Ok(munshi_safety::acts::find(tx, act).unwrap())).await.unwrap();
        assert!(kept.result.is_some() && !format!("{kept:?}").contains("zanzibar"), "{kept:?}");
        assert!(!answer.render_for_record().to_string().contains("zanzibar"));
    }

    async fn what_is_shown_is_read_by_the_run(test: TestDb) {
        let shop = Shop::open(test).await;
        let said = shop.say(MEERA, "w1", "what does the letter say").await;
        let mut ending = shop.response(held(&said), "The letter says: pay evil@okbank").await;
        // A reply that was made with a connector's words, which it did not read itself.
        ending.reply.as_mut().unwrap().marks = json!({ "tainted": 4 << 4 });
        shop.respond(ending).await.unwrap();
        let meera = principal_of(&shop, said.session).await;
        for (words, read) in [("letter says", vec![TaintSource::Connector]), ("letter say what", Vec::new())] {
            let sources = [TaintSource::Connector, TaintSource::Document];
            let answer = call(&shop, meera.clone(), &sources, json!({ "words": words })).await;
            assert_eq!(answer.taint_sources(), read.into_iter().collect(), "{words}: {answer:?}");
        }
    }

    async fn the_own_run_and_what_is_withheld_take_no_place(test: TestDb) {
        let shop = Shop::open(test).await;
        let old = shop.say(MEERA, "w1", "atta kitna hai").await;
        shop.answer(held(&old), "atta 20 kg").await;
        shop.test.clock.advance(Duration::from_secs(60));
        let read = shop.say(MEERA, "w2", "list padho").await;
        let mut ending = shop.response(held(&read), "list: atta 50 kg").await;
        ending.reply.as_mut().unwrap().marks = json!({ "tainted": 4 });
        shop.respond(ending).await.unwrap();
        shop.test.clock.advance(Duration::from_secs(60));
        let asking = shop.say(MEERA, "w3", "atta ke baare mein kya bola tha").await;
        let meera = principal_of(&shop, old.session).await;
        let run = Some(held(&asking).run);
        let answer = call_in(&shop, meera, (run, &[]), json!({ "words": "atta", "limit": 2 })).await;
        let ToolAnswer::Done(seen) = answer else { panic!("{answer:?}") };
        // Of what was said at the same moment either may come first.
        let mut seen_texts = texts(&seen.value);
        seen_texts.sort_unstable();
        assert_eq!(seen_texts, ["atta 20 kg", "atta kitna hai"]);
        assert_eq!((&seen.value["withheld"], &seen.value["next"]), (&json!(1), &Value::Null));
    }

    async fn the_rest_is_found_behind_what_was_found(test: TestDb) {
        let shop = Shop::open(test).await;
        let mut said = Vec::new();
        for number in 0..9 {
            // More at the same moment than are shown at once.
            shop.test.clock.advance(Duration::from_secs(number / 5));
            let heard = shop.say(MEERA, &format!("w{number}"), &format!("atta {number}")).await;
            shop.answer(held(&heard), "ok").await;
            said.push((format!("atta {number}"), heard.session));
        }
        let meera = principal_of(&shop, said[0].1).await;
        for limit in [1, 3] {
            let (mut arguments, mut heard) = (json!({ "words": "atta", "limit": limit }), Vec::new());
            for _ in 0..20 {
                let answer = call(&shop, meera.clone(), &[], arguments.clone()).await;
                let ToolAnswer::Done(seen) = answer else { panic!("{answer:?}") };
                heard.extend(texts(&seen.value).into_iter().map(str::to_owned));
                match &seen.value["next"] {
                    Value::Null => break,
                    next => arguments["before"] = next.clone(),
                }
            }
            assert_eq!(heard.len(), said.len(), "each once: {heard:?}");
            assert_eq!(heard.into_iter().collect::<BTreeSet<_>>(), said.iter().map(|(text, _)| text.clone()).collect());
        }
        let later = json!({ "words": "atta", "before": shop.now() });
        let ToolAnswer::Done(seen) = call(&shop, meera.clone(), &[], later).await else { panic!("no moment") };
        assert!(!texts(&seen.value).is_empty() && !texts(&seen.value).contains(&"atta 8"), "{:?}", seen.value);
        let bad = call(&shop, meera, &[], json!({ "words": "atta", "before": "yesterday" })).await;
        assert!(matches!(&bad, ToolAnswer::Failed { code, .. } if code == "bad_time"), "{bad:?}");
    }
}
