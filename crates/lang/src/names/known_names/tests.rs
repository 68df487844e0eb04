use proptest::prelude::*;

use super::*;
use crate::names::cues::find_unlisted_names;

fn spotted<'t>(names: &[&str], text: &'t str) -> Vec<(&'t str, Option<usize>)> {
    let spotter = KnownNameFinder::new((0u32..).zip(names.iter().copied()));
    spotter.find(text).into_iter().map(|spot| (&text[spot.range], spot.name)).collect()
}

#[test]
fn names_are_cut_off_their_endings() {
    for (name, text, said) in [
        ("Ramesh", "रमेशको", "रमेश"),
        ("रमेश", "Rameshbhai ne", "Ramesh"),
        ("Raju", "రాజుకి", "రాజు"),
        ("Kakan", "kakanko 500", "kakan"),
        ("Suresh", "सुरेशला", "सुरेश"),
        ("Rajan", "ராஜனிடம்", "ராஜன"),
        ("Nitin", "nitingariki", "nitin"),
    ] {
        assert_eq!(spotted(&[name], text), [(said, Some(0))], "{text}");
    }
}

#[test]
fn what_may_be_another_name_is_hidden_as_it_is() {
    assert_eq!(spotted(&["Urmi"], "Urmila ko"), [("Urmila", None)]);
    assert_eq!(spotted(&["Ramesh"], "Rameshwar"), []);
    assert_eq!(spotted(&["Sagar"], "sugar 5 kg"), []);
    assert_eq!(spotted(&["Gupta Traders"], "traders ki meeting"), []);
    assert_eq!(spotted(&["Gupta Traders"], "gupta traders").len(), 2);
}

#[test]
fn one_name_in_two_scripts_has_one_root() {
    let spotter = KnownNameFinder::new([(0, "Ramesh Kumar"), (0, "रमेश कुमार"), (1, "Suresh")]);
    assert_eq!((spotter.name(4), spotter.name(5)), (Some("Suresh"), None));
    let roots: Vec<usize> = (0..5).map(|at| spotter.root(at)).collect();
    assert_eq!(roots, [0, 1, 0, 1, 4]);
    assert_eq!(spotter.spellings(2).map(|(_, text)| text).collect::<Vec<_>>(), ["Ramesh", "रमेश"]);
}

#[test]
fn strangers_are_given_away_by_what_stands_beside_them() {
    for (text, said) in [
        ("Mr Bhaskar called", Some("Bhaskar")),
        ("Jigneshbhai aaye", Some("Jignesh")),
        ("thangavelukku 500 kuduthen", Some("thangavel")),
        ("mera naam Hemant hai", Some("Hemant")),
        ("Paid Pramila 500", Some("Pramila")),
        ("ਜਸਬੀਰ ਨੂੰ 500 ਦਿੱਤੇ", Some("ਜਸਬੀਰ")),
        ("stock mein 40 kg chawal hai", None),
        ("bank ne 200 kaate", None),
    ] {
        let found: Vec<&str> =
            find_unlisted_names(&TextWords::new(text)).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, said.into_iter().collect::<Vec<_>>(), "{text}");
    }
}

/// Words that names share with one another: whole, by their consonants, across scripts, and with the language.
const SHARED: &[&str] = &[
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
    "Raajan",
    "ராஜன்",
    "राजन",
    "Krishna",
    "Krishnan",
    "Lata",
    "ಲತ",
    "Traders",
    "Som",
    "Gita",
    "கீதா",
];

/// What stands between and behind them.
const BESIDE: &[&str] = &["", "ko", "ne", "ji", "bhai", "500", "kg", "और", "மற்றும்"];

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(SHARED), 1..4).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn a_list_that_goes_on_from_another_is_one_with_it(
        names in prop::collection::vec((0u32..6, words()), 0..16),
        (one, other) in (0usize..16, 0usize..16),
        said in prop::collection::vec((prop::sample::select(SHARED), prop::sample::select(BESIDE), any::<bool>()), 0..10),
    ) {
        let names: Vec<(u32, &str)> = names.iter().map(|(owner, name)| (*owner, name.as_str())).collect();
        let (one, other) = (one.min(other).min(names.len()), one.max(other).min(names.len()));
        let whole = KnownNameFinder::new(names.iter().copied());
        let front = KnownNameFinder::new(names[..one].iter().copied());
        let parts = front.with_names(names[one..other].iter().copied()).with_names(names[other..].iter().copied());
        let said = said.iter().map(|(word, beside, is_joined)| {
            format!("{word}{}{beside}", if *is_joined { "" } else { " " })
        });
        let text = said.collect::<Vec<_>>().join(" ");
        prop_assert_eq!(whole.find(&text), parts.find(&text), "{}", text);
        for at in 0..=60 {
            prop_assert_eq!((whole.name(at), whole.root(at)), (parts.name(at), parts.root(at)));
            prop_assert_eq!(whole.spellings(at).collect::<Vec<_>>(), parts.spellings(at).collect::<Vec<_>>());
        }
        let again = KnownNameFinder::new(names[..one].iter().copied());
        prop_assert_eq!(front.find(&text), again.find(&text), "whoever goes on from it changes nothing of it");
    }
}
