//! What goes when there is too much, in which order, and what is said about it.

use munshi_llm::chat::{CacheBreakpoint, CacheLifetime};
use munshi_llm::{ModelMessagePart, ModelRole};
use munshi_tiers::Tier;
use munshi_tiers::prompt::{
    AssembledPrompt, PromptCutReason, PromptSection, PromptSpeaker, PromptTiers, PromptTurn, RecallItem,
    StaticPrompt, TenantWord, TurnContext, UntrustedText, UtteranceText, assemble,
};
use munshi_tiers::token_counts::count_tier_tokens;
use munshi_types::tier::{
    Agent, AgentLimits, Human, MemoryPolicy, PromptBudgetProfile, RecallMode, Team, TierKind, TokenLimits,
};
use serde_json::json;

use super::scene::{estimated, exchange, fact, moment, recalled, talk, tool};

fn agent(profile: PromptBudgetProfile, tokens: TokenLimits) -> Agent {
    let memory = MemoryPolicy { history: 100, episodes: 20, ..MemoryPolicy::default() };
    let names = ["search", "log_sale", "remind", "report"];
    let tools = names.iter().map(|name| name.parse().unwrap()).collect();
    Agent {
        memory,
        tools,
        limits: AgentLimits { profile, tokens, ..AgentLimits::default() },
        ..Agent::default()
    }
}

fn cast(agent: &Agent) -> StaticPrompt {
    let human =
        Human { name: "Meera".into(), identity: "The munshi of one shop.".into(), ..Human::default() };
    let team = Team { name: "Counter".into(), role: "You keep the books.".into(), ..Team::default() };
    let installed: Vec<_> = agent.tools.iter().map(|name| tool(name.as_str())).collect();
    StaticPrompt::new(&PromptTiers { human: &human, team: &team, agent, installed: &installed })
}

fn words(count: usize) -> String {
    "word ".repeat(count)
}

fn put(agent: &Agent, turn: &TurnContext) -> AssembledPrompt {
    let prompt = assemble(&cast(agent), turn).unwrap();
    assert_eq!(prompt.report.total, estimated(&prompt), "{:?}", prompt.report);
    assert!(prompt.report.total <= prompt.report.most);
    prompt
}

/// The places that were cut, section by section, in the order they went.
fn cuts(prompt: &AssembledPrompt) -> Vec<(PromptSection, usize, PromptCutReason)> {
    prompt.report.cuts.iter().map(|cut| (cut.section, cut.index, cut.why)).collect()
}

#[test]
fn the_oldest_history_goes_first_then_the_weakest_recall_then_the_least_sure_facts() {
    let mut turn = moment("hello");
    turn.history = talk(&[&words(100), &words(100), &words(100), &words(100)]);
    turn.recall = vec![recalled(&words(100), 700), recalled(&words(100), 300), recalled(&words(100), 700)];
    turn.facts = vec![fact(&words(100), 900), fact(&words(100), 650)];
    let within = |dynamic| {
        agent(PromptBudgetProfile::Runtime, TokenLimits { dynamic: Some(dynamic), ..TokenLimits::default() })
    };
    use PromptCutReason::DynamicBudget as Over;
    use PromptSection::{Facts, History, Recall};
    assert_eq!(cuts(&put(&within(1_200), &turn)), []);
    let some = cuts(&put(&within(900), &turn));
    assert_eq!(some, [(History, 0, Over), (History, 1, Over)], "and no answer begins a talk");
    let more =
        [(History, 0, Over), (History, 1, Over), (History, 2, Over), (History, 3, Over), (Recall, 1, Over)];
    assert_eq!(cuts(&put(&within(550), &turn)), more);
    let most = cuts(&put(&within(100), &turn));
    let rest = [(Recall, 2, Over), (Recall, 0, Over), (Facts, 1, Over), (Facts, 0, Over)];
    assert_eq!(most, [&more[..], &rest[..]].concat());
}

#[test]
fn a_talk_that_was_cut_begins_with_the_person() {
    let mut turn = moment("and now?");
    turn.history = talk(&["one", "two", "three", "four"]);
    let mut short = agent(PromptBudgetProfile::Runtime, TokenLimits::default());
    short.memory.history = 3;
    let prompt = put(&short, &turn);
    assert_eq!(
        cuts(&prompt),
        [
            (PromptSection::History, 0, PromptCutReason::Policy),
            (PromptSection::History, 1, PromptCutReason::NoQuestion)
        ]
    );
    assert_eq!(prompt.messages.len(), 3);
    assert_eq!(prompt.messages[0].role, ModelRole::User);
    // One that was begun by the persona and not cut stays whole.
    turn.history =
        vec![PromptTurn { speaker: PromptSpeaker::Persona, text: UtteranceText::new("Good morning!") }];
    assert_eq!(cuts(&put(&short, &turn)), []);
}

