//! Comma-separated files, ours and people's.

use munshi_ledger::books::import::{BooksFiles, BooksImportReport, ImportMode, import};
use munshi_ledger::books::*;
use munshi_ledger::{Error, Result};
use munshi_store::{MIGRATIONS, PageRequest, Tx};
use munshi_test_support::on_both_engines;

use crate::books::support::{Shop, cash_sale, rupees};

/// The three files of a shop.
pub(crate) async fn exported(shop: &Shop) -> [String; 3] {
    let texts = shop.read(|tx| {
        let mut texts = [Vec::new(), Vec::new(), Vec::new()];
        export::contacts(tx, &mut texts[0])?;
        export::items(tx, &mut texts[1])?;
        export::entries(tx, &mut texts[2])?;
        Ok(texts)
    });
    texts.await.unwrap().map(|text| String::from_utf8(text).unwrap())
}

pub(crate) async fn taken(
    shop: &Shop,
    [contacts, items, entries]: [String; 3],
    mode: ImportMode,
) -> Result<BooksImportReport> {
    shop.write(move |tx, writing| {
        import(tx, writing, &BooksFiles { contacts: &contacts, items: &items, entries: &entries }, mode)
    })
    .await
}

/// A shop with the books of another, by way of files.
pub(crate) async fn copied(from: &Shop, into: &Shop) -> Shop {
    let report = taken(into, exported(from).await, ImportMode::Apply).await.unwrap();
    assert!(report.is_applied, "{:?}", report.errors);
    into.clone()
}

/// Everything that can be asked of the books, and their files.
pub(crate) async fn picture(shop: &Shop) -> (Vec<String>, [String; 3]) {
    let asked = shop.read(|tx| {
        let mut all = vec![format!("{:?} {:?}", balances::load_totals(tx)?, chart(tx)?)];
        let ever = DayRange { from: "1970-01-01".parse().unwrap(), to: "2100-01-01".parse().unwrap() };
        all.push(format!(
            "{:?} {:?}",
            daily_turnover::totals(tx, ever)?,
            daily_turnover::sum_by_category(tx, ever)?
        ));
        for contact in contacts::list(tx, &PageRequest::new(None, 500))?.items {
            let habits = [HabitSide::Trade, HabitSide::Payment].map(|side| habits::get(tx, contact.id, side));
            all.push(format!("{contact:?} {habits:?}"));
        }
        all.push(format!("{:?}", items::list(tx, &PageRequest::new(None, 500))?.items));
        all.extend(entries(tx)?);
        Ok(all)
    });
    (asked.await.unwrap(), exported(shop).await)
}

fn entries(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let mut all = Vec::new();
    while let Some(entry) = entry::find_by_number(tx, all.len() as i64 + 1)? {
        let (postings, movements) = (entry::postings(tx, entry.id)?, entry::movements(tx, entry.id)?);
        all.push(format!("{entry:?} {postings:?} {movements:?}"));
    }
    Ok(all)
}

