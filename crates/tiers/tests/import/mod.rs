//! Workspaces of seven files, and the tiers they become.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "unwrapping is how a test fails")]

use std::fs;
use std::path::Path;

use munshi_tiers::Tier;
use munshi_tiers::files::parse;
use munshi_tiers::import::{ImportConcern, ImportDestination, ImportedWorkspace, NoPersonaError, import};
use munshi_types::tier::{LanguageCode, TierKind, TierName};

fn workspace(name: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import").join(name);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn fallback() -> TierName {
    "workspace".parse().unwrap()
}

fn imported(files: &[(String, String)]) -> Result<ImportedWorkspace, NoPersonaError> {
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    import(&fallback(), &files)
}

/// The four files and the report, as one text.
fn shown(imported: &ImportedWorkspace) -> String {
    let files = imported.files().into_iter().map(|(path, text)| format!("──── {path}\n{text}"));
    format!("{}──── report\n{}", files.collect::<String>(), imported.report)
}

#[test]
fn the_files_say_what_was_imported() {
    for name in ["concierge", "kirana"] {
        let imported = imported(&workspace(name)).unwrap();
        let read = imported.files().into_iter().zip(TierKind::ALL).map(|((path, text), kind)| {
            let draft = parse(kind, imported.name.clone(), &path, text.as_bytes());
            Tier::read(kind, &draft.unwrap_or_else(|problems| panic!("{problems:?}\n{text}")).body).unwrap()
        });
        let ImportedWorkspace { human, team, agent, binding, .. } = imported.clone();
        let wanted = [Tier::Human(human), Tier::Team(team), Tier::Agent(agent), Tier::Binding(binding)];
        assert_eq!(read.collect::<Vec<_>>(), wanted);
    }
}

#[test]
fn a_concierge_in_small_letters() {
    let imported = imported(&workspace("concierge")).unwrap();
    insta::assert_snapshot!(shown(&imported));
    let rules: Vec<&str> = imported.team.guardrails.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(rules, ["no-discount", "fallback-plan", "price-cooldown", "no-income-segmentation"]);
}

#[test]
fn a_shop_in_capitals_with_secrets_and_somebodys_data() {
    let files = workspace("kirana");
    let imported = imported(&files).unwrap();
    insta::assert_snapshot!(shown(&imported));
    let everything = shown(&imported);
    for gone in ["9f8e7d6c5b4a3210", "98123", "Sunita", "owes since"] {
        assert!(!everything.contains(gone), "{gone} was copied");
    }
}

#[test]
fn every_line_is_in_a_draft_or_in_the_report() {
    for name in ["concierge", "kirana"] {
        let files = workspace(name);
        let imported = imported(&files).unwrap();
        let everything = shown(&imported).replace("\\\"", "\"");
        for (file, text) in &files {
            for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let words = line.trim_matches(|letter: char| !letter.is_alphanumeric());
                let place = format!("{}:{}:", file.to_uppercase().replace(".MD", ".md"), at + 1);
                let is_told = everything.contains(words) || everything.contains(&place);
                let is_heading = line.starts_with('#');
                assert!(is_told || is_heading, "{file}:{} is nowhere: {line}", at + 1);
            }
        }
    }
}

#[test]
fn without_a_persona_there_is_nothing_to_import() {
    let files = [("TOOLS.md".to_owned(), "# Tools".to_owned()), ("readme.md".to_owned(), "hi".to_owned())];
    assert_eq!(imported(&files).unwrap_err(), NoPersonaError);
}

#[test]
fn what_nobody_said_is_filled_in_and_told() {
    let files =
        [("soul.md".to_owned(), "I have seen much.".to_owned()), ("SOUL.md".to_owned(), "x".to_owned())];
    let imported = imported(&files).unwrap();
    assert_eq!(imported.name, fallback());
    assert_eq!(imported.human.soul, "I have seen much.");
    let guessed =
        imported.report.concerns().filter(|entry| entry.concern == Some(ImportConcern::Guessed)).count();
    assert_eq!(guessed, 4, "{}", imported.report);
    assert!(imported.report.concerns().any(|entry| entry.concern == Some(ImportConcern::Twice)));
    assert_eq!(
        imported.report.entries.iter().filter(|entry| entry.place == ImportDestination::Missing).count(),
        6
    );
}

#[test]
fn what_is_too_large_is_kept_whole_and_told() {
    let soul = "I have seen a great many things in a great many shops. ".repeat(100);
    let files = [("SOUL.md".to_owned(), soul.clone())];
    let imported = imported(&files).unwrap();
    assert_eq!(imported.human.soul.trim(), soul.trim());
    let large = |entry: &&munshi_tiers::import::WorkspaceImportEntry| {
        matches!(entry.concern, Some(ImportConcern::TooLarge { most: 800, .. }))
    };
    assert!(imported.report.concerns().any(|entry| large(&entry)), "{}", imported.report);
}

