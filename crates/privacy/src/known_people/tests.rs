//! Lists that are kept ready, and those that grow from them.

use munshi_lang::text_words::TextWords;
use proptest::prelude::*;

use super::bounded_lists::{MOST_ENTITIES, MOST_LISTS};
use super::met::MetPerson;
use super::*;
use crate::kind::PiiKind;
use crate::{PiiMasker, PseudonymTable};

fn tenant(last: u128) -> TenantId {
    TenantId::from_uuid(uuid::Uuid::from_u128(last))
}

fn person(last: u128) -> PersonId {
    PersonId::from_uuid(uuid::Uuid::from_u128(last))
}

fn named(name: &str) -> ProtectedEntity {
    ProtectedEntity { names: vec![name.to_owned()], values: vec![(PiiKind::Phone, "9876543210".to_owned())] }
}

/// As if these had been read: everything else that was read before goes.
fn met(people: &KnownPeopleCache, tenant: TenantId, entities: &[ProtectedEntity]) -> ProtectedPeople {
    let met =
        entities.iter().zip(0..).map(|(one, at)| Arc::new(MetPerson::new(person(at), [0; 32], one.clone())));
    let met = Arc::new(MetPeople::new(PeopleVersion::default(), met.collect()));
    people.with_lock(|kept| kept.replace_met(tenant, &met));
    ProtectedPeople { met, ..ProtectedPeople::default() }
}

#[test]
fn a_list_is_made_once_until_it_changes() {
    let people = KnownPeopleCache::default();
    let first = people.get_or_build(tenant(1), &vec![named("Raju")].into());
    assert!(Arc::ptr_eq(&first, &people.get_or_build(tenant(1), &vec![named("Raju")].into())));
    let split = ProtectedEntity { names: vec!["Ra".to_owned(), "ju".to_owned()], ..named("") };
    let kind = ProtectedEntity { values: vec![(PiiKind::Account, "9876543210".to_owned())], ..named("Raju") };
    for other in [vec![named("Rajan")], vec![named("Raju"), named("Rajan")], vec![split], vec![kind], vec![]]
    {
        assert!(!Arc::ptr_eq(&first, &people.get_or_build(tenant(1), &other.clone().into())), "{other:?}");
    }
    let theirs = people.get_or_build(tenant(2), &vec![named("Raju")].into());
    assert_eq!((first.tenant(), theirs.tenant()), (tenant(1), tenant(2)), "never another tenant's");
}

#[test]
fn what_is_kept_is_bounded_and_the_longest_unused_goes() {
    let people = KnownPeopleCache::default();
    let first = people.get_or_build(tenant(0), &vec![named("Raju")].into());
    for last in 1..=MOST_LISTS as u128 + 50 {
        people.get_or_build(tenant(last), &vec![named("Raju")].into());
        assert!(
            Arc::ptr_eq(&first, &people.get_or_build(tenant(0), &vec![named("Raju")].into())),
            "it is asked for again and again"
        );
    }
    people.with_lock(|kept| assert_eq!(kept.ready.size(), (MOST_LISTS, MOST_LISTS)));

    let mut kept = BoundedLists::default();
    let known = Arc::new(KnownEntities::new(tenant(1), &[]));
    for key in 0..5 {
        kept.find([key; 32]);
        kept.insert([key; 32], &known, MOST_ENTITIES / 2);
    }
    assert_eq!(kept.size(), (2, MOST_ENTITIES));
    kept.insert([9; 32], &known, MOST_ENTITIES + 1);
    assert!(kept.peek([9; 32]).is_none(), "too large to keep");
    kept.insert([4; 32], &known, 7);
    assert_eq!(kept.size(), (2, MOST_ENTITIES / 2 + 7), "in the place of what it was");
    kept.insert([4; 32], &known, MOST_ENTITIES + 1);
    assert_eq!(kept.size(), (1, MOST_ENTITIES / 2), "what it was is stale");
    kept.retain(|_, _| false);
    assert_eq!(kept.size(), (0, 0));
}

#[test]
fn somebody_new_leaves_the_front_as_it_is() {
    let people = KnownPeopleCache::default();
    let all: Vec<ProtectedEntity> = (0..400).map(|at| named(&format!("Raju{at}"))).collect();
    let front = |so_many: usize| {
        let met = met(&people, tenant(1), &all[..so_many]);
        people.get_or_build(tenant(1), &met);
        let key = FrontKey { tenant: tenant(1), first: met::fingerprint(&all[0]) };
        people.with_lock(|kept| kept.fronts.find(key)).unwrap()
    };
    let first = front(300);
    let mut fronts = vec![first];
    for so_many in 301..=400 {
        let next = front(so_many);
        if !Arc::ptr_eq(&next, &fronts[fronts.len() - 1]) {
            fronts.push(next);
        }
    }
    assert!((2..=5).contains(&fronts.len()), "one for many who are new: {}", fronts.len());
    let writes = |name: &str| {
        let met = met(&people, tenant(1), &all);
        ProtectedPeople { writer: Some(named(name)), ..met }
    };
    let (one, other) = (writes("Asha"), writes("Meera"));
    let before = front(400);
    let [one, other] = [&one, &other].map(|people_of| people.get_or_build(tenant(1), people_of));
    assert!(!Arc::ptr_eq(&one, &other), "each with who writes");
    assert!(Arc::ptr_eq(&before, &front(400)), "behind the same front");
}

