//! What turns came to, day by day: the same from the nightly count, from the rows, and from any mix of the two.

use std::time::Duration;

use jiff::civil::{Date, date};
use munshi_conversations::commit::TurnStatus;
use munshi_conversations::decisions::{TierTokens, TurnDecision};
use munshi_conversations::rollups::{self, TurnMeasure, TurnStatsReport, TurnTally, TurnTallyLine};
use munshi_conversations::{TurnTimings, runs};
use munshi_types::Zone;

use crate::rows::support::{Shop, held, tables};

const HOUR: Duration = Duration::from_secs(3600);
const FIRST: Date = date(2026, 11, 15);
const LAST: Date = date(2026, 11, 30);

fn decision(total: i64) -> TurnDecision {
    TurnDecision {
        outcome: "done".to_owned(),
        model_calls: 1,
        tokens: TierTokens { human: 100, team: 200, agent: 300, dynamic: 50 },
        output_tokens: 20,
        cost: Some(1500),
        micros: TurnTimings {
            ingest: 900,
            prepare: 2000,
            think: total - 4000,
            check: 100,
            respond: 300,
            first_word: Some(total / 2),
            total,
            ..TurnTimings::default()
        },
        ..TurnDecision::default()
    }
}

/// A turn that ends now.
async fn turn(shop: &Shop, id: &str, decision: TurnDecision) {
    let mine = held(&shop.say("+919812345678", id, "balance?").await);
    let mut response = shop.response(mine, "₹500").await;
    response.decision = Some(Box::new(decision));
    shop.respond(response).await.unwrap();
}

async fn counted(shop: &Shop, first: Date, last: Date) -> Vec<TurnTallyLine> {
    let read = move |tx: &mut munshi_store::Tx<'_>| rollups::read(tx, &Zone::default(), first, last);
    shop.test.db.read(shop.tenant, read).await.unwrap()
}

async fn refresh(shop: &Shop) -> usize {
    rollups::refresh(&shop.test.db, shop.tenant, &Zone::default(), shop.now()).await.unwrap()
}

/// How many turns the nightly count has written down.
async fn kept(shop: &Shop) -> i64 {
    let sql = (
        "SELECT coalesce(sum(turns), 0) FROM turn_days WHERE tenant_id = $1",
        "SELECT coalesce(sum(turns), 0)::bigint FROM turn_days WHERE tenant_id = $1",
    );
    shop.read(move |tx| tx.one(sql, &[], |row| row.get(0))).await
}

