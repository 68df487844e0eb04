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
    assert_eq!(spotter.names().len(), 5);
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