#[test]
fn nobody_stays_who_is_gone() {
    let people = KnownPeopleCache::default();
    let all: Vec<ProtectedEntity> = (0..100).map(|at| named(&format!("Raju{at}"))).collect();
    let before = met(&people, tenant(1), &all);
    let writing = ProtectedPeople { writer: Some(named("Asha")), ..before.clone() };
    let theirs = met(&people, tenant(2), &all);
    let sizes = || people.with_lock(|kept| (kept.met.size(), kept.fronts.size().0, kept.ready.size()));
    for (tenant, asked) in [(tenant(1), &before), (tenant(1), &writing), (tenant(2), &theirs)] {
        people.get_or_build(tenant, asked);
    }
    assert_eq!(sizes(), ((2, 200), 2, (3, 301)));
    let less = met(&people, tenant(1), &all[1..]);
    assert_eq!(sizes(), ((2, 199), 1, (1, 100)), "but for the other tenant's");
    // Of a turn that began before.
    people.get_or_build(tenant(1), &before);
    assert_eq!(sizes(), ((2, 199), 1, (1, 100)), "what it makes is its own");
    people.get_or_build(tenant(1), &less);
    assert_eq!(sizes(), ((2, 199), 2, (2, 199)));
}

/// Words that names share: whole, by their consonants, across scripts, and with the language.
const WORDS: &[&str] = &[
    "Ramesh",
    "रमेश",
    "રમેશ",
    "Rameesh",
    "Kumar",
    "कुमार",
    "Das",
    "Milk",
    "Suresh",
    "ரமேஷ்",
    "Rajan",
    "ராஜன்",
    "राजन",
    "Krishna",
    "Krishnan",
    "Lata",
    "ಲತ",
    "Traders",
    "Gita",
    "கீதா",
    "Zubeida",
    "Meera",
    "मीरा",
    "Urmi",
    "Urmila",
];

/// Numbers that begin, end and lie in one another.
const VALUES: &[(PiiKind, &str)] = &[
    (PiiKind::Phone, "+919876543210"),
    (PiiKind::Phone, "9876543210"),
    (PiiKind::Account, "9876543210"),
    (PiiKind::Account, "98765432101234"),
    (PiiKind::Account, "5432101234"),
    (PiiKind::Account, "43210"),
    (PiiKind::Upi, "ramesh@okicici"),
    (PiiKind::Email, "ramesh@okicici.example"),
];

fn entity() -> impl Strategy<Value = ProtectedEntity> {
    let names = prop::collection::vec(prop::collection::vec(prop::sample::select(WORDS), 1..3), 0..3);
    let values = prop::collection::vec(prop::sample::select(VALUES), 0..2);
    (names, values).prop_map(|(names, values)| ProtectedEntity {
        names: names.iter().map(|words| words.join(" ")).collect(),
        values: values.into_iter().map(|(kind, value)| (kind, value.to_owned())).collect(),
    })
}

/// What happens to a list between two turns.
#[derive(Clone, Debug)]
enum Step {
    Add(Vec<ProtectedEntity>),
    Change(prop::sample::Index, ProtectedEntity),
    Remove(prop::sample::Index),
    Write(Option<ProtectedEntity>),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::collection::vec(entity(), 1..12).prop_map(Step::Add),
        1 => (any::<prop::sample::Index>(), entity()).prop_map(|(at, entity)| Step::Change(at, entity)),
        1 => any::<prop::sample::Index>().prop_map(Step::Remove),
        1 => prop::option::of(entity()).prop_map(Step::Write),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let values: Vec<&str> = VALUES.iter().map(|(_, value)| *value).collect();
    let said = prop_oneof![
        4 => prop::sample::select(WORDS),
        2 => prop::sample::select(values),
        2 => prop::sample::select(vec!["ko", "ne", "ji", "500", "98765", "43210", "1234"]),
    ];
    let between = prop::sample::select(vec![" ", "", ", ", "-"]);
    let parts = prop::collection::vec((said, between), 0..16);
    parts.prop_map(|parts| parts.into_iter().flat_map(|(said, between)| [said, between]).collect())
}

/// What is found in a text, what a model sees of it, and what stands for what.
fn finds(known: &KnownEntities, text: &str) -> (String, String, serde_json::Value) {
    let values = known.find_values(text);
    let values: Vec<_> = values.iter().map(|(found, stored)| (found.range.clone(), *stored)).collect();
    let names = known.name_finder().find_in(&TextWords::new(text));
    let mut table = PseudonymTable::new(known.tenant(), person(1));
    let seen = PiiMasker::new(known, &mut table).unwrap().mask_text(text);
    (format!("{values:?} {names:?}"), seen, serde_json::to_value(&table).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_list_that_has_grown_finds_what_one_made_at_once_does(
        others in prop::collection::vec(entity(), 0..30),
        first in prop::collection::vec(entity(), 0..60),
        steps in prop::collection::vec(step(), 0..16),
        texts in prop::collection::vec(text(), 4),
    ) {
        let people = KnownPeopleCache::default();
        let (mut all, mut writer) = (first, None);
        for step in std::iter::once(Step::Write(None)).chain(steps) {
            match step {
                Step::Add(new) => all.extend(new),
                Step::Change(at, entity) if !all.is_empty() => *at.get_mut(&mut all) = entity,
                Step::Remove(at) if !all.is_empty() => drop(all.remove(at.index(all.len()))),
                Step::Change(..) | Step::Remove(_) => {}
                Step::Write(who) => writer = who,
            }
            let asked = ProtectedPeople {
                writer: writer.clone(), others: others.clone(), ..met(&people, tenant(1), &all)
            };
            let known = people.get_or_build(tenant(1), &asked);
            let at_once: Vec<ProtectedEntity> = others.iter().chain(&all).chain(&writer).cloned().collect();
            let at_once = KnownEntities::new(tenant(1), &at_once);
            for text in &texts {
                prop_assert_eq!(finds(&known, text), finds(&at_once, text), "{}", text);
            }
        }
    }
}