tables! {
    async fn counting_changes_no_answer(test: TestDb) {
        let shop = Shop::open(test).await;
        for number in 0..9_i32 {
            turn(&shop, &format!("w{number}"), decision(100_000 + i64::from(number) * 70_000)).await;
            shop.test.clock.advance(HOUR * 6);
        }
        let from_rows = counted(&shop, FIRST, LAST).await;
        assert_eq!((from_rows.len(), from_rows[0].tally.turns, kept(&shop).await), (1, 9, 0));
        assert_eq!(refresh(&shop).await, 2, "the days that are over");
        let night = kept(&shop).await;
        assert_eq!(night, 7, "the running day is not counted");
        assert_eq!(counted(&shop, FIRST, LAST).await, from_rows);
        refresh(&shop).await;
        assert_eq!((kept(&shop).await, counted(&shop, FIRST, LAST).await), (night, from_rows.clone()), "twice is once");
        turn(&shop, "w9", decision(900_000)).await;
        shop.test.clock.advance(HOUR * 48);
        refresh(&shop).await;
        assert_eq!(kept(&shop).await, 10);
        assert_eq!(counted(&shop, FIRST, LAST).await[0].tally.turns, 10);

        let mut sum = TurnTally::default();
        let mut day = FIRST;
        while day <= LAST {
            counted(&shop, day, day).await.iter().for_each(|line| sum.merge(&line.tally));
            day = day.tomorrow().unwrap();
        }
        assert_eq!(sum, counted(&shop, FIRST, LAST).await[0].tally, "the parts are the whole");
    }

    async fn a_day_begins_at_midnight_of_the_tenant(test: TestDb) {
        let shop = Shop::open(test).await;
        // 23:59 in India is still the same day, and 00:01 is the next; in UTC both are the fifteenth.
        shop.test.clock.advance(HOUR * 15 - Duration::from_secs(60));
        turn(&shop, "late", decision(100_000)).await;
        shop.test.clock.advance(Duration::from_secs(120));
        turn(&shop, "early", decision(100_000)).await;
        for _ in 0..2 {
            let turns = |lines: Vec<TurnTallyLine>| lines.iter().map(|line| line.tally.turns).sum::<u64>();
            assert_eq!(turns(counted(&shop, FIRST, FIRST).await), 1);
            assert_eq!(turns(counted(&shop, date(2026, 11, 16), LAST).await), 1);
            shop.test.clock.advance(HOUR * 30);
            refresh(&shop).await;
        }
    }

    async fn a_turn_that_goes_on_days_later_is_counted_once(test: TestDb) {
        let shop = Shop::open(test).await;
        let mine = held(&shop.say("+919812345678", "w1", "pay Ramesh").await);
        let mut waiting = shop.response(mine, "shall I?").await;
        waiting.ending = TurnStatus::Waiting(Box::default());
        waiting.settle = None;
        waiting.decision = Some(Box::new(TurnDecision { outcome: "waiting_approval".to_owned(), ..decision(50_000) }));
        shop.respond(waiting).await.unwrap();
        shop.test.clock.advance(HOUR * 72);
        assert_eq!(refresh(&shop).await, 1);
        assert_eq!(counted(&shop, FIRST, LAST).await[0].tally.outcomes["waiting_approval"], 1);

        let now = shop.now();
        let again = shop.write(move |tx| runs::claim(tx, mine.run, now)).await.unwrap().lease(shop.tenant);
        let mut done = shop.response(again, "done").await;
        done.settle = None;
        done.decision = Some(Box::new(decision(80_000)));
        shop.respond(done).await.unwrap();
        let late = counted(&shop, FIRST, LAST).await;
        assert_eq!((late[0].tally.turns, late[0].tally.outcomes["done"]), (1, 1), "before the next night");
        assert_eq!(counted(&shop, date(2026, 11, 16), LAST).await, [], "it belongs to its day");
        shop.test.clock.advance(HOUR * 24);
        assert_eq!(refresh(&shop).await, 1, "an old day was counted again");
        assert_eq!((kept(&shop).await, counted(&shop, FIRST, LAST).await), (1, late));
    }

    async fn percentiles_stand_beside_their_targets(test: TestDb) {
        let shop = Shop::open(test).await;
        for number in 1..=20_i32 {
            turn(&shop, &format!("w{number}"), decision(i64::from(number) * 450_000)).await;
        }
        let report = TurnStatsReport::new(FIRST, LAST, &counted(&shop, FIRST, LAST).await);
        let whatsapp = &report.channels[0].part;
        let total = whatsapp.stages.iter().find(|spread| spread.measure == TurnMeasure::Total).unwrap();
        assert!((4_500_000..=4_800_000).contains(&total.p50), "{total:?}");
        assert!((8_550_000..=9_090_000).contains(&total.p95), "{total:?}");
        assert_eq!((total.count, total.met), (20, Some(false)), "3 s and 8 s are the targets");
        assert_eq!((whatsapp.cost_micros, whatsapp.unpriced, whatsapp.model_calls), (30_000, 0, 20));
        let has = |measure| whatsapp.stages.iter().any(|spread| spread.measure == measure);
        assert!(has(TurnMeasure::Think) && !has(TurnMeasure::Act), "nobody called a tool");
        let team = whatsapp.tokens.iter().find(|spread| spread.measure == TurnMeasure::Team).unwrap();
        assert_eq!((team.count, team.sum), (20, 4000));
    }
}