fn files(contacts: &str, items: &str, entries: &str) -> [String; 3] {
    [contacts.to_owned(), items.to_owned(), entries.to_owned()]
}

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn a_persons_sheet_is_read_and_reading_it_again_adds_nothing(test: TestDb) {
        let shop = Shop::open(&test).await;
        let sheet = files(
            "Name,Phone,Limit\nRajan,98123 45678,\"5,000\"\n",
            "name,unit,low at\nSugar,kg,5\n",
            "\u{FEFF}when,kind,amount,means,contact,category,item,quantity,paid\n\
             15/11/2026,sale,\"₹1,250.50\",cash,,,Sugar,2.5,\n\
             14-11-2026,sale,500,,राजन,,,,\n\
             2026-11-14,payment_received,200,bank,Rajan,,,,\n\
             14/11/2026,expense,90,cash,,chai,,,\n\
             14/11/2026,expense,90,cash,,chai,,,\n\
             14/11/2026,purchase,900,cash,Gupta Traders,,,,400\n\
             13/11/2026,opening,-70,,Asha,,,,\n",
        );
        let rehearsed = taken(&shop, sheet.clone(), ImportMode::Rehearse).await.unwrap();
        assert_eq!((rehearsed.contacts, rehearsed.items), (3, 1), "Rajan, and two that only the entries name");
        assert_eq!((rehearsed.entries, rehearsed.wrong, rehearsed.is_applied), (7, 0, false), "{:?}", rehearsed.errors);
        assert_eq!(shop.standing().await.entries, 0, "a rehearsal leaves nothing");
        let applied = taken(&shop, sheet.clone(), ImportMode::Apply).await.unwrap();
        assert_eq!(BooksImportReport { is_applied: true, ..rehearsed }, applied);
        let again = taken(&shop, sheet, ImportMode::Apply).await.unwrap();
        assert_eq!((again.entries, again.contacts, again.items, again.known), (0, 0, 0, 9));
        let standing = shop.standing().await;
        assert_eq!(standing.cash, "670.50".parse().unwrap());
        assert_eq!((standing.bank, standing.receivable, standing.payable), (rupees(200), rupees(300), rupees(570)));
        let today = shop.today().await;
        assert_eq!(today.sales, "1250.50".parse().unwrap());
        shop.assert_sound().await;
    }

    async fn large_amounts_are_shown_before_they_are_taken(test: TestDb) {
        let shop = Shop::open(&test).await;
        let sheet = files("", "", "when,kind,amount,means\n14/11/2026,sale,10000,cash\n14/11/2026,sale,10001,cash\n");
        let rehearsed = taken(&shop, sheet.clone(), ImportMode::Rehearse).await.unwrap();
        let lines: Vec<u64> = rehearsed.large.iter().map(|row| row.line).collect();
        assert_eq!((rehearsed.large_in_all, lines), (1, vec![3]), "{:?}", rehearsed.errors);
        taken(&shop, sheet.clone(), ImportMode::Apply).await.unwrap();
        assert_eq!(taken(&shop, sheet, ImportMode::Rehearse).await.unwrap().large_in_all, 0, "what is known is asked about no more");
    }

    async fn every_wrong_row_is_told_with_its_line_and_nothing_is_taken(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.contact("Ramesh Kumar").await;
        shop.contact("Ramesh Verma").await;
        let sheet = files(
            "name,phone\nAsha,12\n",
            "name,unit\nSugar,kg\n",
            "when,kind,amount,means,contact,item,quantity\n\
             15/11/2026,sale,100,cash,,,\n\
             ,sale,100,cash,,,\n\
             32/11/2026,sale,100,cash,,,\n\
             15/11/2026,gift,100,cash,,,\n\
             15/11/2026,sale,abc,cash,,,\n\
             15/11/2026,sale,100,card,,,\n\
             15/11/2026,sale,100,,,,\n\
             15/11/2026,sale,100,,Ramesh,,\n\
             15/11/2026,stock_in,,,,Salt,1\n\
             15/11/2026,stock_in,,,,Sugar,lots\n\
             15/11/2026,line,,,,Sugar,1\n\
             15/11/2026,stock_in,,,,Sugar,3\n\
             15/11/2026,line,,,,Sugar,1\n\
             15/11/2030,sale,100,cash,,,\n",
        );
        let report = taken(&shop, sheet, ImportMode::Apply).await.unwrap();
        let told: Vec<(&str, u64)> = report.errors.iter().map(|error| (error.file, error.line)).collect();
        let mut lines: Vec<u64> = vec![3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15];
        let entries: Vec<u64> = {
            let mut lines: Vec<u64> = told.iter().filter(|(file, _)| *file == "entries").map(|(_, line)| *line).collect();
            lines.sort_unstable();
            lines
        };
        lines.sort_unstable();
        assert_eq!(entries, lines, "{:#?}", report.errors);
        assert_eq!(told[0], ("contacts", 2));
        assert_eq!((report.wrong, report.is_applied), (12, false));
        assert!(report.errors.iter().any(|error| error.what.contains("Ramesh Kumar or Ramesh Verma")
            || error.what.contains("Ramesh Verma or Ramesh Kumar")), "{:#?}", report.errors);
        assert_eq!(shop.standing().await.entries, 0);
        assert_eq!(shop.read(|tx| items::find(tx, "Sugar")).await.unwrap(), NameMatch::Nobody);
    }

    async fn a_file_that_is_none_of_ours_is_refused_as_a_whole(test: TestDb) {
        let shop = Shop::open(&test).await;
        for (sheet, words) in [
            (files("", "", "when,kind,amout\n1,sale,5\n"), "unknown column `amout`"),
            (files("", "", "kind,amount\nsale,5\n"), "`when` is missing"),
            (files("name,name\nx,y\n", "", ""), "duplicate column"),
        ] {
            let refused = taken(&shop, sheet, ImportMode::Apply).await.unwrap_err();
            assert!(matches!(&refused, Error::File(what) if what.contains(words)), "{refused}");
        }
    }

    async fn no_cell_that_somebody_wrote_is_a_formula(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.contact("=HYPERLINK(\"http://x\")").await;
        let mut new = shop.new_entry(cash_sale(5));
        new.said.words = "@SUM(A1)".to_owned();
        shop.book_new(new).await.unwrap();
        let [contacts, _, entries] = exported(&shop).await;
        assert!(contacts.contains(",\"'=HYPERLINK"), "{contacts}");
        assert!(entries.contains(",'@SUM(A1),"), "{entries}");
        let other = copied(&shop, &Shop::open(&test).await).await;
        assert_eq!(picture(&other).await, picture(&shop).await);
    }

    async fn where_a_contact_reads_mail_goes_along(test: TestDb) {
        let shop = Shop::open(&test).await;
        let sheet = files("name,phone,email\nRajan,98123 45678, Rajan@Mail.example \nAsha,,\n", "", "");
        let report = taken(&shop, sheet, ImportMode::Apply).await.unwrap();
        assert_eq!((report.contacts, report.wrong), (2, 0), "{:?}", report.errors);
        let mails = async |shop: &Shop| {
            shop.read(|tx| {
                let found = contacts::list(tx, &PageRequest::new(None, 10))?.items;
                let mails = found.into_iter().map(|one| Ok((one.name, details::get(tx, one.id)?.email)));
                let mut mails = mails.collect::<Result<Vec<_>>>()?;
                mails.sort();
                Ok(mails)
            })
            .await
            .unwrap()
        };
        let wanted = [("Asha".to_owned(), None), ("Rajan".to_owned(), Some("rajan@mail.example".to_owned()))];
        assert_eq!(mails(&shop).await, wanted);
        let other = copied(&shop, &Shop::open(&test).await).await;
        assert_eq!(mails(&other).await, wanted);
        assert_eq!(picture(&other).await, picture(&shop).await);
        let wrong = taken(&shop, files("name,email\nSita,sita at home\n", "", ""), ImportMode::Apply).await.unwrap();
        assert_eq!((wrong.wrong, wrong.errors[0].line, wrong.is_applied), (1, 2, false));
    }

    async fn the_same_sheet_saved_again_is_the_same_rows(test: TestDb) {
        let shop = Shop::open(&test).await;
        let sheet = |text: &str| [String::new(), String::new(), text.to_owned()];
        let first = "kind,when,amount,means,contact,words\nsale,2026-11-15,1500,cash,,tea\nsale,2026-11-15,1500,cash,,tea\npayment_received,2026-11-14,100,cash,Sita,\n";
        let report = taken(&shop, sheet(first), ImportMode::Apply).await.unwrap();
        assert_eq!((report.entries, report.known), (3, 0), "{:?}", report.errors);
        let again = "when,kind,contact,words,amount,means\n15/11/2026,Sale,,tea,\"1,500.00\",Cash\n15-11-2026,sale,,tea,₹1500,cash\n१४/११/२०२६,payment_received,sita,,१००,cash\n";
        let report = taken(&shop, sheet(again), ImportMode::Apply).await.unwrap();
        assert_eq!((report.entries, report.known), (0, 3), "{:?}", report.errors);
        let third = format!("{first}sale,2026-11-15,1500,cash,,tea\n");
        let report = taken(&shop, sheet(&third), ImportMode::Apply).await.unwrap();
        assert_eq!((report.entries, report.known), (1, 3), "one more of the same is one more");
    }

    async fn what_is_odd_in_a_row_is_said_and_not_guessed(test: TestDb) {
        let shop = Shop::open(&test).await;
        let text = "kind,when,amount,means\nsale,2026-11-15,\"1,50\",cash\nsale,2026-11-15,\"1,5,0\",cash\nsale,2026-11-15,1,500,cash\nsale,2026-11-15,900,cash,,\n";
        let report = taken(&shop, [String::new(), String::new(), text.to_owned()], ImportMode::Rehearse).await.unwrap();
        let lines: Vec<u64> = report.errors.iter().map(|row| row.line).collect();
        assert_eq!((lines, report.entries), (vec![2, 3, 4], 1), "{:?}", report.errors);
        assert!(report.errors[0].what.contains("commas") && report.errors[2].what.contains("past the last column"), "{:?}", report.errors);
    }
}