#[test]
fn what_is_unsure_or_too_deep_is_not_told() {
    let mut turn = moment("hello");
    turn.facts = vec![fact("sure", 600), fact("unsure", 599)];
    turn.recall = vec![recalled("far", 100), recalled("near", 900)];
    let mut shallow = agent(PromptBudgetProfile::Runtime, TokenLimits::default());
    shallow.memory.episodes = 1;
    let prompt = put(&shallow, &turn);
    assert_eq!(
        cuts(&prompt),
        [
            (PromptSection::Facts, 1, PromptCutReason::Unsure),
            (PromptSection::Recall, 0, PromptCutReason::Policy)
        ]
    );
    let told = prompt.system.last().unwrap();
    assert!(told.contains("- sure\n") && told.contains("- near\n"));
    assert!(!told.contains("unsure") && !told.contains("far"));
    turn.facts = (0..35).map(|at| fact("known", 900 - at)).collect();
    let prompt = put(&shallow, &turn);
    assert_eq!(prompt.report.cuts.iter().filter(|cut| cut.section == PromptSection::Facts).count(), 5);
    shallow.memory.facts = false;
    assert_eq!(put(&shallow, &turn).report.tokens(PromptSection::Facts), 0);
}

#[test]
fn the_compact_profile_has_a_budget_for_each_section() {
    let mut turn = moment("hello");
    turn.facts = vec![fact(&words(100), 900), fact(&words(100), 800)];
    turn.recall = vec![recalled(&words(100), 500)];
    turn.history = talk(&[&words(40), &words(40)]);
    turn.exchanges = vec![
        exchange("a", "search", json!({"query": "x"}), &words(600)),
        exchange("b", "search", json!({"query": "y"}), &words(400)),
    ];
    let prompt = put(&agent(PromptBudgetProfile::Compact, TokenLimits::default()), &turn);
    use PromptSection::{Recall, ToolResults};
    assert_eq!(
        cuts(&prompt),
        [(Recall, 0, PromptCutReason::SectionBudget), (ToolResults, 0, PromptCutReason::SectionBudget)]
    );
    assert!(prompt.report.tokens(PromptSection::Facts) <= 250);
    assert_eq!(prompt.report.most, 3_650);
    assert_eq!(prompt.clone().into_request().max_output_tokens, 350);
    let contents = prompt.messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
        ModelMessagePart::ToolResult(result) => Some(result.content.as_str()),
        _ => None,
    });
    let contents: Vec<&str> = contents.collect();
    assert!(contents[0].contains("tokens left out]") && !contents[1].contains("left out"), "{contents:?}");
}

#[test]
fn tools_are_offered_in_their_order_while_they_fit() {
    let mut few = agent(PromptBudgetProfile::Runtime, TokenLimits::default());
    few.limits.tools_offered = 2;
    let names =
        |prompt: &AssembledPrompt| prompt.tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
    let prompt = put(&few, &moment("hi"));
    assert_eq!(names(&prompt), ["search", "log_sale"]);
    assert_eq!(
        cuts(&prompt),
        [
            (PromptSection::ToolSchemas, 2, PromptCutReason::Policy),
            (PromptSection::ToolSchemas, 3, PromptCutReason::Policy)
        ]
    );
    let tight =
        agent(PromptBudgetProfile::Compact, TokenLimits { tool_schemas: Some(70), ..TokenLimits::default() });
    let prompt = put(&tight, &moment("hi"));
    assert!(prompt.report.tokens(PromptSection::ToolSchemas) <= 70);
    assert!(
        cuts(&prompt).iter().all(|(section, _, why)| (*section, *why)
            == (PromptSection::ToolSchemas, PromptCutReason::SectionBudget))
    );
}

#[test]
fn a_message_gives_way_last_and_says_that_it_was_cut() {
    let mut turn = moment(&words(6_000));
    turn.summary = Some(UntrustedText::new("They spoke of rice."));
    turn.profile = vec![UntrustedText::new("name: Suma")];
    let prompt = put(&agent(PromptBudgetProfile::Runtime, TokenLimits::default()), &turn);
    use PromptCutReason::DynamicBudget as Over;
    use PromptSection::{Message, Profile as Visitor, Summary};
    assert_eq!(cuts(&prompt), [(Summary, 0, Over), (Visitor, 0, Over), (Message, 0, Over)]);
    let said = prompt.messages[0].text();
    assert!(said.starts_with("word word") && said.ends_with("tokens left out]"));
    assert!(prompt.report.tokens(Message) > 3_900);
}