#[test]
fn voice_and_languages_are_found_under_headings_of_their_own() {
    let soul = "I learned patience from bent spokes.\n\n## Voice\n- Calm, dry.\n- Short sentences.\n\n\
                ## Languages\n- Kannada (default)\n- English\nMirror the person.\n\n## Invoices\nI file them by year.\n";
    let files = [("SOUL.md", soul), ("IDENTITY.md", "Name: Anand\nRole: The voice of Chakra Cycles")];
    let imported = import(&fallback(), &files).unwrap();
    let human = &imported.human;
    assert_eq!(human.voice.tone, "Calm, dry. Short sentences.");
    let codes: Vec<&str> = human.speech.languages.iter().map(LanguageCode::as_str).collect();
    assert_eq!((codes.as_slice(), human.speech.mixing.as_str()), (&["kn", "en"][..], "Mirror the person"));
    assert_eq!(human.soul, "I learned patience from bent spokes.\n\n## Invoices\nI file them by year.");
    assert_eq!(human.identity, "The voice of Chakra Cycles");
    let prose = "## Language of flowers\nI speak in marigolds, mostly, and in jasmine after rain.\n";
    let imported = import(&fallback(), &[("SOUL.md", prose)]).unwrap();
    assert!(imported.human.soul.contains("marigolds"), "{}", imported.human.soul);
    let story = format!("## My voice\n{}\n", "I was hoarse for a year. ".repeat(30));
    assert!(import(&fallback(), &[("SOUL.md", &story)]).unwrap().human.soul.contains("hoarse"));
}

#[test]
fn a_language_among_rules_is_spoken_and_not_a_never() {
    let soul = "I kept a stall.\n\n## Rules\n- Speak Marathi, Hindi and English.\n- Never swear.\n- Keep a gentle tone.\n\
                - Speak Klingon.\n- Read the amount back in every language.\n";
    let imported = import(&fallback(), &[("SOUL.md", soul)]).unwrap();
    let human = &imported.human;
    let codes: Vec<&str> = human.speech.languages.iter().map(LanguageCode::as_str).collect();
    assert_eq!(codes, ["mr", "hi", "en"]);
    assert_eq!(human.nevers, ["Never swear."], "only what is forbidden is never done");
    assert_eq!((human.voice.tone.as_str(), human.speech.mixing.as_str()), ("Keep a gentle tone.", ""));
    let unclear =
        imported.report.concerns().find(|entry| entry.concern == Some(ImportConcern::Unclear)).unwrap();
    assert_eq!((unclear.line, unclear.what.as_str()), (7, "Speak Klingon."));
    assert!(imported.team.sops.contains("Read the amount back"), "{}", imported.team.sops);
    let mixed = "## Rules\n- Reply in Tamil, not in English.\n- Answer in the customer's language.\n";
    let human = import(&fallback(), &[("SOUL.md", mixed)]).unwrap().human;
    assert_eq!(human.speech.languages.iter().map(LanguageCode::as_str).collect::<Vec<_>>(), ["ta"]);
    assert!(human.nevers.is_empty() && human.speech.mixing.starts_with("Reply in Tamil, not in English"));
}

#[test]
fn nothing_vanishes_and_nothing_for_programs_is_told_to_a_model() {
    let agents = "---\nread_when: always\n---\n# Agent: Hisaab\nChannels: WhatsApp, Instagram\n\n## Start\nGreet first.\n\
                  ```bash\nrm -rf build\n```\n";
    let tools = "# Tools\n## log_sale(amount)\nFor every sale.\nssh home-server 192.168.1.10 user admin\n\n## Notes\n- printer.local is slow\n- Be quick.\n";
    let soul = "I count.\n\n## Voice\n- Dry, kind.\n- \"Hisaab barabar\"\n";
    let files = [("AGENTS.md", agents), ("TOOLS.md", tools), ("SOUL.md", soul)];
    let imported = import(&fallback(), &files).unwrap();
    let told = imported.report.to_string();
    for line in [
        "AGENTS.md:1: the front matter → not copied",
        "AGENTS.md:5: the channel Instagram → not copied; this channel is not supported",
        "AGENTS.md:9: a code block → not copied",
        "TOOLS.md:3: For every sale. → agent, guidance",
        "TOOLS.md:4: connection details → not copied",
        "TOOLS.md:7: connection details → not copied",
        "SOUL.md:5: Hisaab barabar → human, voice.phrases",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    let voice = &imported.human.voice;
    assert_eq!(
        (voice.tone.as_str(), voice.phrases.as_slice()),
        ("Dry, kind.", &["Hisaab barabar".to_owned()][..])
    );
    assert_eq!(imported.team.sops, "## Start\nGreet first.");
    assert_eq!(imported.agent.guidance, "log_sale: For every sale.\nBe quick.");
}