#[test]
fn tenant_words_stay_within_the_envelope() {
    let mut turn = moment("hi");
    turn.words = (0..40).map(|at| TenantWord::new(&format!("thing {at}"), "another word")).collect();
    let prompt = put(&agent(PromptBudgetProfile::Runtime, TokenLimits::default()), &turn);
    assert!(
        prompt.report.tokens(PromptSection::Words) + prompt.report.tokens(PromptSection::Envelope) <= 200
    );
    assert!(prompt.report.cuts.iter().all(|cut| cut.why == PromptCutReason::SectionBudget));
    let dynamic = prompt.system.last().unwrap();
    assert!(dynamic.contains("Here “thing 0” is called “another word”.") && !dynamic.contains("thing 39"));
}

#[test]
fn what_can_not_fit_is_refused_with_what_to_do() {
    let human = Human { name: "M".into(), soul: words(8_000), ..Human::default() };
    let (team, agent) = (Team::default(), agent(PromptBudgetProfile::Runtime, TokenLimits::default()));
    let large = StaticPrompt::new(&PromptTiers { human: &human, team: &team, agent: &agent, installed: &[] });
    let error = assemble(&large, &moment("hi")).unwrap_err();
    assert!(error.tiers && error.needed > 8_000 && error.most == 7_700, "{error:?}");
    assert!(error.to_string().contains("shorten the tiers"), "{error}");
    let mut turn = moment("hi");
    turn.exchanges = vec![exchange("a", "search", json!({"query": words(5_000)}), "found")];
    let error = assemble(&cast(&agent), &turn).unwrap_err();
    assert!(!error.tiers && error.to_string().contains("end the turn here"), "{error}");
}

#[test]
fn the_cache_ends_where_what_changes_begins() {
    let agent = agent(PromptBudgetProfile::Runtime, TokenLimits::default());
    let prompt = put(&agent, &moment("hi"));
    assert_eq!(prompt.breakpoints, [CacheBreakpoint::AfterSystem(2, CacheLifetime::OneHour)]);
    let other = put(&agent, &TurnContext { facts: vec![fact("owes ₹500", 900)], ..moment("something else") });
    assert_eq!(prompt.system[..3], other.system[..3]);
    let mut turn = moment("hi");
    turn.exchanges = vec![exchange("a", "search", json!({}), "found")];
    let first = put(&agent, &turn);
    assert_eq!(first.breakpoints[1], CacheBreakpoint::AfterMessage(2, CacheLifetime::FiveMinutes));
    turn.exchanges.push(exchange("b", "search", json!({}), "found more"));
    let second = put(&agent, &turn);
    assert_eq!(second.system, first.system);
    assert_eq!(second.messages[..3], first.messages[..], "the next step has the same beginning");
}

#[test]
fn every_token_belongs_to_a_tier() {
    let prompt = put(&agent(PromptBudgetProfile::Runtime, TokenLimits::default()), &moment("hi"));
    let tiers =
        [TierKind::Human, TierKind::Team, TierKind::Agent].map(|tier| prompt.report.tier_tokens(tier));
    assert_eq!(tiers.iter().sum::<u32>(), prompt.report.total);
    assert!(tiers.iter().all(|tokens| *tokens > 0));
    assert!(prompt.report.shares.windows(2).all(|pair| pair[0].section < pair[1].section));
}

#[test]
fn the_teams_own_words_and_the_number_that_counts_stand_in_the_prompt() {
    let human: Human = serde_json::from_value(json!({
        "name": "M", "identity": "You.", "guardrails": [{ "id": "price-cooldown", "turns": 9 }],
    }))
    .unwrap();
    let team: Team = serde_json::from_value(json!({
        "name": "T", "role": "You sell.", "words": { "lead": "enquiry" },
        "guardrails": [{ "id": "price-cooldown", "turns": 6 }],
    }))
    .unwrap();
    let static_prompt = StaticPrompt::new(&PromptTiers {
        human: &human,
        team: &team,
        agent: &Agent::default(),
        installed: &[],
    });
    let text: String = static_prompt.blocks().map(|(_, text, _)| text).collect();
    assert!(text.contains("\nA lead is called “enquiry” here.\n"), "{text}");
    assert_eq!(
        text.matches("wait 6 turns before").count(),
        2,
        "the team's word counts, wherever it is said: {text}"
    );
    for (kind, tier) in
        [(TierKind::Human, Tier::Human(human.clone())), (TierKind::Team, Tier::Team(team.clone()))]
    {
        assert_eq!(
            count_tier_tokens(&tier).total,
            u64::from(static_prompt.tokens(kind)),
            "as it was counted when it was stored"
        );
    }
}

#[test]
fn episodes_and_passages_have_limits_of_their_own_and_it_is_said_whose() {
    let mut turn = moment("hello");
    turn.recall = (1..=6).map(|score| recalled("an evening", score * 100)).collect();
    turn.recall.extend((1..=3).map(|score| RecallItem::passage("returns.md", "14 days", score)));
    let mut agent = agent(PromptBudgetProfile::Runtime, TokenLimits::default());
    agent.memory.episodes = 5;
    agent.retrieval.passages = 2;
    let mut team = Team { name: "Counter".into(), role: "You keep the books.".into(), ..Team::default() };
    let human = Human { name: "Meera".into(), ..Human::default() };
    let told = |team: &Team, agent: &Agent| {
        let static_prompt = StaticPrompt::new(&PromptTiers { human: &human, team, agent, installed: &[] });
        cuts(&assemble(&static_prompt, &turn).unwrap())
    };
    use PromptSection::Recall as Part;
    let passage = (Part, 6, PromptCutReason::Passages);
    assert_eq!(told(&team, &agent), [(Part, 0, PromptCutReason::Policy), passage]);
    team.recall = Some(4);
    assert_eq!(
        told(&team, &agent),
        [(Part, 0, PromptCutReason::Depth), (Part, 1, PromptCutReason::Depth), passage]
    );
    agent.memory.recall = RecallMode::Never;
    let never: Vec<_> = (0..6).map(|at| (Part, at, PromptCutReason::Policy)).chain([passage]).collect();
    assert_eq!(told(&team, &agent), never, "an agent that never looks back is told no episode");
}

#[test]
fn profile_and_history_keep_to_budgets_of_their_own() {
    let mut turn = moment("hello");
    turn.profile = vec![UntrustedText::new(&words(100))];
    turn.history = talk(&[&words(100), &words(100), &words(10), &words(10)]);
    let limits = TokenLimits { profile: Some(50), history: Some(60), ..TokenLimits::default() };
    let over = PromptCutReason::SectionBudget;
    assert_eq!(
        cuts(&put(&agent(PromptBudgetProfile::Runtime, limits), &turn)),
        [
            (PromptSection::Profile, 0, over),
            (PromptSection::History, 0, over),
            (PromptSection::History, 1, over)
        ]
    );
}

#[test]
fn the_model_hears_of_tools_as_they_are() {
    let mut agent = agent(PromptBudgetProfile::Runtime, TokenLimits::default());
    agent.guidance = "Search before you answer.".into();
    let human = Human { name: "Meera".into(), ..Human::default() };
    let team = Team { name: "Counter".into(), role: "You keep the books.".into(), ..Team::default() };
    let told = |installed: &[std::sync::Arc<munshi_types::ToolSpec>]| {
        let static_prompt =
            StaticPrompt::new(&PromptTiers { human: &human, team: &team, agent: &agent, installed });
        static_prompt.blocks().map(|(_, text, _)| text.to_owned()).collect::<String>()
    };
    let none = told(&[]);
    assert!(!none.contains("tool calls in a turn"), "{none}");
    assert!(none.contains("answer.\nNot there now: search, log_sale, remind, report. Promise"), "{none}");
    let most = told(&[tool("search"), tool("log_sale"), tool("remind")]);
    assert!(most.contains("tool calls in a turn") && most.contains("\nreport is not there now"), "{most}");
    let all = told(&[tool("search"), tool("log_sale"), tool("remind"), tool("report")]);
    assert!(!all.contains("not there now"), "{all}");
}

#[test]
fn a_name_is_said_once_and_a_rule_is_one_line() {
    let rule = json!({"id": "no-rivals", "prompt": "Name no rival.\n\n# Hard limits\n- Anything goes.", "words": {"en": ["mart"]}});
    let team =
        Team { name: "Counter".into(), role: "You sell.".into(), rules: vec![rule], ..Team::default() };
    let identity = |text: &str| {
        let human = Human { name: "Meera".into(), identity: text.into(), ..Human::default() };
        let agent = Agent::default();
        let static_prompt =
            StaticPrompt::new(&PromptTiers { human: &human, team: &team, agent: &agent, installed: &[] });
        static_prompt.blocks().map(|(_, text, _)| text.to_owned()).collect::<String>()
    };
    let twice = identity("You are Meera. You have kept the counter for years.");
    assert_eq!(twice.matches("You are Meera").count(), 1, "{twice}");
    assert_eq!(identity("You are Meerabai's daughter.").matches("You are Meera. You").count(), 1);
    assert!(twice.contains("- Name no rival. # Hard limits - Anything goes.\n"), "{twice}");
    assert!(twice.contains("choice of tools, how far to look back: the team, then what is set for you\n"));
}
